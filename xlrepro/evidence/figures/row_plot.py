"""Dot plots with a line of text per row: labels and numbers are the page's own text, dots are SVG.

Places are percentages, so that a plot takes any width while its letters keep their size; it is a
table to those who hear the page. Colours are the page's (``currentColor``) or middle tones that
stand out from a light and from a dark ground alike.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from xlrepro.evidence.tables.table import number

# After Okabe and Ito; yellow, sky and pink darker: each is 3 : 1 on white and on near-black.
PALETTE = (
    "#0072B2", "#D55E00", "#009E73", "#B86A9C", "#B07800", "#3F93CC", "#808080", "#7A5CC8",
)  # fmt: skip
ROW, APART = 22, 11  # pixels: height of a row with one mark, and between two marks of a row
MOST_TICKS = 6
ODD = ' class="xl-odd"'
SHAPES = {
    "circle": '<circle r="4.5"/>',
    "diamond": '<path d="M0-6 6 0 0 6-6 0Z"/>',
    "square": '<path d="M-4-4H4V4H-4Z"/>',
    "triangle": '<path d="M0-5 5 4H-5Z"/>',
    "down": '<path d="M0 5 5-4H-5Z"/>',
    "cross": '<path d="M-4-4 4 4M-4 4 4-4"/>',
}
FILLED = ("circle", "square", "triangle", "down", "diamond")


@dataclass(frozen=True)
class Look:
    """How a series is drawn: colour, one of ``SHAPES``, hollow or filled."""

    colour: str = PALETTE[0]
    shape: str = "circle"
    hollow: bool = False

    def drawn(self, inner: str) -> str:
        """Return SVG in this look."""
        fill = "none" if self.hollow else self.colour
        return f'<g fill="{fill}" stroke="{self.colour}" stroke-width="1.6">{inner}</g>'


@dataclass(frozen=True)
class Mark:
    """A value with its interval (NaN: none), in the look of its series."""

    value: float
    low: float
    high: float
    look: Look


@dataclass(frozen=True)
class Row:
    """One line of a plot: its label, its marks, and what is written at its right.

    Attributes:
        apart: whether its marks stand below each other, so that their intervals can be read.
        group: a line above the first row of each, where it is not empty.
    """

    label: str
    marks: tuple[Mark, ...]
    text: str = ""
    apart: bool = True
    group: str = ""

    @property
    def height(self) -> int:
        """Pixels."""
        return ROW + APART * (len(self.marks) - 1) * (self.apart and len(self.marks) > 1)


@dataclass(frozen=True)
class RowPlot:
    """A dot plot; ``repr`` has no measured number in it.

    Attributes:
        title: what it shows.
        alt: the same with its numbers, for those who do not see it.
        unit: what the axis is in.
        rows: from top to bottom.
        key: the series' names and looks.
        zero: whether the axis holds zero, with a line.
        bounds: ends of what can be: an interval of few seeds may reach beyond.
    """

    title: str
    alt: str
    unit: str
    rows: tuple[Row, ...]
    key: tuple[tuple[str, Look], ...] = ()
    zero: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)

    def __repr__(self) -> str:
        return f"Figure: {self.title}"

    def _repr_html_(self) -> str:
        if not self.rows:
            return f'<figure class="xl-plot"><figcaption>{escape(self.alt)}</figcaption></figure>'
        low, high = self.ends
        ticks = ticks_between(low, high)

        def place(value: float) -> str:
            return f"{100 * (min(max(value, low), high) - low) / (high - low):.4g}%"

        thick = {t: ' stroke-width="2"' for t in ticks if self.zero and not t}
        lines = "".join(
            f'<line x1="{place(t)}" x2="{place(t)}" y2="100%"{thick.get(t, "")}/>' for t in ticks
        )
        grid, body, group = f'<g stroke="#8886">{lines}</g>', "", ""
        for row in self.rows:
            if row.group != group:
                body += f'<tr><th colspan="3" class="xl-group">{escape(row.group)}</th></tr>'
            group = row.group
            body += _row(row, place, grid)
        decimals = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))
        # Every other number goes where the column is narrow: they would run into each other.
        texts = "".join(
            f'<text x="{place(t)}" y="13"{ODD * (i % 2)}>'
            f"{number(t, decimals, self.zero and t != 0)}</text>"
            for i, t in enumerate(ticks)
        )
        axis = (
            '<tr aria-hidden="true"><td></td><td><svg width="100%" height="18" overflow="visible" '
            f'text-anchor="middle" font-size="12" fill="currentColor">{texts}</svg></td>'
            f"<td>{escape(self.unit)}</td></tr>"
        )
        key = "".join(
            f'<span><svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">'
            f"{look.drawn(SHAPES[look.shape])}</svg> {escape(name)}</span> "
            for name, look in self.key
        )
        return (
            f'<figure class="xl-plot" style="{self._widths}" aria-label="{escape(self.alt)}">'
            "<figcaption>"
            f'{escape(self.title)}<span class="xl-key">{key}</span></figcaption>'
            f'<table class="xl-rows">{body}{axis}</table></figure>'
        )

    @property
    def _widths(self) -> str:
        """Letters of the longest label, and of the longest text at the right, for the style."""
        label = max(len(row.label) for row in self.rows)
        text = max(len(self.unit), *(len(row.text) for row in self.rows))
        return f"--xl-label:{label};--xl-text:{text}"

    @property
    def ends(self) -> tuple[float, float]:
        """The axis' ends: all marks and their intervals, and a little air."""
        marks = [mark for row in self.rows for mark in row.marks]
        values = [v for m in marks for v in (m.value, m.low, m.high) if v == v]
        values += [0.0] if self.zero else []
        low, high = min(values, default=0.0), max(values, default=1.0)
        low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        air = 0.04 * (high - low) or 0.5
        return low - air, high + air


