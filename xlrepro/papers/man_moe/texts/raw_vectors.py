"""Word vectors as the authors' code reads them: a word's lower-case form, and no second try.

`xlrepro.vectors.tables.VectorSet` standardises each dimension and backs off to parts of
words; vocab.py of the authors' code does neither.
"""

from collections.abc import Sequence

import numpy as np

from xlrepro.precision import working_dtype
from xlrepro.vectors.tables import EXACT, UNKNOWN, VectorSet


class RawVectors:
    """A look-up in a vector set, word by word.

    Args:
        vectors: the set.

    Attributes:
        dim: dimensions of a vector.

    Example:
        >>> both = VectorSet("two", {"en": ["ab"]}, {"en": np.array([[3.0, 4.0]])})
        >>> RawVectors(both).lookup("en", ["Ab", "abs"])[1].tolist()
        [1, 0]
    """

    def __init__(self, vectors: VectorSet) -> None:
        self.vectors, self.dim = vectors, vectors.dim
        self._rows: dict[str, dict[str, int]] = {}

    def lookup(self, language: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Look words up.

        Args:
            language: one of the set's.
            words: any number of words, as they stand in a corpus.

        Returns:
            Their vectors ``(n, dim)``, zero where unknown; and int8 ``(n,)``: 1 known, 0 unknown.

        Raises:
            SettingsError: for a language without vectors.
        """
        if language not in self._rows:
            known = self.vectors.words(language)
            self._rows[language] = {word: row for row, word in enumerate(known)}
        rows = [self._rows[language].get(word.strip().lower(), -1) for word in words]
        kinds = np.array([UNKNOWN if row < 0 else EXACT for row in rows], dtype=np.int8)
        # shape: (n, dim)
        matrix = np.zeros((len(words), self.dim), dtype=working_dtype())
        hits = np.flatnonzero(kinds)
        matrix[hits] = self.vectors.matrix(language)[[rows[i] for i in hits]]
        return matrix, kinds
