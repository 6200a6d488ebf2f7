"""MUSE and UMWE on artificial languages: the alignment is found, or the vectors are refused."""

from dataclasses import replace

import numpy as np
import pytest

from xlrepro.artificial import Family
from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe.texts import data
from xlrepro.vectors import artificial as artificial_vectors
from xlrepro.vectors.mappings import artificial_unsupervised
from xlrepro.vectors.mappings.artificial_unsupervised import SETTINGS, load
from xlrepro.vectors.mappings.spaces import CollapsedError
from xlrepro.vectors.tables import VectorSet

FAMILY = Family(0)
DIM = 16
CODES = ("es", "nl")  # of the smallest vocabularies
SHORT = replace(SETTINGS, epochs=1, epoch_steps=50)


@pytest.fixture(scope="module")
def whole() -> VectorSet:
    """The vectors before they are turned."""
    return artificial_vectors.load(FAMILY, CODES, DIM)


@pytest.fixture
def short(monkeypatch, whole):
    """Play for a moment, with vectors that are made once."""
    monkeypatch.setattr(artificial_vectors, "load", lambda family, codes, dim: whole)
    monkeypatch.setattr(artificial_unsupervised, "SETTINGS", SHORT)


def unit(matrix):
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["muse", "umwe"])
def test_translations_come_together_though_no_dictionary_was_seen(short, whole, name):
    mapped = load(name, FAMILY, CODES, DIM)
    assert (mapped.name, mapped.languages, mapped.dim) == (name, ("en", *CODES), DIM)
    for code in CODES:
        rows = {word: row for row, word in enumerate(whole.words(code))}
        same = [rows[word] for word in mapped.words(code)]  # in another order of frequency
        known = unit(np.asarray(whole.matrix(code)))[same]
        learnt = unit(np.asarray(mapped.matrix(code)))
        # Mapping centres the vectors, so that even the right map leaves a difference.
        assert (known * learnt).sum(axis=1).mean() > 0.85
        # Not that they had never been turned away from it.
        apart = artificial_unsupervised._own_space(FAMILY, whole, code)
        assert (known * unit(apart.matrix)).sum(axis=1).mean() < 0.7


def test_the_settings_of_table_4_s_row_find_the_alignment(monkeypatch):
    reports = {}
    monkeypatch.setattr(
        artificial_unsupervised, "refuse_collapsed", lambda name, r: reports.update(r)
    )
    load("umwe", FAMILY, CODES, data.ARTIFICIAL_DIM)
    assert {code: report.precision > 0.95 for code, report in reports.items()} == {
        "es": True,
        "nl": True,
    }


def test_vectors_of_a_collapsed_map_are_not_handed_out(monkeypatch, short):
    untrained = replace(SETTINGS, epochs=1, epoch_steps=1, refinements=0)
    monkeypatch.setattr(artificial_unsupervised, "SETTINGS", untrained)
    far = np.linalg.qr(np.random.default_rng(0).normal(size=(DIM, DIM)))[0]
    turned = artificial_unsupervised.turned

    def turned_far(*arguments, **options):
        space, order = turned(*arguments, **options)
        return replace(space, matrix=(space.matrix @ far).astype(np.float32)), order

    monkeypatch.setattr(artificial_unsupervised, "turned", turned_far)
    with pytest.raises(CollapsedError, match=r"'umwe': the maps of es \(.*\), nl \(.*collapsed"):
        load("umwe", FAMILY, CODES, DIM)


def test_other_names_are_refused():
    with pytest.raises(SettingsError, match="umwe"):
        load("joint", FAMILY, ("de",), DIM)
