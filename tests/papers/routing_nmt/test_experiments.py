"""Trials of Table 1, which are those of Figure 2."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.papers.routing_nmt.small import TABLE1, settings_of
from xlrepro.errors import DataError, SettingsError
from xlrepro.experiments import experiment, own_records, why_outdated
from xlrepro.papers.routing_nmt.blocks import FIGURE_TASKS
from xlrepro.papers.routing_nmt.encoding import Encoded
from xlrepro.papers.routing_nmt.run import translation
from xlrepro.paths import build_dir
from xlrepro.trials import Record, TrialContext

FIGURE2 = experiment("routing_nmt/figure2")
SYSTEMS = ("NMT", "MTL (Full)", "MTL (Partial)", "MTL (Routing)")


def test_tuned_rows_are_systems_but_for_one_setting():
    made = TABLE1.trials("open", [*SYSTEMS, "tuning:*"], (0,), {"parts": ["en-de-10k"]})
    plain, tuned = made[: len(SYSTEMS)], made[len(SYSTEMS) :]
    dropouts = [_changes(b.settings, a.settings) for b, a in zip(plain, tuned, strict=False)]
    assert [each["dropout"] or 0.0 for each in dropouts] == [0.125, 0.125, 0.0, 0.0]
    assert [_changes(plain[0].settings, other.settings) for other in tuned[len(SYSTEMS) :]] == [
        {"dropout": 0.25},
        {"bpe_operations": 1000},
        {"bpe_operations": 4000},
    ]
    assert {t.settings["pair"] for t in TABLE1.trials("open", ["tuning:*"], (0,))} == {"en-de-10k"}


def _changes(before, after):
    flat = [{**settings, **settings["model"], "model": None} for settings in (before, after)]
    names = flat[0].keys() | flat[1].keys()
    return {name: flat[1].get(name) for name in names if flat[1].get(name) != flat[0].get(name)}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_pairs_own_width_and_dropout_win_over_the_systems(system):
    for trial in TABLE1.trials("open", [system], (0,)):
        model, pair = trial.settings["model"], trial.settings["pair"]
        plain = system in ("NMT", "MTL (Full)") and pair != "en-fa-small"
        assert model["hidden"] == (64 if pair == "en-fa-small" else 128)
        assert model["dropout"] == (0.0 if plain else 0.125)


def test_unknown_pairs_are_refused_with_the_known_ones():
    with pytest.raises(SettingsError, match="en-vi, en-de-5k"):
        TABLE1.trials("open", ["NMT"], (0,), {"parts": ["en-xx"]})
    (trial, *_) = TABLE1.trials("open", ["NMT"], (0,), {"pair": "en-xx"})
    with pytest.raises(SettingsError, match="known: en-vi, en-fa-small"):
        translation(trial, TrialContext())


def test_the_paper_profile_names_the_files_it_lacks(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    settings = settings_of("paper", "MTL (Full)", "en-fa", {})
    assert len(settings.supplied()) == 2 * 3 + 3 * 3
    with pytest.raises(DataError, match=r"en-fa/train\.en.*ptb/test\.mrg"):
        Encoded(settings)


def test_a_trial_fills_its_cells_and_leaves_no_checkpoint(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    small = {"train_pairs": 8, "test_pairs": 3, "auxiliary_train": 6, "auxiliary_dev": 3}
    changes = {**small, "epochs": 1, "model.hidden": 4}
    trial = TABLE1.trials("smoke", ["MTL (Routing)"], (0,), changes)[0]
    result = translation(trial, TrialContext())
    assert {cell.column for cell in result.cells} == set(trial.columns)
    assert not list((build_dir() / "checkpoints").iterdir())
    assert len(result.details["test_counts"]) == 3
    assert [sorted(each) for each in result.details["samples"]] == [
        ["reference", "source", "translation"]
    ] * 3
    for direction in ("forward", "backward"):
        for use in result.details["routers"][direction].values():
            assert set(use) == set(FIGURE_TASKS)
            assert all(sum(u["shares"]) == pytest.approx(1, abs=1e-5) for u in use.values())
            assert all(u["largest"] >= max(u["shares"]) - 1e-6 for u in use.values())


def test_figure_2_asks_for_the_trials_of_table_1():
    keys = {trial.key for trial in TABLE1.trials("smoke", ["MTL (Routing)"])}
    assert {trial.key for trial in FIGURE2.trials("smoke")} == keys
    assert [len(addresses) for addresses in FIGURE2.announced("smoke")] == [24, 24]


def test_records_of_another_version_of_the_task_are_shown_as_outdated():
    """The figure keeps its cells until trials are run again."""
    (trial, *_) = TABLE1.trials("open", ["MTL (Routing)"], (0,))
    old = replace(trial, version=trial.version - 1)
    other = replace(old, settings_json='{"pair": "en-vi"}')
    usage = {task: [0.5, 0.3, 0.2] for task in FIGURE_TASKS}
    details = {"settings": trial.settings, "usage": {"same": usage, "own": usage}}
    records = [
        Record.model_construct(
            **{**each.fields, "systems": each.systems}, key=each.key, cells=(), details=details
        )
        for each in (old, other)
    ]
    store = SimpleNamespace(records=lambda of, _: records if of == TABLE1.key else [])
    (shown,) = own_records("routing_nmt/figure2", "open", store)
    assert shown.key == old.key
    assert len(shown.cells) == 24
    assert "version" in why_outdated(shown)
