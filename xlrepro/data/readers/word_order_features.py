"""The word-order features of Ahmad et al. (2019) and the distance between languages they give.

Each of 31 languages has 52 features: for the most frequent types of dependency (tag of the
dependent, tag of the head, relation) the share in which the head follows its dependent, measured on
Universal Dependencies; 0.5 where a type does not occur. The distance between two languages is the
mean absolute difference of their features (word order paper, Table 2, column "Dis. to English").
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from xlrepro.data import registry


def table() -> dict[str, np.ndarray]:
    """Return the registered features: by language, an array of shape ``(52,)``, each from 0 to 1.

    Raises:
        DataError: if the registered table cannot be had.
    """
    path = registry.fetch("word-order-distance", "features")
    features = pd.read_csv(path, sep="\t", index_col="lang", float_precision="round_trip")
    return {str(language): row.to_numpy(float) for language, row in features.iterrows()}


def mean_absolute_difference(one: Sequence[float] | np.ndarray, other: np.ndarray) -> float:
    """Return the distance between two feature vectors, each of shape ``(52,)``.

    Example:
        >>> mean_absolute_difference([0.0, 1.0], [0.5, 1.0])
        0.25
    """
    return float(np.mean(np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float))))
