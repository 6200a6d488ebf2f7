"""Word vectors from counts, against the decomposition of the whole matrix."""

import numpy as np

from xlrepro.precision import computing
from xlrepro.vectors.counted import counted

TEXT = [
    ["red", "wine", "old", "wine"],
    ["red", "beer", "old", "beer"],
    ["fast", "car", "new", "car"],
    ["fast", "bus", "new", "bus"],
]


def information(window):
    """Positive pointwise mutual information, pair by pair."""
    words = sorted({w for line in TEXT for w in line})
    pairs = [
        (a, b)
        for line in TEXT
        for i, a in enumerate(line)
        for j, b in enumerate(line)
        if i != j and abs(i - j) <= window
    ]
    total = len(pairs)

    def share(word):
        return sum(a == word for a, _ in pairs) / total

    def value(a, b):
        joint = pairs.count((a, b)) / total
        return max(0.0, np.log(joint / (share(a) * share(b)))) if joint else 0.0

    return words, np.array([[value(a, b) for b in words] for a in words])


def test_all_dimensions_give_the_absolute_value_of_the_matrix():
    with computing("double"):
        words, vectors = counted(TEXT, dim=8, window=2)
    order, matrix = information(2)
    values, basis = np.linalg.eigh(matrix)
    rows = [words.index(word) for word in order]
    expected = basis @ np.diag(np.abs(values)) @ basis.T
    np.testing.assert_allclose(vectors[rows] @ vectors[rows].T, expected, atol=1e-10)


def test_words_are_sorted_and_more_dimensions_than_words_are_zero():
    assert counted(TEXT, dim=2)[0][:4] == ["beer", "bus", "car", "fast"]
    _, vectors = counted([["a", "b"]], dim=5)
    assert vectors.shape == (2, 5)
    assert not vectors[:, 2:].any()
