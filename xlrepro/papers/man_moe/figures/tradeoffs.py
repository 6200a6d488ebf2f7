"""A score against its cost: a point per system and language, hollow where its runs collapsed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from xlrepro.evidence.figures.drawing import (
    Figure,
    legend_below,
    name_points,
    new_drawing,
    nothing_to_draw,
    styled,
)
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^v<>P"
SCORE = "P@1"  # the measure
LEAST = 1e-3  # seconds: the axis is logarithmic
Point = tuple[float, float, bool]


@styled
def score_against_seconds(view: View) -> Figure:
    """Draw means over seeds of ``language/P@1`` against ``language/seconds``.

    A point is hollow and has no name where at least half of the runs collapsed
    (``language/collapsed``): such points lie on each other.

    Args:
        view: reproduced cells; a column is ``"language/measure"``.
    """
    title = f"{SCORE} against seconds of learning ({view.profile})"
    points = {s: of_system for s in view.systems if (of_system := _points(view, s))}
    if not points:
        return nothing_to_draw(title, "nothing was run")
    drawing, axes = new_drawing(6.4, 3.8)
    for i, (system, of_system) in enumerate(points.items()):
        _scatter(axes, of_system, system.partition(":")[2], i)
    axes.set(title=title, xlabel="seconds per language (one thread)", ylabel=f"{SCORE} (percent)")
    axes.set_xscale("log")
    highest = max(y for of_system in points.values() for _, y, _ in of_system.values())
    axes.set_ylim(0, 1.08 * max(highest, 1.0))
    legend_below(drawing, axes)
    named = [
        (code, max(seconds, LEAST), score)
        for of_system in points.values()
        for code, (seconds, score, collapsed) in of_system.items()
        if not collapsed
    ]
    name_points(axes, named)
    return Figure(f"Scatter plot. {_sentence(points)}", drawing)


def _points(view: View, system: str) -> dict[str, Point]:
    """Return language -> (seconds, score, whether it mostly collapsed)."""
    means = {c.column: c.mean for c in view.of(system)}
    languages = [column.partition("/")[0] for column in means if column.endswith(f"/{SCORE}")]
    return {
        code: (
            means[f"{code}/seconds"],
            means[f"{code}/{SCORE}"],
            means.get(f"{code}/collapsed", 0) >= 50,
        )
        for code in languages
        if f"{code}/seconds" in means
    }


def _scatter(axes: "Axes", points: Mapping[str, Point], label: str, number_of_system: int) -> None:
    colour, marker = PALETTE[number_of_system % 8], MARKERS[number_of_system % 8]
    for row, (seconds, score, collapsed) in enumerate(points.values()):
        axes.plot(
            max(seconds, LEAST), score, marker, ms=6, color=colour, mew=1.2, clip_on=False,
            mfc="none" if collapsed else colour, label="" if row else label,
        )  # fmt: skip


def _sentence(points: Mapping[str, Mapping[str, Point]]) -> str:
    parts = []
    for system, of_system in points.items():
        highest = max(of_system, key=lambda code: of_system[code][1])
        collapsed = [code for code, (_, _, failed) in of_system.items() if failed]
        summary = f"{system.partition(':')[2]}: at best {number(of_system[highest][1])} ({highest})"
        parts.append(summary + (f", collapsed in {', '.join(collapsed)}" if collapsed else ""))
    return f"{SCORE} by method. {'; '.join(parts)}. Hollow points collapsed."
