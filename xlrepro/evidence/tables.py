"""The tables of a page: reported beside reproduced, in overview and cell by cell."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xlrepro.evidence.catalog import Catalog, CatalogEntry, load_catalog
from xlrepro.evidence.compare import (
    ABOVE,
    BELOW,
    NOT_HERE,
    NOT_REPORTED,
    NOT_RUN,
    OTHER_DATA,
    QUOTED,
    VERDICTS,
    WITHIN,
)
from xlrepro.evidence.html_table import Entry, Heading, Table, headings, number
from xlrepro.evidence.reported import ReportedNumbers, load_reported

if TYPE_CHECKING:
    import pandas as pd

MARKS = {
    WITHIN: "=", ABOVE: "▲", BELOW: "▼", OTHER_DATA: "", NOT_RUN: "", NOT_HERE: "",
    QUOTED: "", NOT_REPORTED: "",
}  # fmt: skip
DECIMALS = {"fraction": 3, "count": 0}  # of a unit, where the paper printed nothing; else 2


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def decimals_of(printed: str, unit: str = "percent") -> int:
    """Return how many decimals to show: those the paper printed, else what the unit is worth."""
    if printed.strip():
        return len(printed.partition(".")[2])
    return DECIMALS.get(unit, 2)


def _half_width(row: Mapping[str, Any]) -> float | None:
    return None if _missing(row["low"]) else (row["high"] - row["low"]) / 2


def _tooltip(row: Mapping[str, Any]) -> str:
    parts = [row["source"] or "not in the paper"]
    if row["n"]:
        parts.append(f"{row['n']} seed{'s' if row['n'] > 1 else ''}")
    if row["note"]:
        parts.append(row["note"])
    return "; ".join(parts)


def _overview_entry(row: Mapping[str, Any]) -> Entry:
    """One cell of the overview: ours ± half an interval, and below it the paper's number."""
    places = decimals_of(row["printed"], row["unit"])
    theirs = f"paper {row['printed']}" if row["printed"] else ""
    if row["verdict"] in (NOT_RUN, NOT_HERE, QUOTED):
        return Entry(row["verdict"], theirs, None, row["verdict"], _tooltip(row))
    half = _half_width(row)
    text = number(row["reproduced"], places)
    text += f" ± {number(half, places)}" if half is not None else ""
    text += " (stale)" if row["stale"] else ""
    if not _missing(row["difference"]):
        mark = MARKS[row["verdict"]]
        theirs += f", {number(row['difference'], places, signed=True)} {mark}".rstrip()
    return Entry(text, theirs, row["reproduced"], row["verdict"], _tooltip(row))


def _context_column(
    experiment: str, rows: Sequence[str], reported: ReportedNumbers
) -> tuple[str, Callable[[str], Entry]] | None:
    """Return the reported row that describes the columns (the distances), if there is one."""
    cells = {c.column: c for c in reported.cells(experiment, context=True)}
    if not cells or not any(r in cells for r in rows):
        return None
    name = next(iter(cells.values())).name

    def entry(column: str) -> Entry:
        cell = cells.get(column)
        return Entry(cell.printed, sort=cell.value, title=cell.source) if cell else Entry("")

    return name, entry


def run_summary(frame: "pd.DataFrame") -> str:
    """Return one line that says how much was run; no measured number in it."""
    ran = int((frame["n"] > 0).sum())
    systems, columns = frame["system"].nunique(), frame["column"].nunique()
    key = ", ".join(dict.fromkeys(frame["experiment"]))
    profile = ", ".join(dict.fromkeys(frame["profile"]))
    line = f"{key}, {profile}: {systems} systems x {columns} columns, "
    line += f"{ran} of {len(frame)} cells run"
    counts = {v: int((frame["verdict"] == v).sum()) for v in (NOT_HERE, QUOTED)}
    return line + "".join(f", {n} {verdict}" for verdict, n in counts.items() if n)


def _other_data(entry: CatalogEntry, profiles: Iterable[str]) -> str:
    """Return the sentences on what stands in for the paper's data and pre-trained weights."""
    known = {p: entry.stand_ins[p] for p in profiles if p in entry.stand_ins}
    told = "; ".join(f"{stand_in.data} at {profile}" for profile, stand_in in known.items())
    where = " there" if any(stand_in.only for stand_in in known.values()) else ""
    sentence = f"Our data are not the paper's ({told}), so the difference has no verdict{where}."
    trained = "; ".join(
        f"{what} for {' and '.join(b for b in blocks if blocks[b] == what)} at {profile}"
        for profile in profiles
        for blocks in [entry.weights.get(profile, {})]
        for what in dict.fromkeys(blocks.values())
    )
    more = f"Our pre-trained weights are not the paper's ({trained}): those rows have no verdict."
    return " ".join([sentence] * bool(told) + [more] * bool(trained))


