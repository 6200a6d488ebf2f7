"""BiLSTM-CRF on frozen contextual vectors (Table 3), chosen on English dev."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro import metrics
from xlrepro.nn.crf import LinearChainCRF
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.papers.sense_alignment.settings import TaggerSettings
from xlrepro.training.loop import Fit, Progress, Step, fit
from xlrepro.training.repeatable import compute_repeatably

EVALUATION_TOKENS = 8192  # padded words of an evaluation batch


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
        found: Tensor = self.linear(self.encoder(self.before(x), mask))
        return found


def tag_names(tags: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return ``O`` and each kind's ``B-`` and ``I-``, sorted.

    Example:
        >>> tag_names([["O", "I-PER"]])
        ('B-PER', 'I-PER', 'O')
    """
    kinds = {tag[2:] for sentence in tags for tag in sentence if tag != "O"}
    return tuple(sorted({"O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")}))


class FeatureTaggerLearner:
    """The tagger's training; see :class:`xlrepro.training.loop.Learner`.

    Args:
        model: on ``device``.
        train_set: English sentences.
        dev_set: English sentences that the epoch is chosen on.
        settings: rate, batches and clipping.
        seed: of the batches' order.
        device: where the model is.
    """

    def __init__(
        self,
        model: FeatureTagger,
        train_set: Tagged,
        dev_set: Tagged,
        settings: TaggerSettings,
        seed: int,
        device: str,
    ) -> None:
        self.model, self.train_set, self.dev_set = model, train_set, dev_set
        self.settings, self.device = settings, device
        number = {name: i for i, name in enumerate(model.names)}
        self.gold = [torch.tensor([number[tag] for tag in tags]) for tags in train_set.tags]
        self.adam = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
        self.generator = np.random.default_rng(seed)

    def batches(self, round_: int) -> Iterator[list[int]]:
        """Yield every training sentence once, similar lengths together."""
        return _shuffled(self.train_set, self.settings.batch_size, self.generator)

    def step(self, batch: list[int]) -> Step:
        """Take one step on the sentences with these numbers; its loss is their mean."""
        x, mask = _padded([self.train_set.vectors[row] for row in batch], self.device)
        tags = nn.utils.rnn.pad_sequence([self.gold[row] for row in batch], batch_first=True)
        self.adam.zero_grad(set_to_none=True)
        scores = self.model.emissions(x, mask)
        loss = self.model.crf(scores, tags.to(self.device), mask, reduction="mean")
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self.adam.step()
        return Step(loss.item(), tokens=int(mask.sum()))

    def dev_score(self) -> float:
        """Return the F1 of spans on English dev, percent."""
        return f1(self.model, self.dev_set, self.device)

    def state(self) -> dict[str, Any]:
        """Return optimiser and generator."""
        return {"adam": self.adam.state_dict(), "generator": self.generator.bit_generator.state}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from :meth:`state`."""
        self.adam.load_state_dict(state["adam"])
        self.generator.bit_generator.state = state["generator"]


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
    learner = FeatureTaggerLearner(tagger, train_set, dev_set, settings, seed, device)
    return tagger, fit(learner, settings.epochs, settings.patience, progress)


@torch.no_grad()
def predict(tagger: FeatureTagger, vectors: Sequence[Tensor], device: str) -> list[list[str]]:
    """Return the best tags of each sentence."""
    tagger.eval()
    found: list[list[str]] = [[]] * len(vectors)
    order = sorted(range(len(vectors)), key=lambda i: -len(vectors[i]))
    start = 0
    while start < len(order):
        rows = order[start : start + max(1, EVALUATION_TOKENS // len(vectors[order[start]]))]
        x, mask = _padded([vectors[row] for row in rows], device)
        tags = tagger.crf.decode(tagger.emissions(x, mask), mask).tolist()
        for row, numbers in zip(rows, tags, strict=True):
            found[row] = [tagger.names[n] for n in numbers[: len(vectors[row])]]
        start += len(rows)
    return found


def f1(tagger: FeatureTagger, examples: Tagged, device: str) -> float:
    """Return the F1 of spans, percent."""
    return metrics.span_f1(examples.tags, predict(tagger, examples.vectors, device))


def _padded(vectors: Sequence[Tensor], device: str) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(x) for x in vectors])
    x = nn.utils.rnn.pad_sequence(list(vectors), batch_first=True)
    return x.to(device), (torch.arange(x.shape[1]) < lengths[:, None]).to(device)


def _shuffled(examples: Tagged, size: int, random: np.random.Generator) -> Iterator[list[int]]:
    """Yield every sentence once, in batches of similar length, in random order."""
    lengths = np.array([len(x) for x in examples.vectors], dtype=np.float64)
    order = np.argsort(lengths + random.uniform(0.0, 2.0, len(lengths)), kind="stable")
    batches = [order[i : i + size].tolist() for i in range(0, len(order), size)]
    for b in random.permutation(len(batches)):
        yield batches[b]
