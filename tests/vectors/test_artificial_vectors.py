import numpy as np
import pytest

from xlrepro.artificial import Family
from xlrepro.vectors.artificial import dictionary, load

FAMILY = Family(seed=0)


@pytest.mark.parametrize("name", ["dictionary", "mapped"])
def test_nearly_all_words_of_unseen_sentences_have_a_vector(name):
    vectors = load(FAMILY, ["en", "de", "ja"], 16, name, sentences=600)
    assert vectors.languages == ("en", "de", "ja")
    for code in vectors.languages:
        tokens = [t for s in FAMILY.corpus(code, 100, split="test") for t in s.tokens]
        assert (vectors.lookup(code, tokens)[1] == 0).mean() < 0.1


def test_a_translation_lies_at_its_english_word():
    vectors = load(FAMILY, ["fi"], 16, sentences=600)
    known = set(vectors.words("en"))
    english_of = {}
    for english, foreign in dictionary(FAMILY, "fi"):
        english_of.setdefault(foreign, set()).add(english)
    only = [(f, *e) for f, e in english_of.items() if len(e) == 1 and e <= known][:200]
    foreign, english = zip(*only)
    np.testing.assert_allclose(
        vectors.lookup("fi", foreign)[0], vectors.lookup("en", english)[0], atol=1e-3
    )
