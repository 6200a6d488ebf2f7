"""Curves: scores, and the gain of one system over another, along a setting that columns name.

A column is ``target/value``, such as ``"es/0.03"``: a panel per target, the values on its axis.
"""

from typing import TYPE_CHECKING

from xlrepro.evidence.figures.drawing import Figure, new_panels, nothing_to_draw, styled
from xlrepro.evidence.figures.panels import line_with_intervals
from xlrepro.evidence.figures.plots import looks_of
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.reproduced import Interval, ReproducedCell
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
    targets = sorted({target_of(cell.column) for cell in cells})
    if not targets:
        return nothing_to_draw(f"Score along the {along}", "nothing was run")
    drawing, panels = _panels(targets, cells[0].metric, view.profile, along, sharey=False)
    systems = sorted(view.systems)
    known = looks_of(view.experiment, systems)
    sentences = []
    for target, axes in zip(targets, panels, strict=True):
        here = [cell for cell in cells if target_of(cell.column) == target]
        _ticks(axes, here)
        for index, system in enumerate(systems):
            own = sorted((c for c in here if c.system == system), key=lambda c: value_of(c.column))
            if own:
                shift = APART * (index - (len(systems) - 1) / 2) * _width(here)
                name = system.partition(":")[2]
                _line(axes, own, shift, index, known[system].colour, name)
                ends = dict.fromkeys(
                    f"{number(c.mean)} at {c.column.partition('/')[2]}" for c in (own[0], own[-1])
                )
                sentences.append(f"{target}, {name}: {' to '.join(ends)}")
    panels[0].set_ylabel(f"{cells[0].metric} ({cells[0].unit})")
    panels[0].legend(frameon=False, fontsize=8)
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
    columns = _shared(view, first, second)
    if not columns:
        return nothing_to_draw(title, f"{first} and {second} share no seed")
    targets = sorted({target_of(column) for column in columns})
    drawing, panels = _panels(targets, title, view.profile, along, sharey=True)
    sentences = []
    for target, axes in zip(targets, panels, strict=True):
        swept = sorted((c for c in columns if target_of(c) == target), key=value_of)
        pairs = paired_differences(view, first, second, swept)
        gains = [(float(r["mean"]), _interval(r["low"], r["high"])) for _, r in pairs.iterrows()]
        x = [value_of(column) for column in swept]
        line_with_intervals(axes, x, gains)
        axes.axhline(0, color="#777777", linewidth=0.8)
        axes.set_xticks(x, [column.partition("/")[2] for column in swept], rotation=45)
        marks = {"0": "", "+": " (above 0)", "-": " (below 0)"}
        shown = [
            f"{number(mean, 2, True)}{marks[sign]} at {value:g}"
            for (mean, _), sign, value in zip(gains, pairs["sign"], x, strict=True)
        ]
        sentences.append(f"{target}: {', '.join(shown)}")
    panels[0].set_ylabel(f"{what} (points)")
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


def _shared(view: View, first: str, second: str) -> list[str]:
    """Return the columns in which both systems have a seed in common."""
    shared = []
    for column in view.columns:
        a = view.get(first, column)
        b = view.get(second, column)
        if a and b and set(a.seeds) & set(b.seeds):
            shared.append(column)
    return shared


def _interval(low: float, high: float) -> Interval | None:
    return None if low != low else Interval(float(low), float(high))  # NaN: one seed


def _panels(
    targets: list[str], title: str, profile: str, along: str, sharey: bool
) -> tuple["Drawing", list["Axes"]]:
    drawing, (panels,) = new_panels(1, len(targets), 3.6 * len(targets) + 0.6, 3.6, sharey=sharey)
    for target, axes in zip(targets, panels, strict=True):
        axes.set_title(f"{title}: {target} ({profile})", fontsize=9)
        axes.set_xlabel(along)
    return drawing, list(panels)


def _line(
    axes: "Axes", cells: list[ReproducedCell], shift: float, index: int, colour: str, label: str
) -> None:
    line_with_intervals(
        axes,
        [value_of(cell.column) + shift for cell in cells],
        [(cell.mean, cell.interval) for cell in cells],
        color=colour,
        marker=MARKERS[index % len(MARKERS)],
        label=label,
    )


def _width(cells: list[ReproducedCell]) -> float:
    values = [value_of(cell.column) for cell in cells]
    return max(values) - min(values)


def _ticks(axes: "Axes", cells: list[ReproducedCell]) -> None:
    columns = sorted({cell.column for cell in cells}, key=value_of)
    labels = [column.partition("/")[2] for column in columns]
    axes.set_xticks([value_of(column) for column in columns], labels, rotation=45)
