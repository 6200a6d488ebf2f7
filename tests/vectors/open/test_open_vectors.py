"""Recipes without data; with the mirror, the removal of tested words from the real dictionaries."""

import numpy as np
import pytest

from tests.vectors.open.invented_files import invent
from xlrepro.vectors.open import lexicon as open_lexicon
from xlrepro.vectors.open import sources as recipes
from xlrepro.vectors.open import vectors as open_vectors
from xlrepro.vectors.open.sources import open_settings
from xlrepro.vectors.tables import load_language, save_language

TEST_SETS = ("flores", "xnli", "iwslt", "-dev", "-test")


def test_recipe_hash_changes_with_settings_and_with_content(monkeypatch):
    def forget():
        for recipe in (open_vectors.recipe_hash, open_vectors.recipe, recipes.lexicon_recipe):
            recipe.cache_clear()

    forget()
    before = open_vectors.recipe_hash("dictionary")
    with monkeypatch.context() as patch:
        forget()
        patch.setattr(recipes, "registered_hash", lambda path: "0" * 64)
        assert open_vectors.recipe_hash("dictionary") != before
    with monkeypatch.context() as patch:
        forget()
        changed = open_settings() | {"lexicon": open_settings()["lexicon"] | {"trust": 6.0}}
        patch.setattr(recipes, "open_settings", lambda: changed)
        assert open_vectors.recipe_hash("dictionary") != before
    forget()
    assert open_vectors.recipe_hash("dictionary") == before


def test_a_language_of_another_paper_is_in_the_hash_of_those_alone_who_read_it():
    every = open_vectors.recipe_hash("dictionary")
    assert "vi" in open_settings()["more_languages"]
    assert open_vectors.recipe_hash("dictionary", "fr", "en") == every
    assert open_vectors.recipe_hash("dictionary", "vi") != every


def test_no_test_set_is_among_the_text():
    for language in [*open_settings()["languages"], *open_settings()["more_languages"]]:
        for path in [file.path for file in recipes.text_files(language)]:
            assert not any(name in path for name in TEST_SETS), path


def test_relatives_and_clitics_fill_gaps_only_and_never_with_tested_words(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    texts = {
        recipes.wiktionary_path("da"): "one\tx\tun\ntwo\tx\tdu\n",
        recipes.wiktionary_path("no"): "wrong\tx\tdu\nthree\tx\ttri\nsix\tx\tseks\n",
        recipes.wiktionary_path("he"): "one\tx\tה\n",
        recipes.frequency_path("da"): "du 9\ntrí 8\nqu 7\nseks 6\n",
    }
    invent(texts, tmp_path, monkeypatch)
    monkeypatch.setattr(open_lexicon, "test_source_words", lambda of: {"six"} if of == "da" else {})
    english = ["one", "two", "three", "wrong", "six"]
    danish, hebrew = (open_lexicon.table(code, frozenset(english)) for code in ("da", "he"))
    assert danish == {"un": {"one": 1.0}, "du": {"two": 1.0}, "trí": {"three": 1.0}}
    assert (hebrew["ה"], hebrew["ו"]) == ({"one": 1.0}, {"and": 1.0})
    save_language(tmp_path / "en", english, np.eye(5))
    monkeypatch.setattr(open_vectors, "_language_folder", lambda *of: tmp_path / "en")
    open_vectors._build_dictionary("da", tmp_path / "da")
    words, matrix = load_language(tmp_path / "da")  # by frequency, each with its own vector
    assert (words, matrix.argmax(axis=1).tolist()) == (["du", "trí", "un"], [1, 2, 0])


@pytest.mark.mirror
@pytest.mark.parametrize("language", ["de", "hi"])
def test_tested_words_are_in_no_dictionary_that_vectors_are_built_from(language):
    tested = open_lexicon.test_source_words(language)
    assert len(tested) == 1500
    assert not tested & {english for english, _ in open_lexicon.dictionary_pairs(language)}
    assert not tested & {english for english, _ in open_lexicon.muse_untested(language)}
    train, test, rest = open_lexicon.muse(language)
    assert {english for english, _ in test} == tested
    # Something is left on either side of the test ranks.
    assert train
    assert rest
