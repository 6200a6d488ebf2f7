"""What a mapping method takes and returns: two spaces in, a map and a report out.

All methods have one call shape, ``method(problem, settings)``. UMWE, which maps several languages
at once, takes a problem per language.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from xlrepro.errors import SettingsError, XlreproError
from xlrepro.vectors.open.dictionary import unit_rows

if TYPE_CHECKING:
    from torch import Tensor

Pairs = Sequence[tuple[int, int]] | np.ndarray
Status = Literal["mapped", "collapsed"]
MAPPED: Status = "mapped"
COLLAPSED: Status = "collapsed"


class CollapsedError(XlreproError):
    """A mapping learnt without supervision aligns no better than chance, and was to be used."""


@dataclass(frozen=True)
class Space:
    """A language's words and their vectors.

    Attributes:
        words: most frequent first.
        matrix: their vectors, rows of length 1, float32 ``(words, dim)``.
    """

    words: Sequence[str]
    matrix: np.ndarray

    def __post_init__(self) -> None:
        if len(self.words) != len(self.matrix) or not len(self.words):
            raise SettingsError(
                f"a space needs a vector for each word: {len(self.words)} words, vectors of shape "
                f"{self.matrix.shape}"
            )


@dataclass(frozen=True)
class MappingProblem:
    """Two spaces, and what a method may know of them; both have the most frequent word first.

    Attributes:
        x: the space that is mapped.
        y: the space that it is mapped into.
        pairs: (row of x, row of y), the dictionary that is learnt from; methods without
            supervision do not look at it.
        check: (row of x, row of y), a dictionary that only the report looks at.
        seed: of all chance in learning; Procrustes has none.
        device: ``"cpu"`` or ``"cuda"``.
    """

    x: Space
    y: Space
    pairs: Pairs | None = None
    check: Pairs | None = None
    seed: int = 0
    device: str = "cpu"

    def vectors(self) -> "tuple[Tensor, Tensor]":
        """Return both matrices on the device, ``(n, dim)`` and ``(m, dim)``."""
        import torch  # only here: trials are named without it

        x, y = (torch.from_numpy(np.array(s.matrix)).to(self.device) for s in (self.x, self.y))
        return x, y

    def seed_rows(self, method: str) -> np.ndarray:
        """Return the dictionary as int64 ``(pairs, 2)``.

        Raises:
            SettingsError: if there is none; names the method that needs it.
        """
        return seed_rows(self.pairs, method)


@dataclass(frozen=True)
class MappingReport:
    """How a map was found, and whether it is one.

    Attributes:
        method: its name, ``"MUSE"``.
        status: ``"collapsed"`` if it was learnt without supervision and aligns no better than
            chance; see :mod:`xlrepro.vectors.mappings.collapse`.
        criterion: mean cosine of the most frequent words and their best translations by CSLS,
            -1 to 1 (Conneau et al. 2018, §3.4).
        chance: the criterion that refinement reaches from random rotations; taken only where an
            unsupervised map had no dictionary to be checked with.
        precision: precision at 1 on such a dictionary, 0 to 1, if there was one.
        pairs: entries of the dictionary that the last solution was learnt from.
        steps: updates of the map.
        seconds: wall time of learning it.
        history: the criterion that the method watches, once per epoch or round.
    """

    method: str
    status: Status
    criterion: float
    chance: float | None
    precision: float | None
    pairs: int
    steps: int
    seconds: float
    history: tuple[float, ...] = ()

    @property
    def why(self) -> str:
        """The number that the status was judged by, in words."""
        if self.precision is not None:
            return f"P@1 of the checking dictionary is {100 * self.precision:.1f} %"
        at_chance = "" if self.chance is None else f", chance {self.chance:.3f}"
        return f"mean cosine of translations {self.criterion:.3f}{at_chance}"


@dataclass(frozen=True)
class Mapped:
    """The outcome of a mapping method.

    Attributes:
        w: ``(dim, dim)``; ``x @ w`` lies in the common space.
        w_target: the same for ``y``; the identity where the common space is that of ``y``.
        report: how it was found.
    """

    w: np.ndarray
    w_target: np.ndarray
    report: MappingReport

    def apply(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both sets of vectors in the common space, rows of length 1, float32.

        Args:
            x: vectors of the mapped language. ``(words, dim)``
            y: vectors of the target, in any number. ``(words, dim)``
        """
        return unit_rows(x @ self.w), unit_rows(y @ self.w_target)


def seed_rows(pairs: Pairs | None, method: str) -> np.ndarray:
    """Return a seed dictionary as int64 ``(pairs, 2)``: (row of x, row of y).

    Raises:
        SettingsError: if there is none.
    """
    rows = np.array([] if pairs is None else pairs, dtype=np.int64).reshape(-1, 2)
    if not len(rows):
        raise SettingsError(f"{method} learns from a dictionary: give pairs of rows")
    return rows


def same_strings(x: Space, y: Space, frequent: int | None = None) -> np.ndarray:
    """Return the rows of words that both spaces spell alike, int64 ``(pairs, 2)``.

    Args:
        x: one space.
        y: the other.
        frequent: most frequent words of each that are looked at; all unless told.
    """
    rows = {word: row for row, word in enumerate(y.words[:frequent])}
    same = [(row, rows[w]) for row, w in enumerate(x.words[:frequent]) if w in rows]
    return np.array(same, dtype=np.int64).reshape(-1, 2)
