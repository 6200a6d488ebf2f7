import itertools

import numpy as np
import pytest

from xlrepro.vectors.open.ibm1 import (
    MAX_LENGTH,
    co_occurrences,
    expected_counts,
    translation_counts,
)

# The toy corpus of every textbook: the house, the book, a book.
TOY = [
    (["the", "house"], ["das", "haus"]),
    (["the", "book"], ["das", "buch"]),
    (["a", "book"], ["ein", "buch"]),
]


def by_hand(pairs, iterations):
    """EM with dictionaries, straight from the definition; an empty word on the source side."""
    probability = {}
    for source, target in pairs:
        for s, t in itertools.product(["", *source], target):
            probability[s, t] = 1.0
    for _ in range(iterations):
        counts = dict.fromkeys(probability, 0.0)
        for source, target in pairs:
            for t in target:
                total = sum(probability[s, t] for s in ["", *source])
                for s in ["", *source]:
                    counts[s, t] += probability[s, t] / total
        totals = {}
        for (s, _), count in counts.items():
            totals[s] = totals.get(s, 0.0) + count
        probability = {(s, t): count / totals[s] for (s, t), count in counts.items()}
    return counts


def test_expected_counts_agree_with_em_by_hand():
    # Without the empty word on the target side, which the definition does not explain.
    grid = co_occurrences(TOY)
    explained = grid.target_of[grid.pair_of] > 0
    counts = expected_counts(
        grid.source_of, grid.target_token[explained], grid.pair_of[explained], 6
    )
    found = {
        (grid.source_words[s], grid.target_words[t]): count
        for s, t, count in zip(grid.source_of, grid.target_of, counts)
        if t > 0
    }
    expected = by_hand(TOY, 6)
    assert found.keys() == expected.keys()
    for pair, count in expected.items():
        assert found[pair] == pytest.approx(count, abs=1e-9)


def test_counts_do_not_depend_on_which_side_is_the_source():
    there = {(s, t): c for s, t, c in translation_counts(TOY)}
    back = {(t, s): c for s, t, c in translation_counts([(t, s) for s, t in TOY])}
    assert there.keys() == back.keys()
    np.testing.assert_allclose([there[k] for k in there], [back[k] for k in there])


def test_empty_and_overlong_sentences_are_left_out():
    assert translation_counts([([], ["x"]), (["a"] * (MAX_LENGTH + 1), ["x"])]) == []
