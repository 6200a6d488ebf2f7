"""How examples become batches, similar lengths together; predictions in the order of the data.

Training: `shuffled` (taggers, classifiers), `pooled` (translation, RAMEN's heads), `rows_of_step`
(language models, any step by its number). Evaluation: `ordered` by tokens, `by_length` by examples.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro.vectors.encoding import Batch, EncodedSplit, collate, ordered

T = TypeVar("T")


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
    batches = cut(order.tolist(), batch_size)
    for b in generator.permutation(len(batches)):
        yield batches[b]


def pooled(
    lengths: Sequence[Any], batch_size: int, pool: int, generator: np.random.Generator
) -> list[list[int]]:
    """Return the batches of an epoch in random order, each example once.

    Examples are shuffled, sorted by length within every ``pool`` batches' examples, so that little
    is padding, and cut; then the batches are shuffled.

    Args:
        lengths: of the examples; or what else puts them in order.
        batch_size: examples a batch; the last of a pool may have fewer.
        pool: batches whose examples are sorted together.
        generator: of both orders.

    Example:
        >>> sorted(map(sorted, pooled([9, 1, 8, 2], 2, 2, np.random.default_rng(0))))
        [[0, 2], [1, 3]]
    """
    batches = []
    for part in cut(generator.permutation(len(lengths)).tolist(), pool * batch_size):
        batches += cut(sorted(part, key=lengths.__getitem__), batch_size)
    return [batches[b] for b in generator.permutation(len(batches))]


def by_length(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """Return the number of every example once, shortest first, in batches: for evaluation."""
    return cut(sorted(range(len(lengths)), key=lengths.__getitem__), batch_size)


def cut(order: list[T], size: int) -> list[list[T]]:
    """Return runs of ``size`` entries, one after the other; the last may be shorter."""
    return [order[i : i + size] for i in range(0, len(order), size)]


def rows_of_step(step: int, count: int, size: int, key: Sequence[int]) -> np.ndarray:
    """Return which of ``count`` rows a step takes, at most ``size``.

    An epoch takes a row once at most; the rest, too few for a whole step, is left out.

    Args:
        step: counted from 0.
        count: number of rows.
        size: rows of a step.
        key: of the order of rows, with the epoch's number.
    """
    epoch, place = divmod(step, max(1, count // size))
    order = np.random.default_rng([*key, epoch]).permutation(count)
    return order[place * size : (place + 1) * size]


def shuffled_batches(
    split: EncodedSplit, batch_size: int, generator: np.random.Generator
) -> Iterator[Batch]:
    """Yield every sentence once, in padded batches of similar length, in random order."""
    lengths = [len(rows) for rows in split.rows]
    return (collate(split, chosen) for chosen in shuffled(lengths, batch_size, generator))


EVALUATION_TOKENS = 8192  # padded tokens of an evaluation batch


def ordered_batches(split: EncodedSplit) -> Iterator[Batch]:
    """Yield every sentence once, longest first, in batches for evaluation."""
    lengths = [len(rows) for rows in split.rows]
    return (collate(split, chosen) for chosen in ordered(lengths, EVALUATION_TOKENS))


def in_order(
    model: nn.Module, batches: Iterable[Any], predict: Callable[[Any], Iterable[T]]
) -> list[T]:
    """Return a prediction per item, in the order of the items' numbers.

    Args:
        model: put in evaluation mode.
        batches: every item once; ``batch.indices`` are the numbers of a batch's items.
        predict: a batch to a prediction per item; called without gradients.
    """
    model.eval()
    by_index: dict[int, T] = {}
    for batch in batches:
        with torch.inference_mode():
            by_index |= zip(batch.indices, predict(batch), strict=True)
    return [by_index[i] for i in range(len(by_index))]


def predicted_tags(model: Any, split: EncodedSplit, device: str) -> list[Tensor]:
    """Return the predicted tag numbers of each sentence of a split, each ``(length,)``.

    Args:
        model: with ``predict(batch, table)``, tag numbers ``(batch, length)``.
        split: the sentences.
        device: where the model is.
    """
    table = split.table.to(device)

    def predict(batch: Batch) -> list[Tensor]:
        # shape: (batch, length)
        best = model.predict(batch.to(device), table).cpu()
        lengths = [len(split.rows[i]) for i in batch.indices]
        return [row[:length] for row, length in zip(best, lengths, strict=True)]

    return in_order(model, ordered_batches(split), predict)
