"""Order-shuffled training data (paper, "Shuffling Word Order"; spec §3).

A unit is a whole entity span, its tokens in order, or a single token outside of any. The units are
permuted by a σ with |σ(i) − i| ≤ k; k = ∞ allows every permutation.
"""

from collections.abc import Sequence

import numpy as np

from xlrepro.errors import SettingsError


def units(bio_tags: Sequence[str] | None, length: int) -> list[range]:
    """Return the units of a sentence of ``length`` tokens as ranges of positions.

    Args:
        bio_tags: BIO tags, one per token; ``None`` where a task has no spans (POS): every token
            is a unit.
        length: number of tokens.

    Example:
        >>> units(["O", "B-LOC", "I-LOC", "O"], 4)
        [range(0, 1), range(1, 3), range(3, 4)]
    """
    if bio_tags is None:
        return [range(i, i + 1) for i in range(length)]
    starts = [i for i in range(length) if i == 0 or not _continues(bio_tags[i - 1], bio_tags[i])]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], length], strict=True)]


def _continues(before: str, tag: str) -> bool:
    """Whether ``tag`` continues the span that ``before`` is in."""
    return tag.startswith("I-") and before[:2] in ("B-", "I-") and before[2:] == tag[2:]


def permutation(n: int, k: int | None, generator: np.random.Generator) -> np.ndarray:
    """Draw an order of n units in which none moves more than ``k`` places.

    Lample et al. (2018): sort i + uᵢ with uᵢ uniform in [0, k + 1). A unit can be overtaken only
    by units at most k places behind it, so |σ(i) − i| ≤ k.

    Args:
        n: number of units.
        k: the largest move; ``None`` is ∞, any permutation with equal probability.
        generator: source of the draw.

    Returns:
        The old positions in their new order. (n,)

    Raises:
        SettingsError: if k is negative.
    """
    if k is None:
        return generator.permutation(n)
    if k < 0:
        raise SettingsError(f"shuffling distance k must be 0 or more, not {k}")
    return np.argsort(np.arange(n) + generator.uniform(0.0, k + 1.0, n), kind="stable")


def shuffle_order(
    length: int,
    k: int | None,
    generator: np.random.Generator,
    bio_tags: Sequence[str] | None = None,
) -> list[int]:
    """Return the old token positions in their new order; spans stay whole and in order.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> sorted(shuffle_order(4, None, rng, ["O", "B-LOC", "I-LOC", "O"]))
        [0, 1, 2, 3]
    """
    spans = units(bio_tags, length)
    order = permutation(len(spans), k, generator)
    return [position for unit in order for position in spans[unit]]
