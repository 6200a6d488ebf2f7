"""Word vectors made worse on purpose: Gaussian noise on every language but the source."""

import hashlib
from collections.abc import Sequence

import numpy as np

from xlrepro.errors import SettingsError
from xlrepro.precision import working_dtype
from xlrepro.vectors.encoding import WordVectors
from xlrepro.vectors.normalise import word_form


class NoisyVectors:
    """A vector set whose foreign vectors are disturbed, each word's always in the same way.

    A standardised vector v of d dimensions becomes (v + σ ‖v‖/√d · g) / √(1 + σ²), g standard
    Gaussian: its expected squared length stays that of v, so only the direction suffers and not
    the scale; its expected cosine with v is about 1 / √(1 + σ²). g depends on the seed, the
    language and the word's stored form (`word_form`) alone, so a word has one vector in every
    sentence and process. Unknown words stay zero; the source language is untouched.

    It answers `lookup` like the set it wraps, and `words` and `matrix`, so that dictionary
    induction can be measured on the very vectors that a tagger reads.
    """

    def __init__(self, vectors: WordVectors, sigma: float, seed: int) -> None:
        """Wrap a vector set.

        Args:
            vectors: the set; it is not changed.
            sigma: σ, noise for signal; 0 changes nothing.
            seed: of all noise.

        Raises:
            SettingsError: for a negative σ.
        """
        if sigma < 0:
            raise SettingsError(f"noise on word vectors is {sigma}: give 0 or more")
        self.vectors = vectors
        self.sigma = sigma
        self.seed = seed
        source = np.asarray(vectors.matrix(vectors.source), dtype=np.float64)
        # What VectorSet standardises with, so that `matrix` can undo it.
        self._mean = source.mean(axis=0)
        self._scale = np.where(source.std(axis=0) > 1e-9, source.std(axis=0), 1.0)

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self.vectors.dim

    @property
    def source(self) -> str:
        """The language without noise."""
        return self.vectors.source

    def words(self, language: str) -> Sequence[str]:
        """Return a language's words, most frequent first."""
        return self.vectors.words(language)

    def lookup(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Look words up.

        Returns:
            Standardised vectors with noise ``(n, dim)``, zero where unknown; how each
            word was found, int8 ``(n,)``.
        """
        rows, kinds = self.vectors.lookup(language, words)
        return self._disturbed(language, words, rows), kinds

    def matrix(self, language: str) -> np.ndarray:
        """Return a language's vectors with noise, before standardisation, ``(words, dim)``."""
        plain = np.asarray(self.vectors.matrix(language))
        if language == self.source or self.sigma == 0:
            return plain
        standardised = (plain - self._mean) / self._scale
        noisy = self._disturbed(language, self.words(language), standardised)
        return np.asarray(noisy * self._scale + self._mean, dtype=working_dtype())

    def _disturbed(self, language: str, words: Sequence[str], rows: np.ndarray) -> np.ndarray:
        if language == self.source or self.sigma == 0:
            return rows
        noise = np.stack([self._noise(language, word) for word in words])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True) / np.sqrt(self.dim)
        disturbed = (rows + self.sigma * lengths * noise) / np.sqrt(1 + self.sigma**2)
        return np.asarray(disturbed, dtype=working_dtype())

    def _noise(self, language: str, word: str) -> np.ndarray:
        name = f"{self.seed} {language} {word_form(word, language)}".encode()
        seed = int.from_bytes(hashlib.sha256(name).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self.dim, dtype=np.float32)
