"""The overview of a page: reported beside reproduced, as tables that fit its width."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.compare import ABOVE, BELOW, NOT_REPORTED, WITHIN
from xlrepro.evidence.deviations import WEIGHTS, Deviation, deviation_link, is_named
from xlrepro.evidence.provenance import record_anchor
from xlrepro.evidence.reported import ReportedCell, load_reported
from xlrepro.evidence.tables.cells import decimals_of, other_data, run_summary
from xlrepro.evidence.tables.table import Entry, Heading, Link, Table, enumerated, number

if TYPE_CHECKING:
    import pandas as pd

STALE = "†"
ALL = "all of these"
MOST_PARTS = 8  # of rows or columns, that a caption tells the deviations of
MOST_REASONS = 4  # that a legend names for one verdict
MOST_COLUMNS = 7  # of numbers, in a table as wide as a page
IN_FILE = (
    "system", "column", "metric", "unit", "printed", "reproduced", "low", "high", "n", "difference",
    "verdict", "note",
)  # fmt: skip
UNITS_TOLD = ("percent", "points", "fraction")  # units that a metric's name does not say
MARKS = {WITHIN: "=", ABOVE: "▲", BELOW: "▼"}


@dataclass(frozen=True)
class Legend:
    """What a page's tables say once, above them, and the deviations that touch all their cells.

    Attributes:
        text: what is said.
        deviations: those of the page; what touches some rows or columns alone is left to their
            heads, but what weighs most stands here too.
        experiment: of the page.
    """

    text: str
    deviations: tuple[Deviation, ...] = ()
    experiment: str = ""

    def __repr__(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        most = [d for d in self.deviations if d.weight == WEIGHTS[0]]
        titles = (Link(d.title, deviation_link(d).href).html for d in most)
        local = [d for d in self.deviations if any(d.place(self.experiment))]
        others = [deviation_link(d).html for d in self.deviations if d not in [*most, *local]]
        parts = [
            escape(self.text),
            f"What weighs most on these numbers: {'; '.join(titles)}." * bool(most),
            f"Also: {' '.join(others)}." * bool(others),
            "What touches some rows or columns alone is named at these." * bool(local),
        ]
        sentences = " ".join(filter(None, parts))
        return f'<p class="xl-legend">{sentences}</p>' if sentences else ""


@dataclass(frozen=True, eq=False)
class CellsFile:
    """Every cell of a comparison, as a file of comma-separated values that a link holds."""

    frame: "pd.DataFrame"

    def __repr__(self) -> str:
        return ""

    @property
    def text(self) -> str:
        """The file."""
        return self.frame.to_csv(
            columns=list(IN_FILE), index=False, float_format="%.5g", lineterminator="\n"
        )

    def _repr_html_(self) -> str:
        key, profile = (str(self.frame[name].iloc[0]) for name in ("experiment", "profile"))
        name = f"{key.replace('/', '-')}-{profile}.csv"
        data = quote(self.text, safe=" ,:/()=.+-%")
        return (
            f'<p><a download="{name}" href="data:text/csv;charset=utf-8,{data}">All '
            f"{len(self.frame)} cells with their intervals, as CSV</a></p>"
        )


def best_cells(frame: "pd.DataFrame") -> set[tuple[str, str]]:
    """Return (system, column) of the best means of ours, column by column, block by block.

    Of a sweep, row by row: its columns are values of a setting. What was run alone, or is equal
    to all others, is not the best of anything, and a metric may have no direction.
    """
    catalog = load_catalog()
    sweep = catalog.experiment(str(frame["experiment"].iloc[0])).sweep
    cells: set[tuple[str, str]] = set()
    ran = frame[frame["n"] > 0].reset_index(drop=True)
    alike = ["block", "system" if sweep else "column", "metric"]
    for (_, _, metric), part in ran.groupby(alike, sort=False):
        higher = catalog.higher_is_better(str(metric))
        if higher is not None and part["reproduced"].nunique() > 1:
            best = part["reproduced"].max() if higher else part["reproduced"].min()
            bold = part[part["reproduced"] == best]
            cells |= set(zip(bold["system"], bold["column"], strict=True))
    return cells


def _overview_entry(row: Mapping[str, Any], usual: int, best: bool) -> Entry:
    """One cell of the overview: ours ± half an interval, and below it the paper's number."""
    places = decimals_of(row["printed"], row["unit"], row["reproduced"])
    theirs = row["printed"]
    if not row["n"]:
        return Entry(row["verdict"], theirs, None, row["verdict"], row["note"])
    half = number((row["high"] - row["low"]) / 2, places)
    text = number(row["reproduced"], places) + f" ± {half}" * bool(half)
    text += STALE if row["stale"] else ""
    if gap := number(row["difference"], places, signed=True):
        theirs = f"{theirs}, {gap} {MARKS.get(row['verdict'], '')}".rstrip()
    if row["n"] != usual:
        theirs = "; ".join(filter(None, (theirs, f"n={row['n']}")))
    link = f"#{record_anchor(row['keys'][0])}" if row["keys"] else ""
    judged = "" if row["verdict"] == NOT_REPORTED else row["verdict"]
    return Entry(text, theirs, row["reproduced"], judged, href=link, strong=best)


