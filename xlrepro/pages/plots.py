"""Three kinds of plots: dots with intervals, lines over a setting, a heat map.

Each takes a tidy frame, is drawn once, as SVG in the page itself, and says in words what it shows.
Letters are the page's own and black is the page's colour of text, so that both themes are served.
The same data give the same text.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, cycle
from textwrap import fill
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reproduced import ReproducedCell, View
from xlrepro.evidence.text import minus, number
from xlrepro.pages.tables import block_titles, framed, markup, short_names

# After Okabe and Ito; yellow, sky and pink darker: each is 3 : 1 on white and on near-black.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#B86A9C", "#B07800", "#3F93CC", "#808080", "#7A5CC8")
MARKERS = "osD^v<>P"
GREY = "#777777"
WIDTH = 6.0  # inches, 96 pixels each; a phone shrinks it
PANEL = 34  # letters across one of two panels
MOST_MARKED = 40  # points of a line that have a mark each
STYLE: Any = {
    "svg.fonttype": "none", "figure.facecolor": "none", "axes.facecolor": "none",
    "savefig.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False,
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 9, "legend.fontsize": 8,
}  # fmt: skip
# Of matplotlib's SVG, what is not drawn: XML head, metadata, comments, a style for the whole page.
_NOT_DRAWN = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>"
    r"|(?<=<g) id=\"[^\"]*\"| font-family: [^;\"]*;?", re.DOTALL,
)  # fmt: skip
_PLACES, _DIGITS = re.compile(r" (?:d|x|y|transform)=\"[^\"]*"), re.compile(r"(\.\d)\d+")


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, and the sentence that stands for it; ``repr`` has no number in it."""

    title: str
    alt: str
    svg: str = ""

    def __repr__(self) -> str:
        return f"Figure: {self.title}"

    def _repr_html_(self) -> str:
        if not self.svg:
            return markup("paragraphs", [self.alt])
        return markup("figure", self.alt, Markup(self.svg))


def drawn(title: str, alt: str, draw: Callable[[Drawing], None]) -> Figure:
    """Return a figure.

    Args:
        title: what it shows.
        alt: the same with its numbers, for those who do not see it.
        draw: fills an empty matplotlib figure, and sets its height.
    """
    with mpl.rc_context(STYLE | {"svg.hashsalt": alt}):
        drawing = Drawing(figsize=(WIDTH, 3), layout=(layout := ConstrainedLayoutEngine()))
        FigureCanvasAgg(drawing)
        draw(drawing)
        _key(drawing)
        # A layout found anew at every save moves by hairs: find it once and keep it.
        layout.execute(drawing)
        drawing.set_layout_engine(None)
        box, buffer = drawing.get_tightbbox().padded(0.05), io.BytesIO()  # "tight" draws once more
        drawing.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None},
                        bbox_inches=box)  # fmt: skip
    svg = _NOT_DRAWN.sub("", buffer.getvalue().decode("utf-8"))
    svg = _PLACES.sub(lambda place: _DIGITS.sub(r"\1", place[0]), svg)
    svg = svg.replace("#000000", "currentColor").replace("xlink:href", "href")
    svg = svg.replace("<svg ", '<svg fill="currentColor" style="max-width:100%;height:auto" '
                      'aria-hidden="true" ', 1)  # fmt: skip
    return Figure(title, alt, re.sub(r"\s*\n\s*", " ", svg).replace("> <", "><").strip())


def nothing(title: str, why: str = "nothing was run") -> Figure:
    """Return a figure that says in words why it is empty."""
    return Figure(title, f"{title}: {why}.")


def colours(names: Sequence[str], known: Sequence[str] = ()) -> dict[str, str]:
    """Return a colour per series: the first known name that is part of it gives it.

    Example:
        >>> list(colours(["word:TRS", "word:new"], ["ORT", "TRS"]).values()) == [
        ...     PALETTE[1], PALETTE[0]]
        True
    """
    hue = {n: next((i for i, k in enumerate(known) if k in n.split(":")[-1]), -1) for n in names}
    free = [i for i in range(len(PALETTE)) if i not in hue.values()] or [*range(len(PALETTE))]
    others = iter(cycle(free))
    return {n: PALETTE[(next(others) if i < 0 else i) % len(PALETTE)] for n, i in hue.items()}


def colours_of(experiment: str, systems: Sequence[str]) -> dict[str, str]:
    """Return the colour of each system: the same on every page of the paper."""
    return colours(systems, load_catalog().paper(experiment.split("/")[0]).colours)


