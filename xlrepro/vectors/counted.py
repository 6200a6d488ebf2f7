"""Word vectors from counts of neighbours, in the working precision, alike on every processor.

What skip-gram learns word by word, counts say at once: vectors of positive pointwise mutual
information, reduced by a singular value decomposition (Levy & Goldberg 2014, Neural word embedding
as implicit matrix factorization). gensim's skip-gram computes in single precision alone, and its
numbers depend on the processor; trials whose numbers are compared between processors take these.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from xlrepro.precision import working_dtype


def counted(
    sentences: Sequence[Sequence[str]], dim: int, window: int = 4, seed: int = 0
) -> tuple[list[str], np.ndarray]:
    """Return the words of a text, most frequent first, and their vectors.

    Args:
        sentences: the words of each.
        dim: dimensions of a vector; zeros where there are fewer words.
        window: largest distance between a word and its neighbour, in words.
        seed: of the random start of the decomposition.

    Returns:
        The words, and their vectors ``(words, dim)`` of the working precision.

    Example:
        >>> words, vectors = counted([["a", "b"], ["a", "c"]], dim=2)
        >>> words, vectors.shape
        (['a', 'b', 'c'], (3, 2))
    """
    counts = Counter(word for sentence in sentences for word in sentence)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    vectors = np.zeros((len(words), dim), dtype=working_dtype())
    kept = min(dim, len(words))
    vectors[:, :kept] = _reduced(_information(sentences, words, window), kept, seed)
    return words, vectors


def _information(sentences: Sequence[Sequence[str]], words: Sequence[str], window: int) -> Any:
    """Return positive pointwise mutual information of neighbours, sparse ``(words, words)``."""
    from scipy import sparse  # only here: importing it takes a quarter of a second

    rows = {word: row for row, word in enumerate(words)}
    pairs: Counter[tuple[int, int]] = Counter()
    for sentence in sentences:
        numbers = [rows[word] for word in sentence]
        for place, row in enumerate(numbers):
            pairs.update((row, other) for other in numbers[place + 1 : place + 1 + window])
    first, second = np.array(list(pairs), dtype=np.int64).reshape(-1, 2).T
    shape = (len(words), len(words))
    half = sparse.csr_matrix((np.array(list(pairs.values()), float), (first, second)), shape)
    both = (half + half.T).tocoo()
    share = np.asarray(both.sum(axis=1)).ravel() / max(both.sum(), 1.0)
    expected = share[both.row] * share[both.col] * both.sum()
    information = np.maximum(np.log(both.data / expected), 0.0)
    return sparse.csr_matrix((information, (both.row, both.col)), shape)


def _reduced(matrix: Any, dim: int, seed: int) -> np.ndarray:
    """Return the leading eigenvectors times the roots of their eigenvalues, ``(words, dim)``.

    By a random start and two powers of the matrix (Halko et al. 2011, Finding structure with
    randomness, Alg. 4.4). Each column's largest entry is made positive: libraries differ in signs.
    """
    width = min(dim + 10, matrix.shape[0])
    basis = np.random.default_rng(seed).normal(size=(matrix.shape[0], width))
    for _ in range(3):
        basis, _ = np.linalg.qr(matrix @ basis)
    values, vectors = np.linalg.eigh(basis.T @ (matrix @ basis))
    leading = np.argsort(-np.abs(values), kind="stable")[:dim]
    reduced = (basis @ vectors[:, leading]) * np.sqrt(np.abs(values[leading]))
    largest = np.abs(reduced).argmax(axis=0)
    signs = np.sign(reduced[largest, np.arange(dim)])
    return np.asarray(reduced * np.where(signs == 0, 1.0, signs))
