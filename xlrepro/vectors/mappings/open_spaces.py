"""The spaces and dictionaries that mappings of the open vectors are learnt from."""

import numpy as np

from xlrepro.vectors.mappings.spaces import Space
from xlrepro.vectors.open import lexicon as open_lexicon
from xlrepro.vectors.open import vectors as open_vectors
from xlrepro.vectors.open.dictionary import pair_rows
from xlrepro.vectors.tables import load_language


def monolingual_space(language: str, words: int) -> Space:
    """Return the most frequent words of a language's open skip-gram model, building it if need be.

    Raises:
        SettingsError: for a language without open vectors.
        DataError: if the text it is built from cannot be had.
    """
    names, matrix = load_language(open_vectors.monolingual_folder(language))
    return Space(names[:words], np.array(matrix[:words]))


def dictionary_rows(language: str, space: Space, english: Space) -> np.ndarray:
    """Return a language's seed dictionary, without the MUSE test words, as rows.

    Returns:
        int64 ``(pairs, 2)``: (row of the language, row of English).
    """
    pairs = open_lexicon.seed_pairs(language, frozenset(english.words), space.words)
    return pair_rows(pairs, space.words, english.words)
