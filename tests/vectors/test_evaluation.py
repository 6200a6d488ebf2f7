import numpy as np
import pytest

from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError
from xlrepro.vectors import evaluation
from xlrepro.vectors.open import lexicon as open_lexicon
from xlrepro.vectors.tables import VectorSet


@pytest.fixture
def vectors():
    words = {"en": ["boat", "house", "radio"], "xx": ["koto", "dom", "radio"]}
    x = np.eye(3, dtype=np.float32)
    return VectorSet("v", words, {"en": x, "xx": x[[0, 2, 1]]})


@pytest.fixture
def muse(monkeypatch):
    test = [("boat", "koto"), ("house", "dom"), ("radio", "radio"), ("radio", "dom")]
    monkeypatch.setattr(open_lexicon, "muse", lambda code: ([], test if code == "xx" else [], []))


def test_coverage_counts_tokens_not_types(vectors):
    corpus = [Sentence(("koto", "koto", "kotok")), Sentence(("zzzz",))]
    assert evaluation.coverage(vectors, "xx", corpus) == {"exact": 0.5, "with_back_off": 0.75}


def test_induction_reports_words_spelt_as_in_english_apart(vectors, muse):
    # "boat" and "radio" come out right ("radio" as "dom"), "house" does not.
    measured = evaluation.induction(vectors, "xx")
    assert measured["precision_at_1"] == pytest.approx(2 / 3)
    assert measured["precision_at_1_spelt"] == pytest.approx(1 / 2)
    assert measured["tested"] == 3


def test_language_without_test_list_says_why(muse):
    with pytest.raises(SettingsError, match="MUSE has no English-to-yy dictionary"):
        evaluation.test_dictionary("yy")


def test_cells_that_cannot_be_measured_are_absent(vectors, muse, monkeypatch):
    words = {code: vectors.words(code) for code in ("en", "xx")}
    matrices = {code: vectors.matrix(code) for code in ("en", "xx")}
    words["sk"], matrices["sk"] = words["xx"], matrices["xx"]
    more = VectorSet("v", words, matrices)
    monkeypatch.setattr(
        evaluation.loading, "load", lambda name, file_id: [Sentence(("koto", "zzzz"))]
    )
    # The registry has a Slovak test file and no Slovak development file; MUSE has no Slovak.
    assert evaluation.evaluate(more, "sk") == {
        "coverage_test_exact": 50.0,
        "coverage_test": 50.0,
    }
