"""The comparison of mappings: what each method sees, what it fills, what says that it collapsed."""

from dataclasses import replace

import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe.mappings import control as controls
from xlrepro.papers.man_moe.mappings import quality
from xlrepro.papers.man_moe.mappings.experiments import MAPPINGS
from xlrepro.papers.man_moe.mappings.quality import METHODS, Language, method_settings
from xlrepro.papers.man_moe.mappings.rows import CONTROLLED, presets
from xlrepro.trials.trial import TrialContext
from xlrepro.vectors.mappings.artificial_spaces import turned, unrelated

UNSUPERVISED = [name for name, method in METHODS.items() if not method.supervised]


def trial(name, **overrides):
    (found,) = MAPPINGS.trials("smoke", [f"mapping:{name}"], [0], overrides)
    return found


def cells(result):
    return {cell.column: cell.value for cell in result.cells}


@pytest.mark.parametrize("profile", ["smoke", "open"])
def test_presets_give_settings_to_every_method_and_no_other(profile):
    given = presets()[profile]["methods"]
    assert list(given) == list(METHODS)
    for name, values in given.items():
        method_settings(name, values)


def test_a_method_without_chance_has_one_trial_whatever_the_seeds():
    counts = {
        name: len(MAPPINGS.trials("open", [f"mapping:{name}"], [0, 1, 2])) for name in METHODS
    }
    assert counts == {name: 3 if method.random else 1 for name, method in METHODS.items()}


@pytest.mark.parametrize("name", ["Procrustes", "RCSLS", "VecMap identical"])
def test_a_run_fills_its_own_columns_and_finds_the_known_alignment(name):
    wanted = trial(name)
    found = cells(quality.run(wanted, TrialContext()))
    assert set(found) == set(wanted.columns)
    assert min(found["de/P@1"], found["es/P@1"]) > 95
    assert found.get("de/collapsed", 0.0) == 0.0


def test_no_test_word_is_in_the_training_dictionary():
    english, languages = quality._data(presets()["smoke"])
    for language in languages.values():
        trained = {english.words[row] for _, row in language.train}
        assert trained
        assert language.test
        assert not trained & set(language.test)


def test_unsupervised_methods_get_no_dictionary(monkeypatch):
    seen = {}

    def learn(problem, settings):
        seen["pairs"] = problem.pairs
        return METHODS["Procrustes"].learn(replace(problem, pairs=problem.check))

    for name in [name for name in UNSUPERVISED if name != "UMWE"]:
        monkeypatch.setitem(METHODS, name, replace(METHODS[name], learn=learn))
        quality.run(trial(name), TrialContext())
        assert seen["pairs"] is None


def test_words_spelt_alike_do_not_tell_whether_a_run_collapsed():
    english, languages = quality._data(presets()["smoke"])
    for language in languages.values():
        checked = quality._check(language, english)
        assert 0 < len(checked) < len(language.train)
        assert all(language.space.words[a] != english.words[b] for a, b in checked)


def test_a_run_on_an_unrelated_language_is_marked_as_collapsed(monkeypatch):
    english, languages = quality._data(presets()["smoke"])
    stranger = unrelated(len(english.words), english.matrix.shape[1], "de")
    pairs = np.stack([np.arange(100)] * 2, axis=1)
    test = {english.words[row]: {stranger.words[row]} for row in range(100, 200)}
    both = {"de": Language(stranger, pairs, test), "es": languages["es"]}
    monkeypatch.setattr(quality, "_data", lambda settings: (english, both))
    found = cells(quality.run(trial("VecMap unsupervised"), TrialContext()))
    assert (found["de/collapsed"], found["es/collapsed"]) == (100.0, 0.0)
    assert found["de/P@1"] < 5 < found["es/P@1"]


def test_unknown_settings_are_named():
    with pytest.raises(SettingsError, match=r"no setting sizes; it has: .*words"):
        trial("MUSE", sizes=3)
    with pytest.raises(SettingsError, match=r"settings of MUSE: .*epoch_step"):
        method_settings("MUSE", {"epoch_step": 3})
    with pytest.raises(SettingsError, match="there is no mapping 'LSTM'"):
        method_settings("LSTM", {})


def control(name, profile="smoke"):
    (found,) = MAPPINGS.trials(profile, [f"control:{name}"], [0])
    return found


@pytest.mark.parametrize("name", CONTROLLED)
def test_the_control_has_the_method_settings_of_the_real_languages(name):
    (real,) = MAPPINGS.trials("open", [f"mapping:{name}"], [0])
    settings = control(name, "open").settings
    assert settings["method"] == real.settings["method"]
    assert settings["words"] == real.settings["words"]


def test_the_control_is_of_methods_that_see_no_dictionary_and_no_spelling():
    assert not any(METHODS[name].supervised for name in CONTROLLED)
    english = controls._english(control("MUSE").settings)
    copy, _ = turned(english, controls.COPY, 0.1, np.random.default_rng(0))
    assert not set(copy.words) & set(english.words)


def test_the_control_asks_for_the_original_of_a_word(monkeypatch):
    """The right map brings each word of the copy next to its original; a wrong one does not."""
    found = {}
    for right in (True, False):

        def learn(problem, settings, right=right):
            originals = problem.check[:, 1] if right else np.roll(problem.check[:, 1], 1)
            pairs = np.stack([problem.check[:, 0], originals], axis=1)
            return METHODS["Procrustes"].learn(replace(problem, pairs=pairs))

        method = replace(METHODS["MUSE"], learn=learn)
        monkeypatch.setitem(controls.METHODS, "MUSE", method)
        wanted = control("MUSE")
        found[right] = cells(controls.run(wanted, TrialContext()))
        assert set(found[right]) == set(wanted.columns)
    assert found[True]["noise 0.1/P@1"] > 95
    assert found[False]["noise 0.1/P@1"] < 20


@pytest.mark.parametrize("name", ["words", "test_words"])
@pytest.mark.parametrize("value", [0, "many"])
def test_a_number_of_words_that_maps_nothing_is_refused(name, value):
    with pytest.raises(SettingsError, match=f"setting {name} must be 1 or more"):
        MAPPINGS.trials("smoke", overrides={name: value})
