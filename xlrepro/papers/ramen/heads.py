"""The heads of the tables: a parser, and classifiers of pairs, on states of words and texts.

States are kept ones of a frozen encoder, or they are read through the encoder, whose layers are
then tuned with the head.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from xlrepro.data.sentences import Sentence
from xlrepro.encoders.pretrained import Encoder
from xlrepro.errors import DataError
from xlrepro.papers.ramen.data import LABELS, Pair
from xlrepro.papers.ramen.settings import HeadSettings
from xlrepro.tasks import parsing
from xlrepro.training import loop
from xlrepro.training.batches import by_length, cut, pooled
from xlrepro.training.loop import BatchLearner, Fit, Step
from xlrepro.training.optimiser import ScheduledAdam
from xlrepro.vectors.encoding import TagSet, padded

EVALUATION_BATCH = 64
POOL = 16  # batches whose examples are sorted by length together
DROPOUT = 0.33  # in the heads [Dozat and Manning]
PAIR_DROPOUT = 0.1  # before the layer on a pair's first state [Devlin et al. 2019]

Chosen = Sequence[int] | np.ndarray
Words = Sequence[str]
Read = tuple[list[int], list[int]]  # a text's subwords, and the places of those that are read


# ---- states


@dataclass(frozen=True)
class Texts:
    """Texts as an encoder reads them; one that occurs several times is read once.

    Attributes:
        encoder: with the embeddings of their language.
        ids: subwords of each distinct text, beginning and end included.
        reads: the subwords of each that are read.
        place: which distinct text each text is. ``(texts,)``
        frozen: whether states are kept ones; else they are read through the encoder.
        mean: whether the mean of what is read of a text is wanted, and not each state.
        mixed: whether the encoder's products are rounded where states are not kept ones.
    """

    encoder: Encoder
    ids: Sequence[Sequence[int]]
    reads: Sequence[Sequence[int]]
    place: np.ndarray
    frozen: bool
    mean: bool
    mixed: bool = False

    @classmethod
    def of(
        cls, encoder: Encoder, texts: Sequence[Any], read: Callable[[Encoder, Any], Read]
    ) -> Self:
        """Return texts on kept states, read by :func:`framed`: a state of each word; by
        :func:`paired`: that of the first subword; by `Encoder.text`: the mean over all subwords.
        """
        number = {text: i for i, text in enumerate(dict.fromkeys(map(tuple, texts)))}
        ids, reads = zip(*(read(encoder, text) for text in number), strict=True)
        place = np.array([number[tuple(text)] for text in texts])
        return cls(encoder, ids, reads, place, frozen=True, mean=read is not framed)

    @cached_property
    def kept(self) -> np.ndarray:
        """Kept states of all distinct texts, one after the other, ``(rows, dim)``."""
        return self.encoder.kept_states(self.ids, self.reads, self.mean)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *map(len, self.reads)])

    def states(self, chosen: Chosen) -> Tensor:
        """Return the means of some texts, ``(texts, dim)``, or their words' states, padded,
        ``(texts, words, dim)``.
        """
        places, device = self.place[chosen], self.encoder.device
        if self.frozen and self.mean:
            return torch.from_numpy(self.kept[places]).to(device)
        if self.frozen:
            parts = (self.kept[self._starts[i] : self._starts[i + 1]] for i in places)
            rows = [torch.from_numpy(np.array(part)) for part in parts]
            return pad_sequence(rows, batch_first=True).to(device)
        chosen_rows = ([rows[i] for i in places] for rows in (self.ids, self.reads))
        ids, mask, reads, there = (t.to(device) for rows in chosen_rows for t in padded(rows))
        # What follows the first [SEP] is the second segment, of a model that has two.
        config: Any = self.encoder.model.config
        ends = (ids == self.encoder.subwords.special.end).long()
        types = (ends.cumsum(1) - ends).clamp(max=config.type_vocab_size - 1)
        # shape: (texts, subwords, dim), then (texts, most reads, dim)
        with loop.mixed_products(device, self.mixed):
            states = self.encoder(ids, mask, types)
        states = states.float() if self.mixed else states
        states = states.gather(1, reads[..., None].expand(-1, -1, states.shape[-1]))
        if not self.mean:
            return states
        return (states * there[..., None]).sum(1) / there.sum(1, keepdim=True)


def framed(encoder: Encoder, words: Words) -> Read:
    """Return a sentence's subwords between beginning and end, and the one read of each word.

    Of the words of a sentence too long for the encoder the last subwords are left out.

    Raises:
        DataError: if it has more words than the encoder takes subwords: each needs its head.
    """
    room, special = encoder.limit - 2, encoder.subwords.special
    if len(words) > room:
        raise DataError(f"{' '.join(words[:5])} … has {len(words)} words, not {room} or fewer")
    split = [encoder.subwords.numbers(word) for word in words]
    if sum(map(len, split)) > room:
        split = [numbers[: max(1, room // len(words))] for numbers in split]
    ids, reads = [special.begin], []
    for numbers in split:
        reads.append(len(ids) + encoder.subwords.first(numbers))
        ids += numbers
    return [*ids, special.end], reads


def paired(encoder: Encoder, pair: tuple[Words, Words]) -> Read:
    """Return ``[CLS] premise [SEP] hypothesis [SEP]``, of which the first subword is read.

    Of a pair too long for the encoder the longer text loses its last subwords, as in BERT's code.
    """
    special = encoder.subwords.special
    one, two = ([n for word in words for n in encoder.subwords.numbers(word)] for words in pair)
    while len(one) + len(two) > encoder.limit - 3:
        max(two, one, key=len).pop()
    return [special.begin, *one, special.end, *two, special.end], [0]


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


class Examples(NamedTuple):
    """What a head is trained on or tested with.

    Attributes:
        texts: sentences, or pairs; or premises, then as many hypotheses.
        gold: trees; or numbers of labels.
    """

    texts: Texts
    gold: Sequence[Any]

    def tuned(self, mixed: bool) -> "Examples":
        """Return the same, read through the encoder, whose products may be rounded."""
        return self._replace(texts=replace(self.texts, frozen=False, mixed=mixed))

    @property
    def lengths(self) -> list[int] | None:
        """To make batches of like lengths: words, or subwords; None: kept means have none."""
        texts = self.texts
        if texts.frozen and texts.mean:
            return None
        rows = texts.ids if texts.mean else texts.reads
        return [len(rows[i]) for i in texts.place[: len(self.gold)]]

    def in_batches(self) -> list[list[int]]:
        """Return the numbers of all examples in batches of like lengths."""
        return by_length(self.lengths or [1] * len(self.gold), EVALUATION_BATCH)


def of_trees(encoder: Encoder, trees: Sequence[Sentence], words: Sequence[Words]) -> Examples:
    """Return trees, whose words are as the encoder's text has them."""
    return Examples(Texts.of(encoder, words, framed), trees)


