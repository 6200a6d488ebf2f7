"""Classifiers of texts and of pairs of texts, on frozen features: features in, accuracy out.

Two heads, both with a ReLU layer before the classes:

- a text is one vector (a mean of its words' vectors): :class:`DenseClassifier`;
- a pair is two sequences of word vectors, read by one BiLSTM, averaged and combined as
  ``[p, h, p - h, p * h]`` (the MultiNLI baseline, Williams et al. 2018): :class:`PairClassifier`.

The epoch with the best source dev accuracy is kept. No target text is needed to train.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro import metrics
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.training.batches import by_length, in_order, shuffled
from xlrepro.training.loop import BatchLearner, Fit, Progress, Step, fit
from xlrepro.training.optimiser import ScheduledAdam
from xlrepro.training.settings import HeadSettings
from xlrepro.vectors.encoding import padded

EVALUATION_TEXTS = 256  # texts, or pairs, of an evaluation batch


@dataclass(frozen=True)
class Examples:
    """Labelled texts, or pairs of texts, as features.

    Attributes:
        parts: one list for texts, two for pairs; per example a vector ``(dim,)`` or a sequence of
            word vectors ``(length, dim)``, length at least one. They may be memory-mapped: batches
            are read where they are needed.
        labels: number of each example's class. ``(examples,)``
        spread: mean and deviation of each entry, by which features are standardised.
    """

    parts: tuple[Sequence[Tensor], ...]
    labels: Tensor
    spread: tuple[Tensor, Tensor] | None = None


class DenseClassifier(nn.Module):
    """One vector per text to classes: linear, ReLU, linear.

    Args:
        dim: width of the vectors.
        classes: number of classes.
        hidden: width of the ReLU layer.
        dropout: probability of zeroing an entry before either linear layer.

    Example:
        >>> DenseClassifier(4, 2, 8, 0.5)([torch.zeros(3, 4)]).shape
        torch.Size([3, 2])
    """

    def __init__(self, dim: int, classes: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(dim, hidden)
        self.output = nn.Linear(hidden, classes)

    def forward(self, parts: Sequence[Tensor], masks: Sequence[Tensor | None] = ()) -> Tensor:
        """Return a score per class, ``(batch, classes)``, for ``parts[0]``, ``(batch, dim)``."""
        # shape: (batch, hidden), then (batch, classes)
        hidden = functional.relu(self.hidden(self.dropout(parts[0])))
        return self.output(self.dropout(hidden))


class PairClassifier(nn.Module):
    """Two sequences of word vectors to classes.

    Args:
        dim: width of the word vectors.
        classes: number of classes.
        hidden: width of the ReLU layer, and of the BiLSTM per direction.
        dropout: probability of zeroing an entry of the input and before either linear layer.

    Example:
        >>> x, mask = torch.zeros(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)
        >>> PairClassifier(4, 3, 6, 0.5)([x, x], [mask, mask]).shape
        torch.Size([2, 3])
    """

    def __init__(self, dim: int, classes: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.encoder = BiLSTM(dim, hidden, layers=1, dropout=0.0)
        self.head = DenseClassifier(8 * hidden, classes, hidden, dropout)

    def forward(self, parts: Sequence[Tensor], masks: Sequence[Tensor | None]) -> Tensor:
        """Return a score per class.

        Args:
            parts: premises and hypotheses, each ``(batch, length, dim)``.
            masks: True at words, padding on the right. ``(batch, length)`` each

        Returns:
            ``(batch, classes)``
        """
        # shape of each: (batch, encoder's output)
        p, h = (self._mean(x, m) for x, m in zip(parts, masks, strict=True) if m is not None)
        return self.head([torch.cat((p, h, p - h, p * h), -1)])

    def _mean(self, x: Tensor, mask: Tensor) -> Tensor:
        # shape: (batch, length, 2 * hidden), zero at padding; then (batch, 2 * hidden)
        states = self.encoder(self.dropout(x), mask)
        return states.sum(1) / mask.sum(1, keepdim=True)


def train(
    train_set: Examples,
    dev_set: Examples,
    classes: int,
    settings: HeadSettings,
    seed: int,
    device: str = "cpu",
    progress: Progress = lambda fraction, text: None,
) -> tuple[nn.Module, Fit]:
    """Train a classifier of texts or pairs; return it with the weights of its best dev epoch.

    What the fit counts as tokens are examples.

    Args:
        train_set: of the source language; two parts make a :class:`PairClassifier`.
        dev_set: of the source language.
        classes: number of classes.
        settings: sizes and training.
        seed: of weights, dropout and batches.
        device: where to train.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)
    kind = PairClassifier if len(train_set.parts) == 2 else DenseClassifier
    features = train_set.parts[0][0]
    model = kind(features.shape[-1], classes, settings.hidden_dim, settings.dropout)
    model = model.to(computed_in(features.dtype)).to(device)
    adam = ScheduledAdam(model, settings.learning_rate)
    generator = np.random.default_rng(seed)

    def step(rows: list[int]) -> Step:
        batch = _batch(train_set, rows, device)
        labels = train_set.labels[rows].to(device)
        loss = functional.cross_entropy(model(batch.parts, batch.masks), labels)
        return Step(adam.step(loss), tokens=len(rows))

    def dev_score() -> float:
        return metrics.accuracy(dev_set.labels.tolist(), predicted(model, dev_set, device))

    def batches(round_: int) -> Iterator[list[int]]:
        return shuffled(_lengths(train_set), settings.batch_size, generator)

    learner = BatchLearner(model, batches, step, dev_score)
    return model, fit(learner, settings.epochs, settings.patience, progress)


def computed_in(dtype: torch.dtype) -> torch.dtype:
    """Return what features are computed in: what is kept in half precision, in single."""
    return torch.promote_types(dtype, torch.float32)


def predicted(model: nn.Module, examples: Examples, device: str = "cpu") -> list[int]:
    """Return the class of each example."""
    chosen = by_length(_lengths(examples), EVALUATION_TEXTS)
    batches = (_batch(examples, rows, device) for rows in chosen)
    # a batch's classes, each a scalar
    return in_order(model, batches, lambda b: model(b.parts, b.masks).argmax(-1).tolist())


def _lengths(examples: Examples) -> list[int]:
    """Return the longest part of each example, in words; 1 for vectors."""
    by_part = ([len(x) if x.dim() > 1 else 1 for x in part] for part in examples.parts)
    return [max(lengths) for lengths in zip(*by_part, strict=True)]


class _Batch(NamedTuple):
    """Parts of some examples, padded, and where words are; vectors have no mask."""

    indices: list[int]
    parts: list[Tensor]
    masks: list[Tensor | None]


def _batch(examples: Examples, rows: list[int], device: str) -> _Batch:
    batch = _Batch(rows, [], [])
    for part in examples.parts:
        # shape: (batch, dim), or (batch, words, dim) and (batch, words)
        x, there = padded([part[row] for row in rows])
        mask, x = there.to(device) if x.dim() > 2 else None, x.to(device)
        if examples.spread is not None:
            mean, deviation = (moment.to(device) for moment in examples.spread)
            x = (x - mean) / deviation
        batch.parts.append(x)
        batch.masks.append(mask)
    return batch
