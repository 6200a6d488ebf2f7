"""Scores over the values of a setting: a panel per setting, lines with intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xlrepro.evidence.figures.drawing import Figure, new_panels, nothing_to_draw, styled
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.reproduced import ReproducedCell
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@styled
def lines_over_values(view: View) -> Figure:
    """Draw the score over the values of each swept setting, with 95 % intervals.

    Args:
        view: reproduced cells; a system is a setting (``sweep:k``), a column one of its values.
    """
    title = f"Scores over the values of a setting ({view.profile})"
    systems = view.systems
    if not systems:
        return nothing_to_draw(title, "nothing was run")
    drawing, (panels,) = new_panels(1, len(systems), 2.6 * len(systems) + 0.6, 3.0, sharey=True)
    sentences = []
    for axes, system in zip(panels, systems, strict=True):
        cells = view.of(system)
        cells.sort(key=lambda cell: float(cell.column))
        name, x = system.partition(":")[2], range(len(cells))
        line_with_intervals(axes, x, cells)  # evenly spaced: some values are 0
        axes.set_xticks(x, [cell.column for cell in cells])
        axes.set_xlabel(name)
        best, worst = max(cells, key=lambda c: c.mean), min(cells, key=lambda c: c.mean)
        sentences.append(
            f"{name}: from {number(worst.mean)} at {worst.column} to {number(best.mean)} at "
            f"{best.column}"
        )
    panels[0].set_ylabel(f"{cells[0].metric} ({cells[0].unit})")
    drawing.suptitle(title, fontsize=10)
    return Figure(
        f"Lines with 95 % intervals, a panel per setting. {'; '.join(sentences)}.", drawing
    )


def line_with_intervals(
    axes: "Axes",
    x: Sequence[float],
    cells: Sequence[ReproducedCell],
    *,
    color: str = PALETTE[0],
    marker: str = "o",
    label: str | None = None,
    **look: Any,
) -> None:
    """Draw a line through means.

    Args:
        axes: where.
        x: place of each point.
        cells: what stands there, each with its interval where it has one.
        color: of the line.
        marker: at each point.
        label: in the legend.
        **look: what else matplotlib's ``errorbar`` takes.
    """
    means = [cell.mean for cell in cells]
    half = [cell.interval.half if cell.interval else 0.0 for cell in cells]
    look = {"capsize": 2, "color": color, "marker": marker, "label": label, **look}
    axes.errorbar(x, means, half, ms=4, lw=1, **look)


def draw_differences(
    axes: "Axes", pairs: "pd.DataFrame", at: Sequence[float], across: bool = False, **look: Any
) -> None:
    """Draw differences paired by seed as points, each with its interval where it has one.

    Args:
        axes: where.
        pairs: rows of `xlrepro.evidence.paired.paired_differences`.
        at: the place of each on the other axis.
        across: whether differences go along the horizontal axis.
        **look: of the points, as matplotlib's ``errorbar`` takes it.
    """
    ends = [pairs["mean"] - pairs["low"], pairs["high"] - pairs["mean"]]
    spread, places = np.nan_to_num(np.vstack(ends).astype(float)), np.array(at)
    if across:
        axes.errorbar(pairs["mean"], places, xerr=spread, **look)
    else:
        axes.errorbar(places, pairs["mean"], spread, **look)
