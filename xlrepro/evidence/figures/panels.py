"""Figures with a panel per system: scores over the values of a setting, and maps of weights."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xlrepro.evidence.figures.drawing import INK, Figure, new_panels, nothing_to_draw, styled
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.reproduced import Interval, ReproducedCell
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View

if TYPE_CHECKING:
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
        own = view.of(system)
        own.sort(key=lambda cell: float(cell.column))
        name = system.partition(":")[2]
        _line(axes, own)
        axes.set_xlabel(name)
        best, worst = max(own, key=lambda c: c.mean), min(own, key=lambda c: c.mean)
        sentences.append(
            f"{name}: from {number(worst.mean)} at {worst.column} to {number(best.mean)} at "
            f"{best.column}"
        )
    panels[0].set_ylabel(f"{own[0].metric} ({own[0].unit})")
    drawing.suptitle(title, fontsize=10)
    return Figure(
        f"Lines with 95 % intervals, a panel per setting. {'; '.join(sentences)}.", drawing
    )


def _line(axes: "Axes", cells: list[ReproducedCell]) -> None:
    """Draw the cells in the order of their values, evenly spaced: some values are 0."""
    x = range(len(cells))
    line_with_intervals(axes, x, [(cell.mean, cell.interval) for cell in cells])
    axes.set_xticks(x, [cell.column for cell in cells])


def line_with_intervals(
    axes: "Axes",
    x: Sequence[float],
    points: Sequence[tuple[float, Interval | None]],
    *,
    color: str = PALETTE[0],
    marker: str = "o",
    label: str | None = None,
) -> None:
    """Draw a line through means, each with its interval where it has one.

    Args:
        axes: where.
        x: place of each point.
        points: mean and interval.
        color: of the line.
        marker: at each point.
        label: in the legend.
    """
    means = [mean for mean, _ in points]
    half = [(i.high - i.low) / 2 if i else 0.0 for _, i in points]
    look: dict[str, Any] = {"color": color, "marker": marker, "label": label}
    axes.errorbar(x, means, half, ms=4, capsize=2, lw=1, **look)


@styled
def map_of_weights(view: View) -> Figure:
    """Draw a map per system: a row per target, a column per source, the average weight inside.

    Args:
        view: reproduced cells, fractions; a column is ``"target/source"``.
    """
    title = f"Average weight of each source's expert ({view.profile})"
    systems = view.systems
    if not systems:
        return nothing_to_draw(title, "nothing was run")
    drawing, (panels,) = new_panels(1, len(systems), 3.1 * len(systems) + 0.8, 2.9)
    found = {s: _weights(view, s) for s in systems}
    highest = max(max(weights.values()) for weights in found.values())
    sentences = []
    for axes, (system, weights) in zip(panels, found.items(), strict=True):
        _map(axes, weights, highest)
        axes.set_title(system.partition(":")[2], fontsize=9)
        for target in dict.fromkeys(t for t, _ in weights):
            of = {s: w for (t, s), w in weights.items() if t == target}
            most = max(of, key=lambda source: of[source])
            sentences.append(
                f"{system.partition(':')[2]}, {target}: most {most} ({number(of[most])})"
            )
    panels[0].set_ylabel("target")
    drawing.suptitle(title, fontsize=10)
    return Figure(f"Heat maps of gate weights, target by source. {'; '.join(sentences)}.", drawing)


def _weights(view: View, system: str) -> dict[tuple[str, str], float]:
    """Return (target, source) -> mean weight."""
    own = view.of(system)
    found = {}
    for cell in own:
        target, _, source = cell.column.partition("/")
        found[target, source] = cell.mean
    return found


def _map(axes: "Axes", weights: dict[tuple[str, str], float], highest: float) -> None:
    targets = list(dict.fromkeys(target for target, _ in weights))
    sources = sorted({source for _, source in weights})
    grid = np.full((len(targets), len(sources)), np.nan)
    for (target, source), weight in weights.items():
        grid[targets.index(target), sources.index(source)] = weight
    axes.imshow(grid, cmap="Blues", vmin=0, vmax=highest, aspect="auto")
    for (row, column), weight in np.ndenumerate(grid):
        if not np.isnan(weight):
            dark = weight > 0.6 * highest
            text = number(float(weight))
            axes.text(column, row, text, ha="center", va="center", color="white" if dark else INK)
    axes.set_xticks(range(len(sources)), sources)
    axes.set_yticks(range(len(targets)), targets)
    axes.set_xlabel("source")
