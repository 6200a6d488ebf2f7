"""Where the embeddings of a foreign language begin (§2.1): as sparse mixtures of English ones.

    E_f[i] = a_i E_e,  a_i sparse, sum 1                                         (Eq. 1)
    parallel text:     a_ij = p(e_j | f_i)                                       (Eq. 2)
    aligned vectors:   A = sparsemax(Ē_f Ē_eᵀ)                                   (Eq. 3)
    of a subword s:      ē_s = Σ_{w: s in w} p(w) ē_w / Σ_{w: s in w} p(w)         (Eq. 4)

Special subwords take their English namesakes' rows. A subword that nothing is known of begins with
random numbers, "N(0, 1/d²)" in the text; the authors' code draws them with a standard deviation of
d^-0.5. Everything is computed in blocks of rows: no array of all foreign by all English subwords is
made.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from entmax import sparsemax
from scipy import sparse

BLOCK = 256  # rows


def subword_vectors(
    vectors: np.ndarray, subwords: Iterable[Sequence[int]], n_subwords: int
) -> np.ndarray:
    """Return the vector of each subword (Eq. 4), zero for a subword that is in no word.

    A word's weight p(w) is 1/rank, as the code has it; the text says the unigram probability.

    Args:
        vectors: aligned vectors of the words, most frequent first. ``(words, dim)``
        subwords: numbers of the subwords of each word; a subword counts once a word.
        n_subwords: size of the vocabulary.

    Returns:
        ``(n_subwords, dim)``
    """
    rows, columns = [], []
    for word, numbers in enumerate(subwords):
        for number in set(numbers):  # "s in w": once; the authors' code counts a repeated one twice
            rows.append(number)
            columns.append(word)
    shape = (n_subwords, len(vectors))
    weights = 1.0 / np.arange(1, len(vectors) + 1)
    contains = sparse.csr_matrix((weights[columns], (rows, columns)), shape=shape)
    total = np.asarray(contains.sum(axis=1))
    return np.asarray(contains @ vectors) / np.where(total > 0, total, 1)


def mono_weights(foreign: np.ndarray, english: np.ndarray, block: int = BLOCK) -> sparse.csr_matrix:
    """Return A of Eq. 3, of cosines, as the authors' code has it; the text has plain products.

    Args:
        foreign: vectors of foreign subwords, zero where there is none. ``(foreign subwords, dim)``
        english: vectors of the English subwords, likewise. ``(English subwords, dim)``
        block: rows computed at once.

    Returns:
        ``(foreign subwords, English subwords)``; the row of a subword without a vector is empty.
    """
    known = np.flatnonzero(np.abs(english).sum(axis=1))
    # shape: (known English subwords, dim)
    english_rows = _unit(english[known])
    parts = []
    for start in range(0, len(foreign), block):
        rows = _unit(foreign[start : start + block])
        # k: so many scores are sorted, and more where the support is larger (exact, Eq. 3)
        weights = sparsemax(torch.from_numpy(rows @ english_rows.T), dim=1, k=64).numpy()
        known_rows = np.abs(rows).sum(axis=1, keepdims=True) > 0
        parts.append(sparse.csr_matrix(weights * known_rows))
    narrow = sparse.vstack(parts).tocsr()
    place = sparse.csr_matrix(
        (np.ones(len(known)), (np.arange(len(known)), known)), shape=(len(known), len(english))
    )
    mixtures = (narrow @ place).tocsr()
    mixtures.eliminate_zeros()
    return mixtures


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def parallel_weights(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return p(English subword | foreign subword) of Eq. 2 from counts of aligned pairs.

    Args:
        counts: ``(foreign subwords, English subwords)``.

    Returns:
        The same shape; each row sums to 1, or is empty where its subword was never aligned.
    """
    weights = counts.tocsr(copy=True).astype(float)
    total = np.asarray(weights.sum(axis=1)).ravel()
    # Divided, not multiplied by the inverse: a subword with one translation has exactly 1 there.
    weights.data /= np.repeat(total, np.diff(weights.indptr))
    return weights


def with_special(weights: sparse.csr_matrix, special: Mapping[int, int]) -> sparse.csr_matrix:
    """Return weights in which special subwords take the rows of their English namesakes.

    Args:
        weights: ``(foreign subwords, English subwords)``.
        special: number of the foreign special subword to that of the English one.
    """
    rows = weights.tolil(copy=True)
    for foreign, english in special.items():
        rows[foreign, :] = 0
        rows[foreign, english] = 1
    return rows.tocsr()


class Start(NamedTuple):
    """The foreign side before any update.

    Attributes:
        embeddings: E_f. ``(foreign subwords, dim)``
        bias: output bias. ``(foreign subwords,)``
        estimated: True where a row is a mixture, False where it is random. ``(foreign subwords,)``
    """

    embeddings: np.ndarray
    bias: np.ndarray
    estimated: np.ndarray


def start(
    weights: sparse.csr_matrix,
    english: np.ndarray,
    english_bias: np.ndarray,
    random_rows: Literal["code", "text"],
    draw: np.random.Generator,
) -> Start:
    """Return the foreign embeddings and output bias (Eq. 1), the bias by the same weights: as the
    code has it; the text is silent.

    Args:
        weights: A. ``(foreign subwords, English subwords)``
        english: E_e. ``(English subwords, dim)``
        english_bias: of the English output layer. ``(English subwords,)``
        random_rows: spread of the rows that nothing is known of: ``"code"``: standard deviation
            d^-0.5; ``"text"``: N(0, 1/d²), read as a variance: 1/d.
        draw: source of the random rows, of all foreign subwords in order.
    """
    sums = np.asarray(weights.sum(axis=1)).ravel()
    estimated = sums > 0
    dim = english.shape[1]
    spread = dim**-0.5 if random_rows == "code" else 1 / dim
    random = draw.normal(0.0, spread, (weights.shape[0], dim))
    mixed = np.asarray(weights @ english)
    embeddings = np.where(estimated[:, None], mixed, random).astype(english.dtype)
    return Start(embeddings, np.asarray(weights @ english_bias).astype(english.dtype), estimated)


def parallel_counts(
    pairs: Iterable[tuple[Sequence[int], Sequence[int]]], shape: tuple[int, int]
) -> sparse.csr_matrix:
    """Return how often a foreign subword is aligned with an English one, both directions agreeing.

    IBM model 1, symmetrised by the geometric mean. The paper takes fast_align's links, whose model
    prefers the diagonal too (Dyer et al. 2013).

    Args:
        pairs: sentence pairs, each (English subwords, foreign subwords).
        shape: (foreign subwords, English subwords).
    """
    from xlrepro.vectors.open.ibm1 import translation_counts

    named = [([str(n) for n in one], [str(n) for n in two]) for one, two in pairs]
    links = translation_counts(named)
    rows, columns = ([int(link[i]) for link in links] for i in (1, 0))
    return sparse.csr_matrix(([count for _, _, count in links], (rows, columns)), shape=shape)
