"""Presets, rows and columns of the experiments."""

import pytest

from xlrepro.errors import SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.experiments import experiment
from xlrepro.papers.man_moe import sweep
from xlrepro.papers.man_moe.experiments import EXPERIMENTS
from xlrepro.papers.man_moe.settings import presets, transfer_settings, validated
from xlrepro.papers.man_moe.systems import ABLATION_IN_TABLE2, ABLATION_ROWS, SLOT_ROWS
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell

BY_KEY = {found.key: found for found in EXPERIMENTS}
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
    assert {s for s in missing if not s.startswith("statistics:")} == set()
    trial_columns = {
        column
        for t in BY_KEY[key].trials("smoke", seeds=(0,))
        for system, column in addresses(BY_KEY[key], t)
        if not system.startswith("corpus:")
    }
    assert trial_columns == {
        c for s in ours for c in reported.columns(key) if reported.get(key, s, c)
    }


def record_of(trial, experiments, cells=()):
    return Record.model_construct(
        experiment=trial.experiment,
        systems=trial.systems,
        settings=trial.settings,
        cells=cells,
        details={"experiments": experiments},
    )


def trained(trial):
    """Return what a trial of its settings leaves behind: a score and gates per experiment."""
    settings = validated(trial.settings, "")
    columns = [c for c in trial.columns if not c.endswith("avg")]
    experiments = {
        c: {"gates": dict.fromkeys(settings.sources(c.split("/")[0]), 1 / 3)} for c in columns
    }
    cells = [Cell(trial.systems[0], c, 50.0, "F1") for c in trial.columns]
    return record_of(trial, experiments, cells)


def addresses(experiment, trial):
    if trial.experiment == experiment.key:
        return [(s, c) for s in trial.systems for c in trial.columns]
    return [(cell.system, cell.column) for cell in experiment.view(trained(trial)).cells]


@pytest.mark.parametrize("key", BY_KEY)
@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_trials_fill_distinct_cells_that_the_experiment_has(key, profile):
    experiment = BY_KEY[key]
    trials = experiment.all_trials(profile, (0,))
    cells = [address for trial in trials for address in addresses(experiment, trial)]
    assert len(cells) == len(set(cells)) > 0
    assert {t.experiment for t in trials} <= set(experiment.trained_in)
    allowed = {(s.identifier, c) for s in experiment.systems for c in experiment.columns}
    assert {(s, c) for s, c in cells if not s.startswith("corpus:")} <= allowed
    assert {s for s, _ in cells} >= {s.identifier for s in experiment.systems if not s.ours}


@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_every_value_of_the_sweep_has_a_cell(profile):
    shown = BY_KEY["man_moe/table6"]
    cells = {a for t in shown.trials(profile, seeds=(0,)) for a in addresses(shown, t)}
    expected = {
        (f"sweep:{name}", sweep.column(v)) for name, (_, vs) in sweep.SWEEP.items() for v in vs
    }
    assert cells == expected


@pytest.mark.parametrize(
    ("reader", "source", "shared"),
    [("table3", "table2", 6), ("table6", "table2", 1), ("figure4", "table5", 3)],
)
@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_shared_trials_are_trials_of_the_other_experiment(reader, source, shared, profile):
    own = {t.key for t in BY_KEY[f"man_moe/{source}"].trials(profile, seeds=(0,))}
    found = BY_KEY[f"man_moe/{reader}"].trials(profile, seeds=(0,))
    borrowed = [t.key for t in found if t.experiment == f"man_moe/{source}"]
    assert len(borrowed) == len(set(borrowed)) == shared
    # At open the sweep has short trainings of a row of Table 2 for itself.
    assert (set(borrowed) <= own) == (reader != "table6" or profile == "smoke")


def test_the_sweep_differs_at_open_from_table2_in_training_alone():
    swept = list(BY_KEY["man_moe/table6"].trials("open", seeds=(0,)))
    assert not any("max_iterations" in t.settings for t in swept)
    (own,) = (t.settings for t in swept if t.experiment == "man_moe/table2")
    (long,) = (
        t.settings
        for t in BY_KEY["man_moe/table2"].trials("open", ["without:MAN-MoE"], (0,))
        if t.settings["targets"] == ["es"]
    )
    differ = {name for name in own.keys() | long.keys() if own.get(name) != long.get(name)}
    assert differ == {"evaluate_every", "max_iterations", "patience", "train_sentences"}


