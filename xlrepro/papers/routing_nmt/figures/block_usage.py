"""Figure 2: how much each task uses each shared block, and what chance alone would show."""

from collections.abc import Sequence
from itertools import product

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
from xlrepro.papers.routing_nmt.blocks import (
    FIGURE_TASKS,
    Usage,
    chances_of_means,
    held,
    mean_usage,
)
from xlrepro.papers.routing_nmt.blocks import (
    usages as usages_of,
)
from xlrepro.papers.routing_nmt.figures.translation import PAIRS
from xlrepro.papers.routing_nmt.settings import SHARED_BLOCKS as BLOCKS
from xlrepro.trials import Record

LABELS = {
    "translation": "translation",
    "semantics": "semantic parsing",
    "syntax": "syntactic parsing",
    "ner": "named entities",
}
NUMBERS = ("trials", "of the mean", "by chance in a trial, %", "by chance of the mean, %")


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
    grid[0][0].set(ylabel="use of a block, %", ylim=(0, 100))  # an interval may pass the ends
    legend_below(drawing, grid[0][0], len(LABELS))
    drawn = "seeds' blocks in one order, intervals cut at 0 and 100 %"
    return Figure(f"{title}, {drawn}. {'. '.join(sentences)}.", drawing)


def chance_table(records: Sequence[Record], profile: str) -> Table:
    """Set whether N05, N06, N07 hold in each pair's trials beside how often at random.

    Args:
        records: of routed systems, with ``details["usage"]``.
        profile: that they were made at.
    """
    usages: dict[str, list[Usage]] = {}
    for record in sorted(records, key=lambda each: each.seed):
        pair = record.details["settings"]["pair"]
        usages.setdefault(pair, []).extend(usages_of(record))
    of_one = chances_of_means(1)
    rows: list[tuple[Value, ...]] = []
    of_trials_alone = []
    for pair, name in product((pair for pair in PAIRS if pair in usages), of_one):
        trials = len(usages[pair])
        count = sum(held(usage)[name] for usage in usages[pair])
        of_mean = held(mean_usage(usages[pair]))[name]
        if count == trials and not of_mean:
            of_trials_alone.append(f"{name} on {pair}")
        shares = (of_one[name], chances_of_means(trials)[name])
        rows.append(
            (
                f"{name}, {pair}",
                Entry(f"{count} of {trials}", sort=count / trials),
                Entry("true" if of_mean else "false", sort=of_mean),
                *(Entry(number(100 * share, 0), sort=share) for share in shares),
            )
        )
    summary = f"{profile}: claims of the figure beside chance"
    return listing(_caption(profile, of_trials_alone), ["claim, pair"], NUMBERS, rows, summary)


def _caption(profile: str, of_trials_alone: Sequence[str]) -> str:
    """Say what the table of chances shows, and which claims only the single trials bear out."""
    caption = (
        f"The claims on the figure, {profile}: in how many trials some block (together: one order "
        "of the blocks) makes each hold, whether it is true of the mean over the pair's seeds, by "
        "which the claims are judged, and how often each would be if every task used the blocks "
        "at random."
    )
    if not of_trials_alone:
        return caption
    return f"{caption} True in each trial and not of their mean: {', '.join(of_trials_alone)}."