class _Note(NamedTuple):
    """Links that all of several names have, so that they stand once above the table."""

    about: str
    names: tuple[str, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class _Axis:
    """What the rows or the columns of an overview are: systems, or columns of the cells.

    ``links`` lead from a name to the deviations that touch it and not all others.
    """

    kind: str
    names: Sequence[str]
    links: Mapping[str, tuple[Link, ...]]

    @property
    def mark(self) -> str:
        """What ends the first part of a name."""
        return ":" if self.kind == "system" else "/"

    def groups(self, filled: Collection[tuple[str, str]]) -> list[list[str]]:
        """Return the names in parts that a page is wide enough for, kept together by first part.

        First parts that have less than half of their rows in common stand apart: most cells of a
        table of both would be empty.

        Args:
            filled: (name of the other axis, name of this one) of each cell.
        """

        def rows(names: Sequence[str]) -> set[str]:
            return {row for row, name in filled if name in names}

        parts: dict[str, list[str]] = {}
        for name in self.names:
            first = name.partition(self.mark)[0] if self.mark in name else ""
            parts.setdefault(first, []).append(name)
        groups: list[list[str]] = [[]]
        for part in parts.values():
            pieces = -(-len(part) // MOST_COLUMNS)
            size = -(-len(part) // pieces)
            for start in range(0, len(part), size):
                piece = part[start : start + size]
                full = len(groups[-1]) + len(piece) > MOST_COLUMNS or pieces > 1
                old, new = rows(groups[-1]), rows(piece)
                if groups[-1] and (full or len(old & new) < len(old | new) / 2):
                    groups.append([])
                groups[-1] += piece
        return groups

    def entry(self, name: str, notes: Sequence[_Note] = (), whole: bool = False) -> Entry:
        """Return a head: the first part, where names differ in it, as a smaller line.

        Args:
            name: one of the names.
            notes: what stands above the table already.
            whole: leave the first part where it is.
        """
        said = [link for note in notes if name in note.names for link in note.links]
        links = tuple(link for link in self.links[name] if link not in said)
        first, mark, rest = name.partition(self.mark)
        if whole or not mark:
            return Entry(name, links=links)
        return Entry(rest, first if self.several else "", links=links)

    def notes(self, names: Sequence[str]) -> list[_Note]:
        """Return the links that all of these names have, then those of whole first parts."""
        parts: dict[str, list[str]] = {}
        for name in names:
            parts.setdefault(name.partition(self.mark)[0], []).append(name)
        notes: list[_Note] = []
        for part, group in ((ALL, names), *(parts.items() if len(parts) <= MOST_PARTS else ())):
            above = notes[0].links if notes and notes[0].about == ALL else ()
            links = [link for link in self.links[group[0]] if link not in above] if group else []
            shared = tuple(x for x in links if all(x in self.links[name] for name in group))
            if shared and len(group) > 1:
                notes.append(_Note(part, tuple(group), shared))
        return notes

    @cached_property
    def several(self) -> bool:
        """Whether the names differ in their first part."""
        return len({name.partition(self.mark)[0] for name in self.names}) > 1


def legend(frame: "pd.DataFrame") -> str:
    """Return what a comparison says once, above its tables: units, n, ±, signs, stand-ins."""
    entry = load_catalog().experiment(str(frame["experiment"].iloc[0]))
    profile, ran = str(frame["profile"].iloc[0]), frame[frame["n"] > 0]
    pairs = dict.fromkeys(zip(frame["metric"], frame["unit"], strict=True))
    units = [
        f"{metric} in {unit}" if unit in UNITS_TOLD else metric for metric, unit in pairs if metric
    ]
    parts = [", ".join(dict.fromkeys(units)) + "."] if units else []
    if len(ran):
        usual = int(ran["n"].mode().max())
        over = f"mean over {entry.counted_seeds(usual)} ± half of its 95 % interval"
        seeds = over if usual > 1 else "one seed"
        seeds += " unless n is given" * bool((ran["n"] != usual).any())
        parts.append(f"Large: ours at {profile}, {seeds}; a click leads to the records.")
        parts += [f"{STALE}: the code has changed since."] * bool(ran["stale"].any())
        of = "row" if entry.sweep else "block"
        parts += [f"Bold: the best of its {of}."] * bool(best_cells(frame))
    if any(frame["printed"]):
        parts.append("Small: the paper's number, then ours minus it.")
        parts += ["= within, ▲ above, ▼ below the paper."] * entry.is_judged(profile)
        parts.append(other_data(entry, profile))
    notes: dict[str, list[str]] = {}
    for row in frame.to_dict("records"):
        if not row["n"] and row["note"] and row["note"] not in notes.setdefault(row["verdict"], []):
            notes[row["verdict"]].append(row["note"])
    for verdict, reasons in notes.items():
        said = "; ".join(reasons) if len(reasons) <= MOST_REASONS else "why stands in each cell"
        parts.append(f"{verdict[0].upper()}{verdict[1:]}: {said}.")
    return " ".join(filter(None, parts))


def comparison_tables(frame: "pd.DataFrame", deviations: Sequence[Deviation] = ()) -> list[Table]:
    """Render a comparison as an overview: systems × columns, in parts that fit a page's width.

    Whichever there are more of, systems or columns (31 languages), become the rows. What the
    numbers are is said once, by `legend`.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns.
        deviations: what touches a row or a column alone is linked at its head; what touches all
            rows or columns of a part, or whole blocks, in its caption.
    """
    experiment, profile = str(frame["experiment"].iloc[0]), str(frame["profile"].iloc[0])
    systems, columns = (_axis(frame, kind, deviations) for kind in ("system", "column"))
    long = len(columns.names) > len(systems.names)
    down, across = (columns, systems) if long else (systems, columns)
    ran = frame[frame["n"] > 0]["n"]
    usual, best = int(ran.mode().max()) if len(ran) else 0, best_cells(frame)
    cells = {
        (r[down.kind], r[across.kind]): _overview_entry(
            r, usual, (r["system"], r["column"]) in best
        )
        for r in frame.to_dict("records")
    }
    context = load_reported().cells(experiment, context=True) if down is columns else []
    if not {c.column for c in context} & {*down.names}:
        context = []
    title = f"{load_catalog().experiment(experiment).title} ({profile})"
    tables = [_part(down, across, group, cells, context, title) for group in across.groups(cells)]
    return [replace(tables[0], summary=run_summary(frame)), *tables[1:]]


def _axis(frame: "pd.DataFrame", kind: str, deviations: Sequence[Deviation]) -> _Axis:
    """Return the rows or the columns of an overview, with the deviations that name them."""
    names, here = list(dict.fromkeys(frame[kind])), {"system": "row"}.get(kind, kind)
    places = [(deviation_link(d), *d.place(str(frame["experiment"].iloc[0]))) for d in deviations]
    links = {
        name: tuple(link for link, at, named in places if at == here and is_named(name, named))
        for name in names
    }
    return _Axis(kind, names, links)


def _part(
    down: _Axis,
    across: _Axis,
    group: list[str],
    cells: Mapping[tuple[str, str], Entry],
    context: Sequence[ReportedCell],
    title: str,
) -> Table:
    """Return the columns ``group`` of an overview, with the rows that have a cell in one.

    ``context`` is the reported row that describes the columns (the distances), if there is one.
    """
    described = {c.column: Entry(c.printed, sort=c.value, title=c.source) for c in context}
    firsts = {name.partition(across.mark)[0] for name in group if across.mark in name}
    shared = across.several and len(firsts) == 1
    rows = [row for row in down.names if any((row, name) in cells for name in group)]
    notes = [*across.notes(group), *down.notes(rows)]
    heads = [across.entry(name, notes) for name in group]
    head = [Heading(down.kind)]
    head += [Heading(c.name, numeric=True) for c in context[:1]]
    head += [Heading(e.text, True, "" if shared else e.detail, e.links) for e in heads]
    body = [
        (
            down.entry(row, notes, whole=down.kind == "column"),
            *([described.get(row, Entry(""))] if context else []),
            *(cells.get((row, name), Entry("–")) for name in group),
        )
        for row in rows
    ]
    caption = f"{title}: {', '.join(firsts)}" if shared else title
    return Table(caption, tuple(head), tuple(body), caption, notes=_told(notes))


def _told(notes: Sequence[_Note]) -> tuple[tuple[str, tuple[Link, ...]], ...]:
    """Return notes for a caption: blocks that have the same links share one."""
    blocks: dict[tuple[Link, ...], list[str]] = {}
    for note in notes:
        blocks.setdefault(note.links, []).append(note.about)
    return tuple((f"of {enumerated(names)}", links) for links, names in blocks.items())
