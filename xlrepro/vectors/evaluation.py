"""How good a vector set is for a language: coverage of a treebank, and dictionary induction."""

from collections.abc import Mapping, Sequence

import numpy as np

from xlrepro.data import loading
from xlrepro.data.sentences import Sentence
from xlrepro.vectors.mappings.csls import precision_at_1
from xlrepro.vectors.open import lexicon
from xlrepro.vectors.open.lexicon import unit_rows
from xlrepro.vectors.tables import EXACT, UNKNOWN, WordVectors

TREEBANKS = "ud-r2.2"


def measured(
    vectors: WordVectors, language: str, corpus: Sequence[Sentence], gold: Mapping[str, set[str]]
) -> dict[str, float]:
    """Measure word vectors on one language.

    Args:
        vectors: of this language and English.
        language: its code.
        corpus: whose tokens, not types, are to be covered.
        gold: English word to its translations; empty: no words to translate.

    Returns:
        ``coverage_test_exact`` and ``coverage_test`` (with back-off) in percent of the tokens; what
        `induction` gives, where there is something to translate.
    """
    tokens = [token for sentence in corpus for token in sentence.tokens]
    _, kinds = vectors.lookup(language, tokens)
    cells = {"coverage_test_exact": 100 * float(np.mean(kinds == EXACT))}
    cells["coverage_test"] = 100 * float(np.mean(kinds != UNKNOWN))
    return cells | (induction(vectors, gold, language) if gold else {})


def induction(
    vectors: WordVectors, gold: Mapping[str, set[str]], language: str
) -> dict[str, float]:
    """Return precision at 1 (CSLS) of translating test words from English.

    Args:
        vectors: of this language and English.
        gold: English word to its translations.
        language: its code.

    Returns:
        ``induction_p_at_1`` over all test words with vectors on both sides, and
        ``induction_p_at_1_spelt`` without those that have a translation spelt as in English, which
        identical strings give away (absent where there are no others), in percent.
    """
    codes = vectors.source, language
    x, y = (unit_rows(np.asarray(vectors.matrix(code))) for code in codes)
    sides = (vectors.words(vectors.source), x, vectors.words(language), y)
    share, _ = precision_at_1(gold, *sides)
    spelt = {english: foreign for english, foreign in gold.items() if english not in foreign}
    share_spelt, others = precision_at_1(spelt, *sides)
    cells = {"induction_p_at_1": 100 * share}
    return cells | ({"induction_p_at_1_spelt": 100 * share_spelt} if others else {})


def evaluate(vectors: WordVectors, language: str) -> dict[str, float]:
    """Return `measured` of open vectors: on the test treebank, and the MUSE test list if any."""
    gold: dict[str, set[str]] = {}
    if language != vectors.source:
        for english, foreign in lexicon.muse(language)[1]:
            gold.setdefault(english, set()).add(foreign)
    return measured(vectors, language, loading.load(TREEBANKS, f"{language}/test"), gold)
