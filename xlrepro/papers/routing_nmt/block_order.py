"""Figure 2 read from the records of Table 1: each task's use of each block, blocks put in order.

Blocks have no numbers that mean anything: each seed may have them in another order. One order per
seed is fitted between the seeds of a pair (`usage.aligned`), on the same English sentences with
each task's tag, and never to a claim.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np

from xlrepro.papers.routing_nmt.usage import FIGURE_TASKS, Usage, aligned, figure_order
from xlrepro.trials.experiment import Address
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial

# the same English sentences with each task's tag; the tasks' own test sentences
SOURCES = ("same", "own")
BLOCKS = 3
PLACES = tuple(
    f"{source}/{task}/{block}"
    for source, task, block in product(SOURCES, FIGURE_TASKS, range(1, BLOCKS + 1))
)
METRIC = "use of a block"


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
    """Return the records with the blocks of each in the order that fits the other seeds' best."""
    by_pair: defaultdict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda each: each.seed):
        by_pair[record.details["settings"]["pair"]].append(record)
    by_key = {}
    for same_pair in by_pair.values():
        usages: list[Usage] = [record.details["usage"]["same"] for record in same_pair]
        for record, order in zip(same_pair, aligned(usages), strict=True):
            by_key[record.key] = record.model_copy(update={"cells": tuple(_cells(record, order))})
    return [by_key[record.key] for record in records]


def held(usage: Usage) -> dict[str, bool]:
    """Tell which of N05, N06, N07 hold for some block, and whether one order makes all hold."""

    def some_block(*tasks: str) -> bool:
        return any(
            set(sorted(FIGURE_TASKS, key=lambda t: -usage[t][block])[: len(tasks)]) == set(tasks)
            for block in range(BLOCKS)
        )

    return {
        "N05": some_block("translation"),
        "N06": some_block("ner"),
        "N07": some_block("semantics", "syntax"),
        "together": figure_order(usage) is not None,
    }


@cache
def chances_of_means(seeds: int, draws: int = 1_000) -> dict[str, float]:
    """Return how often each of `held` is true of the mean over seeds of random usage.

    Each seed's usage is drawn uniformly from the simplex, task by task, and its blocks are put in
    order as those of trained models are: what judges the claims at several seeds.
    """
    draw, outcomes = np.random.default_rng(0), []
    for tables in draw.dirichlet(np.ones(BLOCKS), (draws, seeds, len(FIGURE_TASKS))):
        usages = [dict(zip(FIGURE_TASKS, table, strict=True)) for table in tables]
        orders = aligned(usages)
        ordered = [table[:, list(order)] for table, order in zip(tables, orders, strict=True)]
        outcomes.append(held(dict(zip(FIGURE_TASKS, np.mean(ordered, axis=0), strict=True))))
    return {name: float(np.mean([each[name] for each in outcomes])) for name in outcomes[0]}
