"""The figures that matplotlib draws: curves, scatter plots, panels; each says what it shows.

Each is drawn twice, for a wide column and for a phone, as SVG in the page itself: letters are the
page's own, black is the page's colour of text, so that both themes are served. Other colours are
those of :mod:`xlrepro.evidence.figures.row_plot`. The same data give the same text.
"""

import io
import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from html import escape
from itertools import chain, cycle, product, repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims.functions import spearman
from xlrepro.evidence.figures.plots import looks_of, printed_distances, titled
from xlrepro.evidence.figures.row_plot import PALETTE
from xlrepro.evidence.tables.table import number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

STYLE: Any = {
    "svg.fonttype": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
}
WIDE, NARROW = 7.4, 3.5  # inches at most; 96 pixels each
_narrow: ContextVar[bool] = ContextVar("narrow", default=False)

# Of matplotlib's SVG, what is not drawn: XML head, metadata, comments, a style for the whole page.
_NOT_DRAWN = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>"
    r"|(?<=<g) id=\"[^\"]*\"",
    re.DOTALL,
)
_LINE_BREAK = re.compile(r"\s*\n\s*")
_PLACES = re.compile(r" (?:d|x|y|transform)=\"[^\"]*")
_DIGITS = re.compile(r"(\.\d\d)\d+")  # beyond a hundredth of a point
_FONT = re.compile(r" font-family: [^;\"]*;?")


@dataclass(frozen=True)
class Figure:
    """A drawing and the sentence that stands for it.

    Attributes:
        alt: what the figure shows, computed from the same data.
        drawing: the matplotlib figure.
        narrow: the same for a narrow column; ``None`` where the one serves both.
    """

    alt: str
    drawing: "Drawing"
    narrow: "Drawing | None" = None

    def svg(self, narrow: bool = False) -> str:
        """Return it as SVG on one line; the same data gives the same text."""
        import matplotlib as mpl

        drawing = self.narrow if narrow and self.narrow else self.drawing
        buffer = io.BytesIO()
        salt = {"svg.hashsalt": f"{self.alt} {narrow}"}  # no two figures of a page share a name
        with mpl.rc_context(STYLE | salt):
            drawing.savefig(
                buffer, format="svg", metadata={"Date": None, "Creator": None},
                bbox_inches="tight", pad_inches=0.05,
            )  # fmt: skip
        drawn = _NOT_DRAWN.sub("", buffer.getvalue().decode("utf-8"))
        drawn = _PLACES.sub(lambda place: _DIGITS.sub(r"\1", place[0]), drawn)
        drawn = (
            _FONT.sub("", drawn).replace("#000000", "currentColor").replace("xlink:href", "href")
        )
        return _LINE_BREAK.sub(" ", drawn).replace("> <", "><").strip()

    def _repr_html_(self) -> str:
        def placed(svg: str, name: str, style: str) -> str:
            look = f'class="{name}" fill="currentColor" style="{style}" aria-hidden="true"'
            return svg.replace("<svg ", f"<svg {look} ", 1)

        shown = placed(self.svg(), "xl-wide", "max-width:100%;height:auto")
        if self.narrow:
            shown += placed(self.svg(narrow=True), "xl-narrow", "display:none")
        label = escape(self.alt)
        return f'<figure class="xl-figure" role="img" aria-label="{label}">{shown}</figure>'

    def __repr__(self) -> str:
        """Return a line without measured numbers, so that a notebook's text stays the same."""
        first = self.drawing.axes[0].get_title() if self.drawing.axes else "nothing to draw"
        return f"Figure: {self.drawing.get_suptitle() or first}"  # of all panels, or of the one


