"""Vectors of foreign words as weighted means of their English translations' vectors."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from xlrepro.precision import working_dtype
from xlrepro.vectors.open.translation_tables import TranslationTable


def unit_rows(matrix: np.ndarray) -> np.ndarray:
    """Return the rows at length 1; a zero row stays zero. Same shape, of the working precision."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1.0), dtype=working_dtype())


def centred_unit_rows(matrix: np.ndarray) -> np.ndarray:
    """Return the rows at length 1, centred, and at length 1 again.

    The normalisation before mapping of Artetxe et al. (2018), A robust self-learning method for
    fully unsupervised cross-lingual mappings of word embeddings, §3.1.
    """
    unit = unit_rows(matrix)
    return unit_rows(unit - unit.mean(axis=0, keepdims=True))


def pair_rows(
    pairs: Iterable[tuple[str, str]], foreign_words: Sequence[str], source_words: Sequence[str]
) -> np.ndarray:
    """Return the pairs whose words both have vectors as rows, int64 ``(pairs, 2)``.

    Args:
        pairs: (English, foreign).
        foreign_words: one per row.
        source_words: English ones, one per row.

    Returns:
        (row of the foreign word, row of the English word), in the order of ``pairs``.

    Example:
        >>> pair_rows([("tree", "baum"), ("sky", "himmel")], ["haus", "baum"], ["tree", "sky"])
        array([[1, 0]])
    """
    rows = {word: row for row, word in enumerate(foreign_words)}
    source_rows = {word: row for row, word in enumerate(source_words)}
    known = [(rows[f], source_rows[e]) for e, f in pairs if f in rows and e in source_rows]
    return np.array(known, dtype=np.int64).reshape(-1, 2)


def dictionary_vectors(
    table: TranslationTable, source_rows: Mapping[str, int], source_matrix: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Give every foreign word of a table the weighted mean of its translations' vectors.

    Args:
        table: weights; translations without a vector must not be in it.
        source_rows: row of each English word.
        source_matrix: their vectors, rows of length 1, ``(words, dim)``.

    Returns:
        The foreign words in the table's order, and their vectors at length 1.
    """
    words = list(table.translations)
    rows, columns, weights = [], [], []
    for row, word in enumerate(words):
        for english, weight in table.translations[word].items():
            rows.append(row)
            columns.append(source_rows[english])
            weights.append(weight)
    shape = (len(words), len(source_matrix))
    # Entry (i, j): weight of English word j among the translations of foreign word i.
    entries = np.array(weights, dtype=working_dtype())
    from scipy import sparse  # only here: most readers of this module centre vectors

    mixture = sparse.csr_matrix((entries, (rows, columns)), shape=shape)
    return words, unit_rows(mixture @ source_matrix)


def shared_strings(
    words: Sequence[str], table: TranslationTable, source_words: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return entries for words that are written the same in the source language.

    Only words the table does not know; with letters, only from four letters up (short strings are
    different words in different languages). Strings without letters, such as punctuation and
    numbers, are shared whether or not they are among ``words``.
    """
    known = set(source_words)
    letterless = [word for word in source_words if not any(sign.isalpha() for sign in word)]
    same = [word for word in words if len(word) >= 4 and word in known]
    # Punctuation keeps its own vector even where aligned text has led it astray.
    shared: dict[str, dict[str, float]] = {word: {word: 1.0} for word in letterless}
    for word in same:
        if word not in table.translations:
            shared[word] = {word: 1.0}
    return shared