def of_pairs(encoder: Encoder, pairs: Sequence[Pair], together: bool) -> Examples:
    """Return pairs, each as one sequence or as two texts."""
    texts: list[Any] = [(pair.premise, pair.hypothesis) for pair in pairs]
    if not together:
        texts = [pair[side] for side in (0, 1) for pair in texts]
    read = paired if together else Encoder.text
    return Examples(Texts.of(encoder, texts, read), [pair.label for pair in pairs])


class Parser:
    """A deep biaffine parser on the states of words.

    Args:
        train: the training sentences, on kept states.
        settings: of the head.
        seed: of its weights.
        device: where it is trained.
    """

    def __init__(self, train: Examples, settings: HeadSettings, seed: int, device: str) -> None:
        self.device = device
        rows = train.texts.kept
        self._scale = Scale(rows).to(device)
        self.relations = TagSet([relation for s in train.gold for relation in names(s)])
        torch.manual_seed(seed)
        sizes = (settings.hidden, settings.relation_hidden, len(self.relations))
        self.module = parsing.BiaffineParser(rows.shape[1], *sizes, DROPOUT).to(device)

    def loss(self, examples: Examples, chosen: Chosen) -> Tensor:
        """Return the loss of a batch of sentences."""
        sentences = [examples.gold[i] for i in chosen]
        heads, mask = padded([s.heads or () for s in sentences])
        relations, _ = padded([[*map(self.relations.number, names(s))] for s in sentences])
        gold = parsing.Trees(*(each.to(self.device) for each in (heads, relations, mask)))
        # shape: (batch, words, words + 1) and (batch, words, relations)
        arcs, relations = self.module(self._scale(examples.texts.states(chosen)), gold.heads)
        return parsing.parsing_loss(arcs, relations, gold)

    @torch.no_grad()
    def right(self, examples: Examples) -> dict[str, list[bool]]:
        """Return which words have the right head and relation (LAS), or the right head (UAS)."""
        predicted: dict[int, tuple[list[int], list[str]]] = {}
        for chosen in examples.in_batches():
            # shape: (batch, words, words + 1) and (batch, words, words + 1, relations)
            arcs, relations = self.module(self._scale(examples.texts.states(chosen)))
            _, mask = padded([examples.gold[i].heads or () for i in chosen])
            trees = parsing.decode(arcs, relations, mask.to(self.device))
            for i, (heads, numbers) in zip(chosen, trees, strict=True):
                predicted[i] = (heads.tolist(), [self.relations.names[n] for n in numbers])
        gold = [(s.heads or (), names(s)) for s in examples.gold]
        return parsing.words_right(gold, [predicted[i] for i in range(len(gold))])


