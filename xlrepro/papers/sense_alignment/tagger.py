"""BiLSTM-CRF on frozen contextual vectors (Table 3), chosen on English dev."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro import metrics
from xlrepro.nn.crf import LinearChainCRF
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.papers.sense_alignment.settings import TaggerSettings
from xlrepro.training.batches import ordered, shuffled
from xlrepro.training.learner import BatchLearner
from xlrepro.training.loop import Fit, Progress, Step, fit
from xlrepro.training.optimiser import ScheduledAdam
from xlrepro.training.prediction import EVALUATION_TOKENS, in_order
from xlrepro.training.repeatable import compute_repeatably


@dataclass(frozen=True)
class Tagged:
    """Sentences as features and tags.

    Attributes:
        vectors: per sentence ``(length, dim)``.
        tags: per sentence the names of its words' tags.
    """

    vectors: Sequence[Tensor]
    tags: Sequence[Sequence[str]]

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.vectors)


class FeatureTagger(nn.Module):
    """Dropout, BiLSTM, linear layer, CRF.

    Args:
        dim: width of the features.
        names: of the tags.
        settings: sizes and dropout.
    """

    def __init__(self, dim: int, names: Sequence[str], settings: TaggerSettings) -> None:
        super().__init__()
        self.names = tuple(names)
        self.before = nn.Dropout(settings.dropout)
        self.encoder = BiLSTM(dim, settings.hidden_dim, layers=1, dropout=settings.dropout)
        self.linear = nn.Linear(self.encoder.output_dim, len(self.names))
        self.crf = LinearChainCRF(len(self.names))

    def emissions(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return ``(batch, length, tags)`` for ``(batch, length, dim)``."""
        emissions: Tensor = self.linear(self.encoder(self.before(x), mask))
        return emissions


def tag_names(tags: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return ``O`` and each kind's ``B-`` and ``I-``, sorted.

    Example:
        >>> tag_names([["O", "I-PER"]])
        ('B-PER', 'I-PER', 'O')
    """
    kinds = {tag[2:] for sentence in tags for tag in sentence if tag != "O"}
    return tuple(sorted({"O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")}))


def train(
    train_set: Tagged,
    dev_set: Tagged,
    settings: TaggerSettings,
    seed: int,
    device: str = "cpu",
    progress: Progress = lambda fraction, text: None,
) -> tuple[FeatureTagger, Fit]:
    """Train a tagger; return it with the weights of its best English dev epoch.

    Args:
        train_set: English sentences.
        dev_set: English sentences that the epoch is chosen on.
        settings: sizes and training.
        seed: of weights, dropout and batches.
        device: where to train.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)
    compute_repeatably(device)
    first = train_set.vectors[0]
    tagger = FeatureTagger(first.shape[1], tag_names(train_set.tags), settings)
    tagger = tagger.to(first.dtype).to(device)
    adam = ScheduledAdam(tagger, settings.learning_rate, clip_norm=settings.clip_norm)
    generator = np.random.default_rng(seed)
    number = {name: i for i, name in enumerate(tagger.names)}
    gold = [torch.tensor([number[tag] for tag in tags]) for tags in train_set.tags]

    def step(batch: list[int]) -> Step:
        x, mask = _padded([train_set.vectors[row] for row in batch], device)
        # shape: (batch, length)
        tags = nn.utils.rnn.pad_sequence([gold[row] for row in batch], batch_first=True)
        emissions = tagger.emissions(x, mask)
        loss = tagger.crf(emissions, tags.to(device), mask, reduction="mean")
        return Step(adam.step(loss), tokens=int(mask.sum()))

    learner = BatchLearner(
        tagger,
        adam,
        lambda round_: shuffled(_lengths(train_set.vectors), settings.batch_size, generator),
        step,
        partial(f1, tagger, dev_set, device),
        generator,
    )
    return tagger, fit(learner, settings.epochs, settings.patience, progress)


class _Batch(NamedTuple):
    """Numbers of some sentences, their features ``(batch, length, dim)``, and where words are."""

    indices: list[int]
    x: Tensor
    mask: Tensor


def predict(tagger: FeatureTagger, vectors: Sequence[Tensor], device: str) -> list[list[str]]:
    """Return the best tags of each sentence."""
    batches = (
        _Batch(rows, *_padded([vectors[row] for row in rows], device))
        for rows in ordered(_lengths(vectors), EVALUATION_TOKENS)
    )

    def names(batch: _Batch) -> list[list[str]]:
        tags = tagger.crf.decode(tagger.emissions(batch.x, batch.mask), batch.mask).tolist()
        return [
            [tagger.names[n] for n in numbers[: len(vectors[row])]]
            for row, numbers in zip(batch.indices, tags, strict=True)
        ]

    return in_order(tagger, batches, names)


def f1(tagger: FeatureTagger, examples: Tagged, device: str) -> float:
    """Return the F1 of spans, percent."""
    return metrics.span_f1(examples.tags, predict(tagger, examples.vectors, device))


def _padded(vectors: Sequence[Tensor], device: str) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor(_lengths(vectors))
    x = nn.utils.rnn.pad_sequence(list(vectors), batch_first=True)
    return x.to(device), (torch.arange(x.shape[1]) < lengths[:, None]).to(device)


def _lengths(vectors: Sequence[Tensor]) -> list[int]:
    return [len(x) for x in vectors]
