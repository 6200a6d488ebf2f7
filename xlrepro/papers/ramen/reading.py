"""A text as frozen states: of the words of a sentence, or one vector for a whole text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from xlrepro.artefacts import hash_of
from xlrepro.nn.bert import Bert
from xlrepro.papers.ramen.encoders.pieces import Pieces, wordpieces
from xlrepro.papers.ramen.model import ENGLISH
from xlrepro.papers.ramen.recipes import (
    SELF,
    SUPPLIED,
    english_recipe,
    multilingual_hash,
    recipe_hash,
)
from xlrepro.papers.ramen.settings import AdaptationSettings
from xlrepro.papers.ramen.stages import adaptation
from xlrepro.pretraining import released
from xlrepro.pretraining.frozen_states import frozen_states

Words = Sequence[str]


@dataclass(frozen=True)
class Reader:
    """An encoder that reads some languages.

    Attributes:
        identity: language to what identifies the weights that read it.
        network: language to the encoder as it reads that language.
        numbers: language to how its words are split into pieces.
        begin: number of the piece a sequence begins with, by language.
        end: number of the piece it ends with, by language.
        first: the place among a word's pieces that it is read from.
        device: where states are computed.
    """

    identity: Callable[[str], str]
    network: Callable[[str], Bert]
    numbers: Callable[[str], Callable[[str], list[int]]]
    begin: Callable[[str], int]
    end: Callable[[str], int]
    first: Callable[[Sequence[int]], int]
    device: str = "cpu"

    def _layer(self, language: str, layer: int | None) -> int:
        return len(self.network(language).layers) if layer is None else layer

    def words(self, language: str, sentences: Sequence[Words], layer: int | None) -> "States":
        """Return the state of every word, read from one of its pieces.

        A sentence too long for the encoder is read in parts.

        Args:
            language: of the sentences.
            sentences: the words of each.
            layer: which; None: the last.
        """
        network, split = self.network(language), self.numbers(language)
        room = network.sizes.positions - 2
        rows, reads = [], []
        for words in sentences:
            pieces = [split(word)[:room] for word in words]
            for part in parts([len(p) for p in pieces], room):
                ids, places = [self.begin(language)], []
                for word in part:
                    places.append(len(ids) + self.first(pieces[word]))
                    ids += pieces[word]
                rows.append([*ids, self.end(language)])
                reads.append(places)
        which = self._layer(language, layer)
        states = frozen_states(network, self._name(language), rows, reads, [which], self.device)
        ends = np.cumsum([len(words) for words in sentences])
        return States(states[which], np.concatenate([[0], ends]).astype(int))

    def texts(self, language: str, texts: Sequence[Words], layer: int | None) -> np.ndarray:
        """Return the mean state of each text's pieces, as `framed` gives them.

        Returns:
            ``(texts, dim)`` float16
        """
        network = self.network(language)
        rows, reads = zip(*(self.framed(language, words) for words in texts), strict=True)
        which, name = self._layer(language, layer), self._name(language)
        states = frozen_states(network, name, rows, reads, [which], self.device, mean=True)
        return states[which]

    def framed(self, language: str, words: Words) -> tuple[list[int], list[int]]:
        """Return a text's pieces between the special ones, and the places of those to read.

        What does not fit is cut off. A marker that begins a word and stands alone says nothing of
        it: in Chinese two of five pieces are such markers. Of a text without pieces the first
        special one is read.
        """
        split, room = self.numbers(language), self.network(language).sizes.positions - 2
        ids, places = [self.begin(language)], list[int]()
        for pieces in map(split, words):
            places += range(len(ids) + self.first(pieces), len(ids) + len(pieces))
            ids += pieces
        read = [place for place in places if place <= room] or [0]
        return [*ids[: room + 1], self.end(language)], read

    def _name(self, language: str) -> str:
        return f"{self.identity(language)} {language}"


@dataclass(frozen=True)
class States:
    """States of words, sentence after sentence.

    Attributes:
        rows: ``(words of all sentences, dim)``.
        starts: where each sentence begins, and the end of the last. ``(sentences + 1,)``
    """

    rows: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.starts) - 1

    def __getitem__(self, sentence: int) -> np.ndarray:
        """Return the states of a sentence's words, ``(words, dim)``."""
        return self.rows[self.starts[sentence] : self.starts[sentence + 1]]


def parts(lengths: Sequence[int], room: int) -> list[range]:
    """Cut a sentence at word boundaries into parts of at most ``room`` pieces.

    Args:
        lengths: number of pieces of each word, each at most ``room``.
        room: pieces of a part.

    Example:
        >>> parts([2, 2, 3, 1], room=4)
        [range(0, 2), range(2, 4)]
    """
    starts, used = [0], 0
    for i, length in enumerate(lengths):
        if used + length > room:
            starts.append(i)
            used = 0
        used += length
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(lengths)], strict=True)]


def bilingual(settings: AdaptationSettings, checkpoint: str, device: str = "cpu") -> Reader:
    """Return the reader of a bilingual model at a checkpoint."""
    model, pieces, _ = adaptation.load(settings, checkpoint, device)
    special: dict[str, Pieces] = pieces
    return Reader(
        identity=partial(_identity, settings, checkpoint),
        network=model.in_language,
        numbers=lambda language: special[language].numbers,
        begin=lambda language: special[language].special.begin,
        end=lambda language: special[language].special.end,
        first=lambda numbers: 0,
        device=device,
    )


def _identity(settings: AdaptationSettings, checkpoint: str, language: str) -> str:
    """Return what identifies the weights that read a language: stage 1 changes no English state."""
    if language == ENGLISH and checkpoint != "end":
        return hash_of(english_recipe(settings))
    return f"{recipe_hash(settings)} {checkpoint}"


def multilingual(name: str, layers: int | None, device: str = "cpu") -> Reader:
    """Return the reader of a multilingual encoder, the stand-in for M-BERT.

    Args:
        name: a released encoder, ``"self:"`` and one pretrained here, or ``"supplied:"`` and a
            folder of the user's.
        layers: its first so many layers alone; None: all.
        device: where states are computed.
    """
    if name.startswith(SELF):
        from xlrepro.pretraining.multilingual_bert import load

        pretrained = load(name.removeprefix(SELF))
        split = wordpieces(pretrained.wordpiece.vocabulary)
        network, begin, end = pretrained.bert, split.special.begin, split.special.end
        numbers, first = split.numbers, lambda numbers: 0
    elif name.startswith(SUPPLIED):
        from xlrepro.papers.ramen.encoders import supplied

        folder = name.removeprefix(SUPPLIED)
        network, split = supplied.model(folder, 0.0).bert, supplied.pieces(folder)
        begin, end = split.special.begin, split.special.end
        numbers, first = split.numbers, lambda numbers: 0
    else:
        encoder = released.load(name)
        network, begin, end = encoder.network, encoder.begin, encoder.end
        numbers, first = encoder.tokenizer.numbers, encoder.tokenizer.first
    network.layers = network.layers[:layers]
    if torch.get_default_dtype() == torch.float64:
        network.double()
    return Reader(
        identity=lambda language: multilingual_hash(name),
        network=lambda language: network,
        numbers=lambda language: numbers,
        begin=lambda language: begin,
        end=lambda language: end,
        first=first,
        device=device,
    )
