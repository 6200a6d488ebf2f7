"""Word vectors of a hundred languages from a released encoder: ``encoder``, the third open set.

The vector of a word is the mean state of its pieces at a middle layer, the word standing alone
between begin and end; every word has one. The mean over a language's frequent words is subtracted,
so that no vector says which language it is of. No word list aligned the languages: the encoder did.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from xlrepro.embeddings.open.lexicon import frequent_words
from xlrepro.embeddings.open.settings import language_sources, open_settings
from xlrepro.embeddings.vectors.tables import EXACT, UNKNOWN
from xlrepro.precision import working_dtype
from xlrepro.pretraining import released
from xlrepro.pretraining.frozen_states import frozen_states
from xlrepro.pretraining.recipes import (
    CENTRED_ON,
    WORD_STATES_LAYER,
    WORD_STATES_OF,
    weights_hash,
    word_states_hash,
)

VOCABULARY = 20_000  # words that a translation is sought among


class WordStates:
    """Vectors of words, computed when they are first asked for and kept on the disk.

    Like :class:`xlrepro.embeddings.vectors.tables.VectorSet`: standardised, so that each dimension
    has variance 1 over the frequent English words.

    Args:
        encoder: whose states.
        weights: what identifies its weights.
        layer: which of its layers.

    Attributes:
        source: the language that sets the scale.
        content_hash: hash of the recipe.
    """

    def __init__(self, encoder: released.ReleasedEncoder, weights: str, layer: int) -> None:
        self._encoder, self._weights, self._layer = encoder, weights, layer
        self.source = open_settings().source
        self.content_hash = word_states_hash()
        self._means: dict[str, np.ndarray] = {}
        self._found: dict[str, dict[str, tuple[np.ndarray, int]]] = {}

    @property
    def dim(self) -> int:
        """Dimension of the vectors."""
        return self._encoder.dim

    def words(self, language: str) -> Sequence[str]:
        """Return a language's frequent words, most frequent first."""
        language_sources(language)
        return frequent_words(language)[:VOCABULARY]

    def matrix(self, language: str) -> np.ndarray:
        """Return their vectors before scaling, ``(words, dim)``."""
        return self._states(self.words(language)) - self._mean(language)

    def lookup(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Look words up.

        Args:
            language: a language that has a list of frequent words.
            words: any number of words, as they stand in a corpus.

        Returns:
            The vectors ``(n, dim)``; and int8 ``(n,)``: 1 for a word, 0 and a zero vector where the
            encoder knows none of its signs.

        Raises:
            SettingsError: for a language without a list.
        """
        language_sources(language)
        known = self._found.setdefault(language, {})
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            scaled = (self._states(new) - self._mean(language)) / self._scale
            for word, vector in zip(new, scaled, strict=True):
                kind = EXACT if self._says_something(word) else UNKNOWN
                known[word] = (vector * (kind == EXACT), kind)
        vectors = np.zeros((len(words), self.dim), dtype=working_dtype())
        kinds = np.zeros(len(words), dtype=np.int8)
        for place, word in enumerate(words):
            vectors[place], kinds[place] = known[word]
        return vectors, kinds

    def _says_something(self, word: str) -> bool:
        numbers = self._encoder.tokenizer.numbers(word)
        return numbers[self._encoder.tokenizer.first(numbers)] != self._encoder.unknown

    def _mean(self, language: str) -> np.ndarray:
        if language not in self._means:
            states = self._states(frequent_words(language)[:CENTRED_ON])
            self._means[language] = states.mean(0)
            if language == self.source:
                self._spread = states.std(0)
        # shape: (dim,)
        return self._means[language]

    @property
    def _scale(self) -> np.ndarray:
        self._mean(self.source)
        return self._spread

    def _states(self, words: Sequence[str]) -> np.ndarray:
        """Return the mean state of each word's pieces, ``(words, dim)``."""
        encoder = self._encoder
        room = encoder.limit - 2
        pieces = [encoder.tokenizer.numbers(word)[:room] for word in words]
        sequences = [[encoder.begin, *numbers, encoder.end] for numbers in pieces]
        firsts = [encoder.tokenizer.first(numbers) for numbers in pieces]
        reads = [
            range(1 + first, 1 + len(numbers))
            for first, numbers in zip(firsts, pieces, strict=True)
        ]
        states = frozen_states(
            encoder.network, self._weights, sequences, reads, [self._layer], mean=True
        )
        return np.asarray(states[self._layer], dtype=working_dtype())


@cache
def load() -> WordStates:
    """Return the vectors (cached in the process); the encoder is fetched if need be.

    Raises:
        DataError: if its files cannot be had.

    Example:
        >>> vectors, kinds = load().lookup("de", ["Hund", "Hündchen"])  # doctest: +SKIP
        >>> vectors.shape, kinds.tolist()  # doctest: +SKIP
        ((2, 384), [1, 1])
    """
    return WordStates(
        released.load(WORD_STATES_OF), weights_hash(WORD_STATES_OF), WORD_STATES_LAYER
    )
