"""Figures of ``word_order/alignment_quality``: scores and gains against alignment."""

from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

from xlrepro.evidence.figures.drawing import (
    Figure,
    legend_below,
    new_panels,
    nothing_to_draw,
    styled,
)
from xlrepro.evidence.figures.panels import line_with_intervals
from xlrepro.evidence.figures.plots import looks_of
from xlrepro.evidence.figures.row_plot import Mark, Row, RowPlot
from xlrepro.evidence.tables.table import Entry, Table, listing, measured, number
from xlrepro.evidence.view import View
from xlrepro.papers.word_order.figures.advantage import (
    FIRST,
    INDUCTION,
    OTHERS,
    STRONGEST,
    TASKS,
    TRANSFORMERS,
    columns_of,
    distances,
    gains,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {"POS": "accuracy", "SF": "slot F1"}
P_AT_1 = "dictionary induction, P@1 (%)"
REAL = ("word", "word-encoder")  # blocks of the paper's languages
APART = ("mapped", "encoder")  # levels that are not dictionary vectors with noise


@styled
def scores_against_p_at_1(view: View) -> Figure:
    """Draw each encoder's mean target score against dictionary-induction P@1, task by task.

    Lines join the dictionary vectors with more and more noise; other vectors are hollow.
    """
    title = "Score against alignment"
    drawing, (axes,) = new_panels(1, len(TASKS), 8.4, 3.6)
    for axis in axes:
        axis.set_xlabel(P_AT_1)
    sentences = []
    for task, axis in zip(TASKS, axes, strict=True):
        for block in REAL:
            for i, system in enumerate(_encoders(view, block)):
                columns = columns_of(view, (system,), task, "avg")
                _score_series(axis, view, system, columns, i)
                sentences += _ends(view, system, task, columns)
        axis.set(title=f"{task} ({view.profile})", ylabel=f"{UNITS[task]}, mean of targets")
    if not sentences:
        return nothing_to_draw(title, "no encoder and no P@1 was run")
    axes[0].legend(frameon=False, fontsize=8)
    return Figure(f"{title}, two panels. {'; '.join(sentences)}.", drawing)


def _ranked(view: View, columns: Sequence[str]) -> list[str]:
    """Return columns by their alignment, the worst first."""
    return sorted(columns, key=lambda column: view.mean(INDUCTION, column))


def _ends(view: View, system: str, task: str, columns: Sequence[str]) -> list[str]:
    """Say a system's scores at the best and the worst alignment; at its only one, once."""
    ranked = _ranked(view, columns)
    ends = {"best": ranked[-1:], "worst": ranked[:1] if len(ranked) > 1 else []}
    return [
        f"{task}, {system}, {end} alignment: {number(view.mean(system, column), 1)}"
        for end, at in ends.items()
        for column in at
    ]


def _encoders(view: View, block: str) -> list[str]:
    """Return the encoders of a block that were run, always in the same order."""
    ran = view.systems
    return [s for e in (STRONGEST, *TRANSFORMERS) if (s := f"{block}:{e}") in ran]


def _score_series(
    axis: "Axes", view: View, system: str, columns: Sequence[str], place: int
) -> None:
    """Draw one encoder; vectors that are worse or better by more than noise stand apart."""
    colour = looks_of(view.experiment, [system])[system].colour
    parts: dict[bool, list[str]] = {False: [], True: []}
    for column in _ranked(view, columns):
        parts[column.split("/")[1] in APART].append(column)
    for apart, shown in parts.items():
        line_with_intervals(
            axis,
            [view.mean(INDUCTION, column) for column in shown],
            [c for column in shown if (c := view.get(system, column))],
            color=colour,
            marker="osD^"[place % 4],
            label=None if apart or not shown else system.partition(":")[2],
            linestyle="none" if apart else "-",
            markerfacecolor="none" if apart else colour,
            elinewidth=0.8,
            capsize=0,
        )


@styled
def scores_on_artificial_languages(view: View) -> Figure:
    """Draw each encoder's score against P@1 in two orders.

    A panel per task (rows) for the language nearest to English in order, and one for the farthest.
    """
    title = "Score against alignment, artificial languages"
    known = sorted(distances(view).items(), key=lambda item: item[1])
    far = dict(known[:1] + known[-1:])
    systems = _encoders(view, "artificial")
    if not far or not systems or INDUCTION not in view.systems:
        return nothing_to_draw(title, "no encoder, no P@1 or no distance was run")
    drawing, grid = new_panels(len(TASKS), len(far), 7.4, 5.2, sharey="row")
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
    view: View, systems: Sequence[str], task: str, code: str, distance: float
) -> list[str]:
    """Say which encoder has the highest score at the best and at the worst alignment."""
    ranked = _ranked(view, columns_of(view, systems, task, code))
    said = []
    for column in dict.fromkeys((*ranked[-1:], *ranked[:1])):
        best = max(systems, key=lambda s: view.mean(s, column))
        p, score = number(view.mean(INDUCTION, column), 0), number(view.mean(best, column), 1)
        said.append(
            f"{task}, distance {number(distance)}, P@1 {p}: highest {best.partition(':')[2]} "
            f"with {score}"
        )
    return said


