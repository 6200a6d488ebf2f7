"""Linear maps from one language's vector space into another's."""

from collections.abc import Sequence

import numpy as np

from xlrepro.errors import SettingsError
from xlrepro.precision import working_dtype


def procrustes(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the orthogonal W that minimises ‖X W − Y‖ (Frobenius).

    Args:
        x: vectors of the seed pairs' foreign words, ``(pairs, dim)``.
        y: vectors of the same pairs' source-language words, ``(pairs, dim)``.

    Returns:
        W, ``(dim, dim)``: ``x @ W`` lies in the space of y. W = U Vᵀ with U Σ Vᵀ = Xᵀ Y
        (Schönemann 1966).

    Raises:
        SettingsError: if the shapes differ or there are no pairs.
    """
    if x.shape != y.shape or not len(x):
        raise SettingsError(
            f"procrustes needs as many source as target vectors, at least one: {x.shape}, {y.shape}"
        )
    # shape of u and vt: (dim, dim)
    u, _, vt = np.linalg.svd(x.astype(np.float64).T @ y.astype(np.float64))
    return np.asarray(u @ vt, dtype=working_dtype())


def refined(
    x: np.ndarray, y: np.ndarray, seed: np.ndarray, rounds: int, frequent: int, device: str = "cpu"
) -> tuple[np.ndarray, np.ndarray]:
    """Solve Procrustes for a seed dictionary, then again with what the map finds.

    A round takes as dictionary the seed and the mutual nearest neighbours by CSLS among the most
    frequent words of both languages under the present map (Conneau et al. 2018, §2.2).

    Args:
        x: foreign vectors, most frequent word first, rows of length 1, ``(n, dim)``.
        y: source-language vectors, likewise, ``(m, dim)``.
        seed: (row of x, row of y), int64 ``(pairs, 2)``.
        rounds: of refinement.
        frequent: most frequent words of each side that it looks at.
        device: ``"cpu"`` or ``"cuda"``, where neighbours are looked for.

    Returns:
        W, ``(dim, dim)``; the last dictionary, int64 ``(pairs, 2)``.
    """
    pairs, w = seed, procrustes(x[seed[:, 0]], y[seed[:, 1]])
    for _ in range(rounds):
        pairs = np.concatenate([seed, _mutual(x[:frequent] @ w, y[:frequent], device)])
        w = procrustes(x[pairs[:, 0]], y[pairs[:, 1]])
    return w, pairs


def _mutual(x: np.ndarray, y: np.ndarray, device: str) -> np.ndarray:
    import torch  # only here: trials are named without it

    from xlrepro.vectors.mappings.csls import translate

    mapped, others = (torch.from_numpy(np.array(side)).to(device) for side in (x, y))
    return np.asarray(translate(mapped, others).mutual().cpu())


def map_with_seed(
    x: np.ndarray,
    y: np.ndarray,
    seed_pairs: Sequence[tuple[int, int]] | np.ndarray,
    *,
    refinements: int = 0,
    candidates: int = 10_000,
) -> np.ndarray:
    """Learn an orthogonal map from a seed dictionary, optionally refined (:func:`refined`).

    Args:
        x: foreign vectors, most frequent word first, rows of length 1, ``(n, dim)``.
        y: source-language vectors, likewise, ``(m, dim)``.
        seed_pairs: (row of x, row of y).
        refinements: rounds of refinement.
        candidates: most frequent words of each side that refinement looks at.

    Returns:
        W, ``(dim, dim)``; ``x @ W`` lies in the space of y.
    """
    seed = np.array(seed_pairs, dtype=np.int64).reshape(-1, 2)
    return refined(x, y, seed, refinements, candidates)[0]
