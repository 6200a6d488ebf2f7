"""The figures of a page, drawn from a comparison; each says in one sentence what it shows.

Colours are those of Okabe and Ito, and a symmetric blue–orange map: they stay apart for people
who do not see red and green. Figures have a white face with a margin, so that they can be read on
a dark page. The same frame gives the same bytes.
"""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import numpy as np

from xlrepro.evidence.catalog import CatalogEntry, load_catalog
from xlrepro.evidence.functions import spearman
from xlrepro.evidence.html_table import number
from xlrepro.evidence.reported import load_reported

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
STYLE: Any = {
    "svg.hashsalt": "xlrepro",
    "svg.fonttype": "path",
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
}

# Of matplotlib's SVG, what is not drawn: XML head, metadata, and each text once more as a comment.
_NOT_DRAWN = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL
)
_LINE_BREAK = re.compile(r"\s*\n\s*")
_PLACES = re.compile(r" (?:d|x|y)=\"[^\"]*")
_DIGITS = re.compile(r"(\.\d\d)\d+")  # beyond a hundredth of a point
_UNQUOTED = " '/:;,=()!*+-._~@?"  # of a data address inside double quotes


@dataclass(frozen=True)
class Figure:
    """A drawing and the sentence that stands for it.

    Attributes:
        alt: what the figure shows, computed from the same data.
        drawing: the matplotlib figure.
    """

    alt: str
    drawing: "Drawing"

    def svg(self) -> str:
        """Return it as SVG on one line; the same data gives the same text."""
        drawn = self._bytes("svg", {"Date": None, "Creator": None}).decode("utf-8")
        drawn = _PLACES.sub(lambda found: _DIGITS.sub(r"\1", found[0]), drawn)
        return _LINE_BREAK.sub(" ", _NOT_DRAWN.sub("", drawn)).replace("> <", "><").strip()

    def png(self, dpi: int = 150) -> bytes:
        """Return it as PNG; the same data gives the same bytes."""
        return self._bytes("png", {"Software": None}, dpi)

    def _bytes(self, kind: str, metadata: dict[str, None], dpi: int = 100) -> bytes:
        import matplotlib as mpl

        buffer = io.BytesIO()
        with mpl.rc_context(STYLE):
            self.drawing.savefig(
                buffer, format=kind, metadata=metadata, dpi=dpi, bbox_inches="tight", pad_inches=0.2
            )
        return buffer.getvalue()

    def _repr_html_(self) -> str:
        data = quote(self.svg().replace('"', "'"), safe=_UNQUOTED)  # a third less than base64
        return (
            f'<img class="xl-figure" alt="{escape(self.alt)}" style="max-width:100%;height:auto" '
            f'src="data:image/svg+xml,{data}">'
        )

    def __repr__(self) -> str:
        """Return a line without measured numbers, so that a notebook's text stays the same."""
        first = self.drawing.axes[0].get_title() if self.drawing.axes else "nothing to draw"
        return f"Figure: {self.drawing.get_suptitle() or first}"  # of all panels, or of the one


def new_drawing(width: float, height: float) -> tuple["Drawing", "Axes"]:
    """Return an empty drawing of ``width`` × ``height`` inches, and its axes."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as MatplotlibFigure

    with mpl.rc_context(STYLE):
        drawing = MatplotlibFigure(figsize=(width, height), layout="constrained")
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
    """Return an empty drawing of ``width`` × ``height`` inches, and its axes (rows, columns)."""
    drawing, only = new_drawing(width, height)
    only.remove()
    return drawing, drawing.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Draw with our settings and leave the caller's alone."""
    from functools import wraps

    @wraps(draw)
    def wrapped(*args: Any, **kwargs: Any) -> Figure:
        import matplotlib as mpl

        with mpl.rc_context(STYLE):
            figure = draw(*args, **kwargs)
            # A layout that is found anew at every save moves by hairs: find it once and keep it.
            figure.drawing.draw_without_rendering()
            figure.drawing.set_layout_engine("none")
            return figure

    return wrapped


def nothing_to_draw(title: str, what: str) -> Figure:
    """Return a figure that says in words why it is empty."""
    drawing, axes = new_drawing(6, 1.2)
    axes.set_title(title)
    axes.text(0.5, 0.5, what, ha="center", va="center", transform=axes.transAxes)
    axes.set_axis_off()
    return Figure(f"{title}: {what}.", drawing)


def printed_distances(experiment: str, columns: Sequence[str]) -> dict[str, float]:
    """Return the word-order distance to English that the paper prints, for those that have one."""
    cells = load_reported().cells(experiment, context=True)
    known = {c.column: c.value for c in cells if c.value is not None}
    return {c: known[c] for c in columns if c in known}


