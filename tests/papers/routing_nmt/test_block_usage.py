"""Figure 2 read from records: blocks put in one order, claims beside chance."""

import random
from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest

from xlrepro.errors import SettingsError
from xlrepro.papers.routing_nmt.block_chances import chances, chances_of_means, figure_order, held
from xlrepro.papers.routing_nmt.block_order import (
    FIGURE_TASKS,
    PLACES,
    aligned,
    mean_usage,
    reordered,
)
from xlrepro.trials.record import Record

ROUTING = "translation:MTL (Routing)"
PREFERS = {  # each task's use of each block, as Figure 2 draws it
    "translation": [0.5, 0.3, 0.2],
    "semantics": [0.3, 0.45, 0.25],
    "syntax": [0.25, 0.4, 0.35],
    "ner": [0.2, 0.3, 0.5],
}


def made_up(seed, order, shift=0.0):
    usage = {
        task: [shares[block] + shift * (place == 0) for place, block in enumerate(order)]
        for task, shares in PREFERS.items()
    }
    # own sentences: those of translation are used as those of NER, and the other way round
    own = usage | {"translation": usage["ner"], "ner": usage["translation"]}
    return Record.model_construct(
        key=f"{seed}",
        seed=seed,
        systems=(ROUTING,),
        cells=(),
        details={"settings": {"pair": "en-vi"}, "usage": {"same": usage, "own": own}},
    )


def test_blocks_of_all_seeds_are_put_in_one_order():
    records = [made_up(0, (0, 1, 2)), made_up(1, (2, 0, 1), 0.01), made_up(2, (1, 2, 0))]
    read = reordered(records)
    assert [r.key for r in read] == ["0", "1", "2"]
    for record in read:
        found = {cell.column: cell.value for cell in record.cells}
        assert found["en-vi/same/translation/1"] == pytest.approx(50, abs=1.01)
        assert found["en-vi/same/ner/3"] == pytest.approx(50, abs=1.01)
        assert found["en-vi/own/ner/1"] == pytest.approx(50, abs=1.01)
        assert len(found) == len(PLACES)


def test_one_seed_keeps_its_own_order():
    assert aligned([PREFERS]) == [(0, 1, 2)]


def in_order(usages, orders):
    """Tables of tasks by blocks, the blocks of each in its order."""
    return [
        np.array([[usage[task][block] for block in order] for task in sorted(usage)])
        for usage, order in zip(usages, orders, strict=True)
    ]


def apart(usages, orders):
    """The squared distances between the usages of every two seeds, blocks in these orders."""
    return sum(((a - b) ** 2).sum() for a, b in combinations(in_order(usages, orders), 2))


@pytest.mark.parametrize("seeds", [2, 3, 4])
def test_no_orders_of_the_blocks_agree_better_than_those_found(seeds):
    draw = np.random.default_rng(seeds)
    for tables in draw.dirichlet(np.ones(3), (20, seeds, len(FIGURE_TASKS))).tolist():
        usages = [dict(zip(FIGURE_TASKS, table, strict=True)) for table in tables]
        every = product([(0, 1, 2)], *[list(permutations(range(3)))] * (seeds - 1))
        assert tuple(aligned(usages)) == min(every, key=lambda orders: apart(usages, orders))


def test_orders_that_agree_equally_well_are_taken_in_turn():
    even = {task: [1 / 3, 1 / 3, 1 / 3] for task in PREFERS}
    assert aligned([PREFERS, even, even]) == [(0, 1, 2)] * 3
    # blocks 1 and 2 of the second seed are alike
    twins = {task: [(a + b) / 2, (a + b) / 2, c] for task, (a, b, c) in PREFERS.items()}
    assert aligned([PREFERS, twins, PREFERS]) == [(0, 1, 2)] * 3


def test_the_mean_usage_is_that_of_blocks_in_order():
    turned = {task: [shares[i] for i in (2, 0, 1)] for task, shares in PREFERS.items()}
    assert mean_usage([PREFERS, turned]) == {
        task: pytest.approx(shares) for task, shares in PREFERS.items()
    }


def test_more_seeds_than_can_be_tried_are_refused():
    assert aligned([PREFERS] * 7) == [(0, 1, 2)] * 7
    with pytest.raises(SettingsError, match="fewer seeds"):
        aligned([PREFERS] * 8)


def test_the_figures_order_of_blocks_is_found_wherever_it_is():
    assert figure_order(PREFERS) == (0, 1, 2)
    turned = {task: [shares[i] for i in (2, 0, 1)] for task, shares in PREFERS.items()}
    assert figure_order(turned) == (1, 2, 0)
    assert figure_order({task: [0.4, 0.3, 0.3] for task in PREFERS}) is None


def test_chances_under_random_usage_agree_with_counting_one_by_one():
    found = chances(3_000)
    draw, holds = random.Random(1), Counter()
    for _ in range(3_000):
        usage = {}
        for task in FIGURE_TASKS:  # a uniform point of the simplex: gaps of two sorted cuts
            low, high = sorted((draw.random(), draw.random()))
            usage[task] = [low, high - low, 1 - high]
        by_use = [sorted(usage, key=lambda t: -usage[t][b])[:2] for b in range(3)]
        holds["N05"] += any(most[0] == "translation" for most in by_use)
        holds["N06"] += any(most[0] == "ner" for most in by_use)
        holds["N07"] += any(set(most) == {"semantics", "syntax"} for most in by_use)
        holds["together"] += figure_order(usage) is not None
    assert found == {name: pytest.approx(count / 3_000, abs=0.04) for name, count in holds.items()}


def test_claims_of_the_figure_hold_or_fail_by_its_heaviest_users():
    assert held(PREFERS) == dict.fromkeys(("N05", "N06", "N07", "together"), True)
    swapped = PREFERS | {"translation": PREFERS["ner"], "ner": PREFERS["translation"]}
    assert held(swapped)["together"]  # up to the order of the blocks
    lazy = PREFERS | {"translation": [0.2, 0.3, 0.2]}
    assert held(lazy) == {"N05": False, "N06": True, "N07": True, "together": False}


def test_the_mean_over_one_seed_has_the_chances_of_a_trial():
    single, alone = chances_of_means(1), chances()
    assert single == {name: pytest.approx(share, abs=0.05) for name, share in alone.items()}