def gain_against_p_at_1(view: View) -> RowPlot:
    """Draw ORT − each other encoder with 95 % intervals, paired by seed: a line per alignment."""
    title = f"{FIRST} minus the other encoders, mean of the targets ({view.profile})"
    everywhere = {
        (task, other): [g for block in REAL for g in gains(view, task, block, other=other)]
        for task in TASKS
        for other in OTHERS
    }
    looks = looks_of(view.experiment, [f"word:{other}" for other in OTHERS])
    look = {other: looks[f"word:{other}"] for other in OTHERS}
    rows, said = [], []
    for task in TASKS:
        here = {g.level: g.p_at_1 for other in OTHERS for g in everywhere[task, other]}
        for level, p in sorted(here.items(), key=lambda item: -item[1]):
            at = {other: g for other in OTHERS for g in everywhere[task, other] if g.level == level}
            marks = tuple(Mark(g.mean, g.low, g.high, look[other]) for other, g in at.items())
            rows.append(Row(f"P@1 {number(p, 1)}: {level}", marks, group=task))
            said += [
                f"{task}, {FIRST} − {other}, P@1 {number(p, 1)}: {number(g.mean, 2, True)}"
                for other, g in at.items()
            ]
    if not rows:
        alt = f"{title}: {FIRST}, another encoder and P@1 were not all run."
        return RowPlot(title, alt, "", ())
    key = tuple((f"{FIRST} − {other}", look[other]) for other in OTHERS)
    alt = f"Dot plot with 95 % intervals. {title}. {'; '.join(said)}."
    return RowPlot(title, alt, "points", tuple(rows), key, zero=True)


def gain_by_alignment_and_distance(view: View) -> Table:
    """List ORT − each other encoder on the artificial languages: alignment × order distance.

    A difference is bold where its 95 % interval, paired by seed, leaves out 0.
    """
    far = distances(view)
    rows = [
        row
        for task in TASKS
        for other in OTHERS
        for row in _gain_rows(view, f"{task}, {FIRST} − {other}", task, other, list(far))
    ]
    caption = (
        f"{FIRST} minus the other encoders on artificial languages ({view.profile}), in points, by "
        f"{P_AT_1} and word-order distance to English. Bold: the 95 % interval leaves out 0."
    )
    caption = caption if rows else f"{caption} Not all of it was run."
    numbers = ("P@1", *(f"distance {number(d)}" for d in far.values()))
    summary = f"{FIRST} minus the others: {len(rows)} rows"
    return listing(caption, ["difference"], numbers, rows, summary)


def _gain_rows(
    view: View, name: str, task: str, other: str, codes: Sequence[str]
) -> list[tuple[Entry, ...]]:
    """Return a row per level, best alignment first; [] where a language lacks one."""
    grid = [gains(view, task, "artificial", code, other) for code in codes]
    if not all(grid):
        return []
    return [
        (
            Entry(name),
            measured(fmean(g.p_at_1 for g in level), 0),
            *(Entry(number(g.mean, 1, True), sort=g.mean, strong=g.sign != "0") for g in level),
        )
        for level in zip(*grid, strict=True)
    ]