def title_of(frame: "pd.DataFrame") -> str:
    """Return the experiment's title and the profile of a comparison."""
    key, profile = str(frame["experiment"].iloc[0]), str(frame["profile"].iloc[0])
    return f"{load_catalog().experiment(key).title} ({profile})"


def _entry(frame: "pd.DataFrame") -> CatalogEntry:
    return load_catalog().experiment(str(frame["experiment"].iloc[0]))


@styled
def heat_map(frame: "pd.DataFrame") -> Figure:
    """Draw reproduced minus reported: systems × columns, columns by distance where there is one.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
    """
    import seaborn as sns

    shown = frame[frame["difference"].notna()]
    if shown.empty:
        return nothing_to_draw("Reproduced minus reported", "no cell is both reported and run")
    columns = list(dict.fromkeys(shown["column"]))
    far = printed_distances(str(shown["experiment"].iloc[0]), columns)
    averages = _entry(shown).average_columns
    columns.sort(key=lambda c: (c in averages, far.get(c, 0.0)))
    systems = list(dict.fromkeys(shown["system"]))
    grid = shown.pivot(index="system", columns="column", values="difference")
    grid = grid.reindex(index=systems, columns=columns)
    widest = float(np.nanmax(np.abs(grid.to_numpy()))) or 1.0
    labels = 0.08 * max(map(len, systems))  # inches that the longest name takes
    drawing, axes = new_drawing(2.5 + labels + 0.34 * len(columns), 1.4 + 0.36 * len(systems))
    sns.heatmap(
        grid,
        ax=axes,
        cmap=sns.diverging_palette(240, 30, s=90, l=55, as_cmap=True),
        center=0,
        vmin=-widest,
        vmax=widest,
        annot=grid.map(lambda gap: number(gap, 0 if widest >= 2 else 2)),
        fmt="",
        annot_kws={"size": 7},
        linewidths=0.5,
        cbar_kws={"label": f"reproduced − reported ({shown['unit'].iloc[0]})"},
    )
    axes.set(xlabel="", ylabel="", title=title_of(shown))
    axes.set_facecolor("#e6e6e6")
    axes.tick_params(axis="x", rotation=0 if len(columns) > 12 else 45)
    axes.tick_params(axis="y", rotation=0)
    return Figure(_heat_map_text(shown, grid), drawing)


def _heat_map_text(shown: "pd.DataFrame", grid: "pd.DataFrame") -> str:
    high = shown.loc[shown["difference"].idxmax()]
    low = shown.loc[shown["difference"].idxmin()]
    above = int((shown["difference"] > 0).sum())
    return (
        f"Heat map of reproduced minus reported for {grid.shape[0]} systems and {grid.shape[1]} "
        f"columns: {above} of {len(shown)} cells are above the paper; differences go from "
        f"{number(low['difference'], 1, True)} ({low['system']}, {low['column']}) to "
        f"{number(high['difference'], 1, True)} ({high['system']}, {high['column']})."
    )


@styled
def gain_against_distance(
    frame: "pd.DataFrame",
    *,
    first: str = "ORT",
    second: str = "TRS",
) -> Figure:
    """Draw the gain of ``first`` over ``second`` against the word-order distance, per language.

    One series per block that was run, and the reported one beside it; the legend gives
    Spearman's correlation of each.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        first: name of the system that may gain, in each block.
        second: name of the system it is compared with.
    """
    shown = frame
    title = f"Gain of {first} over {second} against word-order distance"
    if shown.empty:
        return nothing_to_draw(title, "there are no cells")
    entry, key = _entry(shown), str(shown["experiment"].iloc[0])
    left_out = {*entry.source_columns, *entry.average_columns}
    languages = [c for c in dict.fromkeys(shown["column"]) if c not in left_out]
    far = printed_distances(key, languages)
    ran = dict.fromkeys(shown[shown["n"] > 0]["block"])
    series = [
        (f"{what}, {block}", gains)
        for block in ran
        for what in ("reported", "reproduced")
        if len(gains := _gains(shown, block, what, first, second, far)) > 1
    ]
    series = _without_repeats(series)
    if not series:
        return nothing_to_draw(title, f"{first} and {second} were not both run")
    return _gain_drawing(title, series, far)


def _gains(
    shown: "pd.DataFrame", block: str, what: str, first: str, second: str, far: dict[str, float]
) -> dict[str, float]:
    rows = shown[shown["block"] == block].pivot(index="column", columns="name", values=what)
    if first not in rows or second not in rows:
        return {}
    gains = (rows[first] - rows[second]).dropna()
    return {str(lang): float(gain) for lang, gain in gains.items() if lang in far}


