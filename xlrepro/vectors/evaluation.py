"""How good a vector set is for a language: coverage of a treebank, and dictionary induction."""

from collections.abc import Mapping, Sequence

import numpy as np

from xlrepro.data import loading
from xlrepro.data.sentences import Sentence
from xlrepro.vectors.mappings.csls import precision_at_1
from xlrepro.vectors.open import lexicon
from xlrepro.vectors.open.lexicon import unit_rows
from xlrepro.vectors.tables import BACK_OFF, EXACT, WordVectors

TREEBANKS = "ud-r2.2"


def coverage(vectors: WordVectors, language: str, corpus: Sequence[Sentence]) -> dict[str, float]:
    """Return the shares of a corpus's tokens that have a vector.

    Returns:
        ``exact``: share of tokens found as they stand; ``with_back_off``: found at all; from 0 to
        1.
    """
    tokens = [token for sentence in corpus for token in sentence.tokens]
    _, kinds = vectors.lookup(language, tokens)
    return {
        "exact": float(np.mean(kinds == EXACT)),
        "with_back_off": float(np.mean((kinds == EXACT) | (kinds == BACK_OFF))),
    }


def induction(
    vectors: WordVectors, gold: Mapping[str, set[str]], language: str
) -> dict[str, float]:
    """Return precision at 1 (CSLS) of translating the MUSE test words from English.

    Args:
        vectors: of this language and English.
        gold: the MUSE test pairs, by English word.
        language: its code.

    Returns:
        ``induction_p_at_1`` over all test words with vectors on both sides, and
        ``induction_p_at_1_spelt`` without those that have a translation spelt as in English, which
        identical strings give away (absent where there are no others), in percent;
        ``induction_tested``: the number of words of the former.
    """
    sides = (
        vectors.words(vectors.source),
        unit_rows(np.asarray(vectors.matrix(vectors.source))),
        vectors.words(language),
        unit_rows(np.asarray(vectors.matrix(language))),
    )
    share, tested = precision_at_1(gold, *sides)
    spelt = {english: foreign for english, foreign in gold.items() if english not in foreign}
    share_spelt, others = precision_at_1(spelt, *sides)
    cells = {"induction_p_at_1": 100 * share, "induction_tested": float(tested)}
    return cells | ({"induction_p_at_1_spelt": 100 * share_spelt} if others else {})


def evaluate(vectors: WordVectors, language: str) -> dict[str, float]:
    """Measure a set of open word vectors on one language.

    Args:
        vectors: of this language and English.
        language: code of a language of the set.

    Returns:
        ``coverage_test_exact`` and ``coverage_test`` (with back-off) in percent of the tokens of
        the test treebank; what `induction` gives, where MUSE has a test list.
    """
    shares = coverage(vectors, language, loading.load(TREEBANKS, f"{language}/test"))
    cells = {
        "coverage_test_exact": 100 * shares["exact"],
        "coverage_test": 100 * shares["with_back_off"],
    }
    gold: dict[str, set[str]] = {}
    if language != vectors.source:
        for english, foreign in lexicon.muse(language)[1]:
            gold.setdefault(english, set()).add(foreign)
    return cells | (induction(vectors, gold, language) if gold else {})
