import numpy as np
import pytest

from xlrepro.data.sentences import Sentence
from xlrepro.vectors import evaluation
from xlrepro.vectors.open import lexicon
from xlrepro.vectors.tables import VectorSet


@pytest.fixture
def vectors():
    words = {"en": ["boat", "house", "radio"], "xx": ["koto", "dom", "radio"]}
    x = np.eye(3, dtype=np.float32)
    return VectorSet("v", words, {"en": x, "xx": x[[0, 2, 1]]})


def test_coverage_counts_tokens_not_types(vectors):
    corpus = [Sentence(("koto", "koto", "kotok")), Sentence(("zzzz",))]
    found = evaluation.measured(vectors, "xx", corpus, {})
    assert found == {"coverage_test_exact": 50.0, "coverage_test": 75.0}


def test_cells_that_cannot_be_measured_are_absent(vectors, monkeypatch):
    test = [("boat", "koto"), ("house", "dom"), ("radio", "radio"), ("radio", "dom")]
    monkeypatch.setattr(lexicon, "muse", lambda code: ([], test if code == "xx" else [], []))
    monkeypatch.setattr(evaluation.loading, "load", lambda *name: [Sentence(("koto", "zzzz"))])
    covered = {"coverage_test_exact": 50.0, "coverage_test": 50.0}
    assert evaluation.evaluate(vectors, "en")["coverage_test_exact"] == 0.0
    # "boat" and "radio" come out right ("radio" as "dom"), "house" does not.
    assert evaluation.evaluate(vectors, "xx") == covered | {
        "induction_p_at_1": pytest.approx(200 / 3),
        "induction_p_at_1_spelt": 50.0,
        "induction_tested": 3,
    }
    words, x = {code: ["koto"] for code in ("en", "sk")}, np.ones((1, 3))
    more = VectorSet("v", words, {"en": x, "sk": x})  # MUSE has no Slovak
    assert evaluation.evaluate(more, "sk") == covered
