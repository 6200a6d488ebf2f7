"""Word vectors of a hundred languages from a released encoder: ``encoder``, the third open set.

The vector of a word is the mean state of its pieces at a middle layer: over the word's occurrences
in open text, or, where it has none, of the word standing alone between begin and end; every word
has one. The mean over a language's frequent words is subtracted, in each of the two ways by itself,
so that no vector says which language it is of. No word list aligned the languages: the encoder did.
"""

from collections.abc import Sequence
from functools import cache, partial

import numpy as np

from xlrepro.precision import working_dtype
from xlrepro.pretraining import released
from xlrepro.pretraining.frozen_states import frozen_states
from xlrepro.pretraining.occurrences import Occurrences, occurrences
from xlrepro.pretraining.recipes import (
    CENTRED_ON,
    MOST_OCCURRENCES,
    OCCURRENCES_IN,
    WORD_STATES_LAYER,
    WORD_STATES_OF,
    weights_hash,
    word_states_hash,
    word_states_recipe,
)
from xlrepro.pretraining.text import open_lines, plain_word
from xlrepro.vectors.open.lexicon import frequent_words
from xlrepro.vectors.open.settings import language_sources, open_settings
from xlrepro.vectors.tables import EXACT, UNKNOWN

VOCABULARY = 20_000  # words that a translation is sought among


class WordStates:
    """Vectors of words, computed when they are first asked for and kept on the disk.

    Like :class:`xlrepro.vectors.tables.VectorSet`: standardised, so that each dimension
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
        self._means: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._occurrences: dict[str, Occurrences] = {}
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
        return self._centred(language, self.words(language))

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
            scaled = self._centred(language, new) / self._scale
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

    def _centred(self, language: str, words: Sequence[str]) -> np.ndarray:
        """Return the state of each word less the mean of its kind, ``(words, dim)``."""
        states, occurs = self._states(language, words)
        apart, among = self._centres(language)
        # shape: (words, dim)
        return states - np.where(occurs[:, None], among, apart)

    def _centres(self, language: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean state of frequent words alone, and of those that occur where they do."""
        if language not in self._means:
            words = frequent_words(language)[:CENTRED_ON]
            states, occurs = self._states(language, words)
            apart = self._alone(words).mean(0)
            among = states[occurs].mean(0) if occurs.any() else apart
            self._means[language] = apart, among
            if language == self.source:
                self._spread = self._centred(language, words).std(0)
        # shape: (dim,) each
        return self._means[language]

    @property
    def _scale(self) -> np.ndarray:
        self._centres(self.source)
        return self._spread

    def _states(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the state of each word ``(words, dim)``, and which occur in text ``(words,)``."""
        found = self._text(language)
        rows = [found.row(plain_word(word, language)) for word in words]
        occurs = np.array([row is not None for row in rows], dtype=bool)
        states = np.empty((len(words), self.dim), dtype=working_dtype())
        if occurs.any():
            states[occurs] = found.means[[row for row in rows if row is not None]]
        alone = [word for word, row in zip(words, rows, strict=True) if row is None]
        if alone:
            states[~occurs] = self._alone(alone)
        return states, occurs

    def _text(self, language: str) -> Occurrences:
        if language not in self._occurrences:
            self._occurrences[language] = occurrences(
                self._encoder,
                self._layer,
                language,
                partial(open_lines, language, 0),
                OCCURRENCES_IN["en" if language == self.source else "others"],
                MOST_OCCURRENCES,
                word_states_recipe(language),
            )
        return self._occurrences[language]

    def _alone(self, words: Sequence[str]) -> np.ndarray:
        """Return the mean state of the pieces of each word standing alone, ``(words, dim)``."""
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
