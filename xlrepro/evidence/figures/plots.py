"""The dot plots that every page may have, from a comparison or from paired differences."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.figures.row_plot import Look, Mark, Row, RowPlot, looks
from xlrepro.evidence.paired import Pair
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import Interval
from xlrepro.evidence.tables.table import minus, number

if TYPE_CHECKING:
    import pandas as pd

NAN = math.nan
MOST_ROWS = 12  # of a figure beside an answer
PAPER = Look("currentColor", "diamond", hollow=True)
LINE = Look("currentColor")


def titled(frame: "pd.DataFrame") -> str:
    """Return the experiment's title and the profile of a comparison."""
    key, profile = str(frame["experiment"].iloc[0]), str(frame["profile"].iloc[0])
    return f"{load_catalog().experiment(key).title} ({profile})"


def printed_distances(experiment: str, columns: Sequence[str]) -> dict[str, float]:
    """Return the word-order distance to English that the paper prints, for those that have one."""
    cells = load_reported().cells(experiment, context=True)
    known = {c.column: c.value for c in cells if c.value is not None}
    return {c: known[c] for c in columns if c in known}


def looks_of(experiment: str, systems: Sequence[str]) -> dict[str, Look]:
    """Return the look of each system: its colour is the same on every page of the paper."""
    catalog = load_catalog()
    return looks(systems, catalog.paper(experiment.split("/")[0]).colours)


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


def _bounds(unit: str) -> tuple[float, float]:
    """Return the ends of what a score can be."""
    return {"percent": (0.0, 100.0), "fraction": (0.0, 1.0)}.get(unit, (-math.inf, math.inf))


def _mark(row: Mapping[Any, Any], name: str, look: Look) -> Mark:
    return Mark(row[name], row["low"], row["high"], look)


def _score(row: Mapping[Any, Any]) -> str:
    """Return our score with half of its interval, as text."""
    unprinted = 3 if row["unit"] == "fraction" else 1
    places = len(str(row["printed"]).partition(".")[2]) or unprinted
    half = (row["high"] - row["low"]) / 2 if row["n"] else NAN
    around = f" ± {number(half, places)}" if half == half else ""
    return f"{number(row['reproduced'], places)}{around}"


def reported_beside_reproduced(
    frame: "pd.DataFrame", column: str, printed_alone: bool = False, blocks: Sequence[str] = ()
) -> RowPlot:
    """Draw the systems' scores in one column: the paper's hollow, ours filled with 95 % intervals.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        column: of the cells, such as ``"avg"``.
        printed_alone: whether to leave ours out, where they say nothing (smoke).
        blocks: the blocks to draw where there are many systems; all where that leaves none.
    """
    shown = frame[frame["column"] == column]
    seen = shown["reported"].notna() | (shown["reproduced"].notna() & (not printed_alone))
    shown = shown[seen]
    if len(shown) > MOST_ROWS and shown["block"].isin(list(blocks)).any():
        shown = shown[shown["block"].isin(list(blocks))]
    title = f"{titled(frame)}: {column}" if len(frame) else column
    if printed_alone:
        title = title.replace(f"({frame['profile'].iloc[0]})", "as printed")
    if shown.empty:
        return RowPlot(title, f"{title}: nothing was run, and the paper prints nothing.", "", ())
    systems = list(dict.fromkeys(shown["system"]))
    look_of = looks_of(str(frame["experiment"].iloc[0]), systems)
    several = shown["block"].nunique() > 1
    rows, said = [], []
    for row in shown.to_dict("records"):
        look = Look(look_of[row["system"]].colour)
        marks = [_mark(row, "reproduced", look)] * bool(row["n"] and not printed_alone)
        marks += [Mark(row["reported"], NAN, NAN, PAPER)] * (row["reported"] == row["reported"])
        ours = [] if printed_alone else [_score(row) if row["n"] else str(row["verdict"])]
        texts = [*ours, *([f"({row['printed']})"] if row["printed"] else [])]
        rows.append(
            Row(str(row["name"]), tuple(marks), " ".join(texts), False, str(row["block"]) * several)
        )
        said.append(f"{row['system']}: {' '.join(texts)}")
    unit = str(shown["unit"].iloc[0])
    key = [] if printed_alone else [("ours, with its 95 % interval", LINE)]
    key += [("the paper (in brackets)", PAPER)] * bool(shown["reported"].notna().any())
    paper = ", in brackets the paper" * bool(shown["printed"].any())
    return RowPlot(
        title, f"Dot plot of {column}{paper}. {'; '.join(said)}.", unit,
        tuple(rows), tuple(key), bounds=_bounds(unit),
    )  # fmt: skip


