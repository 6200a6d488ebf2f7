"""Figure 2: how much each task uses each shared block, read from the records of Table 1.

Blocks have no numbers that mean anything: each router, one per direction of the encoder and seed,
may have them in another order, and the routers of two directions share no block. One order per
router is fitted between all routers of a pair (`aligned`), on the same English sentences with each
task's tag, and never to a claim; then seeds are averaged over directions.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from xlrepro.papers.routing_nmt.settings import DIRECTIONS, SHARED_BLOCKS, TRANSLATION
from xlrepro.trials import Cell, Record

Usage = Mapping[str, Sequence[float]]  # task to the share of each block
# tasks in the order of the figure's legend
FIGURE_TASKS = (TRANSLATION, "semantics", "syntax", "ner")
# the same English sentences with each task's tag; the tasks' own test sentences
SOURCES = ("same", "own")
METRIC = "use of a block"
EXCHANGES = 999  # random ones of a permutation test
TIE = 1e-10  # fits nearer than this are equal: sums of shares are no more exact


def usages(record: Record, source: str = "same") -> list[Usage]:
    """Return the usage of each of a record's routers."""
    routers = [record.details["routers"][direction][source] for direction in DIRECTIONS]
    return [{task: use["shares"] for task, use in of.items()} for of in routers]


def cells(record: Record) -> list[Cell]:
    """Return the use of each block in percent, blocks as this record alone has them in order."""
    return _cells(record, aligned(usages(record)))


def _cells(record: Record, orders: Sequence[Sequence[int]]) -> list[Cell]:
    (system,) = record.systems
    return [
        Cell(system, f"{pair_of(record)}/{source}/{task}/{place + 1}", 100 * share, METRIC)
        for source in SOURCES
        for task, shares in _mean(usages(record, source), orders).items()
        for place, share in enumerate(shares)
    ]


def pair_of(record: Record) -> str:
    """Return the name of a record's pair."""
    return str(record.details["settings"]["pair"])


def reordered(records: Sequence[Record]) -> list[Record]:
    """Return the records with the blocks of each pair's routers in the orders that agree best."""
    by_pair: defaultdict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda each: each.seed):
        by_pair[pair_of(record)].append(record)
    by_key = {}
    for same_pair in by_pair.values():
        found = [usages(record) for record in same_pair]
        orders = iter(aligned([usage for of_record in found for usage in of_record]))
        for record, of_record in zip(same_pair, found, strict=True):
            read = _cells(record, [next(orders) for _ in of_record])
            by_key[record.key] = record.model_copy(update={"cells": tuple(read)})
    return [by_key[record.key] for record in records]


def _mean(found: Sequence[Usage], orders: Sequence[Sequence[int]]) -> dict[str, list[float]]:
    """Return the mean of usages, each with its blocks in an order."""
    return {
        task: [
            float(np.mean([usage[task][b] for usage, b in zip(found, blocks, strict=True)]))
            for blocks in zip(*orders, strict=True)
        ]
        for task in FIGURE_TASKS
        if task in found[0]
    }


def mean_usage(found: Sequence[Usage]) -> Usage:
    """Return the mean over routers of each task's use of each block, blocks put in order."""
    return _mean(found, aligned(found))


def aligned(found: Sequence[Usage]) -> list[tuple[int, ...]]:
    """Return for each router the order of its blocks, all orders chosen to agree well.

    That is, with a small squared distance of the usages to their mean. From each router's own order
    as the others' first model, each is turned to agree with the sum of the others until none turns;
    the best of these ends is taken. The first router keeps its order. No claim has a part in it.

    Args:
        found: of each router.

    Returns:
        Of each router a permutation: place ``i`` is taken by its block ``order[i]``.

    Example:
        >>> aligned([{"a": [0.6, 0.4], "b": [0.5, 0.5]}, {"a": [0.4, 0.6], "b": [0.5, 0.5]}])
        [(0, 1), (1, 0)]
    """
    tables = np.array([[usage[task] for task in sorted(usage)] for usage in found])
    orders = list(permutations(range(tables.shape[-1])))
    # shape: (routers, orders, tasks * blocks); row j of a router: its table in the j-th order
    turned = np.stack([tables[:, :, order].reshape(len(tables), -1) for order in orders], 1)
    # An order moves the entries of a table and keeps the sum of their squares, so the distances
    # to the mean are least where the sum of all tables has the largest squares.
    most, best = -np.inf, np.zeros(len(tables), dtype=int)
    for model in turned[:, 0]:
        chosen = np.array([_first_best(table @ model) for table in turned])
        turning = True
        while turning:
            turning = False
            for i, table in enumerate(turned):
                others = turned[np.arange(len(turned)), chosen].sum(0) - table[chosen[i]]
                fits = table @ others
                if fits.max() > fits[chosen[i]] + TIE:
                    chosen[i], turning = _first_best(fits), True
        fit = float((turned[np.arange(len(turned)), chosen].sum(0) ** 2).sum())
        if fit > most + TIE:
            most, best = fit, chosen
    first = np.argsort(orders[best[0]])  # puts the first router's blocks back
    return [tuple(int(orders[i][place]) for place in first) for i in best]


def _first_best(fits: np.ndarray) -> int:
    return int(np.argmax(fits > fits.max() - TIE))


# ---- the claims on the figure, and chance


# Of each claim: the tasks that use some block most, block 1, block 3 and block 2 of the paper.
CLAIMS = {"N05": {TRANSLATION}, "N06": {"ner"}, "N07": {"semantics", "syntax"}}


def leads(usage: Usage) -> dict[str, float]:
    """Return how far each of N05, N06, N07 is from failing, and all with one order of the blocks.

    That is, the least difference between the use of a block by a task of the claim and by another
    task, on the block where it is largest: the claim holds where it is positive.

    Example:
        >>> leads({"translation": [0.6, 0.2, 0.2], "ner": [0.25, 0.5, 0.25]})
        {'N05': 0.35, 'N06': 0.3, 'together': 0.3}
    """
    by_block = {
        claim: [
            min(usage[task][block] for task in tasks)
            - max(shares[block] for task, shares in usage.items() if task not in tasks)
            for block in range(SHARED_BLOCKS)
        ]
        for claim, tasks in CLAIMS.items()
        if tasks < usage.keys()  # and others to compare them with
    }
    if not by_block:
        return {}
    together = max(
        min(lead[block] for lead, block in zip(by_block.values(), order, strict=False))
        for order in permutations(range(SHARED_BLOCKS))
    )
    return {claim: max(lead) for claim, lead in by_block.items()} | {"together": together}


def chances(found: Sequence[Usage]) -> dict[str, float]:
    """Return the p value of each of the `leads` of the mean over routers: a permutation test.

    Were all tasks to use blocks alike, their names would mean nothing: within each router they are
    exchanged at random, and blocks are put in order anew. So the fit of the order, and the freedom
    to take any block, count on both sides.
    """
    draw, seen = np.random.default_rng(0), leads(mean_usage(found))
    beaten = dict.fromkeys(seen, 1)
    for _ in range(EXCHANGES):
        exchanged = [
            dict(zip(draw.permutation([*usage]).tolist(), usage.values(), strict=True))
            for usage in found
        ]
        for name, lead in leads(mean_usage(exchanged)).items():
            beaten[name] += lead >= seen[name] - TIE
    return {name: count / (1 + EXCHANGES) for name, count in beaten.items()}
