"""Batches of a language model: what a step reads follows from the seed and its number alone."""

from functools import lru_cache

import numpy as np
import torch

from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.language_model.whole_word_bert import MaskedWords
from xlrepro.papers.sense_alignment.pretraining.text import BEGIN, END, MASK, SPECIAL, Corpus
from xlrepro.training.masking import mask_pieces

FIRST, LAST = SPECIAL.index(BEGIN), SPECIAL.index(END)


class Batches:
    """Cuts a corpus into the batches of a biLM or of a BERT.

    Args:
        corpus: the text.
        settings: of the language model.
    """

    def __init__(self, corpus: Corpus, settings: LanguageModelSettings) -> None:
        self.settings = settings
        self.sentences = [s for code in settings.languages for s in corpus.sentences[code]]
        self.sizes = [len(corpus.sentences[code]) for code in settings.languages]
        self.tokens = sum(map(len, self.sentences)) + 2 * len(self.sentences)
        self._epoch = lru_cache(maxsize=1)(self._made)

    def order(self, epoch: int) -> np.ndarray:
        """Return the sentences of an epoch by their numbers: all once, or by tosses of a coin."""
        random = np.random.default_rng([self.settings.seed, 0, epoch])
        count = len(self.sentences)
        if self.settings.training.mixing == "joined" or len(self.sizes) == 1:
            return random.permutation(count)
        toss = random.integers(2, size=count)
        numbers = np.empty(count, dtype=np.int64)
        for language, first in enumerate((0, self.sizes[0])):
            wanted = int((toss == language).sum())
            rounds = -(-wanted // self.sizes[language])
            again = [random.permutation(self.sizes[language]) for _ in range(rounds)]
            numbers[toss == language] = first + np.concatenate([*again, []])[:wanted].astype(int)
        return numbers

    def text(self, epoch: int) -> np.ndarray:
        """Return an epoch as running text, ``(2, words)``: as it is read, and mirrored.

        Sentences stand in the same order in both rows; each is mirrored for itself, so that the
        second row begins every sentence with ``</S>``.
        """
        parts = []
        for number in self.order(epoch):
            sentence = np.concatenate(([FIRST], self.sentences[number], [LAST]))
            parts.append(np.stack((sentence, sentence[::-1])))
        return np.concatenate(parts, 1)

    def _made(self, epoch: int) -> np.ndarray:
        training = self.settings.training
        text = self.text(epoch)
        if self.settings.network.family == "bert":
            length = self.settings.network.positions
            count = text.shape[1] // length
            return text[0, : count * length].reshape(count, length)
        length = text.shape[1] // training.streams
        if length <= training.unroll:  # less text than one window: read it round and round
            wanted = training.streams * (training.unroll + 1)
            text = np.tile(text, (1, -(-wanted // text.shape[1])))
            length = text.shape[1] // training.streams
        return text[:, : length * training.streams].reshape(2, training.streams, length)

    def per_epoch(self) -> int:
        """Return the steps of an epoch; every epoch has as many words, but for the coin's."""
        training, network = self.settings.training, self.settings.network
        if network.family == "bert":
            return max(1, self.tokens // network.positions // training.streams)
        return max(1, (self.tokens // training.streams - 1) // training.unroll)

    def window(self, step: int) -> torch.Tensor:
        """Return the window of a biLM's step, ``(2, streams, unroll + 1)``."""
        epoch, place = divmod(step, self.per_epoch())
        made, unroll = self._epoch(epoch), self.settings.training.unroll
        # An epoch drawn by coins may be shorter by some windows: its first ones come again.
        place %= max(1, (made.shape[2] - 1) // unroll)
        part = made[:, :, place * unroll : (place + 1) * unroll + 1]
        return torch.from_numpy(np.ascontiguousarray(part).astype(np.int64))

    def masked(self, step: int, vocabulary: int, again: int = 0) -> MaskedWords:
        """Return the batch of a BERT's step, masked; ``again``: of another draw."""
        streams, seed = self.settings.training.streams, self.settings.seed
        epoch, place = divmod(step, self.per_epoch())
        made = self._epoch(epoch)
        order = np.random.default_rng([seed, 3 + again, epoch]).permutation(len(made))
        rows = np.take(order, range(place * streams, (place + 1) * streams), mode="wrap")
        draw = np.random.default_rng([seed, 1, step, again])
        ids = made[rows].astype(np.int64)
        ids[ids >= vocabulary] = SPECIAL.index("<UNK>")
        arrays = mask_pieces(ids, len(SPECIAL), SPECIAL.index(MASK), vocabulary, draw)
        seen, hidden, gold = (torch.from_numpy(array) for array in arrays)
        return MaskedWords(seen, hidden, gold, step, seed)
