"""Trials of Table 1, which are those of Figure 2."""

import pytest

from xlrepro.errors import DataError, SettingsError
from xlrepro.experiments import experiment
from xlrepro.papers.routing_nmt.block_order import FIGURE_TASKS, PLACES
from xlrepro.papers.routing_nmt.experiments import SYSTEMS, settings_of
from xlrepro.papers.routing_nmt.settings import presets
from xlrepro.papers.routing_nmt.translation import checkpoint_of, run
from xlrepro.trials.trial import TrialContext

TABLE1, FIGURE2 = (experiment(f"routing_nmt/{name}") for name in ("table1", "figure2"))


@pytest.mark.parametrize("profile", ["smoke", "open", "paper"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_preset_makes_settings(profile, system):
    for pair in presets()[profile]["pairs"]:
        settings = settings_of(profile, system, pair, {})
        assert settings.auxiliary == (() if system == "NMT" else ("ner", "syntax", "semantics"))
        assert settings.precision == ("double" if profile == "smoke" else "single")


def test_tuned_rows_are_systems_but_for_one_setting():
    made = TABLE1.trials("open", [*SYSTEMS, "tuning:*"], (0,), {"pairs": ["en-de-10k"]})
    plain, tuned = made[: len(SYSTEMS)], made[len(SYSTEMS) :]
    dropouts = [_changes(b.settings, a.settings) for b, a in zip(plain, tuned, strict=False)]
    assert dropouts == [{"dropout": other} for other in (0.125, 0.125, 0.0, 0.0)]
    assert [_changes(plain[0].settings, other.settings) for other in tuned[len(SYSTEMS) :]] == [
        {"dropout": 0.25},
        {"bpe_operations": 1000},
        {"bpe_operations": 4000},
    ]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_pairs_own_width_and_dropout_win_over_the_systems(system):
    for pair in presets()["open"]["pairs"]:
        model = settings_of("open", system, pair, {}).model
        sizes = {model.hidden, model.embedding, model.attention, model.router}
        if pair == "en-fa-small":
            assert (sizes, model.dropout) == ({64}, 0.125)
        else:
            plain = system in ("NMT", "MTL (Full)")
            assert (sizes, model.dropout) == ({128}, 0.0 if plain else 0.125)


def _changes(before, after):
    flat = [{**settings, **settings["model"], "model": None} for settings in (before, after)]
    names = flat[0].keys() | flat[1].keys()
    return {name: flat[1].get(name) for name in names if flat[1].get(name) != flat[0].get(name)}


def test_tuned_baselines_run_on_one_pair_of_open_text():
    assert {t.settings["pair"] for t in TABLE1.trials("open", ["tuning:*"], (0,))} == {"en-de-10k"}
    with pytest.raises(SettingsError, match="does not run tuning"):
        TABLE1.trials("smoke", ["tuning:*"])


def test_settings_of_the_model_are_changed_by_their_own_names():
    settings = settings_of("smoke", "MTL (Routing)", "en-vi", {"hidden": 7, "epochs": 1})
    assert (settings.model.hidden, settings.epochs) == (7, 1)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [({"widht": 3}, "widht"), ({"dropout": 1.0}, "dropout"), ({"pair": 3}, "pair")],
)
def test_impossible_settings_are_refused_by_name(change, wrong):
    with pytest.raises(SettingsError, match=wrong):
        settings_of("smoke", "NMT", "en-vi", change)


def test_pairs_are_chosen_by_name():
    trials = TABLE1.trials("open", ["NMT"], (0,), {"pairs": ["en-vi", "en-de-5k"]})
    assert [t.settings["pair"] for t in trials] == ["en-vi", "en-de-5k"]
    assert all(c.startswith(t.settings["pair"]) for t in trials for c in t.columns)
    whole = TABLE1.trials("open", ["NMT"], (0,))
    assert {t.key for t in trials} < {t.key for t in whole}


@pytest.mark.parametrize("pairs", [["en-xx"], "en-vi"])
def test_unknown_pairs_are_refused_with_the_known_ones(pairs):
    with pytest.raises(SettingsError, match="some of en-de-10k, en-vi"):
        TABLE1.trials("open", ["NMT"], (0,), {"pairs": pairs})


def test_the_paper_profile_names_the_files_it_lacks(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    with pytest.raises(DataError, match=r"en-fa/train\.en"):
        TABLE1.trials("paper", ["NMT"], (0,))


def test_a_trial_fills_its_cells_and_leaves_no_checkpoint(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    small = {"train_pairs": 8, "test_pairs": 3, "auxiliary_train": 6, "auxiliary_dev": 3}
    changes = {**small, "epochs": 1, "hidden": 4, "embedding": 4, "attention": 4, "router": 4}
    trial = TABLE1.trials("smoke", ["MTL (Routing)"], (0,), changes)[0]
    result = run(trial, TrialContext())
    assert {cell.column for cell in result.cells} == set(trial.columns)
    assert not checkpoint_of(trial).exists()
    assert len(result.details["test_counts"]) == 3
    assert [sorted(each) for each in result.details["samples"]] == [
        ["reference", "source", "translation"]
    ] * 3
    for usage in result.details["usage"].values():
        assert set(usage) == set(FIGURE_TASKS)
        assert all(sum(shares) == pytest.approx(1, abs=1e-5) for shares in usage.values())


def test_figure_2_asks_for_the_trials_of_table_1():
    keys = {trial.key for trial in TABLE1.trials("smoke", ["MTL (Routing)"])}
    assert {trial.key for trial in FIGURE2.trials("smoke")} == keys
    announced = FIGURE2.announced("smoke")
    assert all(len(addresses) == len(PLACES) for addresses in announced)
