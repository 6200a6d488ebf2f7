import itertools
import math

import pytest

from xlrepro.vectors.open.ibm1 import MAX_LENGTH, translation_counts

# The toy corpus of every textbook: the house, the book, a book.
TOY = [
    (["the", "house"], ["das", "haus"]),
    (["the", "book"], ["das", "buch"]),
    (["a", "book"], ["ein", "buch"]),
]


def by_hand(pairs, iterations):
    """EM with dictionaries, straight from the definition; an empty word on both sides."""
    pairs = [(["", *source], ["", *target]) for source, target in pairs]
    probability = {each: 1.0 for pair in pairs for each in itertools.product(*pair)}
    for _ in range(iterations):
        counts = dict.fromkeys(probability, 0.0)
        for source, target in pairs:
            for t in target:
                total = sum(probability[s, t] for s in source)
                for s in source:
                    counts[s, t] += probability[s, t] / total
        totals = {}
        for (s, _), count in counts.items():
            totals[s] = totals.get(s, 0.0) + count
        probability = {(s, t): count / totals[s] for (s, t), count in counts.items()}
    return counts


def test_counts_are_the_geometric_mean_of_em_by_hand_in_both_directions():
    forward, backward = by_hand(TOY, 6), by_hand([(t, s) for s, t in TOY], 6)
    both = {(s, t): math.sqrt(forward[s, t] * backward[t, s]) for s, t in forward if s and t}
    found = {(s, t): count for s, t, count in translation_counts(TOY, 6)}
    assert found == pytest.approx({pair: count for pair, count in both.items() if count > 1e-3})


def test_empty_and_overlong_sentences_are_left_out():
    assert translation_counts([([], ["x"]), (["a"] * (MAX_LENGTH + 1), ["x"])]) == []
