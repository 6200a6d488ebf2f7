"""How much each task uses each shared block (Figure 2): the mean of tau over source tokens."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from xlrepro.papers.routing_nmt.data import encoding
    from xlrepro.papers.routing_nmt.model import MultiTaskModel

BATCH = 64
# tasks in the order of the figure's legend
FIGURE_TASKS = ("translation", "semantics", "syntax", "ner")


def block_usage(
    model: "MultiTaskModel", task: str, examples: "Sequence[encoding.Example]", device: str = "cpu"
) -> list[float]:
    """Return the mean of tau over all source tokens and the encoder's directions, per block.

    The task's tag at the sentence's start is a token like any other.
    """
    import torch  # only here: the experiments read this module's tables without it

    from xlrepro.papers.routing_nmt.batches import ordered_batches

    model.eval()
    total, tokens = torch.zeros(()), 0
    with torch.inference_mode():
        for batch in ordered_batches(examples, BATCH):
            moved = batch.to(device)
            memory = model.encode(task, moved.source, moved.lengths)
            assert memory.taus is not None
            # shape: (directions, length, batch, blocks), zero at padding
            taus = memory.taus.double() * memory.mask.T[None, :, :, None]
            total = total + taus.sum((1, 2)).mean(0).cpu()
            tokens += int(moved.lengths.sum())
        return [round(float(share), 6) for share in total / tokens]


Usage = Mapping[str, Sequence[float]]  # task to the share of each block


def aligned(usages: Sequence[Usage]) -> list[tuple[int, ...]]:
    """Return for each seed the order of its blocks that agrees best with the others'.

    The numbers of blocks mean nothing: each seed may have them in another order. The orders are
    fitted between seeds, by the least squared distance to the mean over seeds of the aligned
    usages; the first seed keeps its own. No claim has a part in it.

    Args:
        usages: of each seed.

    Returns:
        Of each seed a permutation: place ``i`` is taken by its block ``order[i]``.

    Example:
        >>> aligned([{"a": [0.6, 0.4], "b": [0.5, 0.5]}, {"a": [0.4, 0.6], "b": [0.5, 0.5]}])
        [(0, 1), (1, 0)]
    """
    tables = [np.array([usage[task] for task in sorted(usage)]) for usage in usages]
    orders = [tuple(range(tables[0].shape[1]))] * len(tables)
    for _ in range(20):
        before = list(orders)
        for number, table in enumerate(tables[1:], start=1):
            others = [t[:, list(o)] for t, o in zip(tables, orders, strict=True)]
            mean = np.mean(others[:number] + others[number + 1 :], axis=0)
            orders[number] = min(
                itertools.permutations(range(table.shape[1])),
                key=lambda order: float(((table[:, list(order)] - mean) ** 2).sum()),
            )
        if orders == before:
            break
    return orders


def figure_order(usage: Usage) -> tuple[int, ...] | None:
    """Return an order of three blocks for which N05, N06 and N07 all hold, or ``None``.

    N05: the task that uses block 1 most is translation; N06: that of block 3 is NER; N07: the two
    tasks that use block 2 most are the two kinds of parsing.
    """
    for order in itertools.permutations(range(3)):
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


def chances(draws: int = 20_000, seed: int = 0) -> dict[str, float]:
    """Return how often N05, N06, N07, and all ``together``, hold where usage is random.

    Usage of each task is drawn uniformly from the simplex, tasks independent of each other. Alone,
    each claim may take any block; together, one order of the blocks must serve all three.
    """
    draw = np.random.default_rng(seed)
    # shape: (draws, tasks, blocks)
    tables = draw.dirichlet(np.ones(3), (draws, len(FIGURE_TASKS)))
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