def _points(axes: Axes, part: pd.DataFrame, at: Any, style: dict[str, Any], along: str) -> None:
    """Draw values with their intervals, where they have one, along an axis."""
    values, low, high = (part[n].to_numpy(dtype=float) for n in ("value", "low", "high"))
    places = (values, at) if along == "x" else (at, values)
    axes.plot(*places, **style)
    known = ~np.isnan(low)
    x, y = ([*compress(place, known)] for place in places)
    ends: dict[str, Any] = {f"{along}err": np.vstack([values - low, high - values])[:, known]}
    axes.errorbar(x, y, fmt="none", ecolor=style["color"], lw=1, **ends)


def _styles(frame: pd.DataFrame, known: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return how each series is drawn."""
    names = list(dict.fromkeys(frame["series"]))
    hues = {**colours([n for n in names if n not in known]), **known}
    return {n: {"color": hues[n], "marker": MARKERS[i % 8], "ms": 4, "lw": 1, "label": n}
            for i, n in enumerate(names)}  # fmt: skip


def _key(drawing: Drawing) -> None:
    """Write the series below all panels, each once; none for a single one."""
    labels = dict[str, Any]()
    for axes in drawing.axes:
        handles, names = axes.get_legend_handles_labels()
        labels |= dict(zip(names, handles, strict=True))
    if len(labels) > 1:
        columns = min(3, len(labels)) if max(map(len, labels)) <= 25 else 1  # as wide as the page
        drawing.set_figheight(drawing.get_figheight() + 0.16 * (len(labels) // columns - 1))
        drawing.legend(list(labels.values()), list(labels), loc="outside lower center",
                       frameon=False, ncols=columns)  # fmt: skip


def panels(drawing: Drawing, titles: Sequence[str], height: float, **shared: Any) -> list[Axes]:
    """Return axes for each title, two across, ``height`` inches each."""
    across = min(len(titles), 2)
    down = -(-len(titles) // across)
    drawing.set_figheight(0.6 + height * down)
    grid = list(drawing.subplots(down, across, squeeze=False, **shared).flat)
    for spare in grid[len(titles) :]:
        spare.remove()
    for axes, title in zip(grid, titles, strict=False):
        axes.set_title(fill(title, PANEL))
    return grid[: len(titles)]


def dots(
    frame: pd.DataFrame, title: str, *, unit: str = "", zero: bool = False,
    known: Mapping[str, str] = {},
) -> Figure:  # fmt: skip
    """Draw values with their intervals, a row per label, a mark per series.

    Args:
        frame: ``label``, ``series``, ``value``, ``low``, ``high`` (NaN: no interval); and
            ``reported``, where the paper's numbers stand beside them, hollow.
        title: what it shows.
        unit: of the axis.
        zero: whether a line marks zero.
        known: series -> colour.
    """
    if frame.empty:
        return nothing(title)
    labels, styles = list(dict.fromkeys(frame["label"])), _styles(frame, known)

    def draw(drawing: Drawing) -> None:
        shown = [fill(label, 32) for label in labels]
        row = max(0.17 + 0.17 * max(text.count("\n") for text in shown), 0.15 + 0.05 * len(styles))
        drawing.set_figheight(1 + row * len(labels) + len(title) / 400)
        axes = drawing.add_subplot()
        for i, (name, part) in enumerate(frame.groupby("series", sort=False)):
            shift, style = 0.7 * ((i + 0.5) / len(styles) - 0.5), styles[str(name)] | {"ls": ""}
            at = [labels.index(label) + shift for label in part["label"]]
            _points(axes, part, at, style, "x")
            if "reported" in part and part["reported"].notna().any():
                hollow = {"ms": 6, "mfc": "none", "label": "the paper"}
                axes.plot(part["reported"], at, **style | hollow)
        axes.set_yticks(range(len(labels)), shown)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_xlabel(unit)
        axes.set_title(title, loc="left", wrap=True)
        axes.grid(axis="x", color="#88888844", lw=0.6)
        if zero:
            axes.axvline(0, color=GREY, lw=0.8)

    said = [
        f"{r.label}{f', {r.series}' if len(styles) > 1 else ''}: {number(r.value)}"
        + (f" ({number(r.low)} to {number(r.high)})" if r.low == r.low else "")
        for r in frame.itertuples()
        if r.value == r.value
    ]
    return drawn(title, f"{title}. {'; '.join(said)}.", draw)


def lines(
    frame: pd.DataFrame, title: str, *, xlabel: str, ylabel: str, joined: bool = True,
    known: Mapping[str, str] = {},
) -> Figure:  # fmt: skip
    """Draw values over a setting or a measure, a panel per part, a line per series.

    Args:
        frame: ``panel``, ``series``, ``x``, ``value``, ``low``, ``high``; ``name``, if points have
            one; ``seed``, if each has a line of its own, with a mark at its end. Where ``x`` is
            text its values stand at equal distances.
        title: of the whole.
        xlabel: of the setting.
        ylabel: of the values.
        joined: whether points are joined by lines.
        known: series -> colour.
    """
    if frame.empty:
        return nothing(title)
    parts, styles = frame.groupby(["panel", "series"], sort=False), _styles(frame, known)
    names, by_seed = list(dict.fromkeys(frame["panel"])), "seed" in frame

    def draw(drawing: Drawing) -> None:
        drawing.suptitle(fill(title, 84), fontsize=9)
        grid = dict(zip(names, panels(drawing, names, 2.4, sharey=True), strict=True))
        for (panel, name), part in parts:
            style: dict[str, Any] = {"ls": "-" if joined else ""}
            style |= {"markevery": [-1]} if by_seed else {}
            style |= {"marker": ""} if joined and len(part) > MOST_MARKED and not by_seed else {}
            for _, each in part.groupby("seed") if by_seed else [("", part)]:
                _points(grid[panel], each, each["x"].tolist(), styles[name] | style, "y")
        for panel, axes in grid.items():
            axes.autoscale_view()  # now, for distances are in pixels
            taken = list[Any]()
            for r in frame[frame["panel"] == panel].itertuples() if "name" in frame else ():
                place = axes.transData.transform((r.x, r.value))
                if r.name and all(np.abs(place - other).max() > 12 for other in taken):
                    taken.append(place)
                    axes.annotate(r.name, (r.x, r.value), (3, 3), textcoords="offset points",
                                  fontsize=7)  # fmt: skip
            axes.set_xlabel(fill(xlabel, PANEL))
            if by_seed:
                axes.locator_params(axis="x", integer=True)
            if (frame["value"][frame["panel"] == panel] < 0).any():
                axes.axhline(0, color=GREY, lw=0.8)
        grid[names[0]].set_ylabel(ylabel)

    said = []
    for place, part in parts:
        along = part.sort_values("x", kind="stable") if by_seed else part
        ends = (f"{number(float(r['value']))} at {r['x']}"
                for _, r in along.iloc[[0, -1]].iterrows())  # fmt: skip
        said.append(f"{', '.join(filter(None, map(str, place)))}: {' to '.join(ends)}")
    return drawn(title, f"{title}. {'; '.join(said)}.", draw)


def heat(table: pd.DataFrame, title: str, *, unit: str, decimals: int = 2) -> Figure:
    """Draw a table of numbers as a heat map, each number in its field.

    Args:
        table: numbers by row and column.
        title: what it shows.
        unit: of the numbers.
        decimals: of each.
    """
    if table.empty:
        return nothing(title)

    def draw(drawing: Drawing) -> None:
        import seaborn as sns

        drawing.set_figheight(1 + 0.32 * len(table) + len(title) / 400)
        axes = drawing.add_subplot()
        narrow = table.astype(float).rename(columns=lambda name: fill(str(name), 9))
        signed = bool((narrow < 0).any(axis=None))
        sns.heatmap(narrow, ax=axes, annot=True, fmt=f".{decimals}f", lw=0.5,
                    cmap="vlag" if signed else "viridis", center=0 if signed else None,
                    cbar_kws={"label": unit}, annot_kws={"size": 8})  # fmt: skip
        axes.set_title(title, wrap=True)
        axes.set(xlabel="", ylabel="")
        axes.tick_params(labelrotation=0)
        axes.tick_params(axis="x", labelsize=8)

    rows = ("; ".join(f"{row}, {column}: {number(value, decimals)}" for column, value in of.items())
            for row, of in table.iterrows())  # fmt: skip
    return drawn(title, f"Heat map. {title}, {unit}. {'; '.join(rows)}.", draw)


# -- What every page may have --------------------------------------------------------------------


def scores(frame: pd.DataFrame, columns: Sequence[str] | None = None) -> list[Figure]:
    """Draw reproduced means with 95 % intervals, and the reported numbers hollow beside them.

    One column has a figure with a row per system; several a figure per block and metric, with a row
    per system or column, whichever is more. Rows that are differences are left to the tables.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        columns: which columns; by default all.
    """
    shown = frame if columns is None else frame[frame["column"].isin(list(columns))]
    shown = shown[shown["reproduced"].notna() | shown["reported"].notna()]
    shown = shown[shown.groupby(["block", "metric"])["reproduced"].transform("count") > 0]  # run
    if shown.empty:
        return [nothing("Reproduced means")]
    key, profile = (str(shown[name].iloc[0]) for name in ("experiment", "profile"))
    entry, paper = load_catalog().experiment(key), key.partition("/")[0]
    shown = shown[~shown["system"].isin(entry.differences)]
    one, figures = shown["column"].nunique() == 1, []
    for (name, metric), part in shown.groupby(["column" if one else "block", "metric"], sort=False):
        names = short_names(part["system"].unique(), key)
        system, column = part["system"].map(names), part["column"].map(entry.column_name)
        many = system.nunique() > column.nunique()
        tidy = part.assign(
            label=system if one or many else column, value=part["reproduced"],
            series="ours" if one else column if many else system,
        )  # fmt: skip
        known = {names[s]: c for s, c in colours_of(key, list(names)).items()}
        name = entry.column_name(str(name)) if one else block_titles(paper).get(str(name), "")
        metric, measure = entry.column_name(str(metric)), part["unit"].iloc[0]
        unit = ", ".join(dict.fromkeys(filter(None, (metric, measure.partition(" (")[0]))))
        alone = [*names.values()] * (len(names) == 1 and not one)  # no key below names it
        about = ", ".join(dict.fromkeys(filter(None, (name, *alone, metric))))
        ran = part[part["reproduced"].notna()]
        about += entry.proxies(profile, ran["system"], ran["column"])
        title = f"{entry.title} ({profile}): {about}"
        figures.append(dots(tidy, title, unit=unit, known=known))
    return figures


def forest_plot(pairs: Sequence[tuple[str, str, ReproducedCell]]) -> Figure:
    """Draw differences paired by seed with their 95 % intervals, a row each.

    Args:
        pairs: two systems and the first minus the second; of one experiment, at least one.
    """
    several, first = len({gap.column for _, _, gap in pairs}) > 1, pairs[0][2]
    systems = dict.fromkeys(s for one, other, _ in pairs for s in (one, other))
    names = short_names(systems, first.experiment)
    rows, called = [], load_catalog().experiment(first.experiment).column_name
    for one, other, gap in pairs:
        mean, (low, high) = gap.mean, gap.interval
        ends = f"{number(low, signed=True)} to {number(high, signed=True)}, " * (low == low)
        said = f"{number(mean, signed=True)} ({ends}n = {gap.n})"
        label = minus(names[one], names[other]) + f", {called(gap.column)}" * several
        rows.append((f"{label}: {said}", "difference", mean, low, high))
    where = f": {called(first.column)}" * (not several)
    title = f"Differences paired by seed, 95 % intervals{where}"
    unit = "points" if first.unit == "percent" else first.unit
    frame = framed(rows, "label", "series", "value", "low", "high")
    return dots(frame, title, unit=unit, zero=True)


def over_setting(view: View, *, along: str, first: str = "", second: str = "") -> Figure:
    """Draw scores, or the gain of one system over another, over the values that columns name.

    Args:
        view: reproduced cells; a column is ``"es/0.03"``: a panel per target, values on its axis.
        along: what the values are.
        first: draw this system minus ``second``, paired by seed; empty: all systems' scores.
        second: see ``first``.
    """
    rows, systems = [], [first] if first else sorted(view.systems)
    called = load_catalog().experiment(view.experiment).column_name
    for system in systems:
        for column in view.columns:
            *parts, value = column.split("/")
            cell = view.difference(first, second, column) if first else view.get(system, column)
            if cell is not None:
                name = system.partition(":")[2]
                series = minus(name, second.partition(":")[2]) if first else name
                series = ", ".join([series] * (len(systems) > 1 or len(parts) < 2) + parts[1:])
                x = float(value) if value.replace(".", "", 1).isdigit() else value
                panel = called(parts[0]) if parts else name
                rows.append((panel, series, x, cell.mean, *cell.interval))
    tidy = framed(rows, "panel", "series", "x", "value", "low", "high")
    if rows and not isinstance(rows[0][2], str):
        tidy = tidy.sort_values("x", kind="stable")
    what = called(view.cells[0].metric) if view.cells else "score"
    hues = {s.partition(":")[2]: c for s, c in colours_of(view.experiment, view.systems).items()}
    gain = f"{minus(*(s.partition(':')[2] for s in (first, second)))} in " if first else ""
    title = f"{gain}{what} ({view.profile}){view.proxies}"
    return lines(tidy, title, xlabel=along, known=hues, ylabel="points" if first else what)
