"""Which pieces are hidden: as the text has it (as the source model was trained) or as the code."""

from typing import Literal

import numpy as np

from xlrepro.papers.ramen.encoders.pieces import Special
from xlrepro.training.masking import Masked, mask_pieces

SHARE, MASKED = 0.15, 0.9
MULTIPLE = 8


def hidden_pieces(
    ids: np.ndarray,
    special: Special,
    vocabulary: int,
    masking: Literal["text", "code"],
    draw: np.random.Generator,
) -> Masked:
    """Hide pieces of a batch.

    Args:
        ids: ``(batch, length)``.
        special: of the language.
        vocabulary: pieces of the language.
        masking: ``"text"`` or ``"code"``.
        draw: source of every choice.
    """
    if masking == "text":
        return mask_pieces(ids, special.first_ordinary, special.mask, vocabulary, draw)
    return _as_the_code(ids, special.mask, draw)


def _as_the_code(ids: np.ndarray, mask: int, draw: np.random.Generator) -> Masked:
    """Hide 15 % of the positions, a multiple of 8 of them, never a first one; 10 % stay as is."""
    hidden = draw.random(ids.shape) < SHARE
    hidden[:, 0] = False
    chosen = np.flatnonzero(hidden)
    surplus = len(chosen) % MULTIPLE
    hidden.flat[draw.permutation(chosen)[:surplus]] = False
    seen = np.where(hidden & (draw.random(ids.shape) < MASKED), mask, ids)
    return Masked(seen, hidden, ids[hidden])


def sequences(numbers: np.ndarray, begin: int, length: int) -> np.ndarray:
    """Return a stream of pieces as sequences: ``[CLS]`` and the next ``length - 1`` pieces.

    Sentences run on from one sequence to the next, as in the authors' code, which has ``[SEP]``
    between them; what is left at the end and fills no sequence is dropped.

    Returns:
        ``(sequences, length)``

    Example:
        >>> sequences(np.array([5, 6, 7, 8, 9]), begin=1, length=3).tolist()
        [[1, 5, 6], [1, 7, 8]]
    """
    body = length - 1
    count = len(numbers) // body
    rows = np.full((count, length), begin, dtype=np.int64)
    rows[:, 1:] = numbers[: count * body].reshape(count, body)
    return rows
