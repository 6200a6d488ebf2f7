"""How good a vector set is for a language: coverage of a treebank, and dictionary induction."""

import math
from collections.abc import Sequence

import numpy as np

from xlrepro.data import loading, registry
from xlrepro.data.sentences import Sentence
from xlrepro.errors import SettingsError
from xlrepro.vectors.encoding import Lookup, WordVectors
from xlrepro.vectors.mappings.csls import precision_at_1
from xlrepro.vectors.open import lexicon as open_lexicon
from xlrepro.vectors.open.lexicon import unit_rows
from xlrepro.vectors.tables import BACK_OFF, EXACT

TREEBANKS = "ud-r2.2"
NO_TEST_LIST = "MUSE has no English-to-{language} dictionary in the registered data"


def coverage(vectors: Lookup, language: str, corpus: Sequence[Sentence]) -> dict[str, float]:
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


def test_dictionary(language: str) -> dict[str, set[str]]:
    """Return the MUSE test pairs (source words at ranks 5,000 to 6,499), by English word.

    Raises:
        SettingsError: for a language without a MUSE dictionary.
    """
    _, test, _ = open_lexicon.muse(language)
    if not test:
        raise SettingsError(NO_TEST_LIST.format(language=language))
    gold: dict[str, set[str]] = {}
    for english, foreign in test:
        gold.setdefault(english, set()).add(foreign)
    return gold


def induction(vectors: WordVectors, language: str) -> dict[str, float]:
    """Return precision at 1 (CSLS) of translating the MUSE test words from English.

    Returns:
        ``precision_at_1`` over all test words with vectors on both sides; ``precision_at_1_spelt``
        without those that have a translation spelt as in English, which identical strings give
        away; ``tested``: the number of words of the former. From 0 to 1.
    """
    gold = test_dictionary(language)
    sides = (
        vectors.words(vectors.source),
        unit_rows(np.asarray(vectors.matrix(vectors.source))),
        vectors.words(language),
        unit_rows(np.asarray(vectors.matrix(language))),
    )
    share, tested = precision_at_1(gold, *sides)
    spelt = {english: foreign for english, foreign in gold.items() if english not in foreign}
    share_spelt, _ = precision_at_1(spelt, *sides)
    return {
        "precision_at_1": share,
        "precision_at_1_spelt": share_spelt,
        "tested": float(tested),
    }


def evaluate(
    vectors: WordVectors, language: str, splits: Sequence[str] = ("dev", "test")
) -> dict[str, float]:
    """Measure a set of open word vectors on one language.

    Args:
        vectors: of this language and English.
        language: code of a language of the set.
        splits: of the language's treebank; one that the registry lacks gives no cell.

    Returns:
        ``coverage_<split>_exact`` and ``coverage_<split>`` (with back-off) in percent of tokens;
        ``induction_p_at_1``, ``induction_p_at_1_spelt`` in percent and ``induction_tested`` in
        words, where MUSE has a test list (:data:`NO_TEST_LIST` is the reason where it has not).
    """
    cells: dict[str, float] = {}
    known = registry.dataset(TREEBANKS).files
    for split in splits:
        file_id = f"{language}/{split}"
        if file_id in known:
            shares = coverage(vectors, language, loading.load(TREEBANKS, file_id))
            cells[f"coverage_{split}_exact"] = 100 * shares["exact"]
            cells[f"coverage_{split}"] = 100 * shares["with_back_off"]
    if language != vectors.source and open_lexicon.muse(language)[1]:
        measured = induction(vectors, language)
        cells["induction_p_at_1"] = 100 * measured["precision_at_1"]
        if not math.isnan(measured["precision_at_1_spelt"]):
            cells["induction_p_at_1_spelt"] = 100 * measured["precision_at_1_spelt"]
        cells["induction_tested"] = measured["tested"]
    return cells
