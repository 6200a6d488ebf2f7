"""Cross-lingual word vectors of many languages, and how words are looked up in them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from xlrepro.errors import SettingsError
from xlrepro.precision import working_dtype
from xlrepro.vectors.backoff import WordIndex
from xlrepro.vectors.normalise import variants

UNKNOWN, EXACT, BACK_OFF = 0, 1, 2
# Languages not written in Latin script.
_OTHER_SCRIPTS = frozenset({"ar", "bg", "el", "fa", "he", "hi", "ja", "ko", "ru", "th", "uk", "zh"})


class WordVectors(ABC):
    """Word vectors of several languages in one space; what was looked up is remembered.

    Attributes:
        dim: dimensions of a vector.
        source: the language whose vocabulary sets the scale.
    """

    dim: int
    source: str

    def __init__(self) -> None:
        self._found: dict[str, dict[str, tuple[np.ndarray, int]]] = {}

    def words(self, language: str) -> Sequence[str]:
        """Return a language's words, most frequent first."""
        raise TypeError(f"{type(self).__name__} has no table of words: look words up")

    def matrix(self, language: str) -> np.ndarray:
        """Return their vectors before standardisation, ``(words, dim)``."""
        raise TypeError(f"{type(self).__name__} has no table of vectors: look words up")

    @abstractmethod
    def find(self, language: str, words: Sequence[str]) -> list[tuple[np.ndarray, int]]:
        """Return the standardised vector of each distinct word, ``(dim,)``, and how it was found.

        Raises:
            SettingsError: for a language without vectors.
        """

    def lookup(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Look words up.

        Args:
            language: one that there are vectors for.
            words: any number of words, as they stand in a corpus.

        Returns:
            The standardised vectors ``(n, dim)``, zero where unknown; and how each was
            found, int8 ``(n,)``: 0 unknown, 1 exact, 2 by back-off.

        Raises:
            SettingsError: for a language without vectors.
        """
        known = self._found.setdefault(language, {})
        new = [word for word in dict.fromkeys(words) if word not in known]
        known |= zip(new, self.find(language, new), strict=True)
        vectors = np.array([known[word][0] for word in words]).reshape(-1, self.dim)
        return vectors, np.array([known[word][1] for word in words], dtype=np.int8)


class VectorSet(WordVectors):
    """Word vectors that lie in tables.

    A look-up tries the word's own vector under its `normalise.variants`,
    then the same string in the source language (names, numbers, loans), then what
    `backoff.WordIndex` makes of its parts. What comes out is
    standardised: each dimension has mean 0 and variance 1 over the source language's vocabulary.
    An unknown word is zero.

    Attributes:
        name: ``"dictionary"``, ``"mapped"``, or the user's own.
    """

    def __init__(
        self,
        name: str,
        words: Mapping[str, Sequence[str]],
        matrices: Mapping[str, np.ndarray],
        source: str = "en",
    ) -> None:
        """Hold vectors that lie in memory or in memory-mapped files.

        Args:
            name: of the set.
            words: per language its words, most frequent first, each once.
            matrices: per language the vectors in the same order, ``(words, dim)``.
            source: the language whose vocabulary sets the scale.

        Raises:
            SettingsError: if words and vectors do not match in number or dimensions.
        """
        super().__init__()
        dim = int(matrices[source].shape[1])
        for language, matrix in matrices.items():
            if matrix.shape != (len(words[language]), dim):
                shape = f"{matrix.shape}; expected ({len(words[language])}, {dim})"
                raise SettingsError(f"vector set {name!r}: vectors of {language} have {shape}")
        self.name, self.source, self.dim = name, source, dim
        self._words, self._matrices = dict(words), dict(matrices)
        self._indexes: dict[str, WordIndex] = {}
        self._dtype = working_dtype()
        sample = np.asarray(matrices[source], dtype=np.float64)
        scale = sample.std(axis=0)
        self._mean = sample.mean(axis=0).astype(self._dtype)
        self._scale = np.where(scale > 1e-9, scale, 1.0).astype(self._dtype)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages there are vectors for."""
        return tuple(self._words)

    def words(self, language: str) -> Sequence[str]:
        """Return a language's words, most frequent first."""
        self._check_language(language)
        return self._words[language]

    def matrix(self, language: str) -> np.ndarray:
        """Return their vectors before standardisation, ``(words, dim)``."""
        self._check_language(language)
        return self._matrices[language]

    def find(self, language: str, words: Sequence[str]) -> list[tuple[np.ndarray, int]]:
        """Return what :meth:`lookup` remembers of each word."""
        self._check_language(language)
        return [self._find(language, word) for word in words]

    def _find(self, language: str, word: str) -> tuple[np.ndarray, int]:
        index = self._index(language)
        forms = variants(word, language)
        for form in forms:
            row = index.row(form)
            if row is not None:
                return self._standardised(language, [row]), EXACT
        if language != self.source:
            shared = self._index(self.source)
            for form in forms:
                row = shared.row(form) if _may_be_shared(form, language) else None
                if row is not None:
                    return self._standardised(self.source, [row]), BACK_OFF
        rows = index.back_off(forms)
        if not rows:
            return np.zeros(self.dim, dtype=self._dtype), UNKNOWN
        return self._standardised(language, rows), BACK_OFF

    def _standardised(self, language: str, rows: list[int]) -> np.ndarray:
        vectors = np.asarray(self._matrices[language][rows], dtype=self._dtype)
        mean = vectors.mean(axis=0)
        if len(rows) > 1:
            # A mean of several vectors is shorter than each: give it their length.
            length = float(np.linalg.norm(mean))
            mean = mean * (float(np.linalg.norm(vectors, axis=1).mean()) / max(length, 1e-9))
        return (mean - self._mean) / self._scale

    def _index(self, language: str) -> WordIndex:
        if language not in self._indexes:
            self._indexes[language] = WordIndex(self._words[language], language)
        return self._indexes[language]

    def _check_language(self, language: str) -> None:
        if language not in self._words:
            raise SettingsError(
                f"vector set {self.name!r} has no language {language!r}; it has: "
                + ", ".join(self._words)
            )


def save_language(folder: Path, words: Sequence[str], matrix: np.ndarray) -> None:
    """Write one language's words and vectors ``(words, dim)``, float32, into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.txt").write_text("".join(word + "\n" for word in words), encoding="utf-8")
    np.save(folder / "vectors.npy", np.ascontiguousarray(matrix, dtype=np.float32))


def load_language(folder: Path) -> tuple[list[str], np.ndarray]:
    """Read one language's words, and its vectors ``(words, dim)`` memory-mapped."""
    words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return words, np.load(folder / "vectors.npy", mmap_mode="r")


def load_set(name: str, folders: Mapping[str, Path]) -> VectorSet:
    """Return the vector set whose languages lie in ``folders``, as `artefacts.built` has them."""
    words, matrices = {}, {}
    for language, folder in folders.items():
        words[language], matrices[language] = load_language(folder)
    return VectorSet(name, words, matrices)


def _may_be_shared(form: str, language: str) -> bool:
    """Whether a string means the same in two languages.

    If it has no letters, or at least four; or stands in Latin script in a text of another script.
    """
    if len(form) >= 4 or not any(letter.isalpha() for letter in form):
        return True
    return language in _OTHER_SCRIPTS and form.isascii()