def new_drawing(width: float, height: float) -> tuple["Drawing", "Axes"]:
    """Return an empty drawing of ``width`` × ``height`` inches, and its axes.

    It is at most as wide as a page's column, or as a phone while the narrow figure is drawn.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as MatplotlibFigure

    most = NARROW if _narrow.get() else WIDE
    with mpl.rc_context(STYLE):
        drawing = MatplotlibFigure(figsize=(min(width, most), height), layout="constrained")
        FigureCanvasAgg(drawing)
        return drawing, drawing.add_subplot()


def new_panels(
    rows: int,
    columns: int,
    width: float,
    height: float,
    sharex: bool = False,
    sharey: Literal["row"] | bool = False,
) -> tuple["Drawing", Any]:
    """Return an empty drawing of ``width`` × ``height`` inches, and its axes (rows, columns).

    In the narrow figure panels stand below each other, two side by side where there are many.
    """
    across = columns if not _narrow.get() else 1 if columns < 4 else 2
    down = -(-columns // across) * rows
    drawing, only = new_drawing(width, height if across == columns else 2.2 * down)
    only.remove()
    if across == columns:
        return drawing, drawing.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)
    grid = drawing.subplots(down, across, sharey=sharey is True, squeeze=False)
    kept = grid.reshape(rows, -1)
    for spare in kept[:, columns:].flat:
        spare.remove()
    return drawing, kept[:, :columns]


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Draw with our settings, leaving the caller's alone: once wide, and once for a phone."""
    from functools import wraps

    def drawn(narrow: bool, args: Any, kwargs: Any) -> Figure:
        import matplotlib as mpl

        token = _narrow.set(narrow)
        try:
            with mpl.rc_context(STYLE):
                figure = draw(*args, **kwargs)
                # A layout found anew at every save moves by hairs: find it once and keep it.
                figure.drawing.draw_without_rendering()
                figure.drawing.set_layout_engine("none")
                return figure
        finally:
            _narrow.reset(token)

    @wraps(draw)
    def wrapped(*args: Any, **kwargs: Any) -> Figure:
        wide = drawn(False, args, kwargs)
        if wide.drawing.get_figwidth() <= NARROW:
            return wide
        return replace(wide, narrow=drawn(True, args, kwargs).drawing)

    return wrapped


def legend_below(drawing: "Drawing", axes: "Axes", across: int = 2) -> None:
    """Write a legend of the series of ``axes`` below all panels, ``across`` in a line if wide."""
    handles, labels = axes.get_legend_handles_labels()
    drawing.legend(
        handles, labels, loc="outside lower center", ncols=1 if _narrow.get() else across,
        frameon=False, fontsize=8,
    )  # fmt: skip


def name_points(
    axes: "Axes", points: Iterable[tuple[str, float, float]], colours: Iterable[str] = ()
) -> None:
    """Write names beside points, given as (name, x, y): the first ones first; in black, or colours.

    A name stands at the first corner of its point where it lies between the sides of the panel and
    on no other name; one that finds none is left out. All else must be drawn, and the limits of
    the axes settled.
    """
    # the layout: from now on names have a place
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    panel, taken = axes.get_window_extent(), list[Any]()
    for (name, x, y), colour in zip(points, chain(colours, repeat("black"))):
        for right, up in product((1, -1), repeat=2):
            text = axes.annotate(
                name, (x, y), (4 * right, 2 * up), textcoords="offset points", fontsize=8,
                color=colour, ha="left" if right > 0 else "right", va="bottom" if up > 0 else "top",
            )  # fmt: skip
            text.set_in_layout(False)  # a name makes no panel smaller: all others would move
            box = text.get_window_extent().padded(1)
            inside = panel.x0 <= box.x0 and box.x1 <= panel.x1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()


def nothing_to_draw(title: str, what: str) -> Figure:
    """Return a figure that says in words why it is empty."""
    drawing, axes = new_drawing(6, 1.2)
    axes.set_title(title)
    axes.text(0.5, 0.5, what, ha="center", va="center", transform=axes.transAxes)
    axes.set_axis_off()
    return Figure(f"{title}: {what}.", drawing)


FIRST, SECOND = "ORT", "TRS"


