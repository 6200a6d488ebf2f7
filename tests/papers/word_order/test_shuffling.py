from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xlrepro.papers.word_order.data import permutation, shuffle_order, units


@settings(deadline=None)
@given(n=st.integers(1, 30), k=st.integers(0, 6), seed=st.integers(0, 2**32 - 1))
def test_no_unit_moves_further_than_k(n, k, seed):
    order = permutation(n, k, np.random.default_rng(seed))
    assert sorted(order) == list(range(n))
    assert max(abs(int(old) - new) for new, old in enumerate(order)) <= k


def test_infinite_k_reaches_every_permutation():
    rng = np.random.default_rng(0)
    seen = {tuple(permutation(4, None, rng)) for _ in range(2000)}
    assert seen == set(permutations(range(4)))


def test_finite_k_reaches_a_move_of_exactly_k():
    rng = np.random.default_rng(0)
    moves = [max(abs(int(o) - i) for i, o in enumerate(permutation(8, 3, rng))) for _ in range(500)]
    assert max(moves) == 3


def test_entities_stay_whole_and_in_order():
    tags = ["O", "B-LOC", "I-LOC", "B-LOC", "O", "B-PER", "I-PER", "I-PER"]
    rng = np.random.default_rng(1)
    for _ in range(200):
        order = shuffle_order(tags, None, rng)
        assert sorted(order) == list(range(len(tags)))
        assert order.index(2) == order.index(1) + 1
        assert order.index(6) == order.index(5) + 1
        assert order.index(7) == order.index(6) + 1


def test_a_unit_starts_at_every_first_tag_and_at_an_inside_tag_of_another_type():
    assert units(["B-LOC", "B-LOC", "I-LOC"]) == [range(1), range(1, 3)]
    assert units(["B-LOC", "I-PER"]) == [range(1), range(1, 2)]
