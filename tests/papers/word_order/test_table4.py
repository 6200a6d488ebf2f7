"""Table 4 uses MAN-MoE's models and trials, and changes the shared extractor alone."""

import json

import pytest

from xlrepro.errors import SettingsError
from xlrepro.evidence.reported import load_reported
from xlrepro.experiments import experiment
from xlrepro.papers.man_moe.settings import validated
from xlrepro.papers.word_order.experiments.table4 import BASE, BASE_ROW, EXTRACTORS
from xlrepro.trials import Cell, Record

FIRST, *OTHERS = EXTRACTORS


def trials(systems=None, **overrides):
    return experiment("word_order/table4").trials("smoke", systems, [3], overrides)


def test_the_first_row_is_a_trial_of_man_moe():
    (own,) = trials([FIRST])
    (theirs,) = BASE.trials("smoke", [BASE_ROW], [3])
    assert own.key == theirs.key


def test_the_other_rows_change_the_shared_extractor_alone():
    first, *others = trials()
    base = validated(first.settings, "").model_dump()
    assert base["model"].pop("extractor") == "BiLSTM"
    for trial, name in zip(others, ("TRS", "ORT"), strict=True):
        assert trial.experiment == "word_order/table4"
        changed = validated(trial.settings, "").model_dump()
        assert changed["model"].pop("extractor") == name
        assert changed == base
        assert (trial.task, trial.data, trial.columns) == (
            first.task,
            first.data,
            first.columns,
        )


def test_the_default_extractor_moves_no_key():
    (first,) = trials([FIRST])
    assert "extractor" not in first.settings["model"]


def test_a_record_of_man_moe_fills_the_first_row():
    record = Record.model_construct(
        experiment="man_moe/table4", key="k", cells=(Cell(BASE_ROW, "de", 50.0, "F1"),)
    )
    seen = experiment("word_order/table4").view(record)
    assert seen.cells == (Cell(FIRST, "de", 50.0, "F1"),)


def test_rows_and_columns_are_the_printed_ones():
    key, reported = "word_order/table4", load_reported()
    assert {s.identifier for s in experiment(key).systems} == set(reported.systems(key))
    assert set(experiment(key).columns) == set(reported.columns(key))


def test_the_extractor_is_the_rows_business():
    with pytest.raises(SettingsError, match="extractor"):
        trials(extractor="TRS")


@pytest.mark.parametrize("row", OTHERS)
def test_user_settings_reach_every_row(row):
    (trial,) = trials([row], lambda1=0.5)
    assert json.loads(trial.settings_json)["lambda1"] == 0.5


@pytest.mark.parametrize("row", OTHERS)
def test_transformers_learn_at_their_own_rate_at_open_unless_the_user_says(row):
    def rate(**changes):
        (trial,) = experiment("word_order/table4").trials("open", [row], (0,), changes)
        return validated(trial.settings, "").learning_rate

    assert rate() == 0.001
    assert rate(learning_rate=0.5) == 0.5
