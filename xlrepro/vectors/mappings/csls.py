"""CSLS between two spaces, one way or both at once, in blocks, on CPU or GPU; maps learnt for it.

References:
    Conneau et al. (2018), Word translation without parallel data, §2.3:
    CSLS(x, y) = 2 cos(x, y) − r(x) − r(y).

    RCSLS: Joulin et al. (2018), Loss in translation: learning bilingual word mapping with a
    retrieval criterion, §3. The loss of a dictionary of n pairs is

        1/n Σᵢ [ −2 s(xᵢ, yᵢ) + 1/k Σ_{y ∈ N(xᵢ)} s(xᵢ, y) + 1/k Σ_{x ∈ N(yᵢ)} s(x, yᵢ) ],

    with s(x, y) = x W · y and N the k nearest neighbours among all words of the other language.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from scipy.linalg import orthogonal_procrustes
from torch import Tensor

from xlrepro.precision import working_dtype

BLOCK = 1024  # rows at a time: 1,024 x 20,000 candidates x 4 bytes = 82 MB
NEIGHBOURS = 10  # k of r: "we use K = 10" (§3.2)
FREQUENT = 20_000  # source words from which precision's r(target) is computed


def neighbour_mean(x: Tensor, y: Tensor, k: int = NEIGHBOURS) -> Tensor:
    """Return r: the mean cosine of each row of x and its k nearest rows of y, ``(n,)``.

    Args:
        x: rows of length 1, ``(n, dim)``.
        y: rows of length 1, ``(m, dim)``.
        k: neighbours; all of y where there are fewer.
    """
    k = min(k, len(y))
    return torch.cat([(block @ y.T).topk(k, dim=1).values.mean(dim=1) for block in x.split(BLOCK)])


def retrieve(
    queries: Tensor, targets: Tensor, sources: Tensor | None = None, k: int = NEIGHBOURS
) -> Tensor:
    """Return for each query the row of the target with the highest CSLS, int64 ``(n,)``.

    Args:
        queries: rows of length 1, ``(n, dim)``.
        targets: candidate translations, rows of length 1, ``(m, dim)``.
        sources: vocabulary of the queries' language, from which r(target) is computed; the
            queries themselves if not given. ``(words, dim)``
        k: neighbours of the hubness correction.
    """
    r_targets = neighbour_mean(targets, queries if sources is None else sources, k)
    # r(query) is the same for all its candidates and does not change the best.
    # shape of each product: (block, m)
    best = [(block @ targets.T - r_targets / 2).argmax(dim=1) for block in queries.split(BLOCK)]
    return torch.cat(best)


def mutual(x: Tensor, y: Tensor) -> Tensor:
    """Return the pairs that are each other's best translation, int64 ``(pairs, 2)``."""
    forward, backward = retrieve(x, y), retrieve(y, x)
    rows = torch.arange(len(forward), device=x.device)
    agree = backward[forward] == rows
    return torch.stack([rows[agree], forward[agree]], dim=1)


def precision_at_1(
    gold: Mapping[str, set[str]],
    source_words: Sequence[str],
    source_matrix: np.ndarray,
    target_words: Sequence[str],
    target_matrix: np.ndarray,
    *,
    k: int = NEIGHBOURS,
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

    Returns:
        Precision at 1 (0 to 1; nan if no word counts), and the number of source words that count.
    """
    rows = {word: row for row, word in enumerate(source_words)}
    candidates = set(target_words)
    counted = [word for word in gold if word in rows and gold[word] & candidates]
    if not counted:
        return float("nan"), 0
    queries = source_matrix[[rows[word] for word in counted]]
    sides = (queries, target_matrix, source_matrix[:FREQUENT])
    dtype = np.result_type(*sides)
    q, t, s = (torch.from_numpy(np.array(side, dtype)) for side in sides)
    best = retrieve(q, t, s, k).tolist()
    right = sum(target_words[row] in gold[word] for word, row in zip(counted, best, strict=True))
    return right / len(counted), len(counted)


def rcsls(
    x: np.ndarray,
    y: np.ndarray,
    pairs: np.ndarray,
    *,
    epochs: int = 10,
    rate: float = 1.0,
    frequent: int = 200_000,
) -> np.ndarray:
    """Learn a map from a dictionary by the relaxed CSLS loss, starting from Procrustes.

    Each epoch is one step down the subgradient; where the loss rises, the next step starts from the
    lowest so far with half the rate. Singular values stay at 1 or below, in the convex hull of the
    orthogonal matrices, over which the loss is convex while the neighbours stay.

    Args:
        x: foreign vectors, most frequent word first, rows of length 1, ``(n, dim)``.
        y: source-language vectors, likewise, ``(m, dim)``.
        pairs: (row of x, row of y), int64 ``(pairs, 2)``.
        epochs: the paper tries 10 and 20.
        rate: of the first step; the paper tries 1, 10, 25, 50.
        frequent: most frequent words of each side that neighbours come from.

    Returns:
        W with the lowest loss, ``(dim, dim)``; ``x @ W`` lies in the space of y.
    """
    known_x, known_y = x[pairs[:, 0]], y[pairs[:, 1]]
    w = orthogonal_procrustes(known_x.astype(float), known_y.astype(float))[0]
    w, tx, ty, all_x, all_y = (
        torch.from_numpy(np.array(side, working_dtype()))
        for side in (w, known_x, known_y, x[:frequent], y[:frequent])
    )
    best = (*relaxed_loss(w, tx, ty, all_x, all_y), w)
    for _ in range(epochs):
        _, gradient, w = best
        u, s, vh = torch.linalg.svd(w - rate * gradient)
        w = (u * s.clamp(max=1)) @ vh
        reached = relaxed_loss(w, tx, ty, all_x, all_y)
        if reached[0] < best[0]:
            best = (*reached, w)
        else:
            rate /= 2
    return best[2].numpy()


def relaxed_loss(
    w: Tensor, x: Tensor, y: Tensor, all_x: Tensor, all_y: Tensor, k: int = NEIGHBOURS
) -> tuple[float, Tensor]:
    """Return the loss of RCSLS and its subgradient by W, ``(dim, dim)``.

    Args:
        w: W, ``(dim, dim)``.
        x: vectors of the dictionary's foreign words, ``(pairs, dim)``.
        y: those of their translations, ``(pairs, dim)``.
        all_x: what neighbours come from, ``(n, dim)``.
        all_y: likewise, ``(m, dim)``.
        k: neighbours.
    """
    # shape of both: (pairs, dim)
    around_x = _neighbours(x @ w, all_y, all_y, k)
    around_y = _neighbours(y, all_x @ w, all_x, k)
    loss = ((x @ w) * (around_x - 2 * y)).sum() + ((around_y @ w) * y).sum()
    # shape: (dim, dim)
    gradient = x.T @ (around_x - 2 * y) + around_y.T @ y
    return float(loss) / len(x), gradient / len(x)


def _neighbours(queries: Tensor, keys: Tensor, values: Tensor, k: int) -> Tensor:
    """Return for each query the mean of the values whose keys have the highest inner products."""
    nearest = ((q @ keys.T).topk(k, dim=1).indices for q in queries.split(BLOCK))
    # shape of each: (block, k, dim) -> (block, dim)
    return torch.cat([values[rows].mean(dim=1) for rows in nearest])
