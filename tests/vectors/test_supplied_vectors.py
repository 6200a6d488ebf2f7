"""A user's monolingual vectors, mapped without a dictionary and kept. All words are invented."""

from dataclasses import replace

import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.vectors import supplied as supplied_vectors
from xlrepro.vectors.mappings import unsupervised as unsupervised_vectors
from xlrepro.vectors.mappings.artificial_spaces import source, turned, unrelated
from xlrepro.vectors.mappings.recipes import AdversarialSettings
from xlrepro.vectors.mappings.spaces import CollapsedError, Space

SETTINGS = AdversarialSettings(
    hidden=64, batch_size=64, epochs=4, epoch_steps=200, learning_rate=0.2
)
ENGLISH = source(300, 12)
GERMAN, TRUTH = turned(ENGLISH, "de", 0.1, np.random.default_rng(0))


def write(path, space, scale=3.0):
    """Write the space as fastText does: rows of no particular length."""
    rows = [
        f"{word} {' '.join(f'{x:.5f}' for x in scale * row)}"
        for word, row in zip(space.words, space.matrix, strict=True)
    ]
    path.write_text("\n".join([f"{len(rows)} 12", *rows, ""]), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    return {
        "en": write(tmp_path / "wiki.en.vec", ENGLISH),
        "de": write(tmp_path / "wiki.de.vec", GERMAN),
    }


@pytest.mark.parametrize("name", ["muse", "umwe"])
def test_translations_come_together(files, name):
    found = supplied_vectors.load(name, files, SETTINGS)
    assert found.languages == ("en", "de")
    cosines = (np.asarray(found.matrix("de")) * np.asarray(found.matrix("en"))[TRUTH]).sum(axis=1)
    assert cosines.mean() > 0.95
    assert found.words("de") == list(GERMAN.words)


def test_maps_are_learnt_once(files, monkeypatch):
    first = supplied_vectors.load("muse", files, SETTINGS)
    monkeypatch.setattr(unsupervised_vectors, "muse", None)  # a second learning would fail
    again = supplied_vectors.load("muse", files, SETTINGS)
    assert np.array_equal(first.matrix("de"), again.matrix("de"))
    assert first.content_hash == again.content_hash


def test_other_files_settings_and_methods_are_learnt_anew(files, monkeypatch):
    learnt = []
    quick = replace(SETTINGS, epochs=1)
    original = unsupervised_vectors.learnt_maps

    def learn(name, *more, **options):
        learnt.append(name)
        return original(name, *more, **options)

    monkeypatch.setattr(unsupervised_vectors, "learnt_maps", learn)
    hashes = [supplied_vectors.load(n, files, SETTINGS).content_hash for n in ("muse", "umwe")]
    hashes.append(supplied_vectors.load("muse", files, quick).content_hash)
    write(files["de"], Space(GERMAN.words[:250], GERMAN.matrix[:250]))
    hashes.append(supplied_vectors.load("muse", files, SETTINGS).content_hash)
    assert learnt == ["muse", "umwe", "muse", "muse"]
    assert len(set(hashes)) == 4


def test_a_collapsed_map_is_named_and_nothing_is_handed_out(files):
    write(files["de"], unrelated(300, 12, "de"))
    with pytest.raises(CollapsedError, match=r"'muse': the maps of de \(mean cosine .*chance"):
        supplied_vectors.load("muse", files, SETTINGS)


def test_other_names_are_refused(files):
    with pytest.raises(SettingsError, match="umwe"):
        supplied_vectors.recipe("joint", files)
