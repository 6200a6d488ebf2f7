"""IBM model 1: word translation probabilities from sentence pairs, without positions.

Reference:
    Brown et al. (1993), The mathematics of statistical machine translation, §4.1.
"""

from collections.abc import Sequence

import numpy as np

# Longer sentences say little about single words and cost their square.
MAX_LENGTH = 80
_NULL = ""


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
    # Each pair of words once, and which of them each pair of tokens is.
    codes, pair_of = np.unique(
        np.concatenate(source_ids) * len(targets) + np.concatenate(target_ids), return_inverse=True
    )
    source_of, target_of = np.divmod(codes, len(targets))
    forward = expected_counts(source_of, np.concatenate(target_tokens), pair_of, iterations)
    backward = expected_counts(target_of, np.concatenate(source_tokens), pair_of, iterations)
    both = np.sqrt(forward * backward)
    keep = np.flatnonzero((both > 1e-3) & (source_of > 0) & (target_of > 0))
    left_words, right_words = list(sources), list(targets)
    return [(left_words[source_of[i]], right_words[target_of[i]], float(both[i])) for i in keep]
