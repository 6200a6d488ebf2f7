"""IBM model 1: word translation probabilities from sentence pairs, without positions.

Reference:
    Brown et al. (1993), The mathematics of statistical machine translation, §4.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Longer sentences say little about single words and cost their square.
MAX_LENGTH = 80
_NULL = ""


@dataclass(frozen=True)
class CoOccurrences:
    """All pairs (source token, target token) of all sentence pairs, once per distinct word pair.

    Attributes:
        source_words, target_words: the vocabularies; entry 0 is the empty word.
        source_of, target_of: word ids of each distinct word pair, int64 ``(pairs,)``.
        pair_of: the distinct pair of each token pair, int64 ``(token pairs,)``.
        source_token, target_token: the token that each token pair belongs to, numbered through
            the corpus, int64 ``(token pairs,)``.
    """

    source_words: list[str]
    target_words: list[str]
    source_of: np.ndarray
    target_of: np.ndarray
    pair_of: np.ndarray
    source_token: np.ndarray
    target_token: np.ndarray


def co_occurrences(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> CoOccurrences:
    """Number the words and list the token pairs of sentence pairs; an empty word on both sides."""
    sources: dict[str, int] = {_NULL: 0}
    targets: dict[str, int] = {_NULL: 0}
    # Where no sentence is left, there are no tokens.
    empty = np.zeros(0, dtype=np.int64)
    source_ids, target_ids, source_tokens, target_tokens = [empty], [empty], [empty], [empty]
    source_start = target_start = 0
    for source, target in pairs:
        if not source or not target or max(len(source), len(target)) > MAX_LENGTH:
            continue
        left = np.array([0] + [sources.setdefault(word, len(sources)) for word in source])
        right = np.array([0] + [targets.setdefault(word, len(targets)) for word in target])
        n, m = len(left), len(right)
        # Row i of the n x m grid is source token i, column j is target token j.
        source_ids.append(np.repeat(left, m))
        target_ids.append(np.tile(right, n))
        source_tokens.append(np.repeat(np.arange(n) + source_start, m))
        target_tokens.append(np.tile(np.arange(m) + target_start, n))
        source_start += n
        target_start += m
    codes, pair_of = np.unique(
        np.concatenate(source_ids) * len(targets) + np.concatenate(target_ids), return_inverse=True
    )
    return CoOccurrences(
        list(sources),
        list(targets),
        codes // len(targets),
        codes % len(targets),
        pair_of,
        np.concatenate(source_tokens),
        np.concatenate(target_tokens),
    )


def expected_counts(
    given: np.ndarray, token: np.ndarray, pair_of: np.ndarray, iterations: int
) -> np.ndarray:
    """Run EM for p(word | given word) and return the expected count of each distinct word pair.

    Args:
        given: id of the conditioning word of each distinct pair, ``(pairs,)``.
        token: of each token pair the token that is explained, ``(token pairs,)``.
        pair_of: the distinct pair of each token pair, ``(token pairs,)``.
        iterations: of EM; the start is uniform.

    Returns:
        Expected counts, float64 ``(pairs,)``; they sum to the number of explained tokens.
    """
    probability: np.ndarray = np.ones(len(given))
    counts: np.ndarray = probability
    for _ in range(iterations):
        # E-step: each token is shared out among the words that may have produced it.
        share = probability[pair_of]
        share = share / np.bincount(token, weights=share)[token]
        counts = np.bincount(pair_of, weights=share, minlength=len(given))
        # M-step: p(word | given) is the given word's share of counts.
        probability = counts / np.bincount(given, weights=counts)[given]
    return counts


def translation_counts(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]], iterations: int = 5
) -> list[tuple[str, str, float]]:
    """Return (source word, target word, symmetrised expected count), without the empty word.

    Both directions are trained; a pair's count is the geometric mean of its expected counts in
    the two, so that only links on which both agree stay.

    Example:
        >>> counts = translation_counts([(["a", "b"], ["x", "y"]), (["a"], ["x"])], iterations=10)
        >>> max((count, target) for source, target, count in counts if source == "a")[1]
        'x'
    """
    grid = co_occurrences(pairs)
    forward = expected_counts(grid.source_of, grid.target_token, grid.pair_of, iterations)
    backward = expected_counts(grid.target_of, grid.source_token, grid.pair_of, iterations)
    both = np.sqrt(forward * backward)
    keep = np.flatnonzero((both > 1e-3) & (grid.source_of > 0) & (grid.target_of > 0))
    return [
        (
            grid.source_words[grid.source_of[pair]],
            grid.target_words[grid.target_of[pair]],
            float(both[pair]),
        )
        for pair in keep
    ]
