"""Curves: scores, and the gain of one system over another, along a setting that columns name.

A column is ``target/value``, such as ``"es/0.03"``: a panel per target, the values on its axis.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlrepro.evidence.figures.drawing import Figure, new_panels, nothing_to_draw, styled
from xlrepro.evidence.figures.panels import line_with_intervals
from xlrepro.evidence.figures.plots import looks_of
from xlrepro.evidence.paired import shared_columns
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

MARKERS = "osD^v*"
APART = 0.012  # of the axis: how far the points of two systems at one value stand apart


@styled
def scores_along(view: View, *, along: str) -> Figure:
    """Draw each system's score along a setting, with 95 % intervals: a panel per target.

    Args:
        view: reproduced cells; a column is ``target/value``.
        along: what the values are, the label of the axis.
    """
    cells = view.cells
    if not cells:
        return nothing_to_draw(f"Score along the {along}", "nothing was run")
    title = cells[0].metric
    drawing, panels = _panels(view.columns, title, view.profile, along, sharey=False)
    systems = sorted(view.systems)
    known = looks_of(view.experiment, systems)
    sentences = []
    for target, (axes, columns) in panels.items():
        values = [value_of(column) for column in columns]
        for index, system in enumerate(systems):
            scores = [cell for column in columns if (cell := view.get(system, column))]
            if scores:
                shift = APART * (index - (len(systems) - 1) / 2) * (values[-1] - values[0])
                name = system.partition(":")[2]
                line_with_intervals(
                    axes,
                    [value_of(cell.column) + shift for cell in scores],
                    scores,
                    color=known[system].colour,
                    marker=MARKERS[index % len(MARKERS)],
                    label=name,
                )
                ends = dict.fromkeys(
                    f"{number(c.mean)} at {c.column.partition('/')[2]}"
                    for c in (scores[0], scores[-1])
                )
                sentences.append(f"{target}, {name}: {' to '.join(ends)}")
    first = drawing.axes[0]
    first.set_ylabel(f"{title} ({cells[0].unit})")
    first.legend(frameon=False, fontsize=8)
    return Figure(
        f"Lines with 95 % intervals along the {along}, a panel per target. {'; '.join(sentences)}.",
        drawing,
    )


@styled
def gain_along(
    view: View,
    *,
    along: str,
    first: str = "word:ORT",
    second: str = "word:TRS",
) -> Figure:
    """Draw ``first`` minus ``second`` along a setting, paired by seed, with 95 % intervals.

    Args:
        view: reproduced cells; a column is ``target/value``.
        along: what the values are, the label of the axis.
        first: identifier of the system that may gain.
        second: of the system it is compared with.
    """
    what = f"{first.partition(':')[2]} − {second.partition(':')[2]}"
    title = f"{what}, paired by seed"
    shared = shared_columns(view, first, second)
    if not shared:
        return nothing_to_draw(title, f"{first} and {second} share no seed")
    drawing, panels = _panels(shared, title, view.profile, along, sharey=True)
    sentences = []
    marks = {"0": "", "+": " (above 0)", "-": " (below 0)"}
    for target, (axes, columns) in panels.items():
        gains = [pair for column in columns if (pair := view.difference(first, second, column))]
        line_with_intervals(axes, [value_of(column) for column in columns], gains)
        axes.axhline(0, color="#777777", linewidth=0.8)
        shown = [
            f"{number(gain.mean, 2, True)}{marks[gain.interval.sign if gain.interval else '0']} "
            f"at {value_of(gain.column):g}"
            for gain in gains
        ]
        sentences.append(f"{target}: {', '.join(shown)}")
    drawing.axes[0].set_ylabel(f"{what} (points)")
    return Figure(
        f"Line with 95 % intervals. {title}, along the {along}; above or below 0 where the "
        f"interval leaves out 0. {'; '.join(sentences)}.",
        drawing,
    )


def target_of(column: str) -> str:
    """Return the target that a column belongs to, ``"es"`` of ``"es/0.03"``."""
    return column.partition("/")[0]


def value_of(column: str) -> float:
    """Return the value that a column belongs to, 0.03 of ``"es/0.03"``."""
    return float(column.partition("/")[2])


def _panels(
    columns: Sequence[str], title: str, profile: str, along: str, sharey: bool
) -> tuple["Drawing", dict[str, tuple["Axes", list[str]]]]:
    """Return a panel per target with its columns in the order of their values, on its axis."""
    targets = sorted({target_of(column) for column in columns})
    drawing, (panels,) = new_panels(1, len(targets), 3.6 * len(targets) + 0.6, 3.6, sharey=sharey)
    panel_of = {}
    for target, axes in zip(targets, panels, strict=True):
        ordered = sorted((c for c in columns if target_of(c) == target), key=value_of)
        labels = [column.partition("/")[2] for column in ordered]
        axes.set_title(f"{title}: {target} ({profile})", fontsize=9)
        axes.set_xlabel(along)
        axes.set_xticks([value_of(column) for column in ordered], labels, rotation=45)
        panel_of[target] = (axes, ordered)
    return drawing, panel_of
