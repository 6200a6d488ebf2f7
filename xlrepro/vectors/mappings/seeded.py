"""Linear maps from one language's vector space into another's."""

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