def test_figure4_trains_nothing_of_its_own():
    found = {t.experiment for t in BY_KEY["man_moe/figure4"].trials("open", seeds=(0,))}
    assert found == {"man_moe/table4", "man_moe/table5"}


def test_rows_of_table3_that_table2_trains_have_the_settings_of_the_row():
    for ours, theirs in ABLATION_IN_TABLE2.items():
        row, same = ours.partition(":")[2], theirs.partition(":")[2]
        assert ABLATION_ROWS[row] == SLOT_ROWS[same]


def test_table3_reads_table2s_cells_under_its_own_names():
    (trial, *_) = BY_KEY["man_moe/table2"].trials("smoke", ["without:MAN"], (0,))
    cells = (Cell("without:MAN", "de/Files", 12.5, "F1"), Cell("without:MAN", "de/avg", 25.0, "F1"))
    seen = BY_KEY["man_moe/table3"].view(record_of(trial, {}, cells))
    assert [(c.system, c.column, c.value) for c in seen.cells] == [
        ("ablation:- MoE", "de/Files", 12.5),
        ("ablation:- MoE", "de/avg", 25.0),
    ]


def test_figure4_averages_gates_over_the_domains_of_a_target():
    (trial, *_) = BY_KEY["man_moe/table5"].trials("smoke", ["without:MAN-MoE"], (0,))
    reports = {
        "de/books": {"gates": {"en": 0.5, "fr": 0.3, "ja": 0.2}},
        "de/dvd": {"gates": {"en": 0.3, "fr": 0.3, "ja": 0.4}},
    }
    cells = BY_KEY["man_moe/figure4"].view(record_of(trial, reports)).cells
    assert [(c.system, c.column, c.unit) for c in cells] == [
        ("gates:reviews", f"de/{source}", "fraction") for source in ("en", "fr", "ja")
    ]
    assert [c.value for c in cells] == pytest.approx([0.4, 0.3, 0.3])


def test_figure4_reads_every_target_of_a_trial_of_table4():
    (trial,) = BY_KEY["man_moe/table4"].trials("open", ["without:MAN-MOE+CharCNN"], (0,))
    cells = BY_KEY["man_moe/figure4"].view(trained(trial)).cells
    assert [c.column for c in cells] == [
        f"{t}/{s}" for t in ("de", "es", "nl") for s in ("en", "de", "es", "nl") if s != t
    ]
    assert {c.system for c in cells} == {"gates:NER"}


def test_the_sweep_reads_the_average_of_table2_at_the_value_it_used():
    (trial,) = (
        t
        for t in BY_KEY["man_moe/table2"].trials("open", ["without:MAN-MoE"], (0,))
        if t.settings["targets"] == ["es"]
    )
    values = {"es/alarm": 1.0, "es/reminder": 2.0, "es/weather": 3.0, "es/avg": 2.25}
    cells = [Cell("without:MAN-MoE", c, v, "F1") for c, v in values.items()]
    seen = BY_KEY["man_moe/table6"].view(record_of(trial, {}, cells)).cells
    assert {(c.system, c.column): c.value for c in seen} == {
        ("sweep:lambda_1", "0.01"): 2.25,
        ("sweep:lambda_2", "1"): 2.25,
        ("sweep:k", "5"): 2.25,
    }


def test_a_swept_setting_cannot_be_overridden():
    with pytest.raises(SettingsError, match="sets lambda1 itself"):
        BY_KEY["man_moe/table6"].trials("smoke", seeds=(0,), overrides={"lambda1": 0.5})


@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_no_target_is_a_source_of_itself(profile):
    tables = [key for key in BY_KEY if key != "man_moe/mappings"]
    tables.append("word_order/table4")
    trials = [
        t
        for key in tables
        for t in experiment(key).all_trials(profile, (0,))
        if not t.systems[0].startswith("corpus:")
    ]
    assert len(trials) > 40
    found = [validated(dict(t.settings), t.label) for t in trials]
    assert [s for s in found if any(target in s.sources(target) for target in s.targets)] == []
