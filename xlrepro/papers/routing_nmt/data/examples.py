"""What every source of data gives: splits of token pairs, and how many pairs were left out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

Pair = tuple[tuple[str, ...], tuple[str, ...]]  # tokens of source and target


@dataclass(frozen=True)
class Splits:
    """Tokenised pairs of one task.

    Attributes:
        train, dev, test: pairs of source and target tokens, before BPE.
        counts: what was left out and what stayed, by name; numbers alone.
    """

    train: Sequence[Pair]
    dev: Sequence[Pair]
    test: Sequence[Pair]
    counts: dict[str, int] = field(default_factory=dict)
