import pytest

from xlrepro.experiments import experiment
from xlrepro.papers.word_order.experiments.measures import WORD_LEVEL
from xlrepro.papers.word_order.experiments.table2 import (
    LEARNING_RATES,
    TUNED_ON_MBERT,
    rate_column,
)
from xlrepro.papers.word_order.settings import ENCODERS, presets
from xlrepro.paths import data_dir
from xlrepro.trials.store import RecordStore


def dev_accuracy(encoder, block="word"):
    """Return the published English dev accuracy of each learning rate."""
    store = RecordStore(root=data_dir() / "no-local-records")
    return {
        cell.column: cell.value
        for record in store.records("word_order/learning_rates", "open")
        for cell in record.cells
        if cell.system == f"{block}:{encoder}"
    }


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_encoder_was_tuned_on_the_whole_grid(encoder):
    assert set(dev_accuracy(encoder)) == {rate_column(rate) for rate in LEARNING_RATES}


@pytest.mark.parametrize("name", ["table2", "spans"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_open_preset_uses_the_best_rate_on_english_dev(encoder, name):
    scores = dev_accuracy(encoder)
    best = max(scores, key=scores.__getitem__)
    preset = presets(name)["open"]
    rates = preset.get("until_dev_stops", preset)["learning_rate"]
    assert rate_column(rates[encoder]) == best


def test_rows_until_dev_stops_differ_from_the_short_ones_in_training_alone():
    long, short = (
        experiment(f"word_order/{key}").trials("open", [system], [0])[-1].settings
        for key, system in (("table5", "noisy:RPT"), ("figure3", "word:TRS"))
    )
    assert (long["epochs"], long["patience"], long["schedule"]) == (20, 3, "root")
    assert (short["epochs"], short["patience"], "schedule" in short) == (4, 4, False)


@pytest.mark.parametrize("encoder", TUNED_ON_MBERT)
def test_the_open_preset_uses_the_best_rate_on_frozen_states(encoder):
    scores = dev_accuracy(encoder, "mbert")
    assert len(scores) == len(LEARNING_RATES)
    best = max(scores, key=scores.__getitem__)
    assert rate_column(presets("mbert")["open"]["learning_rate"][encoder]) == best


@pytest.mark.parametrize("profile", ["smoke", "open", "paper"])
def test_every_profile_has_the_28_word_level_targets(profile):
    assert tuple(presets("table2")[profile]["targets"]) == tuple(
        code for code in WORD_LEVEL if code != "en"
    )


@pytest.mark.parametrize("key", ["word_order/table2", "word_order/learning_rates"])
def test_every_preset_binds_to_the_settings_of_its_rows(key):
    shown = experiment(key)
    for profile in ("smoke", "open"):
        identifiers = [s.identifier for s in shown.systems]
        trials = shown.trials(profile, identifiers, [0])
        assert {s for t in trials for s in t.systems} == set(identifiers)


def test_keys_tell_all_trials_of_an_experiment_apart():
    shown = experiment("word_order/table2")
    trials = shown.trials("open", [s.identifier for s in shown.systems], [0, 1, 2])
    assert len({t.key for t in trials}) == len(trials) == 60