@styled
def gain_against_distance(frame: "pd.DataFrame") -> Figure:
    """Draw the gain of ORT over TRS against the word-order distance, per language.

    One series per block that was run, and the reported one beside it; the legend gives
    Spearman's correlation of each. A page with a main difference shows its block alone.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
    """
    title = f"Gain of {FIRST} over {SECOND} against word-order distance"
    key = str(frame["experiment"].iloc[0])
    entry = load_catalog().experiment(key)
    left_out = {*entry.source_columns, *entry.average_columns}
    far = printed_distances(key, [c for c in dict.fromkeys(frame["column"]) if c not in left_out])
    ran = dict.fromkeys(frame[frame["n"] > 0]["block"])
    if entry.answer and (main := entry.answer.first.partition(":")[0]) in ran:
        ran = {main: None}
    series: dict[str, dict[str, float]] = {}
    for block, what in product(ran, ("reported", "reproduced")):
        gains = _gains(frame[frame["block"] == block], what, far)
        # a block of ours beside the paper's repeats what is reported of the same row
        if len(gains) > 1 and gains not in series.values():
            series[f"{what}, {block}"] = gains
    if not series:
        return nothing_to_draw(title, f"{FIRST} and {SECOND} were not both run")
    return _gain_drawing(title, series, far)


def _gains(block: "pd.DataFrame", what: str, far: dict[str, float]) -> dict[str, float]:
    rows = block.pivot(index="column", columns="name", values=what)
    if FIRST not in rows or SECOND not in rows:
        return {}
    gains = (rows[FIRST] - rows[SECOND]).dropna()
    return {str(lang): float(gain) for lang, gain in gains.items() if lang in far}


def _gain_drawing(title: str, series: dict[str, dict[str, float]], far: dict[str, float]) -> Figure:
    drawing, axes = new_drawing(7, 2.8 if _narrow.get() else 4.2)
    sentences = []
    for colour, (label, gains) in zip(cycle(PALETTE), series.items()):
        x, y = [far[lang] for lang in gains], list(gains.values())
        rho, mean = number(spearman(x, y)), number(float(np.mean(y)), 1, True)
        marker = "x" if label.startswith("reported") else "o"
        text = f"{label}: ρ = {rho}, {len(y)} languages"
        axes.scatter(x, y, s=26, color=colour, marker=marker, label=text)
        sentences.append(f"{label}: rank correlation {rho}, mean gain {mean}")
    ours = [gains for label, gains in series.items() if label.startswith("reproduced")]
    named = (ours or list(series.values()))[0]
    axes.axhline(0, color="#777777", linewidth=0.8)
    axes.set(title=title, ylabel="gain (points)")
    axes.set_xlabel("word-order distance to English, as printed")
    legend_below(drawing, axes)
    outermost = sorted(named, key=lambda lang: -abs(named[lang]))
    name_points(axes, [(lang, far[lang], named[lang]) for lang in outermost])
    return Figure(f"Scatter plot. {title}, by language; {'; '.join(sentences)}.", drawing)


@styled
def reported_against_reproduced(frame: "pd.DataFrame") -> Figure:
    """Draw reproduced against reported, a point per cell; on the line they agree.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
    """
    shown = frame[frame["difference"].notna()]
    if shown.empty:
        return nothing_to_draw("Reproduced against reported", "no cell is both reported and run")
    drawing, axes = new_drawing(4.8, 4.6)
    known = looks_of(str(shown["experiment"].iloc[0]), list(dict.fromkeys(shown["system"])))
    for marker, (system, cells) in zip(cycle("osD^v*"), shown.groupby("system", sort=False)):
        x, y, colour = cells["reported"], cells["reproduced"], known[str(system)].colour
        axes.scatter(x, y, s=22, color=colour, marker=marker, label=str(system))
    both = shown[["reported", "reproduced"]].to_numpy()
    ends = [float(both.min()), float(both.max())]
    axes.plot(ends, ends, color="#777777", linewidth=0.8, zorder=0)
    axes.set(xlabel="reported", ylabel="reproduced", title=titled(shown))
    legend_below(drawing, axes)
    within = int((shown["verdict"] == "within").sum())
    alt = (
        f"Scatter plot of reproduced against reported numbers: {within} of {len(shown)} cells are "
        f"within the tolerance; the largest difference is "
        f"{number(float(shown['difference'].abs().max()))}."
    )
    return Figure(alt, drawing)
