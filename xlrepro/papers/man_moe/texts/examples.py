"""A text and its labels, which all of the paper's tasks share."""

from dataclasses import dataclass

FAMILY_SEED = 0  # of the artificial corpora
POLARITY = ("negative", "positive")


@dataclass(frozen=True)
class Example:
    """A text and its labels: one BIO tag per token, or one class.

    Attributes:
        tokens: the words, at least one.
        gold: as many tags as words, or a single class name.
    """

    tokens: tuple[str, ...]
    gold: tuple[str, ...]
