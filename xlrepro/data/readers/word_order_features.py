"""The word-order features of Ahmad et al. (2019) and the distance between languages they give.

Each of 31 languages has 52 features: for the most frequent types of dependency (tag of the
dependent, tag of the head, relation) the share in which the head follows its dependent, measured on
Universal Dependencies; 0.5 where a type does not occur. The distance between two languages is the
mean absolute difference of their features (word order paper, Table 2, column "Dis. to English").
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xlrepro.data import registry
from xlrepro.data.readers.text_files import malformed, read_text_lines

N_FEATURES = 52
_DATASET = "word-order-distance"


def read_features(path: Path) -> dict[str, np.ndarray]:
    """Return the features of each language of a table with a header ``lang f0 f1 …``.

    Args:
        path: a table separated by tabs, a language a row.

    Returns:
        By language, an array of shape ``(52,)``, float64, each from 0 to 1.

    Raises:
        DataError: for a malformed row, with its line number.
    """
    header, *rows = read_text_lines(path) or [""]
    names = ["lang", *(f"f{place}" for place in range(N_FEATURES))]
    if header.split("\t") != names:
        raise malformed(path, 1, f"expected the header lang, f0, …, f{N_FEATURES - 1}")
    features: dict[str, np.ndarray] = {}
    for number, row in enumerate(rows, start=2):
        language, *cells = row.split("\t")
        try:
            values = np.array([float(cell) for cell in cells])
        except ValueError as error:
            raise malformed(path, number, f"expected numbers: {error}") from error
        if values.shape != (N_FEATURES,) or not np.all((values >= 0) & (values <= 1)):
            raise malformed(path, number, f"expected {N_FEATURES} numbers from 0 to 1")
        if language in features:
            raise malformed(path, number, f"expected each language once, found {language} again")
        features[language] = values
    return features


def table() -> dict[str, np.ndarray]:
    """Return the registered features: by language, an array of shape ``(52,)``.

    Raises:
        DataError: if the registered table cannot be had.
    """
    return read_features(registry.fetch(_DATASET, "features", progress=False))


def mean_absolute_difference(one: Sequence[float] | np.ndarray, other: np.ndarray) -> float:
    """Return the distance between two feature vectors, each of shape ``(52,)``.

    Example:
        >>> mean_absolute_difference([0.0, 1.0], [0.5, 1.0])
        0.25
    """
    return float(np.mean(np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float))))
