"""Three kinds of plots: dots with intervals, lines over a setting, a heat map.

Each takes a tidy frame, is drawn twice, for a wide column and for a phone, as SVG in the page
itself, and says in words what it shows. Letters are the page's own and black is the page's colour
of text, so that both themes are served. The same data give the same text.
"""

import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.predicates import spearman
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import Pair, ReproducedCell, View
from xlrepro.pages.tables import framed, minus, number, render

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# After Okabe and Ito; yellow, sky and pink darker: each is 3 : 1 on white and on near-black.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#B86A9C", "#B07800", "#3F93CC", "#808080", "#7A5CC8")
MARKERS = "osD^v<>P"
GREY = "#777777"
WIDE, NARROW = 7.4, 3.5  # inches at most; 96 pixels each
MOST_ROWS = 12  # of a figure beside an answer
PAPER = "the paper"  # a series that is drawn hollow
STYLE: Any = {
    "svg.fonttype": "none", "figure.facecolor": "none", "axes.facecolor": "none",
    "savefig.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False,
    "font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 9,
}  # fmt: skip
# Of matplotlib's SVG, what is not drawn: XML head, metadata, comments, a style for the whole page.
_NOT_DRAWN = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>"
    r"|(?<=<g) id=\"[^\"]*\"", re.DOTALL,
)  # fmt: skip
_PLACES, _DIGITS = re.compile(r" (?:d|x|y|transform)=\"[^\"]*"), re.compile(r"(\.\d\d)\d+")
_FONT, _BREAK = re.compile(r" font-family: [^;\"]*;?"), re.compile(r"\s*\n\s*")


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, and the sentence that stands for it; ``repr`` has no number in it."""

    title: str
    alt: str
    wide: str = ""
    narrow: str = ""

    def __repr__(self) -> str:
        return f"Figure: {self.title}"

    def _repr_html_(self) -> str:
        if not self.wide:
            return render("paragraphs", "", [self.alt], (), "")
        shown = [(self.wide, "xl-wide", "max-width:100%;height:auto"),
                 (self.narrow, "xl-narrow", "display:none")]  # fmt: skip
        svgs = [
            Markup(svg.replace("<svg ", f'<svg class="{name}" fill="currentColor" style="{style}" '
                               'aria-hidden="true" ', 1))
            for svg, name, style in shown
        ]  # fmt: skip
        return render("figure", self.alt, *svgs)


def drawn(title: str, alt: str, draw: Callable[["Drawing", float], None]) -> Figure:
    """Return a figure drawn at both widths.

    Args:
        title: what it shows.
        alt: the same with its numbers, for those who do not see it.
        draw: fills an empty matplotlib figure of a width in inches, and sets its height.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Drawing

    svgs = []
    for width in (WIDE, NARROW):
        with mpl.rc_context(STYLE | {"svg.hashsalt": f"{alt} {width}"}):
            drawing = Drawing(figsize=(width, 3), layout="constrained")
            FigureCanvasAgg(drawing)
            draw(drawing, width)
            # A layout found anew at every save moves by hairs: find it once and keep it.
            drawing.draw_without_rendering()
            drawing.set_layout_engine("none")
            buffer = io.BytesIO()
            drawing.savefig(
                buffer, format="svg", metadata={"Date": None, "Creator": None},
                bbox_inches="tight", pad_inches=0.05,
            )  # fmt: skip
        svg = _NOT_DRAWN.sub("", buffer.getvalue().decode("utf-8"))
        svg = _PLACES.sub(lambda place: _DIGITS.sub(r"\1", place[0]), svg)
        svg = _FONT.sub("", svg).replace("#000000", "currentColor").replace("xlink:href", "href")
        svgs.append(_BREAK.sub(" ", svg).replace("> <", "><").strip())
    return Figure(title, alt, *svgs)


def nothing(title: str, why: str) -> Figure:
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


