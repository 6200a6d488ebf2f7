"""Figures of ``word_order/alignment_quality``: scores and gains against alignment."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from xlrepro.evidence.figures import INK, Figure, legend_below, new_panels, nothing_to_draw, styled
from xlrepro.evidence.html_table import number
from xlrepro.evidence.plots import looks_of
from xlrepro.evidence.row_plot import PALETTE
from xlrepro.evidence.view import View
from xlrepro.papers.word_order.figures.advantage import (
    FIRST,
    INDUCTION,
    OTHERS,
    STRONGEST,
    TASKS,
    TRANSFORMERS,
    Gain,
    columns_of,
    distances,
    gains,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {"POS": "accuracy", "SF": "slot F1"}
P_AT_1 = "dictionary induction, P@1 (%)"
MAPPED = "mapped"


@styled
def scores_against_p_at_1(view: View) -> Figure:
    """Draw each encoder's mean target score against dictionary-induction P@1, task by task.

    Lines join the dictionary vectors with more and more noise; mapped vectors are hollow.
    """
    title = "Score against alignment"
    drawing, (axes,) = new_panels(1, len(TASKS), 8.4, 3.6)
    for axis in axes:
        axis.set_xlabel(P_AT_1)
    sentences = []
    for task, axis in zip(TASKS, axes, strict=True):
        for i, system in enumerate(_encoders(view, "word")):
            columns = columns_of(view, (system,), task, "avg")
            _score_series(axis, view, system, columns, i)
            for end, pick in (("best", max), ("worst", min)):
                if columns:
                    column = pick(
                        columns,
                        key=lambda c: view.mean(INDUCTION, c),
                    )
                    score = number(view.mean(system, column), 1)
                    sentences.append(f"{task}, {system}, {end} alignment: {score}")
        axis.set(title=f"{task} ({view.profile})", ylabel=f"{UNITS[task]}, mean of targets")
    if not sentences:
        return nothing_to_draw(title, "no encoder and no P@1 was run")
    axes[0].legend(frameon=False, fontsize=8)
    return Figure(f"{title}, two panels. {'; '.join(sentences)}.", drawing)


def _encoders(view: View, block: str) -> list[str]:
    """Return the encoders of a block that were run, always in the same order."""
    ran = view.systems
    return [s for e in (STRONGEST, *TRANSFORMERS) if (s := f"{block}:{e}") in ran]


def _score_series(
    axis: "Axes",
    view: View,
    system: str,
    columns: Sequence[str],
    place: int,
) -> None:
    """Draw one encoder; mapped vectors, worse in another way than by noise, stand apart."""
    colour = looks_of(view.experiment, [system])[system].colour
    ranked = sorted(columns, key=lambda c: view.mean(INDUCTION, c))
    mapped = [c for c in ranked if c.split("/")[1] == MAPPED]
    for shown, line in (([c for c in ranked if c not in mapped], "-"), (mapped, "none")):
        cells = [cell for c in shown if (cell := view.get(system, c))]
        axis.errorbar(
            [view.mean(INDUCTION, c) for c in shown],
            [c.mean for c in cells],
            [(c.interval.high - c.interval.low) / 2 if c.interval else 0.0 for c in cells],
            linestyle=line,
            marker="osD^"[place % 4],
            markerfacecolor=colour if line == "-" else "none",
            markersize=4,
            linewidth=1,
            elinewidth=0.8,
            color=colour,
            label=system.split(":", 1)[1] if line == "-" else None,
        )


@styled
def scores_on_artificial_languages(view: View) -> Figure:
    """Draw each encoder's score against P@1: a panel per task (rows) and order distance."""
    title = "Score against alignment, artificial languages"
    far = distances(view)
    systems = _encoders(view, "artificial")
    if not far or not systems or INDUCTION not in view.systems:
        return nothing_to_draw(title, "no encoder, no P@1 or no distance was run")
    drawing, grid = new_panels(len(TASKS), len(far), 2.2 * len(far), 5.2, sharey="row")
    sentences = []
    for (row, task), (column, code) in product(enumerate(TASKS), enumerate(far)):
        axis = grid[row, column]
        for i, system in enumerate(systems):
            shown = columns_of(view, (system,), task, code)
            _score_series(axis, view, system, shown, i)
        axis.set_title(f"{task}, distance {number(far[code])}", fontsize=9)
        sentences += _highest(view, systems, task, code, far[code])
    for row, task in enumerate(TASKS):
        grid[row, 0].set_ylabel(f"{UNITS[task]} ({view.profile})")
    for axis in grid[-1]:
        axis.set_xlabel("P@1 (%)")
    legend_below(drawing, grid[0, 0])
    return Figure(f"{title}, {grid.size} panels. {'; '.join(sentences)}.", drawing)


def _highest(
    view: View,
    systems: Sequence[str],
    task: str,
    code: str,
    distance: float,
) -> list[str]:
    """Say which encoder has the highest score at the best and at the worst alignment."""
    columns = columns_of(view, systems, task, code)
    columns.sort(key=lambda c: view.mean(INDUCTION, c))
    said = []
    for column in dict.fromkeys((*columns[-1:], *columns[:1])):
        scores = {s: view.mean(s, column) for s in systems}
        best = max(scores, key=lambda s: scores[s])
        p = number(view.mean(INDUCTION, column), 0)
        said.append(
            f"{task}, distance {number(distance)}, P@1 {p}: highest {best.partition(':')[2]} "
            f"with {number(scores[best], 1)}"
        )
    return said


