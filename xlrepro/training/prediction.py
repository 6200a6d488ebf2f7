"""What a model predicts, in the order of the data, whatever the batches."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from xlrepro.training.batches import ordered_batches
from xlrepro.vectors.encoding import Batch, EncodedSplit

EVALUATION_TOKENS = 8192  # padded tokens of an evaluation batch
# Where the test sets of many languages are tagged: what an encoder computes of a smaller batch
# stays in a processor's cache. `benchmarks/zero_shot.py` measures it.
TEST_TOKENS = 2048


class Indexed(Protocol):
    """A batch that knows which items of the data it holds."""

    @property
    def indices(self) -> Sequence[int]:
        """Numbers of its items."""
        ...


B = TypeVar("B", bound=Indexed)
T = TypeVar("T")


def in_order(
    model: nn.Module, batches: Iterable[B], predict: Callable[[B], Iterable[T]]
) -> list[T]:
    """Return a prediction per item, in the order of the items' numbers.

    Args:
        model: put in evaluation mode.
        batches: every item once.
        predict: a batch to a prediction per item; called without gradients.
    """
    model.eval()
    by_index: dict[int, T] = {}
    for batch in batches:
        with torch.inference_mode():
            by_index |= zip(batch.indices, predict(batch), strict=True)
    return [by_index[i] for i in range(len(by_index))]


def predicted_tags(
    model: Any, split: EncodedSplit, device: str, max_tokens: int = EVALUATION_TOKENS
) -> list[Tensor]:
    """Return the predicted tag numbers of each sentence of a split, each ``(length,)``.

    Args:
        model: with ``predict(batch, table)``, tag numbers ``(batch, length)``.
        split: the sentences.
        device: where the model is.
        max_tokens: padded tokens of a batch.
    """
    table = split.table.to(device)

    def predict(batch: Batch) -> list[Tensor]:
        # shape: (batch, length)
        best = model.predict(batch.to(device), table).cpu()
        lengths = [len(split.rows[i]) for i in batch.indices]
        return [row[:length] for row, length in zip(best, lengths, strict=True)]

    return in_order(model, ordered_batches(split, max_tokens), predict)
