"""Figure 2: how much each task uses each shared block, and what chance alone would show."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from xlrepro.evidence.figures.drawing import (
    Figure,
    legend_below,
    new_panels,
    nothing_to_draw,
    styled,
)
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.tables.table import Entry, Table, Value, listing, number
from xlrepro.evidence.view import View
from xlrepro.papers.routing_nmt.block_order import BLOCKS, chances_of_means, held
from xlrepro.papers.routing_nmt.experiments import PAIRS
from xlrepro.papers.routing_nmt.usage import FIGURE_TASKS, chances
from xlrepro.trials.record import Record

LABELS = {
    "translation": "translation",
    "semantics": "semantic parsing",
    "syntax": "syntactic parsing",
    "ner": "named entities",
}


@styled
def block_usage(view: View, source: str = "same") -> Figure:
    """Draw each task's mean use of each block, a panel per pair; bars are 95 % intervals.

    Args:
        view: reproduced cells; columns are ``pair/source/task/block``.
        source: ``"same"``: the same English sentences with each task's tag; ``"own"``: the tasks'
            own test sentences.
    """
    title = "Use of the shared blocks by task"
    run = {column.split("/")[0] for column in view.columns}
    pairs = [pair for pair in PAIRS if pair in run]
    if not pairs:
        return nothing_to_draw(title, "no routed system was run")
    (system,) = view.systems
    width = min(9.0, 1.5 + 2.6 * len(pairs))
    drawing, grid = new_panels(1, len(pairs), width, 3.2, sharey="row")
    sentences = []
    for axis, pair in zip(grid[0], pairs, strict=True):
        most = []
        means = np.zeros((len(FIGURE_TASKS), BLOCKS))
        for i, task in enumerate(FIGURE_TASKS):
            cells = [view.get(system, f"{pair}/{source}/{task}/{b + 1}") for b in range(BLOCKS)]
            means[i] = [cell.mean if cell else np.nan for cell in cells]
            halves = [
                cell.interval.high - cell.mean if cell and cell.interval else 0.0 for cell in cells
            ]
            at = np.arange(BLOCKS) + 0.2 * (i - 1.5)
            axis.bar(at, means[i], 0.18, yerr=halves, color=PALETTE[i], label=LABELS[task])
        for block in range(BLOCKS):
            top = int(np.nanargmax(means[:, block]))
            most.append(f"block {block + 1} by {LABELS[FIGURE_TASKS[top]]}")
        sentences.append(f"{pair}: most used is {', '.join(most)}")
        axis.axhline(100 / BLOCKS, color="#777777", linewidth=0.8, linestyle="--")
        axis.set_xticks(range(BLOCKS), [str(b + 1) for b in range(BLOCKS)])
        axis.set(title=f"{pair} ({view.profile})", xlabel="block")
    grid[0][0].set_ylabel("use of a block, %")
    legend_below(drawing, grid[0][0], len(LABELS))
    return Figure(f"{title}, seeds' blocks in one order. {'. '.join(sentences)}.", drawing)


def chance_table(records: Sequence[Record], profile: str) -> Table:
    """Set how often N05, N06, N07 hold in the trials beside how often under random usage.

    Args:
        records: of routed systems, with ``details["usage"]``.
        profile: that they were made at.
    """
    by_pair = Counter(record.details["settings"]["pair"] for record in records)
    seeds = max(by_pair.values(), default=1)
    true_of = [held(record.details["usage"]["same"]) for record in records]
    of_one, of_mean = chances(), chances_of_means(seeds)
    rows: list[tuple[Value, ...]] = []
    for name in of_one:
        count = sum(each[name] for each in true_of)
        of_trials = Entry(f"{count} of {len(records)}", sort=count / max(1, len(records)))
        by_chance = (Entry(number(100 * c[name], 0), sort=c[name]) for c in (of_one, of_mean))
        rows.append((name, of_trials, *by_chance))
    caption = (
        f"The claims on the figure, {profile}: in how many trials some block (together: one order "
        "of the blocks) makes each hold, and how often it would if every task used the blocks at "
        "random: in one trial, and in the mean over seeds, by which the claims are judged."
    )
    numbers = ("trials", "by chance, %", f"by chance, mean of {seeds}, %")
    return listing(
        caption, ["claim"], numbers, rows, f"{profile}: claims of the figure beside chance"
    )