def names(sentence: Sentence) -> list[str]:
    """Return a sentence's relations without their subtypes (``nsubj:pass``)."""
    return [relation.partition(":")[0] for relation in sentence.deprels or ()]


class Classifier:
    """A classifier of pairs read apart, on the mean states u and v of premise and hypothesis.

    It reads ``[u; v; |u - v|; u * v]``, each dimension of u and v on the scale of the training
    data.

    Args:
        train: the training pairs, on kept states.
        settings: of the head.
        seed: of its weights.
        device: where it is trained.
    """

    def __init__(self, train: Examples, settings: HeadSettings, seed: int, device: str) -> None:
        self.device = device
        rows = train.texts.kept[train.texts.place]  # premises, then hypotheses
        self._scale = Scale(rows[:: 1 + len(rows) // 20_000]).to(device)
        torch.manual_seed(seed)
        hidden, drop = nn.Linear(4 * rows.shape[1], settings.hidden), nn.Dropout(DROPOUT)
        layers = drop, hidden, nn.Tanh(), drop, nn.Linear(settings.hidden, len(LABELS))
        self.module = nn.Sequential(*layers).to(device)

    def _scores(self, examples: Examples, chosen: Chosen) -> Tensor:
        premises = np.asarray(chosen)
        sides = (premises, premises + len(examples.gold))
        # shape: (pairs, dim) each, then (pairs, 4 * dim) to (pairs, labels)
        u, v = (self._scale(examples.texts.states(side)) for side in sides)
        return self.module(torch.cat([u, v, (u - v).abs(), u * v], dim=1))

    def loss(self, examples: Examples, chosen: Chosen) -> Tensor:
        """Return the loss of a batch of pairs."""
        labels = torch.tensor([examples.gold[i] for i in chosen], device=self.device)
        return functional.cross_entropy(self._scores(examples, chosen), labels)

    @torch.no_grad()
    def right(self, examples: Examples) -> dict[str, list[bool]]:
        """Return which pairs are labelled rightly, in their order."""
        right = [False] * len(examples.gold)
        for chosen in examples.in_batches():
            for i, label in zip(chosen, self._scores(examples, chosen).argmax(1).tolist()):
                right[i] = label == examples.gold[i]
        return {"accuracy": right}


class PairClassifier(Classifier):
    """A linear layer on the first state of a pair read as one sequence, as BERT is fine-tuned.

    Args:
        train: the training pairs.
        settings: not read: the layer has no width to choose.
        seed: of its weights.
        device: where it is trained.
    """

    def __init__(self, train: Examples, settings: HeadSettings, seed: int, device: str) -> None:
        self.device = device
        torch.manual_seed(seed)
        linear = nn.Linear(train.texts.encoder.dim, len(LABELS))
        self.module = nn.Sequential(nn.Dropout(PAIR_DROPOUT), linear).to(device)

    def _scores(self, examples: Examples, chosen: Chosen) -> Tensor:
        # shape: (pairs, dim), then (pairs, labels)
        return self.module(examples.texts.states(chosen))


Head = Parser | Classifier


def percent(right: Sequence[bool]) -> float:
    """Return the share of what is right, percent."""
    return 100.0 * sum(right) / len(right)


# ---- training


def fit(
    head: Head,
    module: nn.Module,
    train: Examples,
    dev: Examples,
    settings: HeadSettings,
    seed: int,
    progress: Callable[[float, str], None],
) -> Fit:
    """Train a head in place; it ends with the weights of its best epoch on dev.

    What the fit counts as tokens are examples.

    Args:
        head: what is trained.
        module: its weights, or those of encoder's layers with it.
        train: the training examples.
        dev: what the epoch is chosen with, by the head's first measure.
        settings: of the training.
        seed: of batches and dropout.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)
    adam = ScheduledAdam(module, settings.learning_rate)

    def of_epoch(epoch: int) -> list[list[int]]:
        draw, lengths = np.random.default_rng([seed, epoch]), train.lengths
        if lengths is None:
            return cut(draw.permutation(len(train.gold)).tolist(), settings.batch_size)
        return pooled(lengths, settings.batch_size, POOL, draw)

    def step(chosen: list[int]) -> Step:
        return Step(adam.step(head.loss(train, chosen)), tokens=len(chosen))

    def dev_score() -> float:
        module.eval()
        return percent(next(iter(head.right(dev).values())))

    learner = BatchLearner(module, of_epoch, step, dev_score)
    return loop.fit(learner, settings.epochs, settings.patience, progress)