def comparison_table(
    frame: "pd.DataFrame",
    *,
    by: str = "auto",
    reported: ReportedNumbers | None = None,
    catalog: Catalog | None = None,
) -> Table:
    """Render a comparison as an overview: systems × columns, one cell each.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        by: ``"column"``: a row per column (31 languages), a column per system; ``"system"``: the
            other way round; ``"auto"``: whichever there are more of become the rows.
        reported: replaces the project's own (for the row of distances).
        catalog: replaces the project's own.
    """
    experiment, profile = str(frame["experiment"].iloc[0]), str(frame["profile"].iloc[0])
    systems = list(dict.fromkeys(frame["system"]))
    columns = list(dict.fromkeys(frame["column"]))
    as_rows = "column" if len(columns) > len(systems) else "system"
    rows_are = as_rows if by == "auto" else by
    rows, across = (columns, systems) if rows_are == "column" else (systems, columns)
    cells = {
        (r["column"], r["system"]) if rows_are == "column" else (r["system"], r["column"]): r
        for r in frame.to_dict("records")
    }
    context = None
    if rows_are == "column":
        context = _context_column(experiment, rows, reported or load_reported())
    head = [Heading("column" if rows_are == "column" else "system")]
    head += [Heading(context[0], numeric=True)] if context else []
    head += [Heading(name, numeric=True) for name in across]
    body = []
    for row in rows:
        line = [Entry(row)] + ([context[1](row)] if context else [])
        line += [
            _overview_entry(cells[row, name]) if (row, name) in cells else Entry("–")
            for name in across
        ]
        body.append(tuple(line))
    entry = (catalog or load_catalog()).experiment(experiment)
    caption = f"{entry.title}: reproduced ({profile}) with half of the 95 % interval over seeds"
    if any(frame["printed"]):
        legend = [_other_data(entry, [profile])]
        if entry.is_judged(profile):
            legend.append("= within, ▲ above, ▼ below the paper.")
        caption += "; below it the paper's number and the difference. "
        caption += " ".join(filter(None, legend))
    else:
        caption += "."
    return Table(caption, tuple(head), tuple(body), run_summary(frame))


def _cell_row(row: Mapping[str, Any]) -> tuple[Entry, ...]:
    places = decimals_of(row["printed"], row["unit"])
    half = _half_width(row)
    span = ""
    if half is not None:
        span = f"{number(row['low'], places)} to {number(row['high'], places)}"
    printed = row["reported"]
    ours = None if row["n"] == 0 else row["reproduced"]
    gap = None if _missing(row["difference"]) else row["difference"]
    return (
        Entry(row["system"]),
        Entry(row["column"]),
        Entry(row["profile"]),
        Entry(row["metric"]),
        Entry(row["printed"], sort=None if _missing(printed) else printed, title=row["source"]),
        Entry(number(ours, places), sort=ours),
        Entry(span, sort=half),
        Entry(str(row["n"]), sort=row["n"], title=f"seeds {row['seeds']}"),
        Entry(number(gap, places, signed=True), sort=gap),
        Entry(row["verdict"], verdict=row["verdict"], sort=VERDICTS.index(row["verdict"])),
        Entry(row["note"]),
    )


def cells_table(frame: "pd.DataFrame", *, catalog: Catalog | None = None) -> Table:
    """Render a comparison cell by cell: one row per profile, system and column."""
    names = ("system", "column", "profile", "metric", "reported", "reproduced", "95 % interval",
             "n", "difference", "verdict", "note")  # fmt: skip
    numeric = ("reported", "reproduced", "95 % interval", "n", "difference")
    body = [_cell_row(row) for row in frame.to_dict("records")]
    if not body:
        return Table("No cells.", headings(*names, numeric=numeric), ())
    experiment = str(frame["experiment"].iloc[0])
    entry = (catalog or load_catalog()).experiment(experiment)
    caption = f"{entry.title}: every cell, reported and reproduced."
    if any(frame["printed"]):
        caption = f"{caption} {_other_data(entry, dict.fromkeys(frame['profile']))}".rstrip()
    return Table(caption, headings(*names, numeric=numeric), tuple(body), run_summary(frame))


def pairs_table(pairs: "pd.DataFrame", first: str, second: str) -> Table:
    """Render `paired_differences`: what ``first`` gains over ``second``, column by column."""
    body = []
    for row in pairs.to_dict("records"):
        span = ""
        if not _missing(row["low"]):
            span = f"{number(row['low'])} to {number(row['high'])}"
        values = ", ".join(number(v, signed=True) for v in row["values"])
        body.append(
            (
                Entry(row["column"]),
                Entry(number(row["mean"], signed=True), sort=row["mean"]),
                Entry(span, sort=None if _missing(row["low"]) else row["low"]),
                Entry(str(row["n"]), sort=row["n"], title=f"seeds {row['seeds']}"),
                Entry(values, title="one difference per seed"),
                Entry(row["note"] + ("; stale" if row["stale"] else "")),
            )
        )
    names = ("column", "mean difference", "95 % interval", "n", "by seed", "note")
    numeric = ("mean difference", "95 % interval", "n")
    caption = f"{first} minus {second}, paired by seed."
    return Table(caption, headings(*names, numeric=numeric), tuple(body))
