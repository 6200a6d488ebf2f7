"""How examples become batches: similar lengths together."""

from collections.abc import Iterator, Sequence

import numpy as np

from xlrepro.vectors.encoding import Batch, EncodedSplit, collate


def shuffled(
    lengths: Sequence[int], batch_size: int, generator: np.random.Generator
) -> Iterator[list[int]]:
    """Yield the number of every example once, in batches of similar length, in random order.

    Examples are sorted by length plus uniform noise of two units, so that batches differ from epoch
    to epoch; then the order of the batches is drawn.

    Args:
        lengths: of the examples.
        batch_size: examples a batch; the last one may have fewer.
        generator: of noise and order.

    Example:
        >>> sorted(map(sorted, shuffled([1, 9, 1, 9], 2, np.random.default_rng(0))))
        [[0, 2], [1, 3]]
    """
    noisy = np.array(lengths, dtype=np.float64) + generator.uniform(0.0, 2.0, len(lengths))
    order = np.argsort(noisy, kind="stable")
    batches = [order[i : i + batch_size].tolist() for i in range(0, len(order), batch_size)]
    for b in generator.permutation(len(batches)):
        yield batches[b]


def ordered(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the number of every example once, longest first, at most ``most`` padded units a batch.

    Args:
        lengths: of the examples; one that is longer than ``most`` is a batch by itself.
        most: examples of a batch times the length of its longest.

    Example:
        >>> list(ordered([1, 3, 2], 4))
        [[1], [2, 0]]
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    start = 0
    while start < len(order):
        count = max(1, most // lengths[order[start]])
        yield order[start : start + count]
        start += count


def shuffled_batches(
    split: EncodedSplit, batch_size: int, generator: np.random.Generator
) -> Iterator[Batch]:
    """Yield every sentence once, in padded batches of similar length, in random order."""
    lengths = [len(rows) for rows in split.rows]
    return (collate(split, chosen) for chosen in shuffled(lengths, batch_size, generator))


def ordered_batches(split: EncodedSplit, max_tokens: int) -> Iterator[Batch]:
    """Yield every sentence once, longest first, at most ``max_tokens`` padded tokens a batch."""
    lengths = [len(rows) for rows in split.rows]
    return (collate(split, chosen) for chosen in ordered(lengths, max_tokens))
