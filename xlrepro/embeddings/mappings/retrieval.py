"""Word translation by nearest neighbours: CSLS, and precision at 1.

Reference:
    Conneau et al. (2018), Word translation without parallel data, §2.3:
    CSLS(x, y) = 2 cos(x, y) − r(x) − r(y), where r(x) is the mean cosine of x and its k nearest
    neighbours in the other language.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from xlrepro.precision import working_dtype

# Rows of queries scored at a time: 512 x 200,000 candidates x 4 bytes = 400 MB.
BLOCK = 512


def mean_similarity(queries: np.ndarray, others: np.ndarray, k: int = 10) -> np.ndarray:
    """Return r: the mean cosine of each query and its ``k`` nearest rows of ``others``.

    Args:
        queries: rows of length 1, ``(n, dim)``.
        others: rows of length 1, ``(m, dim)``.
        k: neighbours; all of ``others`` if there are fewer.

    Returns:
        ``(n,)``.
    """
    k = min(k, len(others))
    means = np.empty(len(queries), dtype=working_dtype())
    for start in range(0, len(queries), BLOCK):
        scores = queries[start : start + BLOCK] @ others.T
        means[start : start + BLOCK] = np.partition(scores, -k, axis=1)[:, -k:].mean(axis=1)
    return means


def csls_retrieve(
    queries: np.ndarray,
    targets: np.ndarray,
    sources: np.ndarray | None = None,
    *,
    k: int = 10,
    target_similarity: np.ndarray | None = None,
) -> np.ndarray:
    """Return for each query the row of the target with the highest CSLS.

    Args:
        queries: rows of length 1, ``(n, dim)``.
        targets: candidate translations, rows of length 1, ``(m, dim)``.
        sources: vocabulary of the queries' language, from which r(target) is computed; the
            queries themselves if not given.
        k: neighbours of the hubness correction.
        target_similarity: r(target), if the caller has it already, ``(m,)``.

    Returns:
        int64 ``(n,)``.
    """
    if target_similarity is None:
        target_similarity = mean_similarity(targets, queries if sources is None else sources, k)
    best = np.empty(len(queries), dtype=np.int64)
    for start in range(0, len(queries), BLOCK):
        # r(query) is the same for all targets of a row and does not change the best one.
        scores = 2 * (queries[start : start + BLOCK] @ targets.T) - target_similarity
        best[start : start + BLOCK] = scores.argmax(axis=1)
    return best


def mutual_nearest(x: np.ndarray, y: np.ndarray, k: int = 10) -> np.ndarray:
    """Return the pairs of rows that are each other's best by CSLS, int64 ``(pairs, 2)``."""
    forward = csls_retrieve(x, y, x, k=k)
    backward = csls_retrieve(y, x, y, k=k)
    rows = np.flatnonzero(backward[forward] == np.arange(len(x)))
    return np.stack([rows, forward[rows]], axis=1)


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
    asked = [word for word in gold if word in rows and gold[word] & candidates]
    if not asked:
        return float("nan"), 0
    queries = source_matrix[[rows[word] for word in asked]]
    best = csls_retrieve(queries, target_matrix, source_matrix[:neighbourhood], k=k)
    right = sum(target_words[row] in gold[word] for word, row in zip(asked, best, strict=True))
    return right / len(asked), len(asked)
