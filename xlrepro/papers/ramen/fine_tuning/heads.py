"""The parser and the classifier of the tables, on states that change: layers are tuned with them.

Both are trained on frozen states first, then they read pieces through the encoder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from xlrepro import metrics
from xlrepro.data.sentences import Sentence
from xlrepro.nn.bert import Bert
from xlrepro.papers.ramen.heads import InferenceHead, ParsingHead, Scale
from xlrepro.papers.ramen.reading import Reader, States, Words
from xlrepro.tasks.parsing import Attachment, parsing_loss

EVALUATION_BATCH = 64


@dataclass(frozen=True)
class Texts:
    """Texts as a language's encoder reads them.

    Attributes:
        network: the encoder, with that language's embeddings.
        layer: whose states are read.
        ids: numbers of each text's pieces, the special ones around them. ``(pieces,)`` each
        reads: the pieces that are read of each text. ``(words,)`` or ``(pieces - 2,)`` each
    """

    network: Bert
    layer: int
    ids: Sequence[Tensor]
    reads: Sequence[Tensor]

    def states(self, chosen: Sequence[int] | np.ndarray) -> Tensor:
        """Return the states read of some texts, padded, ``(texts, most reads, dim)``."""
        device = self.network.positions.weight.device
        ids = pad_sequence([self.ids[i] for i in chosen], batch_first=True).to(device)
        lengths = torch.tensor([len(self.ids[i]) for i in chosen], device=device)
        mask = torch.arange(ids.shape[1], device=device) < lengths[:, None]
        states = self.network.hidden_states(ids, mask, self.layer)[-1]
        reads = pad_sequence([self.reads[i] for i in chosen], batch_first=True).to(device)
        return states.gather(1, reads[..., None].expand(-1, -1, states.shape[-1]))

    def means(self, chosen: Sequence[int] | np.ndarray) -> Tensor:
        """Return the mean of the states read of each of some texts, ``(texts, dim)``."""
        states = self.states(chosen)
        counts = torch.tensor([len(self.reads[i]) for i in chosen], device=states.device)
        mask = torch.arange(states.shape[1], device=states.device) < counts[:, None]
        mean: Tensor = (states * mask[..., None]).sum(1) / counts[:, None]
        return mean


def words_of(reader: Reader, language: str, sentences: Sequence[Words], layer: int) -> Texts:
    """Return sentences of which one piece of each word is read.

    Of the words of a sentence too long for the encoder the last pieces are left out.
    """
    network, numbers = reader.network(language), reader.numbers(language)
    ids, reads = [], []
    room = network.sizes.positions - 2
    for words in sentences:
        split = [numbers(word) for word in words]
        if sum(map(len, split)) > room:
            split = [pieces[: max(1, room // len(words))] for pieces in split]
        starts = np.cumsum([1, *map(len, split)])[:-1]
        first = [reader.first(pieces) for pieces in split]
        ids.append(_framed(reader, language, [n for pieces in split for n in pieces]))
        reads.append(torch.from_numpy(starts + np.array(first, dtype=int)))
    return Texts(network, layer, ids, reads)


def whole(reader: Reader, language: str, texts: Sequence[Words], layer: int) -> Texts:
    """Return texts of which all pieces are read, as `Reader.framed` gives them."""
    framed = [reader.framed(language, words) for words in texts]
    ids, reads = ([torch.tensor(row) for row in rows] for rows in zip(*framed, strict=True))
    return Texts(reader.network(language), layer, ids, reads)


def _framed(reader: Reader, language: str, numbers: list[int]) -> Tensor:
    return torch.tensor([reader.begin(language), *numbers, reader.end(language)])


def scaled(scale: Scale, states: Tensor) -> Tensor:
    """Return states on a scale, which is linear: known from what it makes of 0 and of 1."""
    zero, one = (
        torch.from_numpy(scale(np.full((1, states.shape[-1]), x))).to(states) for x in (0.0, 1.0)
    )
    return states * (one - zero) + zero


def layers_of(network: Bert, layer: int) -> nn.ModuleList:
    """Return the layers that are tuned, and freeze everything else of the encoder (§3)."""
    network.requires_grad_(False)
    tuned = network.layers[:layer]
    assert isinstance(tuned, nn.ModuleList)
    return tuned.requires_grad_(True)


class TunedParser(ParsingHead):
    """A parser that reads frozen states, or words as pieces through the encoder."""

    def loss_of_texts(self, texts: Texts, chosen: np.ndarray) -> Tensor:
        """Return the loss of a batch of the training sentences, read as pieces."""
        gold = self._trees([self._sentences[i] for i in chosen])
        arcs, relations = self.parser(self._batch(texts, chosen), gold.heads)
        return parsing_loss(arcs, relations, gold)

    def score(self, states: States | Texts, sentences: Sequence[Sentence]) -> Attachment:
        """Parse sentences and score the trees."""
        return super().score(cast(States, states), sentences)

    def _batch(self, states: States | Texts, chosen: Sequence[int] | np.ndarray) -> Tensor:
        if isinstance(states, States):
            return super()._batch(states, chosen)
        return scaled(self._scale, states.states(chosen))


class PairTexts(NamedTuple):
    """Pairs as pieces, and the numbers of their labels."""

    premises: Texts
    hypotheses: Texts
    labels: Sequence[int]


class TunedClassifier(InferenceHead):
    """A classifier of pairs that reads frozen states, or texts as pieces through the encoder."""

    def loss_of_texts(self, pairs: PairTexts, chosen: np.ndarray) -> Tensor:
        """Return the loss of a batch of pairs, read as pieces."""
        labels = torch.tensor([pairs.labels[i] for i in chosen], device=self.device)
        return functional.cross_entropy(self._scores(pairs, chosen), labels)

    @torch.no_grad()
    def score_texts(self, pairs: PairTexts) -> float:
        """Return the accuracy on pairs that are read as pieces, percent."""
        order = sorted(range(len(pairs.labels)), key=lambda i: len(pairs.premises.ids[i]))
        starts = range(0, len(order), EVALUATION_BATCH)
        groups = [order[start : start + EVALUATION_BATCH] for start in starts]
        predicted = [int(n) for group in groups for n in self._scores(pairs, group).argmax(1)]
        return metrics.accuracy([pairs.labels[i] for i in order], predicted)

    def _scores(self, pairs: PairTexts, chosen: Sequence[int] | np.ndarray) -> Tensor:
        sides = (pairs.premises, pairs.hypotheses)
        u, v = (scaled(self._scale, side.means(chosen)) for side in sides)
        scores: Tensor = self.classifier(torch.cat([u, v, (u - v).abs(), u * v], dim=1))
        return scores
