"""The heads on frozen states: a parser and a classifier of pairs, trained on one language."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro import metrics
from xlrepro.data.sentences import Sentence
from xlrepro.papers.ramen.data.labelled import LABELS
from xlrepro.papers.ramen.reading import States
from xlrepro.papers.ramen.settings import HeadSettings, Precision
from xlrepro.tasks.classification import StateClassifier
from xlrepro.tasks.parsing import (
    Attachment,
    BiaffineParser,
    Trees,
    attachment,
    decode,
    parsing_loss,
    without_subtype,
)
from xlrepro.training import loop
from xlrepro.training.loop import BatchLearner, Fit, Step
from xlrepro.training.optimiser import ScheduledAdam

EVALUATION_BATCH = 64
POOL = 16  # batches whose examples are sorted by length together


def fit(
    head: nn.Module,
    size: int,
    loss: Callable[[np.ndarray], Tensor],
    dev_score: Callable[[], float],
    settings: HeadSettings,
    seed: int,
    progress: Callable[[float, str], None],
    lengths: Sequence[int] | None = None,
) -> Fit:
    """Train a head in place; it ends with the weights of its best epoch on dev.

    What the fit counts as tokens are examples.

    Args:
        head: the module.
        size: number of training examples.
        loss: of a batch, given the numbers of its examples.
        dev_score: scores the head as it is; higher is better.
        settings: of the training.
        seed: of batches and dropout.
        progress: called with the fraction done and a short text.
        lengths: of the examples; batches are then of like lengths. None: no matter.
    """
    torch.manual_seed(seed)
    adam = ScheduledAdam(head, settings.learning_rate)

    def of_epoch(epoch: int) -> list[np.ndarray]:
        draw = np.random.default_rng([seed, epoch])
        return batches(size, settings.batch_size, lengths, draw)

    def step(chosen: np.ndarray) -> Step:
        return Step(adam.step(loss(chosen)), tokens=len(chosen))

    def evaluated() -> float:
        head.eval()
        return dev_score()

    learner = BatchLearner(head, adam, of_epoch, step, evaluated, np.random.default_rng(seed))
    return loop.fit(learner, settings.epochs, settings.patience, progress)


def batches(
    size: int, batch_size: int, lengths: Sequence[int] | None, draw: np.random.Generator
) -> list[np.ndarray]:
    """Return the batches of an epoch, in random order, each example once.

    With lengths, every few batches' examples are sorted by length before they are cut into batches:
    long sentences pad each other alone.

    Example:
        >>> draw = np.random.default_rng(0)
        >>> [sorted(b.tolist()) for b in batches(4, 2, [9, 1, 8, 2], draw)]
        [[0, 2], [1, 3]]
    """
    order = draw.permutation(size)
    if lengths is None:
        return [order[start : start + batch_size] for start in range(0, size, batch_size)]
    pool = POOL * batch_size
    by_length: list[np.ndarray] = []
    for start in range(0, size, pool):
        chosen = order[start : start + pool]
        chosen = chosen[np.argsort(np.asarray(lengths)[chosen], kind="stable")]
        by_length += [chosen[i : i + batch_size] for i in range(0, len(chosen), batch_size)]
    return [by_length[i] for i in draw.permutation(len(by_length))]


class Scale:
    """Each dimension to mean 0 and variance 1 over the training data: states differ in size.

    Args:
        rows: of the training data. ``(n, dim)``
        precision: ``"double"`` computes in double precision.
    """

    def __init__(self, rows: np.ndarray, precision: Precision) -> None:
        self._type = np.float64 if precision == "double" else np.float32
        # shape: (rows, dim), then (dim,)
        sample = np.asarray(rows[:20_000], dtype=np.float64)
        self._mean = sample.mean(axis=0)
        self._spread = np.maximum(sample.std(axis=0), 1e-3)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return rows on that scale."""
        scaled: np.ndarray = (rows.astype(self._type) - self._mean) / self._spread
        return scaled.astype(self._type)


