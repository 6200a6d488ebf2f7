"""Batches of padded sentences; which ones a step gets follows from the seed and the step alone."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from xlrepro.papers.routing_nmt.data.encoding import Example
from xlrepro.papers.routing_nmt.model import PAD


class Batch(NamedTuple):
    """Padded examples.

    Attributes:
        source: ``(batch, source length)``, padded on the right.
        lengths: tokens of each source, ``(batch,)``.
        target: ``(batch, target length)``, start and end included, padded on the right.
        indices: where the examples stand in their split.
    """

    source: Tensor
    lengths: Tensor
    target: Tensor
    indices: list[int]

    def to(self, device: str) -> "Batch":
        """Return the batch on a device."""
        source, lengths, target = (tensor.to(device) for tensor in self[:3])
        return Batch(source, lengths, target, self.indices)


def batch_of(examples: Sequence[Example], indices: Sequence[int]) -> Batch:
    """Return some examples as one batch."""
    chosen = [examples[i] for i in indices]
    # shape: (batch,)
    lengths = torch.tensor([len(example.source) for example in chosen])
    return Batch(
        _padded([example.source for example in chosen]),
        lengths,
        _padded([example.target for example in chosen]),
        list(indices),
    )


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows])


def batches_of_epoch(
    examples: Sequence[Example], size: int, pool: int, key: Sequence[int]
) -> list[list[int]]:
    """Return the examples' numbers of each batch of an epoch.

    Examples are shuffled, then sorted by length within pools of ``pool`` batches, so that little
    is padding, and the batches shuffled.

    Args:
        examples: of the training split.
        size: examples of a batch; the last one may have fewer.
        pool: batches of a pool.
        key: whatever decides the order: seed, task, epoch.
    """
    draw = np.random.default_rng(list(key))
    order = draw.permutation(len(examples)).tolist()
    batches = []
    for start in range(0, len(order), size * pool):
        part = sorted(
            order[start : start + size * pool],
            key=lambda i: (len(examples[i].target), len(examples[i].source)),
        )
        batches += [part[i : i + size] for i in range(0, len(part), size)]
    return [batches[i] for i in draw.permutation(len(batches))]


def ordered_batches(examples: Sequence[Example], size: int) -> Iterator[Batch]:
    """Yield all examples in batches of similar source length, for evaluation."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].source))
    for start in range(0, len(order), size):
        yield batch_of(examples, order[start : start + size])
