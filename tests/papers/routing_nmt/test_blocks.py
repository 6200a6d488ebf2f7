"""Figure 2 read from records: blocks put in one order, claims beside chance."""

import random
from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
import torch

from tests.papers.routing_nmt.small import learner, small_model
from xlrepro.papers.routing_nmt.blocks import (
    CLAIMS,
    FIGURE_TASKS,
    aligned,
    chances,
    leads,
    mean_usage,
    reordered,
)
from xlrepro.papers.routing_nmt.encoding import Example
from xlrepro.papers.routing_nmt.figures import chance_table
from xlrepro.papers.routing_nmt.recurrent import scan
from xlrepro.papers.routing_nmt.run import router_use, routers
from xlrepro.trials import Record

ROUTING = "translation:MTL (Routing)"
PREFERS = {  # each task's use of each block, as Figure 2 draws it
    "translation": [0.5, 0.3, 0.2],
    "semantics": [0.3, 0.45, 0.25],
    "syntax": [0.25, 0.4, 0.35],
    "ner": [0.2, 0.3, 0.5],
}


def turned(usage, order):
    return {task: [shares[block] for block in order] for task, shares in usage.items()}


def made_up(seed, *orders):
    """A record whose routers, one per direction, have the blocks in these orders."""
    # own sentences: those of translation are used as those of NER, and the other way round
    own = PREFERS | {"translation": PREFERS["ner"], "ner": PREFERS["translation"]}
    both = [{"same": turned(PREFERS, order), "own": turned(own, order)} for order in orders]
    found = {
        direction: {
            source: {task: {"shares": shares, "largest": 0.5} for task, shares in use.items()}
            for source, use in each.items()
        }
        for direction, each in zip(("forward", "backward"), both, strict=True)
    }
    details = {"settings": {"pair": "en-vi"}, "routers": found}
    return Record.model_construct(
        key=f"{seed}", seed=seed, systems=(ROUTING,), cells=(), details=details
    )


def test_blocks_of_all_seeds_and_directions_are_put_in_one_order():
    orders = ([(0, 1, 2), (2, 0, 1)], [(1, 2, 0), (0, 2, 1)])
    read = reordered([made_up(seed, *each) for seed, each in enumerate(orders)])
    assert [r.key for r in read] == [str(seed) for seed in range(len(orders))]
    for record in read:
        found = {cell.column: cell.value for cell in record.cells}
        assert found["en-vi/same/translation/1"] == pytest.approx(50)
        assert found["en-vi/same/ner/3"] == pytest.approx(50)
        assert found["en-vi/own/ner/1"] == pytest.approx(50)
        assert len(found) == 24


def test_a_run_with_fewer_auxiliary_tasks_has_a_mean_of_those_that_it_has():
    usage = {"translation": [0.5, 0.3, 0.2], "ner": [0.2, 0.2, 0.6]}
    found = mean_usage([usage, {task: shares[::-1] for task, shares in usage.items()}])
    assert found == {task: pytest.approx(shares) for task, shares in usage.items()}


def test_the_table_counts_routers():
    records = [made_up(0, (0, 1, 2), (2, 0, 1)), made_up(1, (1, 2, 0), (0, 2, 1))]
    frame = chance_table(records, "open").frame
    assert (
        dict(zip(frame["claim, pair"], frame["routers"], strict=True))["N05, Vietnamese"]
        == "4 of 4"
    )


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
    for tables in draw.dirichlet(np.ones(3), (10, seeds, len(FIGURE_TASKS))).tolist():
        usages = [dict(zip(FIGURE_TASKS, table, strict=True)) for table in tables]
        every = product([(0, 1, 2)], *[list(permutations(range(3)))] * (seeds - 1))
        best = min(apart(usages, orders) for orders in every)
        assert apart(usages, aligned(usages)) == pytest.approx(best)


def test_chances_agree_with_all_exchanges_of_two_routers():
    found, tasks = [PREFERS, turned(PREFERS, (1, 2, 0))], [*PREFERS]
    seen, beaten = leads(mean_usage(found)), Counter()
    for orders in product(permutations(tasks), repeat=2):  # 24 * 24
        exchanged = [
            {task: usage[other] for task, other in zip(tasks, order)}
            for usage, order in zip(found, orders)
        ]
        beaten.update(n for n, v in leads(mean_usage(exchanged)).items() if v >= seen[n] - 1e-9)
    assert chances(found) == {n: pytest.approx(beaten[n] / 576, abs=0.04) for n in seen}


def test_equal_use_has_no_lead_that_chance_lacks():
    draw = random.Random(2)
    usage = {task: [0.3 + 0.1 * draw.random() for _ in range(3)] for task in PREFERS}
    assert min(chances([{task: [0.4, 0.3, 0.3] for task in PREFERS}] * 3).values()) == 1
    assert min(chances([usage]).values()) > 0.05  # one router shows nothing


def test_claims_of_the_figure_hold_or_fail_by_its_heaviest_users():
    assert [n for n, v in leads(PREFERS).items() if v > 0] == [*CLAIMS, "together"]
    assert leads(PREFERS)["N07"] == pytest.approx(0.1)  # syntax over the other two, on block 2
    swapped = PREFERS | {"translation": PREFERS["ner"], "ner": PREFERS["translation"]}
    assert leads(swapped)["together"] > 0  # up to the order of the blocks
    assert leads(turned(PREFERS, (2, 0, 1))) == leads(PREFERS)
    lazy = PREFERS | {"translation": [0.2, 0.3, 0.2]}
    assert [n for n, v in leads(lazy).items() if v > 0] == ["N06", "N07"]
    assert leads({"translation": [0.6, 0.2, 0.2]}) == {}  # no other task to compare it with


SENTENCES = [Example([5, 6, 7], [1, 4, 2]), Example([8, 9], [1, 4, 2])]


def test_a_routers_use_is_the_mean_of_tau_over_all_tokens_of_its_direction():
    model = small_model().eval()
    sums, largest = torch.zeros(2, 3).double(), [0.0, 0.0]  # directions, shared blocks
    with torch.inference_mode():
        for sentence in SENTENCES:
            for number, order in enumerate((sentence.source, sentence.source[::-1])):
                words = model.embedding(torch.tensor(order)[:, None])
                _, tau = scan(model.directions[number].tied("ner"), words)
                sums[number] += tau.sum((0, 1))
                largest[number] += float(tau.amax(-1).sum())
    for use, shares, most in zip(router_use(model, "ner", SENTENCES), sums / 5, largest):
        assert use["shares"] == pytest.approx(shares.tolist(), abs=1e-5)
        assert use["largest"] == pytest.approx(most / 5, abs=1e-5)


def test_the_same_sentences_are_translations_and_a_tasks_own_are_its_own():
    one = learner()
    model, data = one.model, one._data
    found = routers(model, data, "cpu")
    for task, each in data.tasks.items():
        tag = data.source.tokens.index(f"<{task}>")
        english = [Example([tag, *e.source[1:]], e.target) for e in data.tasks["translation"].test]
        for direction, same, own in zip(
            ("forward", "backward"),
            router_use(model, task, english),
            router_use(model, task, each.test),
        ):
            assert found[direction]["same"][task] == same
            assert found[direction]["own"][task] == own
            assert (same == own) == (task == "translation")