def _row(row: Row, place: Callable[[float], str], lines: str) -> str:
    step = row.height / (len(row.marks) + 1) if row.apart and row.marks else row.height / 2
    drawn = []
    for i, mark in enumerate(row.marks):
        y = f"{step * (i + 1 if row.apart else 1):.4g}"
        inner = ""
        if mark.low == mark.low and mark.high > mark.low:
            inner = f'<line x1="{place(mark.low)}" x2="{place(mark.high)}" y1="{y}" y2="{y}"/>'
        inner += f'<svg x="{place(mark.value)}" y="{y}" overflow="visible">'
        drawn.append(mark.look.drawn(f"{inner}{SHAPES[mark.look.shape]}</svg>"))
    return (
        f'<tr><th scope="row">{escape(row.label)}</th><td><svg width="100%" '
        f'height="{row.height}" overflow="visible" aria-hidden="true">{lines}'
        f"{''.join(drawn)}</svg></td>"
        f"<td>{escape(row.text)}</td></tr>\n"
    )


def ticks_between(low: float, high: float) -> list[float]:
    """Return round numbers between two ends, at most `MOST_TICKS` and at least two.

    Example:
        >>> ticks_between(-0.3, 2.1)
        [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    power = 10.0 ** math.floor(math.log10(high - low))
    ticks: list[float] = []
    for step in (power / 10 * s for s in (1, 2, 5, 10, 20, 50)):
        first = math.ceil(low / step)
        ticks = [i * step for i in range(first, math.floor(high / step) + 1)]
        if len(ticks) <= MOST_TICKS:
            break
    return [round(t, 9) + 0.0 for t in ticks] if len(ticks) > 1 else [low, high]


def looks(names: Sequence[str], known: Iterable[str] = ()) -> dict[str, Look]:
    """Return a look per system: the same colour on every page, a shape of its own in a figure.

    Args:
        names: the systems of a figure, with or without their block.
        known: the names of a paper's systems that have a colour of their own: the first that is
            part of a name gives it; other names take the colours that are left.

    Example:
        >>> look_of = looks(["word:TRS", "word:TRS, shuffled", "word:new"], ["ORT", "TRS"])
        >>> [look.colour for look in look_of.values()] == [PALETTE[1], PALETTE[1], PALETTE[0]]
        True
    """
    known, look_of = list(known), dict[str, Look]()
    parts = {name: name.split(":")[-1] for name in names}
    hue = {part: next((i for i, k in enumerate(known) if k in part), -1) for part in parts.values()}
    free = [i for i in range(len(PALETTE)) if i not in hue.values()] or list(range(len(PALETTE)))
    others = [part for part, index in hue.items() if index < 0]
    hue |= {part: free[i % len(free)] for i, part in enumerate(others)}
    for place, (name, part) in enumerate(parts.items()):
        look_of[name] = Look(PALETTE[hue[part] % len(PALETTE)], FILLED[place % len(FILLED)])
    return look_of
