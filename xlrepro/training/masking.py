"""Which subwords a masked language model must predict, and what it sees in their place."""

from typing import NamedTuple

import numpy as np

# Devlin et al. 2019, §3.1: of the chosen subwords 80 % are masked, 10 % replaced, 10 % left.
SHARE, MASKED, REPLACED = 0.15, 0.8, 0.1


class Masked(NamedTuple):
    """A batch for the masked language model; arrays of ``(batch, length)``.

    Attributes:
        ids: what the model sees.
        hidden: True where it must name the subword.
        gold: what stood there before masking, at the hidden positions. ``(hidden positions,)``
    """

    ids: np.ndarray
    hidden: np.ndarray
    gold: np.ndarray


def mask_pieces(
    ids: np.ndarray, n_special: int, mask: int, vocabulary: int, draw: np.random.Generator
) -> Masked:
    """Choose 15 % of the subwords and mask them.

    Args:
        ids: numbers of subwords; special ones have the lowest and are never chosen.
            ``(batch, length)``
        n_special: number of special subwords.
        mask: number of ``[MASK]``.
        vocabulary: number of subwords.
        draw: source of every choice.

    Returns:
        A new batch; ``ids`` stays as it is. At least one is hidden where one is ordinary.
    """
    ordinary = ids >= n_special
    hidden = (draw.random(ids.shape) < SHARE) & ordinary
    if not hidden.any() and ordinary.any():
        hidden.flat[draw.choice(np.flatnonzero(ordinary))] = True
    fate = draw.random(ids.shape)
    others = draw.integers(n_special, vocabulary, ids.shape)
    seen = np.where(hidden & (fate < MASKED), mask, ids)
    replaced = hidden & (fate >= MASKED) & (fate < MASKED + REPLACED)
    seen = np.where(replaced, others, seen)
    return Masked(seen, hidden, ids[hidden])
