"""Vectors mapped without a dictionary: handed out when sound, refused with a reason when not."""

from dataclasses import replace

import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe.texts import data
from xlrepro.vectors.mappings import unsupervised as unsupervised_vectors
from xlrepro.vectors.mappings.artificial_spaces import source, turned, unrelated
from xlrepro.vectors.mappings.collapse import report_of
from xlrepro.vectors.mappings.procrustes import procrustes_map
from xlrepro.vectors.mappings.spaces import CollapsedError
from xlrepro.vectors.open import vectors as open_vectors
from xlrepro.vectors.tables import save_language

ENGLISH = source(200, 12)
GERMAN, TRUTH = turned(ENGLISH, "de", 0.1, np.random.default_rng(0))
STRANGER = unrelated(200, 12, "es")


@pytest.fixture
def spaces(monkeypatch, tmp_path):
    """Three languages in a cache of their own; learning is quick, its verdict is the real one."""
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    folders = {}
    for code, space in (("en", ENGLISH), ("de", GERMAN), ("es", STRANGER)):
        folders[code] = tmp_path / code
        save_language(folders[code], list(space.words), space.matrix)
    monkeypatch.setattr(open_vectors, "monolingual_folder", folders.__getitem__)
    rows = {"de": np.stack([np.arange(200), TRUTH], axis=1), "es": np.stack([np.arange(200)] * 2).T}
    monkeypatch.setattr(unsupervised_vectors, "dictionary_rows", lambda code, x, y: rows[code])
    learnt = []

    def learn(problem, settings):
        learnt.append(problem.x)
        if problem.x.words[0].endswith("de"):
            return procrustes_map(replace(problem, pairs=problem.check))
        return report_of(
            "MUSE", problem, (np.eye(12, dtype=np.float32), None), pairs=0, steps=0, started=0.0,
            history=(), unsupervised=True,
        )  # fmt: skip

    monkeypatch.setattr(unsupervised_vectors, "muse", learn)
    return learnt


def test_sound_maps_bring_translations_together(spaces):
    found = unsupervised_vectors.load("muse", ["en", "de"])
    assert found.languages == ("en", "de")
    cosines = (found.matrix("de") * np.asarray(found.matrix("en"))[TRUTH]).sum(axis=1)
    assert cosines.mean() > 0.9


def test_one_collapsed_language_is_named_and_nothing_is_handed_out(spaces):
    with pytest.raises(CollapsedError, match=r"'muse': the maps of es \(P@1 .*\) collapsed"):
        unsupervised_vectors.load("muse", ["en", "de", "es"])


def test_the_verdict_is_found_out_once(spaces):
    for _ in range(2):
        with pytest.raises(CollapsedError):
            unsupervised_vectors.load("muse", ["es", "en"])
    assert len(spaces) == 1


def test_the_recipe_names_method_and_languages_whatever_their_order():
    hashes = [
        data.vectors_hash("panx-wikiann", name, languages)
        for name, languages in (
            ("umwe", ("en", "de", "es")),
            ("umwe", ("es", "de", "en")),
            ("umwe", ("en", "de")),
            ("muse", ("en", "de", "es")),
        )
    ]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_other_names_are_refused():
    with pytest.raises(SettingsError, match="umwe"):
        unsupervised_vectors.load("joint", ["en", "de"])