@styled
def gain_against_p_at_1(view: View) -> Figure:
    """Draw ORT − each other encoder, paired by seed, against P@1; bars are 95 % intervals."""
    title = f"{FIRST} minus the other encoders against alignment"
    drawing, grid = new_panels(len(TASKS), len(OTHERS), 10.2, 5.8, sharey="row")
    sentences = []
    for (row, task), (column, other) in product(enumerate(TASKS), enumerate(OTHERS)):
        all_gains = gains(view, task, other=other)
        _gain_series(grid[row, column], all_gains)
        grid[row, column].set_title(f"{task}, {FIRST} − {other} ({view.profile})", fontsize=9)
        sentences += [
            f"{task}, {FIRST} − {other}, P@1 {number(g.p_at_1, 1)}: {number(g.mean, 2, True)}"
            for g in all_gains
        ]
    if not sentences:
        return nothing_to_draw(title, f"{FIRST}, another encoder and P@1 were not all run")
    for axis in grid[:, 0]:
        axis.set_ylabel("points, mean of targets")
    for axis in grid[-1]:
        axis.set_xlabel(P_AT_1)
    return Figure(
        f"{title}, {grid.size} panels with 95 % intervals. {'; '.join(sentences)}.", drawing
    )


def _gain_series(axis: "Axes", all_gains: Sequence[Gain]) -> None:
    spread = np.array([[g.mean - g.low for g in all_gains], [g.high - g.mean for g in all_gains]])
    x, y = [g.p_at_1 for g in all_gains], [g.mean for g in all_gains]
    axis.errorbar(x, y, np.nan_to_num(spread), fmt="o", color=PALETTE[0], lw=1)
    for gain in all_gains:
        axis.annotate(
            gain.level, (gain.p_at_1, gain.mean), (4, 3), textcoords="offset points", fontsize=7
        )
    axis.axhline(0, color="#777777", linewidth=0.8)


@styled
def gain_by_alignment_and_distance(view: View) -> Figure:
    """Draw ORT − each other encoder on the artificial languages: alignment × order distance.

    A cell with a frame has a 95 % interval, paired by seed, that leaves out 0. A row of maps has
    one scale of colours.
    """
    title = f"{FIRST} minus the other encoders by alignment and order distance"
    far = distances(view)
    grids = {
        (task, other): [gains(view, task, "artificial", code, other) for code in far]
        for task in TASKS
        for other in OTHERS
    }
    if not far or not all(column for grid in grids.values() for column in grid):
        return nothing_to_draw(title, "the artificial languages were not all run")
    drawing, panels = new_panels(len(TASKS), len(OTHERS), 11, 6)
    sentences = []
    for ((task, other), grid), axis in zip(grids.items(), panels.flat, strict=True):
        _heat_map(axis, grid, list(far.values()), _widest(grids, task))
        axis.set_title(f"{task}, {FIRST} − {other} ({view.profile})", fontsize=9)
        flat = [g for column in grid for g in column]
        best = max(flat, key=lambda g: g.mean)
        sentences.append(
            f"{task}, {FIRST} − {other}: from {number(min(g.mean for g in flat), 1, True)} to "
            f"{number(best.mean, 1, True)}, the highest at P@1 {number(best.p_at_1, 0)}"
        )
    for axis in panels[:, 0]:
        axis.set_ylabel(P_AT_1)
    for axis in panels[-1]:
        axis.set_xlabel("word-order distance to English")
    return Figure(f"Heat maps. {title}, in points. {'; '.join(sentences)}.", drawing)


def _widest(grids: Mapping[tuple[str, str], Sequence[Sequence[Gain]]], task: str) -> float:
    """Return the largest gain or loss of a task, which all its maps are scaled by."""
    of_task = [grid for (of, _), grid in grids.items() if of == task]
    return max(abs(g.mean) for grid in of_task for column in grid for g in column) or 1.0


def _heat_map(
    axis: "Axes", grid: Sequence[Sequence[Gain]], far: Sequence[float], widest: float
) -> None:
    """Draw one grid: a column per distance, a row per level, best alignment on top."""
    from matplotlib.patches import Rectangle
    from seaborn import diverging_palette

    values = np.array([[g.mean for g in column] for column in grid]).T
    colours = diverging_palette(240, 30, s=90, l=55, as_cmap=True)
    axis.imshow(values, cmap=colours, vmin=-widest, vmax=widest, aspect="auto")
    for x, column in enumerate(grid):
        for y, gain in enumerate(column):
            label = number(gain.mean, 1, True)
            axis.text(x, y, label, ha="center", va="center", fontsize=7, color=INK)
            if gain.sign != "0":
                axis.add_patch(
                    Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, fill=False, lw=1.2, ec=INK)
                )
    levels = [float(np.mean([column[y].p_at_1 for column in grid])) for y in range(len(grid[0]))]
    axis.set_xticks(range(len(far)), [number(d, 2) for d in far])
    axis.set_yticks(range(len(levels)), [number(p, 0) for p in levels])