def scores(frame: "pd.DataFrame", *, columns: Sequence[str] | None = None) -> RowPlot:
    """Draw reproduced means with 95 % intervals: a line per column and a mark per system.

    Where there are more systems than columns, the lines are the systems.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        columns: which columns; by default all.
    """
    shown = frame[frame["reproduced"].notna()]
    if columns is not None:
        shown = shown[shown["column"].isin(list(columns))]
    if shown.empty:
        return RowPlot("Reproduced means", "Reproduced means: nothing was run.", "", ())
    systems, across = (list(dict.fromkeys(shown[name])) for name in ("system", "column"))
    names = short_names(systems) | {column: column for column in across}
    styles = looks_of(str(frame["experiment"].iloc[0]), systems) | looks(across)
    down, series = ("system", "column") if len(systems) > len(across) else ("column", "system")
    rows = []
    for label, part in shown.groupby(down, sort=False):
        lines = part.to_dict("records")
        look = {row[series]: styles[row["system" if len(across) == 1 else series]] for row in lines}
        marks = tuple(_mark(row, "reproduced", look[row[series]]) for row in lines)
        rows.append(Row(names[label], marks, _score(lines[0]) if len(lines) == 1 else ""))
    best = shown.loc[shown["reproduced"].idxmax()]
    unit = str(shown["unit"].iloc[0])
    alt = (
        f"Dot plot of {len(systems)} systems over {len(across)} columns with 95 % intervals; the "
        f"highest is {best['system']} in {best['column']} with {number(best['reproduced'])}."
    )
    where = f": {across[0]}" if len(across) == 1 else ""
    key = [(names[name], styles[name]) for name in dict.fromkeys(shown[series])]
    return RowPlot(
        f"{titled(shown)}{where}", alt, unit, tuple(rows),
        tuple(key if len(key) > 1 else ()), bounds=_bounds(unit),
    )  # fmt: skip


def differences(frame: "pd.DataFrame") -> list[RowPlot]:
    """Draw reproduced minus reported: a plot per block, a line per column, a mark per system.

    Where there are more systems than columns, the lines are the systems. Columns stand in the
    order of the printed word-order distance, where there is one.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
    """
    shown = frame[frame["difference"].notna()]
    title = "Reproduced minus reported"
    if shown.empty:
        return [RowPlot(title, f"{title}: no cell is both reported and run.", "", ())]
    key = str(shown["experiment"].iloc[0])
    columns = list(dict.fromkeys(shown["column"]))
    far, averages = printed_distances(key, columns), load_catalog().experiment(key).average_columns
    columns.sort(key=lambda c: (c in averages, far.get(c, 0.0)))
    styles = looks_of(key, list(dict.fromkeys(frame["system"]))) | looks(columns)
    plots = []
    for block, part in shown.groupby("block", sort=False):
        systems, across = list(dict.fromkeys(part["system"])), set(part["column"])
        axes = {"column": [c for c in columns if c in across], "system": systems}
        down, series = sorted(axes, key=lambda axis: len(axes[axis]), reverse=True)
        names = short_names(systems) | {column: column for column in columns}
        rows = []
        for name in axes[down]:
            lines = part[part[down] == name].to_dict("records")
            marks = tuple(Mark(r["difference"], NAN, NAN, styles[r[series]]) for r in lines)
            gaps = [r["difference"] for r in lines]
            ends = dict.fromkeys(number(gap, 1, True) for gap in (min(gaps), max(gaps)))
            rows.append(Row(names[name], marks, " to ".join(ends), apart=False))
        one_unit = part["unit"].nunique() == 1
        plots.append(
            RowPlot(
                f"{title}: {block}",
                _differences_text(part),
                str(part["unit"].iloc[0]) if one_unit else "each mark in its unit",
                tuple(rows),
                tuple((names[s], styles[s]) for s in axes[series]),
                zero=True,
            )
        )
    return plots


def _differences_text(part: "pd.DataFrame") -> str:
    high = part.loc[part["difference"].idxmax()]
    low = part.loc[part["difference"].idxmin()]
    above = int((part["difference"] > 0).sum())
    return (
        f"Dot plot of reproduced minus reported: {above} of {len(part)} cells are above the paper; "
        f"differences go from {number(low['difference'], 1, True)} ({low['system']}, "
        f"{low['column']}) to {number(high['difference'], 1, True)} ({high['system']}, "
        f"{high['column']})."
    )


def forest_plot(pairs: Sequence[Pair]) -> RowPlot:
    """Draw differences paired by seed with their 95 % intervals, a line each.

    Args:
        pairs: of one experiment, at least one.
    """
    systems = list(dict.fromkeys([*(pair[0] for pair in pairs), *(pair[1] for pair in pairs)]))
    names, first = short_names(systems), pairs[0][2]
    styles = looks_of(first.experiment, systems)
    several = len({gap.column for _, _, gap in pairs}) > 1
    rows, said = [], []
    for one, other, gap in pairs:
        label = minus(names[one], names[other]) + f", {gap.column}" * several
        ends = gap.interval or Interval(NAN, NAN)
        span = f"{number(ends.low, 1, True)} to {number(ends.high, 1, True)}"
        text = f"{number(gap.mean, 1, True)} ({span if gap.interval else 'n = 1'})"
        mark = Mark(gap.mean, ends.low, ends.high, Look(styles[other].colour))
        rows.append(Row(label, (mark,), text))
        said.append(f"{label}: {text}")
    title = "Differences paired by seed" + f": {first.column}" * (not several)
    unit = "points" if first.unit == "percent" else first.unit
    return RowPlot(
        title, f"Forest plot. {'; '.join(said)}.", unit,
        tuple(rows), (("mean difference, with its 95 % interval", LINE),), zero=True,
    )  # fmt: skip
