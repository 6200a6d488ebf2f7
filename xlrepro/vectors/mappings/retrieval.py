"""Word translation by the CSLS of `csls`, for arrays and words: retrieval, precision at 1."""

from collections.abc import Mapping, Sequence

import numpy as np


def csls_retrieve(
    queries: np.ndarray, targets: np.ndarray, sources: np.ndarray | None = None, *, k: int = 10
) -> np.ndarray:
    """Return for each query the row of the target with the highest CSLS, int64 ``(n,)``.

    Args:
        queries: rows of length 1, ``(n, dim)``.
        targets: candidate translations, rows of length 1, ``(m, dim)``.
        sources: vocabulary of the queries' language, from which r(target) is computed; the
            queries themselves if not given. ``(words, dim)``
        k: neighbours of the hubness correction.
    """
    import torch  # only here: trials are named without it

    from xlrepro.vectors.mappings.csls import best_translations

    sides = (queries, targets, queries if sources is None else sources)
    dtype = np.result_type(*sides)
    q, t, s = (torch.from_numpy(np.array(side, dtype)) for side in sides)
    return np.asarray(best_translations(q, t, s, k))


def precision_at_1(
    gold: Mapping[str, set[str]],
    source_words: Sequence[str],
    source_matrix: np.ndarray,
    target_words: Sequence[str],
    target_matrix: np.ndarray,
    *,
    k: int = 10,
    neighbourhood: int = 20_000,
) -> tuple[float, int]:
    """Return the share of source words whose best target by CSLS is a gold translation.

    A source word counts if it has a vector and at least one of its translations has one, as in
    the evaluation of MUSE.

    Args:
        gold: source word to its translations.
        source_words: of the source language, most frequent first.
        source_matrix: their vectors, rows of length 1, ``(n, dim)``.
        target_words: of the target language.
        target_matrix: their vectors, rows of length 1, ``(m, dim)``.
        k: neighbours of CSLS.
        neighbourhood: most frequent source words from which r(target) is computed.

    Returns:
        Precision at 1 (0 to 1; nan if no word counts), and the number of source words that count.
    """
    rows = {word: row for row, word in enumerate(source_words)}
    candidates = set(target_words)
    counted = [word for word in gold if word in rows and gold[word] & candidates]
    if not counted:
        return float("nan"), 0
    queries = source_matrix[[rows[word] for word in counted]]
    best = csls_retrieve(queries, target_matrix, source_matrix[:neighbourhood], k=k)
    right = sum(target_words[row] in gold[word] for word, row in zip(counted, best, strict=True))
    return right / len(counted), len(counted)
