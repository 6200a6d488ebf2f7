"""What `make rounding` runs: of each kind one trial, and no number that moves goes unseen."""

from dataclasses import replace

from tests.rounding import differences, one_of_each_kind, words
from xlrepro.evidence import golden
from xlrepro.experiments import all_experiments


def test_every_task_with_every_word_and_switch_of_its_settings_is_run_in_a_quarter_of_the_trials():
    papers = [e for e in all_experiments().values() if "smoke" in e.profiles]
    trials = [trial for each in papers for trial in each.trials("smoke")]
    chosen = one_of_each_kind(trials)

    def words_of(some):
        return {(trial.task, *word) for trial in some for word in words(trial.settings)}

    assert {trial.task for trial in chosen} == {trial.task for trial in trials}
    assert words_of(chosen) == words_of(trials)
    assert 4 * len(chosen) < len(trials)


def test_moved_numbers_are_seen_and_those_not_run_not_missed(record, store, monkeypatch, tmp_path):
    monkeypatch.setattr(golden, "project_root", lambda: tmp_path)
    ran, left = record("word:ORT", {"de": 50.0}), record("word:TRS", {"de": 60.0})
    golden.update(ran.experiment, golden.fresh_numbers([ran, left]), {ran.task: 1})
    store.put(ran)
    assert differences([ran.trial], store) == []
    store.put(ran.model_copy(update={"cells": (replace(ran.cells[0], value=50.1),)}))
    (moved,) = differences([ran.trial], store)
    assert str(moved).startswith("word_order/table2 word:ORT / de, seed 0: golden 50, now 50.1")