def _series(frame: "pd.DataFrame", known: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return colour and marker of each series."""
    names = list(dict.fromkeys(frame["series"]))
    own = colours([n for n in names if n not in known]) | known
    return {n: (own[n], "D" if n == PAPER else MARKERS[i % 8]) for i, n in enumerate(names)}


def _points(
    axes: "Axes", part: "pd.DataFrame", at: Any, look: tuple[str, str], across: bool, line: str = ""
) -> None:
    """Draw values with their intervals, where they have one."""
    colour, marker = look
    values = part["value"].to_numpy(dtype=float)
    low, high = (part[end].to_numpy(dtype=float) for end in ("low", "high"))
    spread = np.nan_to_num(np.vstack([values - low, high - values]))
    hollow = part["series"].iloc[0] == PAPER
    style = {"fmt": marker + line, "color": colour, "ms": 5, "lw": 1, "capsize": 2,
             "mfc": "none" if hollow else colour, "label": part["series"].iloc[0]}  # fmt: skip
    if across:
        axes.errorbar(values, at, xerr=spread, **style)
    else:
        axes.errorbar(at, values, yerr=spread, **style)


def _key(drawing: "Drawing", axes: Sequence["Axes"], width: float) -> None:
    """Write the series below all panels, each once; none for a single one."""
    labels = dict[str, Any]()
    for panel in axes:
        handles, names = panel.get_legend_handles_labels()
        labels |= dict(zip(names, handles, strict=True))
    if len(labels) > 1:
        across = 4 if width > NARROW else 2
        drawing.legend(
            list(labels.values()), list(labels), loc="outside lower center", frameon=False,
            fontsize=8, ncols=min(across, len(labels)),
        )  # fmt: skip


def dots(
    frame: "pd.DataFrame",
    title: str,
    *,
    unit: str = "",
    zero: bool = False,
    known: dict[str, str] | None = None,
) -> Figure:
    """Draw values with their intervals, a row per label, a mark per series.

    Args:
        frame: ``label``, ``series``, ``value``, ``low``, ``high`` (NaN: no interval).
        title: what it shows.
        unit: of the axis.
        zero: whether a line marks zero.
        known: series -> colour.
    """
    if frame.empty:
        return nothing(title, "nothing was run")
    labels = list(dict.fromkeys(frame["label"]))
    looks = _series(frame, {PAPER: "#000000", **(known or {})})
    single = all(n <= 1 for n in frame[frame["series"] != PAPER].groupby("label").size())

    def draw(drawing: "Drawing", width: float) -> None:
        most = 40 if width > NARROW else 20  # letters of a label in a line
        shown = ["\n".join(wrap(label, most)) for label in labels]
        of_text = 0.17 * max(1 + name.count("\n") for name in shown)
        per_row = max(of_text, 0.2 if single else 0.14 + 0.1 * len(looks))
        of_title = 0.15 * len(wrap(title, round(11 * width)))
        drawing.set_figheight(0.75 + of_title + per_row * len(labels) + 0.2 * (len(looks) > 4))
        axes = drawing.add_subplot()
        for i, (name, part) in enumerate(frame.groupby("series", sort=False)):
            shift = 0.0 if single else 0.7 * ((i + 0.5) / len(looks) - 0.5)
            at = [labels.index(label) + shift for label in part["label"]]
            _points(axes, part, at, looks[str(name)], across=True)
        axes.set_yticks(range(len(labels)), shown)
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.set_xlabel(unit)
        axes.set_title(title, loc="left", wrap=True)
        axes.grid(axis="x", color="#88888844", lw=0.6)
        if zero:
            axes.axvline(0, color=GREY, lw=0.8)
        _key(drawing, [axes], width)

    said = [
        f"{r.label}{f', {r.series}' if len(looks) > 1 else ''}: {number(r.value)}"
        + (f" ({number(r.low)} to {number(r.high)})" if r.low == r.low else "")
        for r in frame.itertuples()
    ]
    return drawn(title, f"{title}. {'; '.join(said)}.", draw)


def lines(
    frame: "pd.DataFrame",
    title: str,
    *,
    xlabel: str,
    ylabel: str,
    joined: bool = True,
    log: bool = False,
    share_y: bool = False,
    diagonal: bool = False,
    known: dict[str, str] | None = None,
) -> Figure:
    """Draw values over a setting or a measure, a panel per part, a line per series.

    Args:
        frame: ``panel``, ``series``, ``x``, ``value``, ``low``, ``high``, and ``name``, if points
            have one. Where ``x`` is text its values stand at equal distances.
        title: of the whole.
        xlabel: of the setting.
        ylabel: of the values.
        joined: whether points are joined by lines.
        log: whether the horizontal axis is logarithmic.
        share_y: whether panels share their vertical axis.
        diagonal: whether a line marks where both are equal.
        known: series -> colour.
    """
    if frame.empty:
        return nothing(title, "nothing was run")
    panels, looks = list(dict.fromkeys(frame["panel"])), _series(frame, known or {})
    places: dict[str, list[Any]] = {p: list(dict.fromkeys(frame[frame["panel"] == p]["x"]))
                                    for p in panels}  # fmt: skip
    texts = any(isinstance(x, str) for x in frame["x"])

    def draw(drawing: "Drawing", width: float) -> None:
        across = min(len(panels), 3 if width > NARROW else 1)
        down = -(-len(panels) // across)
        drawing.set_figheight(0.6 + 2.6 * down)
        grid = drawing.subplots(down, across, sharey=share_y, squeeze=False).flat
        for spare in list(grid)[len(panels) :]:
            spare.remove()
        shown = drawing.axes
        for axes, panel in zip(shown, panels, strict=True):
            rows = frame[frame["panel"] == panel]
            for name, part in rows.groupby("series", sort=False):
                at = [places[panel].index(x) if texts else float(x) for x in part["x"]]
                _points(axes, part, at, looks[str(name)], False, "-" if joined else "")
            if texts:
                axes.set_xticks(range(len(places[panel])), places[panel])
            if log:
                axes.set_xscale("log")
            if diagonal:
                ends = rows[["value", "x"]].to_numpy(dtype=float)
                axes.plot([ends.min(), ends.max()], [ends.min(), ends.max()], color=GREY, lw=0.8)
            elif (rows["value"] < 0).any():
                axes.axhline(0, color=GREY, lw=0.8)
            axes.set_title(panel)
            axes.set_xlabel(xlabel)
            if "name" in rows:
                for r in rows.itertuples():
                    axes.annotate(r.name, (r.x, r.value), (3, 3), textcoords="offset points",
                                  fontsize=7, annotation_clip=True)  # fmt: skip
        shown[0].set_ylabel(ylabel)
        drawing.suptitle(title, fontsize=9)
        _key(drawing, shown, width)

    said = []
    for (panel, name), part in frame.groupby(["panel", "series"], sort=False):
        first, last = part.iloc[0], part.iloc[-1]
        ends = dict.fromkeys(f"{number(float(e['value']))} at {e['x']}" for e in (first, last))
        said.append(f"{', '.join(filter(None, (str(panel), str(name))))}: {' to '.join(ends)}")
    return drawn(title, f"{title}. {'; '.join(said)}.", draw)


def heat(table: "pd.DataFrame", title: str, *, unit: str, decimals: int = 2) -> Figure:
    """Draw a table of numbers as a heat map, each number in its field.

    Args:
        table: numbers by row and column.
        title: what it shows.
        unit: of the numbers.
        decimals: of each.
    """
    if table.empty:
        return nothing(title, "nothing was run")

    def draw(drawing: "Drawing", width: float) -> None:
        import seaborn as sns

        drawing.set_figheight(0.9 + 0.32 * len(table))
        axes = drawing.add_subplot()
        sns.heatmap(
            table.astype(float), ax=axes, annot=True, fmt=f".{decimals}f", cmap="viridis",
            cbar_kws={"label": unit}, annot_kws={"size": 8 if width > NARROW else 6}, lw=0.5,
        )  # fmt: skip
        axes.set(title=title, xlabel="", ylabel="")
        axes.tick_params(labelrotation=0)

    rows = ("; ".join(f"{row}, {column}: {number(value, decimals)}" for column, value in of.items())
            for row, of in table.iterrows())  # fmt: skip
    return drawn(title, f"Heat map. {title}, {unit}. {'; '.join(rows)}.", draw)


# -- What every page may have --------------------------------------------------------------------


def titled(frame: "pd.DataFrame") -> str:
    """Return the experiment's title and the profile of a comparison."""
    key, profile = (str(frame[name].iloc[0]) for name in ("experiment", "profile"))
    return f"{load_catalog().experiment(key).title} ({profile})"


def short_names(systems: Sequence[str]) -> dict[str, str]:
    """Return what to call each system: without its block where all are of one.

    Example:
        >>> short_names(["word:ORT", "word:TRS"])["word:ORT"], short_names(["a:X", "b:X"])["a:X"]
        ('ORT', 'X (a)')
    """
    parts = {s: s.partition(":") for s in systems}
    one = len({block for block, _, _ in parts.values()}) == 1
    return {s: name if one or not name else f"{name} ({block})"
            for s, (block, _, name) in parts.items()}  # fmt: skip


def reported_beside_reproduced(
    frame: "pd.DataFrame", column: str, printed_alone: bool = False, blocks: Sequence[str] = ()
) -> Figure:
    """Draw the systems' scores in one column: the paper's hollow, ours with 95 % intervals.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        column: of the cells, such as ``"avg"``.
        printed_alone: whether to leave ours out, where they say nothing (smoke).
        blocks: the blocks to draw where there are many systems; all where that leaves none.
    """
    shown = frame[frame["column"] == column]
    shown = shown[shown["reported"].notna() | (shown["reproduced"].notna() & (not printed_alone))]
    if len(shown) > MOST_ROWS and shown["block"].isin(list(blocks)).any():
        shown = shown[shown["block"].isin(list(blocks))]
    title = f"{titled(frame)}: {column}" if len(frame) else column
    if printed_alone:
        title = title.replace(f"({frame['profile'].iloc[0]})", "as reported")
    names, rows = short_names(list(dict.fromkeys(shown["system"]))), []
    for row in shown.to_dict("records"):
        label = names[row["system"]]
        if row["n"] and not printed_alone:
            rows.append((label, "ours", row["reproduced"], row["low"], row["high"]))
        if row["reported"] == row["reported"]:
            rows.append((label, PAPER, row["reported"], math.nan, math.nan))
    unit = str(shown["unit"].iloc[0]) if len(shown) else ""
    return dots(framed(rows, "label", "series", "value", "low", "high"), title, unit=unit)


def scores(frame: "pd.DataFrame", columns: Sequence[str] | None = None) -> Figure:
    """Draw reproduced means with 95 % intervals: a row per system or column, whichever is more.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        columns: which columns; by default all.
    """
    shown = frame[frame["reproduced"].notna()]
    if columns is not None:
        shown = shown[shown["column"].isin(list(columns))]
    if shown.empty:
        return nothing("Reproduced means", "nothing was run")
    names = short_names(list(dict.fromkeys(shown["system"])))
    many = shown["system"].nunique() > shown["column"].nunique()
    named = shown["system"].map(names)
    tidy = shown.assign(
        label=named if many else shown["column"], series=shown["column"] if many else named,
        value=shown["reproduced"],
    )  # fmt: skip
    systems = colours_of(str(shown["experiment"].iloc[0]), list(names))
    known = {names[s]: colour for s, colour in systems.items()}
    return dots(tidy, titled(shown), unit=str(shown["unit"].iloc[0]), known=known)


def differences(frame: "pd.DataFrame") -> list[Figure]:
    """Draw reproduced minus reported: a plot per block.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
    """
    shown = frame[frame["difference"].notna()]
    if shown.empty:
        return [nothing("Reproduced minus reported", "no cell is both reported and run")]
    figures = []
    for block, part in shown.groupby("block", sort=False):
        names = short_names(list(dict.fromkeys(part["system"])))
        many = part["system"].nunique() > part["column"].nunique()
        named = part["system"].map(names)
        tidy = part.assign(
            label=named if many else part["column"], series=part["column"] if many else named,
            value=part["difference"], low=math.nan, high=math.nan,
        )  # fmt: skip
        unit = str(part["unit"].iloc[0])
        figures.append(dots(tidy, f"Reproduced minus reported: {block}", unit=unit, zero=True))
    return figures


def forest_plot(pairs: Sequence[Pair]) -> Figure:
    """Draw differences paired by seed with their 95 % intervals, a row each.

    Args:
        pairs: of one experiment, at least one.
    """
    names = short_names(list(dict.fromkeys(s for one, other, _ in pairs for s in (one, other))))
    several, first = len({gap.column for _, _, gap in pairs}) > 1, pairs[0][2]
    rows = [
        (minus(names[one], names[other]) + f", {gap.column}" * several, "difference", gap.mean,
         *_ends(gap)) for one, other, gap in pairs
    ]  # fmt: skip
    title = "Differences paired by seed" + f": {first.column}" * (not several)
    unit = "points" if first.unit == "percent" else first.unit
    tidy = framed(rows, "label", "series", "value", "low", "high")
    return dots(tidy, title, unit=unit, zero=True)


def _ends(cell: ReproducedCell) -> tuple[float, float]:
    ends = cell.interval
    return (ends.low, ends.high) if ends else (math.nan, math.nan)


def over_setting(
    view: View, *, along: str, first: str = "", second: str = "", panel: int = 0, title: str = ""
) -> Figure:
    """Draw scores, or the gain of one system over another, over the values that columns name.

    Args:
        view: reproduced cells; a column is ``"es/0.03"``: a panel per target, values on its axis.
        along: what the values are.
        first: draw this system minus ``second``, paired by seed; empty: all systems' scores.
        second: see ``first``.
        panel: which part of a column names its panel; the last part is the value.
        title: of the whole, unless told the metric.
    """
    rows, systems = [], [first] if first else sorted(view.systems)
    for system in systems:
        for column in view.columns:
            *parts, value = column.split("/")
            cell = view.difference(first, second, column) if first else view.get(system, column)
            if cell is not None:
                name = system.partition(":")[2]
                series = minus(name, second.partition(":")[2]) if first else name
                others = [p for i, p in enumerate(parts) if i != panel]
                head = parts[panel] if parts else system.partition(":")[2]
                series = ", ".join([series, *others] if len(systems) > 1 else others or [series])
                x = float(value) if value.replace(".", "", 1).isdigit() else value
                rows.append((head, series, x, cell.mean, *_ends(cell)))
    tidy = framed(rows, "panel", "series", "x", "value", "low", "high")
    if rows and not isinstance(rows[0][2], str):
        tidy = tidy.sort_values("x", kind="stable")
    what = view.cells[0].metric if view.cells else "score"
    systems_colours = colours_of(view.experiment, view.systems)
    return lines(
        tidy, f"{title or what} ({view.profile})", xlabel=along, ylabel="points" if first else what,
        share_y=bool(first), known={s.partition(":")[2]: c for s, c in systems_colours.items()},
    )  # fmt: skip


def gain_against_distance(frame: "pd.DataFrame", first: str = "ORT", second: str = "TRS") -> Figure:
    """Draw the gain of a system over another against the word-order distance, a point a language.

    The reported one stands beside it; the series' names give Spearman's correlation.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        first: name of the one system.
        second: of the other.
    """
    title, key = f"Gain of {first} over {second}", str(frame["experiment"].iloc[0])
    entry, cells = load_catalog().experiment(key), load_reported().cells(key, context=True)
    left_out = {*entry.source_columns, *entry.average_columns}
    far = {c.column: c.value for c in cells if c.value is not None and c.column not in left_out}
    blocks = list(dict.fromkeys(frame[frame["n"] > 0]["block"]))
    if entry.answer and (main := entry.answer.first.partition(":")[0]) in blocks:
        blocks = [main]
    rows = []
    for block in blocks:
        for what in ("reported", "reproduced"):
            part = frame[(frame["block"] == block) & frame["column"].isin(far)]
            table = part.pivot(index="column", columns="name", values=what)
            if not {first, second} <= {*table}:
                continue
            table = table[[first, second]].dropna()
            if len(table) > 1:
                gain = (table[first] - table[second]).astype(float)
                rho = spearman([far[c] for c in gain.index], gain.tolist())[0]
                series = f"{what}, {block}: ρ = {number(rho)}, {len(gain)} languages"
                rows += [("", series, far[c], v, math.nan, math.nan, c * (what == "reproduced"))
                         for c, v in gain.items()]  # fmt: skip
    tidy = framed(rows, "panel", "series", "x", "value", "low", "high", "name")
    xlabel = "word-order distance to English, as reported"
    return lines(tidy, title, xlabel=xlabel, ylabel="gain (points)", joined=False)


def reported_against_reproduced(frame: "pd.DataFrame") -> Figure:
    """Draw reproduced against reported, a point per cell; on the line they agree.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
    """
    shown = frame[frame["difference"].notna()]
    tidy = shown.assign(panel="", series=shown["system"], x=shown["reported"],
                        value=shown["reproduced"], low=math.nan, high=math.nan)  # fmt: skip
    return lines(tidy, "Reproduced against reported", xlabel="reported", ylabel="reproduced",
                 joined=False, diagonal=True)  # fmt: skip
