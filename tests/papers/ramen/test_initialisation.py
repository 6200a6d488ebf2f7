"""Initialisation: sparse rows that sum to 1, Eq. 1 to 4 by hand, and against other libraries."""

import numpy as np
import pytest
from scipy import sparse

from xlrepro.papers.ramen.initialisation import (
    mono_weights,
    parallel_counts,
    parallel_weights,
    start,
    subword_vectors,
)

DRAW = np.random.default_rng(5)


def test_subword_vectors_are_weighted_means_of_the_words_with_the_piece():
    # Eq. 4 by hand: piece 0 is in both words (weights 1 and 1/2), piece 2 in the second alone
    vectors = np.array([[3.0, 0.0], [0.0, 6.0]])
    found = subword_vectors(vectors, [[0, 1, 0], [0, 2]], 4)
    np.testing.assert_allclose(found, [[2, 2], [3, 0], [0, 6], [0, 0]])


def test_mono_weights_are_sparsemax_of_cosines_worked_by_hand():
    english = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 3.0]])  # piece 1 has no vector
    foreign = np.array([[5.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    # row 0: cosines 1 and 0 -> sparsemax (1, 0). Row 2: both 0.7071 -> (0.5, 0.5).
    expected = [[1, 0, 0], [0, 0, 0], [0.5, 0, 0.5]]
    np.testing.assert_allclose(mono_weights(foreign, english).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("block", [1, 3, 100])
def test_blocks_change_nothing(block):
    foreign, english = DRAW.normal(size=(11, 4)), DRAW.normal(size=(9, 4))
    foreign[3] = 0
    whole = mono_weights(foreign, english, 50).toarray()
    np.testing.assert_allclose(mono_weights(foreign, english, block).toarray(), whole, atol=1e-12)


def test_parallel_weights_are_relative_counts():
    counts = sparse.csr_matrix(np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 2.0]]))
    expected = [[0.75, 0.25], [0, 0], [0, 1]]
    np.testing.assert_allclose(parallel_weights(counts).toarray(), expected)


def test_embeddings_and_bias_are_the_mixtures_of_equation_1():
    weights = sparse.csr_matrix(np.array([[0.5, 0.5], [0, 1.0]]))
    english, bias = np.array([[2.0, 0.0], [4.0, 6.0]]), np.array([1.0, 3.0])
    found = start(weights, english, bias, "code", DRAW)
    np.testing.assert_allclose(found.embeddings, [[3, 3], [4, 6]])
    np.testing.assert_allclose(found.bias, [2, 3])
    assert found.estimated.all()


@pytest.mark.parametrize(("reading", "spread"), [("code", 64**-0.5), ("text", 1 / 64)])
def test_rows_without_estimate_are_normal_with_the_spread_of_the_reading(reading, spread):
    english = np.zeros((5, 64))
    draw = np.random.default_rng(0)
    found = start(sparse.csr_matrix((400, 5)), english, np.zeros(5), reading, draw)
    assert not found.estimated.any()
    assert found.embeddings.std() == pytest.approx(spread, rel=0.02)


def test_aligned_subwords_of_reordered_text_are_found():
    draw = np.random.default_rng(1)
    pairs = []
    for _ in range(200):
        english = draw.permutation(12)[:5]
        pairs.append((list(english), list((english + 3) % 12)[::-1]))
    counts = parallel_counts(pairs, (12, 12))
    best = np.asarray(counts.argmax(axis=1)).ravel()
    np.testing.assert_array_equal(best, (np.arange(12) - 3) % 12)
