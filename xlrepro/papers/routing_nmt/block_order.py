"""Figure 2 read from the records of Table 1: each task's use of each block, blocks put in order.

Blocks have no numbers that mean anything: each seed may have them in another order. One order per
seed is fitted between the seeds of a pair (`aligned`), on the same English sentences with each
task's tag, and never to a claim.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations, product

import numpy as np

from xlrepro.errors import SettingsError
from xlrepro.trials.experiment import Address
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial

Usage = Mapping[str, Sequence[float]]  # task to the share of each block
# tasks in the order of the figure's legend
FIGURE_TASKS = ("translation", "semantics", "syntax", "ner")
# the same English sentences with each task's tag; the tasks' own test sentences
SOURCES = ("same", "own")
BLOCKS = 3
PLACES = tuple(
    f"{source}/{task}/{block}"
    for source, task, block in product(SOURCES, FIGURE_TASKS, range(1, BLOCKS + 1))
)
METRIC = "use of a block"
# the orders of 3 blocks in 7 seeds, of which the first keeps its own: 6 to the 6th
MOST_TRIED = 46_656
TIE = 1e-10  # fits nearer than this are equal: sums of shares are no more exact


def cells(record: Record) -> list[Cell]:
    """Return the use of each block in percent, blocks in the record's own order."""
    return _cells(record, tuple(range(BLOCKS)))


def _cells(record: Record, order: Sequence[int]) -> list[Cell]:
    (system,) = record.systems
    pair, usage = record.details["settings"]["pair"], record.details["usage"]
    return [
        Cell(
            system,
            f"{pair}/{source}/{task}/{place}",
            100 * usage[source][task][block],
            METRIC,
        )
        for source in SOURCES
        for task in FIGURE_TASKS
        for place, block in enumerate(order, start=1)
    ]


def fills(trial: Trial) -> list[Address]:
    """Return the cells of the figure that a trial of Table 1 fills: those of a routed system."""
    if trial.settings["model"]["kind"] != "routed":
        return []
    (system,) = trial.systems
    return [(system, f"{trial.settings['pair']}/{place}") for place in PLACES]


def reordered(records: Sequence[Record]) -> list[Record]:
    """Return the records with the blocks of each pair's seeds in the orders that agree best."""
    by_pair: defaultdict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda each: each.seed):
        by_pair[record.details["settings"]["pair"]].append(record)
    by_key = {}
    for same_pair in by_pair.values():
        orders = aligned([record.details["usage"]["same"] for record in same_pair])
        for record, order in zip(same_pair, orders, strict=True):
            by_key[record.key] = record.model_copy(update={"cells": tuple(_cells(record, order))})
    return [by_key[record.key] for record in records]


def aligned(usages: Sequence[Usage]) -> list[tuple[int, ...]]:
    """Return for each seed the order of its blocks, all seeds' orders chosen to agree best.

    They are those with the least squared distance of the seeds' usages to their mean. All are
    tried; of orders that agree equally well the first stand, seed by seed, as
    `itertools.permutations` has them. The first seed keeps its own. No claim has a part in it.

    Args:
        usages: of each seed.

    Returns:
        Of each seed a permutation: place ``i`` is taken by its block ``order[i]``.

    Raises:
        SettingsError: for so many seeds that not all their orders can be tried.

    Example:
        >>> aligned([{"a": [0.6, 0.4], "b": [0.5, 0.5]}, {"a": [0.4, 0.6], "b": [0.5, 0.5]}])
        [(0, 1), (1, 0)]
    """
    tables = [np.array([usage[task] for task in sorted(usage)]) for usage in usages]
    orders = list(permutations(range(tables[0].shape[1])))
    if len(orders) ** (len(tables) - 1) > MOST_TRIED:
        raise SettingsError(
            f"Figure 2 has {len(tables)} seeds of one pair, and all orders of their blocks are "
            "tried for 7 seeds at most: ask for fewer seeds"
        )
    # An order moves the entries of a table and keeps the sum of their squares, so the distances
    # to the mean are least where the sum of all tables has the largest squares.
    sums = tables[0].reshape(1, -1)
    for table in tables[1:]:
        # shape: (orders, tasks * blocks); row i: the table with its blocks in the i-th order
        turned = np.stack([table[:, list(order)].ravel() for order in orders])
        # shape: (orders of all seeds so far, tasks * blocks)
        sums = (sums[:, None] + turned).reshape(-1, turned.shape[1])
    squares = (sums**2).sum(1)
    best = int(np.argmax(squares > squares.max() - TIE))
    chosen = np.unravel_index(best, (len(orders),) * (len(tables) - 1))
    return [orders[0], *(orders[int(number)] for number in chosen)]


def mean_usage(usages: Sequence[Usage]) -> Usage:
    """Return the mean over seeds of each task's use of each block, blocks put in order."""
    orders = aligned(usages)
    return {
        task: [
            float(np.mean([usage[task][b] for usage, b in zip(usages, blocks, strict=True)]))
            for blocks in zip(*orders, strict=True)
        ]
        for task in usages[0]
    }