def _without_repeats(
    series: list[tuple[str, dict[str, float]]],
) -> list[tuple[str, dict[str, float]]]:
    """Leave out a series that repeats another: a block of ours beside the paper's same row."""
    kept: list[tuple[str, dict[str, float]]] = []
    for label, gains in series:
        if all(gains != other for _, other in kept):
            kept.append((label, gains))
    return kept


def _gain_drawing(
    title: str, series: list[tuple[str, dict[str, float]]], far: dict[str, float]
) -> Figure:
    drawing, axes = new_drawing(7, 4.2)
    sentences = []
    for i, (label, gains) in enumerate(series):
        x, y = [far[lang] for lang in gains], list(gains.values())
        rho = spearman(x, y)
        reported = label.startswith("reported")
        axes.scatter(
            x,
            y,
            s=26,
            color=PALETTE[i % len(PALETTE)],
            marker="x" if reported else "o",
            label=f"{label}: ρ = {number(rho)}, {len(y)} languages",
        )
        mean = number(float(np.mean(y)), 1, True)
        sentences.append(f"{label}: rank correlation {number(rho)}, mean gain {mean}")
    named = next((g for label, g in series if label.startswith("reproduced")), series[0][1])
    for lang, gain in named.items():
        axes.annotate(
            lang, (far[lang], gain), xytext=(3, 2), textcoords="offset points", fontsize=6
        )
    axes.axhline(0, color="#777777", linewidth=0.8)
    axes.set(title=title, ylabel="gain (points)")
    axes.set_xlabel("word-order distance to English, as printed")
    axes.legend(frameon=False, fontsize=8)
    return Figure(f"Scatter plot. {title}, by language; {'; '.join(sentences)}.", drawing)


@styled
def bars(frame: "pd.DataFrame", *, columns: Sequence[str] | None = None) -> Figure:
    """Draw each system's reproduced means as bars with their 95 % intervals.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        columns: which columns; by default all.
    """
    shown = frame[frame["reproduced"].notna()]
    if columns is not None:
        shown = shown[shown["column"].isin(list(columns))]
    if shown.empty:
        return nothing_to_draw("Reproduced means", "nothing was run")
    across = list(dict.fromkeys(shown["column"]))
    systems = list(dict.fromkeys(shown["system"]))
    drawing, axes = new_drawing(min(16.0, 3 + 0.16 * len(across) * (len(systems) + 1)), 3.8)
    width = 0.8 / len(systems)
    for i, system in enumerate(systems):
        own = shown[shown["system"] == system].set_index("column").reindex(across)
        middle = np.arange(len(across)) + (i - (len(systems) - 1) / 2) * width
        spread = np.vstack([own["reproduced"] - own["low"], own["high"] - own["reproduced"]])
        look: dict[str, Any] = {"color": PALETTE[i % 6], "hatch": ("", "//", "..")[i // 6 % 3]}
        axes.bar(middle, own["reproduced"], width, label=system, edgecolor="white", lw=0, **look)
        axes.errorbar(
            middle, own["reproduced"], np.nan_to_num(spread), fmt="none", ecolor="#333333", lw=0.8
        )
    axes.set_xticks(range(len(across)), across, rotation=90 if len(across) > 8 else 0, fontsize=7)
    axes.set(ylabel=str(shown["unit"].iloc[0]), title=title_of(shown))
    if set(shown["unit"]) == {"percent"}:  # intervals of three seeds may reach beyond what there is
        axes.set_ylim(0, min(axes.get_ylim()[1], 105))
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    best = shown.loc[shown["reproduced"].idxmax()]
    alt = (
        f"Bar chart of {len(systems)} systems over {len(across)} columns with 95 % intervals; the "
        f"highest bar is {best['system']} in {best['column']} with {number(best['reproduced'])}."
    )
    return Figure(alt, drawing)


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
    for i, (system, own) in enumerate(shown.groupby("system", sort=False)):
        axes.scatter(
            own["reported"],
            own["reproduced"],
            s=22,
            color=PALETTE[i % len(PALETTE)],
            marker="osD^v*"[i % 6],
            label=str(system),
        )
    both = shown[["reported", "reproduced"]].to_numpy()
    ends = [float(both.min()), float(both.max())]
    axes.plot(ends, ends, color="#777777", linewidth=0.8, zorder=0)
    axes.set(xlabel="reported", ylabel="reproduced", title=title_of(shown))
    axes.legend(frameon=False, fontsize=8)
    within = int((shown["verdict"] == "within").sum())
    alt = (
        f"Scatter plot of reproduced against reported numbers: {within} of {len(shown)} cells are "
        f"within the tolerance; the largest difference is "
        f"{number(float(shown['difference'].abs().max()))}."
    )
    return Figure(alt, drawing)
