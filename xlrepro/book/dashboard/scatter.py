"""All reproduced numbers against all reported ones, by paper, as an SVG that follows the theme."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from xlrepro.book.verdicts import Evidence, load_evidence
from xlrepro.evidence.compare import OTHER_DATA
from xlrepro.evidence.deviations import weighing_most
from xlrepro.trials import PUBLISHED

SIDE, LEFT, TOP = 300, 40, 8  # of the square field, in the SVG's units; its margins
STEPS = range(0, 101, 20)
FAR = 5  # points


@dataclass
class Cloud:
    """The points of one paper: (reported, reproduced), both from 0 to 100.

    Attributes:
        same: on the paper's own data, or what is no other.
        other: where other data or weights stand in.
        far: how many lie far from the diagonal.
        weighed: how many of those on pages with a deviation that weighs most.
    """

    paper: str
    same: list[tuple[float, float]] = field(default_factory=list)
    other: list[tuple[float, float]] = field(default_factory=list)
    far: int = 0
    weighed: int = 0


def clouds(evidence: Evidence) -> list[Cloud]:
    """Return the points of all papers: scores from 0 to 100 of which more is better."""
    points = {paper: Cloud(paper) for paper in evidence.catalog.papers}
    for key in evidence.catalog.experiments:
        for profile in (p for p in PUBLISHED if evidence.runs[key, p]):
            frame, cloud = evidence.frame(key, profile), points[key.split("/", 1)[0]]
            weighty = bool(weighing_most(key, profile))
            columns = (frame[n] for n in ("reported", "reproduced", "unit", "metric", "verdict"))
            for printed, ours, unit, metric, verdict in zip(*columns):
                scale = 100.0 if unit.startswith("fraction") else 1.0
                point = (scale * printed, scale * ours)
                if evidence.catalog.higher_is_better(metric) and not math.isnan(sum(point)):
                    far = abs(point[0] - point[1]) > FAR
                    cloud.far, cloud.weighed = cloud.far + far, cloud.weighed + (far and weighty)
                    (cloud.other if verdict == OTHER_DATA else cloud.same).append(point)
    return list(points.values())


def scatter() -> str:
    """Return the plot with its legend, as HTML."""
    evidence = load_evidence()
    drawn = clouds(evidence)
    same, other = (sum(len(getattr(c, kind)) for c in drawn) for kind in ("same", "other"))
    label = (
        f"All {same + other} cells with a printed and a reproduced score, from 0 to 100: "
        f"{same} on the paper's corpora (filled), {other} on other corpora or weights (rings). "
        f"On the diagonal they agree. {_far_off(drawn)}"
    )
    parts = "".join(_drawn(i, cloud) for i, cloud in enumerate(drawn))
    width, height = LEFT + SIDE + 14, TOP + SIDE + 44
    return (
        f'<figure class="xl-scatter"><svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}">{_axes()}{parts}</svg>\n'
        f"<figcaption>{escape(label)} {_legend(evidence, drawn)}</figcaption></figure>"
    )


def _far_off(drawn: Sequence[Cloud]) -> str:
    """Return how many cells lie far from the diagonal, and for how many we know a likely reason."""
    far, weighed = sum(cloud.far for cloud in drawn), sum(cloud.weighed for cloud in drawn)
    if not far:
        return ""
    which = "all" if weighed == far else weighed
    return (
        f"{far} lie more than {FAR} points off it, {which} of them on pages with a deviation "
        "that weighs most: which, stands below each paper's claims."
    )


def _axes() -> str:
    bottom = TOP + SIDE
    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" class="xl-field"/>']
    parts.append(f'<path d="M{LEFT} {bottom}L{LEFT + SIDE} {TOP}" class="xl-diagonal"/>')
    for step in STEPS:
        x, y = _place(step, step)
        parts.append(f'<text x="{x:g}" y="{bottom + 16}" text-anchor="middle">{step}</text>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:g}" text-anchor="end">{step}</text>')
    middle = LEFT + SIDE / 2
    parts.append(f'<text x="{middle:g}" y="{bottom + 36}" text-anchor="middle">reported</text>')
    side = TOP + SIDE / 2
    parts.append(
        f'<text transform="translate(11 {side:g}) rotate(-90)" text-anchor="middle">reproduced'
        "</text>"
    )
    return "".join(parts)


def _place(reported: float, ours: float) -> tuple[float, float]:
    """Return where a point lies, in the SVG's units."""
    x, y = (min(max(value, 0.0), 100.0) / 100 * SIDE for value in (reported, ours))
    return round(LEFT + x, 1), round(TOP + SIDE - y, 1)


def _path(points: Iterable[Sequence[float]]) -> str:
    """Return points as lines of no length: round ends make them dots."""
    return "".join(f"M{x:g} {y:g}h0" for x, y in (_place(*point) for point in points))


def _drawn(index: int, cloud: Cloud) -> str:
    rings, dots = _path(cloud.other), _path(cloud.same)
    drawn = f'<path d="{rings}" class="xl-dots"/><path d="{rings}" class="xl-holes"/>' * bool(rings)
    drawn += f'<path d="{dots}" class="xl-dots"/>' * bool(dots)
    return f'<g class="xl-series-{index}">{drawn}</g>'


def _legend(evidence: Evidence, drawn: Sequence[Cloud]) -> str:
    names = (
        f'<span class="xl-series-{i}"><span class="xl-dot" aria-hidden="true"></span> '
        f"{escape(evidence.catalog.paper(c.paper).menu)} {len(c.same) + len(c.other)}</span>"
        for i, c in enumerate(drawn)
    )
    return " ".join(names)
