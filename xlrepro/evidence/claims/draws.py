"""Draws of the means over seeds from their multivariate t distribution.

A resample of three seeds cannot show more than ten means, however sure or unsure they are. A draw
can show any: on one cell its distribution is the one that the t-interval comes from, and cells of
the same seeds keep their correlation.
"""

from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

import numpy as np

from xlrepro.evidence.reproduced import ReproducedCell

DRAWS = 4_000
Key = TypeVar("Key", bound=Hashable)
Array = np.ndarray[Any, np.dtype[np.float64]]


def contrasts(values: Array) -> Array:
    """Return the n − 1 orthonormal (Helmert) contrasts R of n seeds.

    R'R / (n − 1) is the sample covariance of the cells.

    Args:
        values: ``(seeds, cells)``.

    Returns:
        ``(seeds - 1, cells)``.

    Example:
        >>> contrasts(np.array([[1.0], [3.0]])).round(3)
        array([[-1.414]])
    """
    n = len(values)
    k = np.arange(1, n)
    # Row k: the mean of the first k seeds minus the next one, scaled to length 1.
    rows = np.tril(np.ones((n - 1, n))) / k[:, None]
    rows[k - 1, k] = -1.0
    return np.asarray(rows / np.sqrt(1 / k + 1)[:, None] @ values)


def drawn_means(values: Array, normal: Array, chi_square: Array) -> Array:
    """Return mean + R'z / √(n·χ²) for each draw.

    Args:
        values: ``(seeds, cells)``.
        normal: z, ``(draws, seeds - 1)``, standard normal.
        chi_square: ``(draws,)``, chi-square with seeds − 1 degrees of freedom.

    Returns:
        ``(draws, cells)``.
    """
    spread = normal @ contrasts(values)  # shape: (draws, cells); row i: R'z of draw i
    return np.asarray(values.mean(axis=0) + spread / np.sqrt(len(values) * chi_square)[:, None])


def draw(cells: Mapping[Key, ReproducedCell], count: int = DRAWS) -> dict[Key, float | Array]:
    """Draw the means of cells; those with the same seeds are drawn together.

    Args:
        cells: by whatever names them.
        count: number of draws.

    Returns:
        Name -> ``(draws,)``, the same at every call; a cell of one seed stays its value.
    """
    rng = np.random.default_rng(0)
    drawn: dict[Key, float | Array] = {}
    for seeds in sorted({cell.seeds for cell in cells.values()}):
        together = {key: cell for key, cell in cells.items() if cell.seeds == seeds}
        if len(seeds) == 1:
            drawn |= {key: cell.mean for key, cell in together.items()}
            continue
        values = np.array([cell.values for cell in together.values()]).T  # shape: (seeds, cells)
        normal = rng.standard_normal((count, len(seeds) - 1))
        means = drawn_means(values, normal, rng.chisquare(len(seeds) - 1, count))
        drawn |= dict(zip(together, means.T, strict=True))
    return drawn
