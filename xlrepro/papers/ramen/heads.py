"""The heads of the tables, a parser and a classifier of pairs, on states of words and texts.

States are kept ones of a frozen encoder, or they are read through the encoder, whose layers are
then tuned with the head.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from xlrepro.data.sentences import Sentence
from xlrepro.encoders.pretrained import Encoder, padded
from xlrepro.papers.ramen.data import LABELS
from xlrepro.papers.ramen.settings import HeadSettings
from xlrepro.tasks.classification import StateClassifier
from xlrepro.tasks.parsing import (
    PUNCTUATION,
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
DROPOUT = 0.33  # in the heads [Dozat and Manning]

Chosen = Sequence[int] | np.ndarray
Words = Sequence[str]


# ---- states


@dataclass(frozen=True)
class KeptWords:
    """Kept states of words, sentence after sentence.

    Attributes:
        rows: ``(words of all sentences, dim)``.
        starts: where each sentence begins, and the end of the last. ``(sentences + 1,)``
    """

    rows: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, encoder: Encoder, sentences: Sequence[Words]) -> "KeptWords":
        """Return the state of every word, computed if need be; long sentences are read in parts."""
        framed = encoder.framed(sentences)
        rows = encoder.kept_states(framed.ids, framed.reads)
        return cls(rows, np.cumsum([0, *map(len, sentences)]))

    def states(self, chosen: Chosen) -> Tensor:
        """Return the states of some sentences' words, padded, ``(sentences, words, dim)``."""
        rows = (self.rows[self.starts[i] : self.starts[i + 1]] for i in chosen)
        return pad_sequence([torch.from_numpy(np.array(part)) for part in rows], batch_first=True)


@dataclass(frozen=True)
class KeptTexts:
    """Kept mean states of texts, ``(distinct texts, dim)``, and which one each text has."""

    rows: np.ndarray
    place: np.ndarray

    def means(self, chosen: Chosen) -> Tensor:
        """Return the mean states of some texts, ``(texts, dim)``."""
        return torch.from_numpy(self.rows[self.place[chosen]])

    def lengths(self) -> list[int]:
        """Return 1 for each text: a vector."""
        return [1] * len(self.place)