class ParsingHead:
    """A deep biaffine parser on the states of words.

    Args:
        states: of the training sentences.
        sentences: their trees.
        settings: of the head.
        precision: of the head.
        seed: of its weights.
        device: where it is trained.
    """

    def __init__(
        self,
        states: States,
        sentences: Sequence[Sentence],
        settings: HeadSettings,
        precision: Precision,
        seed: int,
        device: str,
    ) -> None:
        self.settings, self.device = settings, device
        self._states, self._sentences = states, sentences
        self._scale = Scale(states.rows, precision)
        self.relations = sorted({r for s in sentences for r in self.names(s)})
        self._number = {relation: i for i, relation in enumerate(self.relations)}
        torch.manual_seed(seed)
        self.parser = BiaffineParser(
            states.rows.shape[1],
            settings.hidden,
            settings.relation_hidden,
            len(self.relations),
            settings.dropout,
        ).to(device)
        if precision == "double":
            self.parser.double()

    def names(self, sentence: Sentence) -> list[str]:
        """Return a sentence's relations, with or without their subtypes."""
        assert sentence.deprels is not None
        if self.settings.subtypes:
            return list(sentence.deprels)
        return [without_subtype(relation) for relation in sentence.deprels]

    def loss(self, chosen: np.ndarray) -> Tensor:
        """Return the loss of a batch of training sentences."""
        gold = self._trees([self._sentences[i] for i in chosen])
        # shape: (batch, words, words + 1) and (batch, words, relations)
        arcs, relations = self.parser(self._batch(self._states, chosen), gold.heads)
        return parsing_loss(arcs, relations, gold)

    def _batch(self, states: States, chosen: Sequence[int] | np.ndarray) -> Tensor:
        rows = [torch.from_numpy(self._scale(states[i])) for i in chosen]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True).to(self.device)

    def _trees(self, sentences: Sequence[Sentence]) -> Trees:
        heads = [torch.tensor(s.heads) for s in sentences]
        relations = [
            torch.tensor([self._number.get(name, -1) for name in self.names(s)]) for s in sentences
        ]
        padded = (nn.utils.rnn.pad_sequence(rows, batch_first=True) for rows in (heads, relations))
        # shape: (batch,) and (batch, words)
        lengths = torch.tensor([len(s) for s in sentences])
        mask = torch.arange(int(lengths.max())) < lengths[:, None]
        return Trees(*(each.to(self.device) for each in (*padded, mask)))

    @torch.no_grad()
    def score(self, states: States, sentences: Sequence[Sentence]) -> Attachment:
        """Parse sentences and score the trees."""
        predicted: dict[int, tuple[list[int], list[str]]] = {}
        for chosen in _batches([len(s) for s in sentences]):
            # shape: (batch, words, words + 1) and (batch, words, words + 1, relations)
            arcs, relations = self.parser(self._batch(states, chosen))
            lengths = torch.tensor([len(sentences[i]) for i in chosen])
            mask = torch.arange(arcs.shape[1]) < lengths[:, None]
            trees = decode(arcs, relations, mask.to(self.device))
            for i, (heads, numbers) in zip(chosen, trees, strict=True):
                predicted[i] = (heads.tolist(), [self.relations[n] for n in numbers])
        gold = [(s.heads or (), self.names(s)) for s in sentences]
        return attachment(gold, [predicted[i] for i in range(len(sentences))])


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    for start in range(0, len(order), EVALUATION_BATCH):
        yield order[start : start + EVALUATION_BATCH]


class PairStates(NamedTuple):
    """Pairs as states: premises and hypotheses ``(pairs, dim)``, and the numbers of the labels."""

    premises: np.ndarray
    hypotheses: np.ndarray
    labels: list[int]


class InferenceHead:
    """A classifier of pairs, on the mean states u and v of premise and hypothesis.

    It reads ``[u; v; |u - v|; u * v]``, each dimension on the scale of the training data.

    Args:
        train: the training pairs.
        settings: of the head.
        precision: of the head.
        seed: of its weights.
        device: where it is trained.
    """

    def __init__(
        self,
        train: PairStates,
        settings: HeadSettings,
        precision: Precision,
        seed: int,
        device: str,
    ) -> None:
        self.device = device
        self._scale = Scale(np.concatenate([train.premises, train.hypotheses]), precision)
        self._train, self._labels = self._features(train), torch.tensor(train.labels)
        torch.manual_seed(seed)
        self.classifier = StateClassifier(
            self._train.shape[1], settings.hidden, len(LABELS), settings.dropout
        ).to(device)
        if precision == "double":
            self.classifier.double()

    def _features(self, pairs: PairStates) -> Tensor:
        # shape: (pairs, dim) each, then (pairs, 4 * dim)
        u, v = (torch.from_numpy(self._scale(part)) for part in pairs[:2])
        return torch.cat([u, v, (u - v).abs(), u * v], dim=1)

    def loss(self, chosen: np.ndarray) -> Tensor:
        """Return the loss of a batch of training pairs."""
        # shape: (batch, labels)
        scores = self.classifier(self._train[chosen].to(self.device))
        return functional.cross_entropy(scores, self._labels[chosen].to(self.device))

    @torch.no_grad()
    def score(self, pairs: PairStates) -> float:
        """Return the accuracy on pairs, percent."""
        predicted = self.classifier(self._features(pairs).to(self.device)).argmax(1)
        return metrics.accuracy(pairs.labels, predicted.tolist())
