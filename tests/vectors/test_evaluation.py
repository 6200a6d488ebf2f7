import numpy as np
import pytest

from xlrepro.data.sentences import Sentence
from xlrepro.vectors import evaluation
from xlrepro.vectors.tables import VectorSet


@pytest.fixture
def vectors():
    words = {"en": ["boat", "house", "radio"], "xx": ["koto", "dom", "radio"]}
    x = np.eye(3, dtype=np.float32)
    return VectorSet("v", words, {"en": x, "xx": x[[0, 2, 1]]})


def test_coverage_counts_tokens_not_types_and_words_are_translated_where_there_are_any(vectors):
    corpus = [Sentence(("koto", "koto", "kotok")), Sentence(("zzzz",))]
    covered = {"coverage_test_exact": 50.0, "coverage_test": 75.0}
    assert evaluation.measured(vectors, "xx", corpus, {}) == covered
    # "boat" and "radio" come out right ("radio" as "dom"), "house" does not.
    gold = {"boat": {"koto"}, "house": {"dom"}, "radio": {"radio", "dom"}}
    assert evaluation.measured(vectors, "xx", corpus, gold) == covered | {
        "induction_p_at_1": pytest.approx(200 / 3),
        "induction_p_at_1_spelt": 50.0,
    }
    same = evaluation.measured(vectors, "xx", corpus, {"radio": {"radio"}})
    assert "induction_p_at_1_spelt" not in same