@dataclass(frozen=True)
class ReadTexts:
    """Texts that are read through an encoder, which may be tuned.

    Attributes:
        encoder: with the embeddings of their language.
        ids: subwords of each, beginning and end included.
        reads: the subwords of each that are read.
    """

    encoder: Encoder
    ids: Sequence[Sequence[int]]
    reads: Sequence[Sequence[int]]

    @classmethod
    def words(cls, encoder: Encoder, sentences: Sequence[Words]) -> "ReadTexts":
        """Return sentences of which one subword of each word is read.

        Of the words of a sentence too long for the encoder the last subwords are left out.
        """
        room, special = encoder.limit - 2, encoder.subwords.special
        ids, reads = [], []
        for words in sentences:
            split = [encoder.subwords.numbers(word) for word in words]
            if sum(map(len, split)) > room:
                split = [numbers[: max(1, room // len(words))] for numbers in split]
            starts = np.cumsum([1, *map(len, split)])[:-1]
            first = [encoder.subwords.first(numbers) for numbers in split]
            ids.append([special.begin, *(n for numbers in split for n in numbers), special.end])
            reads.append([int(s) + f for s, f in zip(starts, first, strict=True)])
        return cls(encoder, ids, reads)

    @classmethod
    def texts(cls, encoder: Encoder, texts: Sequence[Words]) -> "ReadTexts":
        """Return texts of which all subwords are read, as :meth:`Encoder.text` gives them."""
        ids, reads = zip(*map(encoder.text, texts), strict=True)
        return cls(encoder, ids, reads)

    def states(self, chosen: Chosen) -> Tensor:
        """Return the states read of some texts, padded, ``(texts, most reads, dim)``."""
        device = self.encoder.device
        ids, mask = padded([self.ids[i] for i in chosen])
        states = self.encoder(ids.to(device), mask.to(device))
        reads, _ = padded([self.reads[i] for i in chosen])
        return states.gather(1, reads.to(device)[..., None].expand(-1, -1, states.shape[-1]))

    def means(self, chosen: Chosen) -> Tensor:
        """Return the mean of the states read of each of some texts, ``(texts, dim)``."""
        states = self.states(chosen)
        _, mask = padded([self.reads[i] for i in chosen])
        mask = mask.to(states.device)
        mean: Tensor = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return mean

    def lengths(self) -> list[int]:
        """Return the number of subwords of each text."""
        return [len(ids) for ids in self.ids]


class Scale(nn.Module):
    """Each dimension to mean 0 and variance 1 over the training data: states differ in size.

    Args:
        rows: of the training data. ``(n, dim)``
    """

    mean: Tensor
    spread: Tensor

    def __init__(self, rows: np.ndarray) -> None:
        super().__init__()
        sample = np.asarray(rows[:20_000], dtype=np.float64)
        # shape: (dim,) each
        self.register_buffer("mean", torch.from_numpy(sample.mean(axis=0)))
        self.register_buffer("spread", torch.from_numpy(np.maximum(sample.std(axis=0), 1e-3)))

    def forward(self, states: Tensor) -> Tensor:
        """Return states on that scale, ``(..., dim)``."""
        scaled = (states.to(self.mean) - self.mean) / self.spread
        return scaled.to(torch.get_default_dtype())


# ---- heads


class Parser:
    """A deep biaffine parser on the states of words.

    Args:
        train: states of the training sentences.
        sentences: their trees.
        settings: of the head.
        seed: of its weights.
        device: where it is trained.
    """

    def __init__(
        self,
        train: KeptWords,
        sentences: Sequence[Sentence],
        settings: HeadSettings,
        seed: int,
        device: str,
    ) -> None:
        self.device = device
        self._scale = Scale(train.rows).to(device)
        self.relations = sorted({r for s in sentences for r in names(s)})
        self._number = {relation: i for i, relation in enumerate(self.relations)}
        torch.manual_seed(seed)
        sizes = (settings.hidden, settings.relation_hidden, len(self.relations))
        self.module = BiaffineParser(train.rows.shape[1], *sizes, DROPOUT).to(device)

    def loss(
        self, texts: KeptWords | ReadTexts, sentences: Sequence[Sentence], chosen: Chosen
    ) -> Tensor:
        """Return the loss of a batch of sentences."""
        gold = self._trees([sentences[i] for i in chosen])
        # shape: (batch, words, words + 1) and (batch, words, relations)
        arcs, relations = self.module(self._batch(texts, chosen), gold.heads)
        return parsing_loss(arcs, relations, gold)

    def _batch(self, texts: KeptWords | ReadTexts, chosen: Chosen) -> Tensor:
        scaled: Tensor = self._scale(texts.states(chosen).to(self.device))
        return scaled

    def _trees(self, sentences: Sequence[Sentence]) -> Trees:
        heads, mask = padded([s.heads or () for s in sentences])
        relations, _ = padded([[self._number.get(n, -1) for n in names(s)] for s in sentences])
        return Trees(*(each.to(self.device) for each in (heads, relations, mask)))

    @torch.no_grad()
    def parsed(
        self, texts: KeptWords | ReadTexts, sentences: Sequence[Sentence]
    ) -> list[tuple[list[int], list[str]]]:
        """Return heads and relations of each sentence."""
        predicted: dict[int, tuple[list[int], list[str]]] = {}
        for chosen in by_length([len(s) for s in sentences]):
            # shape: (batch, words, words + 1) and (batch, words, words + 1, relations)
            arcs, relations = self.module(self._batch(texts, chosen))
            lengths = torch.tensor([len(sentences[i]) for i in chosen])
            mask = torch.arange(arcs.shape[1]) < lengths[:, None]
            trees = decode(arcs, relations, mask.to(self.device))
            for i, (heads, numbers) in zip(chosen, trees, strict=True):
                predicted[i] = (heads.tolist(), [self.relations[n] for n in numbers])
        return [predicted[i] for i in range(len(sentences))]

    def score(self, texts: KeptWords | ReadTexts, sentences: Sequence[Sentence]) -> Attachment:
        """Parse sentences and score the trees."""
        return attached(self.parsed(texts, sentences), sentences)


def attached(
    predicted: Sequence[tuple[list[int], list[str]]], sentences: Sequence[Sentence]
) -> Attachment:
    """Score trees."""
    return attachment([(s.heads or (), names(s)) for s in sentences], predicted)


def words_right(
    predicted: Sequence[tuple[list[int], list[str]]], sentences: Sequence[Sentence]
) -> dict[str, list[bool]]:
    """Return which words have the right head and relation (LAS) or the right head (UAS); those
    whose relation is ``punct`` do not count.
    """
    right: dict[str, list[bool]] = {"LAS": [], "UAS": []}
    for (heads, relations), sentence in zip(predicted, sentences, strict=True):
        gold = zip(sentence.heads or (), names(sentence), heads, relations, strict=True)
        for head, relation, found, named in gold:
            if relation != PUNCTUATION:
                right["UAS"].append(head == found)
                right["LAS"].append(head == found and relation == named)
    return right


def names(sentence: Sentence) -> list[str]:
    """Return a sentence's relations without their subtypes (``nsubj:pass``)."""
    return [without_subtype(relation) for relation in sentence.deprels or ()]


class Pairs(NamedTuple):
    """Pairs of texts, and the numbers of their labels."""

    premises: KeptTexts | ReadTexts
    hypotheses: KeptTexts | ReadTexts
    labels: Sequence[int]


class Classifier:
    """A classifier of pairs, on the mean states u and v of premise and hypothesis.

    It reads ``[u; v; |u - v|; u * v]``, each dimension of u and v on the scale of the training
    data.

    Args:
        train: kept states of the training pairs.
        settings: of the head.
        seed: of its weights.
        device: where it is trained.
    """

    def __init__(self, train: Pairs, settings: HeadSettings, seed: int, device: str) -> None:
        self.device = device
        every = range(len(train.labels))
        sides = [side.means(every).numpy() for side in train[:2]]
        self._scale = Scale(np.concatenate(sides)).to(device)
        torch.manual_seed(seed)
        self.module = StateClassifier(
            4 * sides[0].shape[1], settings.hidden, len(LABELS), DROPOUT
        ).to(device)

    def _scores(self, pairs: Pairs, chosen: Chosen) -> Tensor:
        # shape: (pairs, dim) each, then (pairs, 4 * dim) to (pairs, labels)
        u, v = (self._scale(side.means(chosen).to(self.device)) for side in pairs[:2])
        scores: Tensor = self.module(torch.cat([u, v, (u - v).abs(), u * v], dim=1))
        return scores

    def loss(self, pairs: Pairs, chosen: Chosen) -> Tensor:
        """Return the loss of a batch of pairs."""
        labels = torch.tensor([pairs.labels[i] for i in chosen], device=self.device)
        return functional.cross_entropy(self._scores(pairs, chosen), labels)

    @torch.no_grad()
    def right(self, pairs: Pairs) -> list[bool]:
        """Return which pairs are labelled rightly, in their order."""
        right = [False] * len(pairs.labels)
        for chosen in by_length(pairs.premises.lengths()):
            for i, label in zip(chosen, self._scores(pairs, chosen).argmax(1).tolist()):
                right[i] = label == pairs.labels[i]
        return right

    def score(self, pairs: Pairs) -> float:
        """Return the accuracy on pairs, percent."""
        return percent(self.right(pairs))


def percent(right: Sequence[bool]) -> float:
    """Return the share of what is right, percent."""
    return 100.0 * sum(right) / len(right)


def by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the numbers of examples in batches of like lengths."""
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    for start in range(0, len(order), EVALUATION_BATCH):
        yield order[start : start + EVALUATION_BATCH]


# ---- training


def fit(
    module: nn.Module,
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
        module: the head, or layers of the encoder with it.
        size: number of training examples.
        loss: of a batch, given the numbers of its examples.
        dev_score: scores the head as it is; higher is better.
        settings: of the training.
        seed: of batches and dropout.
        progress: called with the fraction done and a short text.
        lengths: of the examples; batches are then of like lengths. None: no matter.
    """
    torch.manual_seed(seed)
    adam = ScheduledAdam(module, settings.learning_rate)

    def of_epoch(epoch: int) -> list[np.ndarray]:
        draw = np.random.default_rng([seed, epoch])
        return batches(size, settings.batch_size, lengths, draw)

    def step(chosen: np.ndarray) -> Step:
        return Step(adam.step(loss(chosen)), tokens=len(chosen))

    def evaluated() -> float:
        module.eval()
        return dev_score()

    learner = BatchLearner(module, adam, of_epoch, step, evaluated, np.random.default_rng(seed))
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
    sorted_batches: list[np.ndarray] = []
    for start in range(0, size, pool):
        chosen = order[start : start + pool]
        chosen = chosen[np.argsort(np.asarray(lengths)[chosen], kind="stable")]
        sorted_batches += [chosen[i : i + batch_size] for i in range(0, len(chosen), batch_size)]
    return [sorted_batches[i] for i in draw.permutation(len(sorted_batches))]
