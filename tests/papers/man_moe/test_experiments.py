"""Presets, rows and columns of the experiments."""

import pytest

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.papers.man_moe.experiments import EXPERIMENTS
from xlrepro.papers.man_moe.settings import presets, transfer_settings

BY_KEY = {experiment.key: experiment for experiment in EXPERIMENTS}
PRESETS = ("ner", "slots", "reviews")
TABLE6 = {"slots": "Slot Filling", "ner": "CoNLL NER", "reviews": "Amazon"}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_presets_are_settings(preset, profile):
    assert transfer_settings(preset, profile, {}, {}).targets


@pytest.mark.parametrize("preset", PRESETS)
def test_open_presets_keep_the_hyperparameters_that_table_6_prints(preset):
    values = presets(preset)["open"]
    for name, setting in (
        ("lambda_1", "lambda1"),
        ("lambda_2", "lambda2"),
        ("k", "discriminator_steps"),
    ):
        printed = load_reported().get("man_moe/table6", f"settings:{TABLE6[preset]}", name)
        assert values[setting] == printed.value


@pytest.mark.parametrize(
    "key", ["man_moe/table2", "man_moe/table3", "man_moe/table4", "man_moe/table5"]
)
def test_systems_and_smoke_columns_are_those_printed(key):
    reported = load_reported()
    catalog = load_catalog().experiment(key)
    systems = set(reported.systems(key))
    ours = {s.identifier for s in BY_KEY[key].systems if not s.ours}
    assert ours <= systems
    missing = {s for s in systems - ours if not catalog.is_quoted(s)}
    assert missing <= {"without:MAN-MOE+CharCNN+UMWE"} | {
        s for s in missing if s.startswith("statistics:")
    }
    trial_columns = {
        c
        for t in BY_KEY[key].trials("smoke", seeds=(0,))
        if not t.systems[0].startswith("corpus:")
        for c in t.columns
    }
    assert trial_columns == {
        c for s in ours for c in reported.columns(key) if reported.get(key, s, c)
    }


@pytest.mark.parametrize("key", BY_KEY)
@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_trials_fill_distinct_cells_that_the_experiment_has(key, profile):
    experiment = BY_KEY[key]
    trials = experiment.trials(profile, [s.identifier for s in experiment.systems], (0,))
    cells = [(s, c) for trial in trials for s in trial.systems for c in trial.columns]
    assert len(cells) == len(set(cells)) > 0
    allowed = set(experiment.columns)
    assert {c for s, c in cells if not s.startswith("corpus:")} <= allowed


def test_table3_repeats_the_settings_of_table2():
    def settings(key, system):
        return [t.settings_json for t in BY_KEY[key].trials("open", [system], (0,))]

    assert settings("man_moe/table3", "ablation:- MoE") == settings("man_moe/table2", "without:MAN")
    assert settings("man_moe/table3", "ablation:MAN-MoE") == settings(
        "man_moe/table2", "without:MAN-MoE"
    )
