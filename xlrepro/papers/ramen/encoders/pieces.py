"""How words are split into pieces, and which pieces are special, in any encoder."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xlrepro.pretraining.wordpiece import SPECIAL, WordPiece, learn_vocabulary


class Special(NamedTuple):
    """Numbers of a language's special pieces; all ordinary ones are ``first_ordinary`` or more."""

    begin: int
    end: int
    pad: int
    unknown: int
    mask: int
    first_ordinary: int


@dataclass(frozen=True)
class Pieces:
    """A language's pieces: how words are split, and which numbers are special.

    Attributes:
        numbers: a word to the numbers of its pieces, at least one.
        special: numbers of the special pieces.
        size: number of pieces.
        vocabulary: the pieces themselves, where they are learnt here.
    """

    numbers: Callable[[str], list[int]]
    special: Special
    size: int
    vocabulary: tuple[str, ...] = ()


def learnt(lines: Sequence[Sequence[str]], size: int, characters: int) -> Pieces:
    """Return WordPiece pieces learnt from a text.

    Args:
        lines: words of each.
        size: number of pieces at most, special ones included.
        characters: size of the alphabet at most.
    """
    counts = Counter(word for line in lines for word in line)
    return wordpieces(learn_vocabulary(counts, size, characters))


def wordpieces(vocabulary: Sequence[str]) -> Pieces:
    """Return the pieces of a vocabulary, special ones first."""
    split = WordPiece(vocabulary)
    special = Special(split.cls, split.sep, split.pad, split.unknown, split.mask, len(SPECIAL))
    return Pieces(split.numbers, special, len(split), tuple(vocabulary))
