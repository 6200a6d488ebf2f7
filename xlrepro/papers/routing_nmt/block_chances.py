"""Which claims on Figure 2 hold for some usage of the blocks, and how often by chance alone."""

from functools import cache
from itertools import permutations

import numpy as np

from xlrepro.papers.routing_nmt.block_order import BLOCKS, FIGURE_TASKS, Usage, mean_usage


def figure_order(usage: Usage) -> tuple[int, ...] | None:
    """Return an order of three blocks for which N05, N06 and N07 all hold, or ``None``.

    N05: the task that uses block 1 most is translation; N06: that of block 3 is NER; N07: the two
    tasks that use block 2 most are the two kinds of parsing.
    """
    for order in permutations(range(BLOCKS)):
        most = [
            sorted(FIGURE_TASKS, key=lambda t: usage[t][block], reverse=True) for block in order
        ]
        if (
            most[0][0] == "translation"
            and most[2][0] == "ner"
            and set(most[1][:2]) == {"semantics", "syntax"}
        ):
            return order
    return None


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


def chances(draws: int = 20_000, seed: int = 0) -> dict[str, float]:
    """Return how often N05, N06, N07, and all ``together``, hold where usage is random.

    Usage of each task is drawn uniformly from the simplex, tasks independent of each other. Alone,
    each claim may take any block; together, one order of the blocks must serve all three.
    """
    draw = np.random.default_rng(seed)
    # shape: (draws, tasks, blocks)
    tables = draw.dirichlet(np.ones(BLOCKS), (draws, len(FIGURE_TASKS)))
    # entry [d, i, b]: the task that is i-th in using block b, most first
    ranks = np.argsort(-tables, axis=1)
    mt, semantics, syntax, ner = range(4)
    parsing = np.sort(ranks[:, :2], axis=1) == np.array([[semantics], [syntax]])
    together = [
        figure_order(dict(zip(FIGURE_TASKS, table, strict=True))) is not None
        for table in tables.tolist()
    ]
    return {
        "N05": float((ranks[:, 0] == mt).any(-1).mean()),
        "N06": float((ranks[:, 0] == ner).any(-1).mean()),
        "N07": float(parsing.all(1).any(-1).mean()),
        "together": float(np.mean(together)),
    }


@cache
def chances_of_means(seeds: int, draws: int = 1_000) -> dict[str, float]:
    """Return how often each of `held` is true of the mean over seeds of random usage.

    Each seed's usage is drawn uniformly from the simplex, task by task, and its blocks are put in
    order as those of trained models are: what judges the claims at several seeds.
    """
    draw, outcomes = np.random.default_rng(0), []
    for tables in draw.dirichlet(np.ones(BLOCKS), (draws, seeds, len(FIGURE_TASKS))):
        usages = [dict(zip(FIGURE_TASKS, table, strict=True)) for table in tables.tolist()]
        outcomes.append(held(mean_usage(usages)))
    return {name: float(np.mean([each[name] for each in outcomes])) for name in outcomes[0]}
