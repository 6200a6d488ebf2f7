"""Rows and columns of every experiment."""

from collections import Counter

import pytest

from xlrepro.cli import parse_overrides
from xlrepro.engine import check_supplied, run_trials
from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.reported import load_reported
from xlrepro.experiments import all_experiments, experiment
from xlrepro.store import RecordStore

EXPERIMENTS = pytest.mark.parametrize("each", all_experiments().values(), ids=lambda e: e.key)


@EXPERIMENTS
def test_rows_that_are_not_ours_are_those_that_the_paper_prints(each):
    printed = set(load_reported().systems(each.key))
    rows = {system.identifier for system in each.systems if not system.ours}
    assert rows <= printed or not printed


@EXPERIMENTS
def test_no_two_trials_of_a_seed_fill_one_cell(each):
    for profile in each.profiles:
        filled = Counter(address for cells in each.announced(profile) for address in cells)
        assert [address for address, count in filled.items() if count > 1] == []


@EXPERIMENTS
def test_no_record_is_needed_to_run_what_has_been_published(each, tmp_path):
    trials = each.all_trials("open", [0])
    found = run_trials(trials, store=RecordStore(tmp_path, tmp_path), dry_run=True)
    assert found.pending == list(dict.fromkeys(trials))


@pytest.mark.parametrize("key", [k for k, e in all_experiments().items() if "paper" in e.profiles])
def test_without_the_paper_s_files_one_line_says_what_to_supply(key, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    with pytest.raises(DataError, match=r": put there .*https?://.*XLREPRO_SUPPLIED") as told:
        check_supplied(all_experiments()[key].trials("paper", seeds=[0]))
    assert str(tmp_path) in str(told.value)
    assert "\n" not in str(told.value)


WRONG = [
    "word_order/table1 open vectors=foo", "word_order/table4 open parts=foo",
    "routing_nmt/table1 open longest_output=.inf", "ramen/table1 open targets=[foo]",
    "word_order/table1 smoke targets=[]", "word_order/table2 smoke targets=[]",
    "word_order/table3 open targets=[]", "word_order/table1 smoke test_sentences=null",
    "word_order/table3 smoke vectors=muse", "word_order/table3 smoke vectors=encoder",
    "man_moe/table4 smoke vectors=distributional", "man_moe/table4 open vectors=umwe",
    "ramen/table1 smoke head.layer=3", "ramen/table2 open head.layer=13",
    "ramen/table1 smoke layers=3",
    "ramen/table1 smoke adaptation.initialisation.vectors=fasttext-aligned",
    "ramen/table1 smoke adaptation.english.model=tiny@1",
    "man_moe/table5 smoke domains=[]", "man_moe/table4 smoke domains=[books]",
    "man_moe/table2 open domains=[xx]", "man_moe/table5 open domains=[books]",
    "sense_alignment/table4 open domains=[]", "sense_alignment/figures4_7 smoke sentences=0",
    "sense_alignment/figures4_7 open model.text.ambiguous=0",
]  # fmt: skip


@pytest.mark.parametrize("asked", WRONG)
def test_what_no_trial_can_run_with_is_refused_when_trials_are_made(asked):
    key, profile, given = asked.split()
    name = given.partition("=")[0].removeprefix("adaptation.").removeprefix("initialisation.")
    with pytest.raises(SettingsError, match=f"{name}|no column is named|part 'foo'|has .* layers"):
        experiment(key).trials(profile, overrides=parse_overrides([given]))


def test_a_language_without_a_test_set_is_refused_before_anything_trains():
    for profile in ("smoke", "open"):
        only = (profile, ["mbert:ORT"], [0], {"targets": ["xx"]})
        with pytest.raises(SettingsError, match="'xx"):
            run_trials(experiment("word_order/table2").trials(*only))


def test_a_setting_inside_of_what_a_row_lacks_is_changed_in_the_other_rows_alone():
    rows = ["prior:mBERT (Wu & Dredze, 2019) (mono)", "base:RAMEN-BASE + BERT (mono)"]
    given = {"adaptation.precision": "mixed"}
    made = experiment("ramen/table1").trials("paper", rows, [0], given)
    found = {t.systems[0]: (t.settings.get("adaptation") or {}).get("precision") for t in made}
    assert found == dict(zip(rows, [None, "mixed"], strict=True))


@pytest.mark.parametrize("key", ["word_order/table3", "man_moe/table4", "sense_alignment/table3"])
def test_a_corpus_that_is_none_of_the_task_s_is_refused_before_there_is_a_trial(key):
    with pytest.raises(SettingsError, match=r"corpus.* 'artificial'|known: artificial, "):
        experiment(key).trials("smoke", None, [0], {"corpus": "ud-r2.2"})


@EXPERIMENTS
def test_no_override_gives_a_trial_another_column_than_its_settings_have(each):
    own = [t for t in each.all_trials("smoke", [0]) if t.experiment == each.key]
    columns = {(t.task, t.systems, t.settings_json): t.columns for t in own}
    values = [(n, v) for t in own for n, v in t.settings.items() if isinstance(v, str | list)]
    for name, value in {repr(one): one for one in values}.values():
        rows = {n for t in own if name in t.settings for n in t.systems}
        try:
            changed = each.trials("smoke", sorted(rows), [0], {name: value})
        except SettingsError:
            continue
        for trial in changed:
            key = trial.task, trial.systems, trial.settings_json
            assert columns.get(key, trial.columns) == trial.columns


def test_an_override_that_no_chosen_row_has_is_refused():
    table = experiment("sense_alignment/table2")
    with pytest.raises(SettingsError, match=r"no setting 'model\.senses\..*' in the rows"):
        table.trials("smoke", ["wsd:ELMo"], overrides={"model.senses.pruning.every": 7})
