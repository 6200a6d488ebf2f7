"""Which English piece a foreign piece is aligned with: fast_align's model, in both directions.

A token is explained by one token of the other side, or by the empty word: with probability
``p(word | other word)`` times a prior that prefers the diagonal (Dyer et al. 2013, Eq. 1 and 2):

    p(i | j) = p0 for the empty word, else (1 - p0) exp(-tension |i/n - j/m|) / Z_j

The strength of a link is the geometric mean of what both directions say about it, so that only
links stay on which the two agree.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

LONGEST = 60  # pieces: longer sentences say little about single pieces and cost their square
EMPTY = 0.08  # p0, fast_align's
TENSION = 4.0  # fast_align's start; not tuned here

Pairs = Sequence[tuple[Sequence[int], Sequence[int]]]


class Links(NamedTuple):
    """All pairs (English token, foreign token) of all sentence pairs, one after the other.

    Attributes:
        english: number of the English piece. ``(links,)``
        foreign: number of the foreign piece. ``(links,)``
        english_token: which English token of the corpus it is. ``(links,)``
        foreign_token: which foreign token of the corpus it is. ``(links,)``
        distance: ``|i/n - j/m|``. ``(links,)``
    """

    english: np.ndarray
    foreign: np.ndarray
    english_token: np.ndarray
    foreign_token: np.ndarray
    distance: np.ndarray


def all_links(pairs: Pairs) -> Links:
    """List the links of sentence pairs, each (English pieces, foreign pieces).

    Example:
        >>> all_links([([7, 8], [3])]).english.tolist()
        [7, 8]
    """
    columns: list[list[np.ndarray]] = [[] for _ in Links._fields]
    english_start = foreign_start = 0
    for english, foreign in pairs:
        n, m = len(english), len(foreign)
        if not n or not m or max(n, m) > LONGEST:
            continue
        i, j = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
        distance = np.abs((i + 0.5) / n - (j + 0.5) / m)
        tokens = (i + english_start, j + foreign_start)
        row = (np.asarray(english)[i], np.asarray(foreign)[j], *tokens, distance)
        for column, part in zip(columns, row, strict=True):
            column.append(part)
        english_start += n
        foreign_start += m
    if not columns[0]:
        empty = np.zeros(0, dtype=np.int64)
        return Links(empty, empty, empty, empty, np.zeros(0))
    return Links(*(np.concatenate(column) for column in columns))


def posteriors(
    given: np.ndarray, explained: np.ndarray, token: np.ndarray, distance: np.ndarray, rounds: int
) -> np.ndarray:
    """Return how sure each link is after some rounds of EM, one direction.

    Args:
        given: piece that explains. ``(links,)``
        explained: piece that is explained. ``(links,)``
        token: token that is explained. ``(links,)``
        distance: from the diagonal. ``(links,)``
        rounds: of EM, from uniform probabilities.

    Returns:
        Probability of each link; those of a token and of the empty word sum to 1. ``(links,)``
    """
    if not len(given):
        return np.zeros(0)
    width = int(explained.max()) + 1
    kinds, kind = np.unique(given * width + explained, return_inverse=True)
    given_of = kinds // width
    prior = np.exp(-TENSION * distance)
    prior *= (1 - EMPTY) / np.bincount(token, weights=prior)[token]
    first = np.unique(token, return_index=True)[1]  # one link of each token
    piece_of_token = explained[first]
    probability = np.full(len(kinds), 1 / width)
    from_empty = np.full(width, 1 / width)
    link = prior
    for _ in range(rounds):
        # E-step: a token is shared out among what may have produced it.
        link = prior * probability[kind]
        nothing = EMPTY * from_empty[piece_of_token]
        total = np.bincount(token, weights=link) + nothing
        link = link / total[token]
        # M-step: p(explained | given) is its share of the counts of what is given.
        counts = np.bincount(kind, weights=link, minlength=len(kinds))
        probability = counts / np.maximum(np.bincount(given_of, weights=counts)[given_of], 1e-12)
        empty_counts = np.bincount(piece_of_token, weights=nothing / total, minlength=width)
        from_empty = empty_counts / max(empty_counts.sum(), 1e-12)
    return link


def link_counts(
    pairs: Pairs, n_english: int, n_foreign: int, rounds: int = 5, least: float = 0.01
) -> sparse.csr_matrix:
    """Return how often a foreign piece is aligned with an English one, both directions agreeing.

    Args:
        pairs: sentence pairs, each (English pieces, foreign pieces).
        n_english: size of the English vocabulary.
        n_foreign: size of the foreign vocabulary.
        rounds: of EM in each direction.
        least: weaker links are dropped.

    Returns:
        ``(n_foreign, n_english)``
    """
    links = all_links(pairs)
    english, foreign = links.english, links.foreign
    forward = posteriors(english, foreign, links.foreign_token, links.distance, rounds)
    backward = posteriors(foreign, english, links.english_token, links.distance, rounds)
    both = np.sqrt(forward * backward)
    keep = both >= least
    shape = (n_foreign, n_english)
    counts = sparse.csr_matrix((both[keep], (foreign[keep], english[keep])), shape=shape)
    counts.sum_duplicates()
    return counts
