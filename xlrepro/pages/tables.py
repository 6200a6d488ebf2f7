"""Tables of pages: pandas frames shown by one template that escapes all text."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import SIGNS
from xlrepro.evidence.compare import ABOVE, BELOW, WITHIN
from xlrepro.evidence.provenance import KEY_LENGTH, command_of, total_cost, trainings_sentence
from xlrepro.evidence.text import enumerated, number
from xlrepro.experiments import is_outdated
from xlrepro.trials import Record, duration

MOST_COLUMNS = 7  # of numbers, in a table as wide as a page
STALE = "†"
MARKS = {WITHIN: "=", ABOVE: "▲", BELOW: "▼"}
# Middle tones, so that both themes stay readable.
COLOURS = {
    "within": "#2e8b5733", "above": "#b0780033", "below": "#b0780033", "replicates": "#2e8b5755",
    "consistent": "#2e8b5755", "contradicts": "#d55e0055", "inconsistent": "#d55e0055",
    "no effect": "#d55e0033", "inconclusive": "#b0780022", "not testable here": "#80808022",
    "not run": "#80808022",
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """What a table's cell shows beyond a plain text or number.

    Attributes:
        text: what it says.
        detail: a second, smaller line.
        sort: what the column is sorted by: a number, or ``None`` for the text.
        kind: a verdict; becomes a class and a colour.
        title: shown when the pointer rests on it.
        href: makes the text a link.
        keys: of records, each a place that a link may lead to.
    """

    text: str
    detail: str = ""
    sort: float | None = None
    kind: str = ""
    title: str = ""
    href: str = ""
    keys: tuple[str, ...] = ()


@cache
def block_titles(paper: str) -> dict[str, str]:
    """Return what pages call the blocks of a paper's rows, by name; see ``data/catalog.yaml``."""
    shown = (e.shown for k, e in load_catalog().experiments.items() if k.startswith(f"{paper}/"))
    return {name[:-1]: title for of in shown for name, title in of.items() if name.endswith(":")}


def titled(text: str, paper: str) -> str:
    """Return a text about rows with the titles of their blocks in place of the blocks' names.

    Example:
        >>> titled("not run: Table 4: choice:MAN in es", "man_moe")
        'not run: Table 4: MAN-MOE+CharCNN, alternative reading: MAN in es'
        >>> titled("open, word-mapped", "word_order")
        'open, mapped vectors'
    """
    titles = block_titles(paper)
    if not titles:
        return text
    name = "|".join(sorted(map(re.escape, titles), key=len, reverse=True))
    text = re.sub(rf"(?<![\w-])({name}):(?=\S)", lambda of: f"{titles[of[1]]}: ".lstrip(": "), text)
    at = rf"(\b[Bb]locks? |^\w+, )({name})\b(?!-)"
    return re.sub(at, lambda of: of[1] + (titles[of[2]] or of[2]), text)


def short_names(systems: Iterable[str], experiment: str) -> dict[str, str]:
    """Return what to call each system: without its block where all are of one.

    Example:
        >>> short_names(["word:ORT", "word:TRS"], "word_order/table2")["word:ORT"]
        'ORT'
        >>> short_names(["word:ORT", "word-mapped:ORT"], "word_order/table2")["word-mapped:ORT"]
        'ORT (mapped vectors)'
    """
    entry, titles = load_catalog().experiment(experiment), block_titles(experiment.split("/")[0])
    blocks = {s: s.partition(":")[0] for s in systems}
    names, one = {s: entry.row_name(s) for s in blocks}, len({*blocks.values()}) == 1
    return {s: name if one or not (name and (title := titles.get(blocks[s], blocks[s])))
            else f"{name} ({title})" for s, name in names.items()}  # fmt: skip


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("xlrepro.pages"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.globals |= {"signs": SIGNS, "titled": titled}
    return environment.get_template("pages.html").module


def markup(macro: str, *values: Any, **named: Any) -> Markup:
    """Return HTML by a macro of ``templates/pages.html``; all text in it is escaped.

    It has no empty line: Markdown takes it as one block.
    """
    html = str(getattr(_template(), macro)(*values, **named))
    return Markup(re.sub(r"\n\s*\n+", "\n", html.strip()))


@dataclass(frozen=True, eq=False)
class Table:
    """A frame that shows itself as HTML in a notebook.

    ``repr`` is one line without measured numbers, so that a notebook's text output stays the
    same when a number moves by a hair.

    Attributes:
        caption: what it shows, one sentence.
        frame: text, numbers or `Cell`; the first column holds the heads of the rows. A column is
            set flush right where all it holds can be sorted by number.
        summary: the stable line.
        folded: what a reader clicks on to see it; empty: it is in sight.
    """

    caption: str
    frame: pd.DataFrame
    summary: str = ""
    folded: str = ""

    def _repr_html_(self) -> Markup:
        cells = self.frame.map(as_cell)
        numeric = [
            i > 0 and any(c.sort is not None for c in of) and all(len(c.text) <= 40 for c in of)
            for i, of in enumerate(cells[name] for name in cells)
        ]
        heads = [*map(as_cell, cells)]
        html = markup("table", self.caption, heads, cells.to_numpy().tolist(), numeric, COLOURS)
        return markup("shown", [(self.folded, html)], "xl-fold") if self.folded else html

    def __repr__(self) -> str:
        return self.summary or f"{self.caption} ({len(self.frame)} rows)"


def as_cell(value: Any) -> Cell:
    """Return a frame's value as a cell: a whole number as it is, others with two decimals."""
    if isinstance(value, Cell):
        return value
    if value is None or value != value:
        return Cell("")
    if isinstance(value, str):
        return Cell(value)
    decimals = 2 if isinstance(value, float) else 0
    return Cell(number(value, decimals), sort=float(value))


def framed(rows: Iterable[Sequence[Any]], *columns: str) -> pd.DataFrame:
    """Return a frame of rows, with what its columns hold left as it is."""
    return pd.DataFrame([list(row) for row in rows], columns=list(columns), dtype=object)


# -- Comparison ----------------------------------------------------------------------------------


def score(row: Mapping[str, Any]) -> Cell:
    """Return ours and its interval, as many decimals as the paper has, and the link to its record.

    The interval is ± its half, or its two ends where it is cut off at one (`Catalog.limits`).
    """
    places = 3 if row["unit"] == "fraction" else 2
    if row["printed"]:
        places = len(row["printed"].partition(".")[2])
    elif row["unit"] == "count" and (row["reproduced"] % 1 == 0 or row["reproduced"] >= 1000):
        places = 0
    mean, low, high = (row[name] for name in ("reproduced", "low", "high"))
    text, half = number(mean, places), number((high - low) / 2, places)
    if half and math.isclose(high - mean, mean - low, abs_tol=1e-9):
        text += f"\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{half}"
    elif half:
        text += f" ({number(low, places)} to {number(high, places)})"
    text += STALE * row["stale"]
    theirs = [row["printed"], number(row["difference"], places, signed=True)]
    theirs[1] += f" {MARKS[row['verdict']]}" if row["verdict"] in MARKS else ""
    return Cell(
        text, ", ".join(filter(None, theirs)), row["reproduced"], row["verdict"],
        href=f"#r-{row['keys'][0][:KEY_LENGTH]}" if row["keys"] else "",
    )  # fmt: skip


def comparison_tables(frame: pd.DataFrame) -> list[Table]:
    """Return a comparison as tables that fit a page: systems and columns across each other.

    Systems that share no column with others have a table of their own; columns and systems that
    nobody ran are folded below.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns, of one experiment and profile.
    """
    key, profile = (str(frame[name].iloc[0]) for name in ("experiment", "profile"))
    ran = frame[frame["n"] > 0]
    usual = ran.groupby("system")["n"].agg(lambda counts: counts.mode().max()).to_dict()
    scores, seeds = with_seeds(ran)

    def cell(row: Mapping[str, Any]) -> Cell:
        if not row["n"]:
            return Cell(row["verdict"], row["printed"], kind=row["verdict"], title=row["note"])
        shown = score(row)
        other = f"; n={row['n']}" * bool(row["n"] != usual[row["system"]])
        return Cell(**{**vars(shown), "detail": (shown.detail + other).removeprefix("; ")})

    entry = load_catalog().experiment(key)
    systems, columns = (frame[name].unique() for name in ("system", "column"))
    heads: dict[str, Any] = {c: entry.column_name(c) for c in columns}
    others = {s for s in scores["system"] if usual[s] != seeds}
    titles, blocks = block_titles(key.partition("/")[0]), {s.partition(":")[0] for s in systems}
    labels = {s: entry.other_weights(profile, s) for s in usual}  # of what ran
    proxied = [label for _, label in {(s.partition(":")[0], label) for s, label in labels.items()}]
    for s in systems:
        block = s.partition(":")[0]
        weights = labels.get(s, "")
        alone = len(blocks) == 1 or (weights and proxied.count(weights) == 1)
        title = "" if alone else titles.get(block, block)
        said = [title, weights, f"n={usual.get(s)}" * (s in others)]
        heads[s] = Cell(entry.row_name(s) or s, "; ".join(filter(None, said)))
    run = f"{len(systems)} systems x {len(columns)} columns, {len(ran)} of {len(frame)} cells"
    here, of_ours = frame["column"].isin(ran["column"]), frame["system"].isin(ran["system"])
    tables = []
    for part, what in (
        *((each, "") for each in _apart(frame[here & of_ours])),
        (frame[here & ~of_ours], "system"),
        (frame[~here], "column"),
    ):
        if part.empty:
            continue
        data = entry.proxies(profile, (), part["column"]).replace("; ", "; data: ", 1)
        title = f"{entry.title} ({profile}){data}"
        wide = part.assign(cell=list(map(cell, part.to_dict("records"))))
        wide = wide.pivot(index="system", columns="column", values="cell")
        wide = wide.reindex(index=part["system"].unique(), columns=part["column"].unique())
        if long := wide.shape[1] > wide.shape[0]:
            wide = wide.T
        first = ", ".join(entry.reported[0].column) if long and entry.reported else "column"
        first = entry.shown.get("column", first)
        groups, folded = np.array_split(wide.columns, -(-wide.shape[1] // MOST_COLUMNS)), ""
        if what and len(ran):
            count, why = part[what].nunique(), enumerated(list(part["verdict"].unique()))
            groups = [wide.columns]
            folded = f"{count} {what}{'s' * (count != 1)} without a number of ours: {why}"
        for group in groups:
            shown = wide[group].dropna(how="all").rename(index=heads, columns=heads)
            shown = shown.where(shown.notna(), "–").reset_index(names=first if long else "system")
            tables.append(Table(title, shown, f"{key}, {profile}: {run} run", folded))
    return tables


def _apart(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the cells of systems and columns that have none in common with others."""
    groups: list[set[str]] = []
    for _, columns in frame.groupby("system", sort=False)["column"]:
        shared = [group for group in groups if not group.isdisjoint(columns)]
        groups = [group for group in groups if group not in shared] + [{*columns}.union(*shared)]
    return [frame[frame["column"].isin(group)] for group in groups]


def with_seeds(ran: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the cells that seeds change, and how many most of them have; 0 where there is none.

    Sizes of corpora are left out, which no seed changes.
    """
    scores = ran[ran["unit"] != "count"]
    scores = ran if scores.empty else scores
    return scores, int(scores["n"].mode().max()) if len(scores) else 0


def legend(frame: pd.DataFrame) -> Markup:
    """Return what a comparison says once, above its tables: units, n, ±, signs, proxies."""
    profile, ran = str(frame["profile"].iloc[0]), frame[frame["n"] > 0]
    _, seeds = with_seeds(ran)
    key = str(frame["experiment"].iloc[0])
    entry, paper = load_catalog().experiment(key), key.partition("/")[0]
    said = {"percent": " in percent", "points": " in points", "fraction": " from 0 to 1"}
    less = {m: " (less is better)" * (load_catalog().metric(m).higher_is_better is False)
            for m in frame["metric"].unique()}  # fmt: skip
    units = [entry.column_name(m) + said.get(u.partition(" ")[0], "") + less[m]
             for m, u in zip(frame["metric"], frame["unit"]) if m]  # fmt: skip
    return markup(
        "legend", ", ".join(dict.fromkeys(units)), profile,
        seeds=entry.counted_seeds(seeds) if seeds else "",
        stale=STALE * bool(ran["stale"].any()),
        version=load_catalog().paper(paper).version * any(frame["printed"]),
        proxies=profile in {**entry.stand_ins, **entry.weights},
    )  # fmt: skip


def run_table(mine: pd.DataFrame, shown: pd.DataFrame, title: str) -> Table:
    """Return the cells of the user's own run beside the published ones and the paper's."""
    published = {(r["system"], r["column"]): r for r in shown[shown["n"] > 0].to_dict("records")}
    key, profile = (str(mine[name].iloc[0]) for name in ("experiment", "profile"))
    rows, entry = [], load_catalog().experiment(key)
    at = str(shown["profile"].iloc[0]) if published else ""
    rows_of = short_names(mine["system"].unique(), key)
    for row in mine[mine["n"] > 0].to_dict("records"):
        other = published.get((row["system"], row["column"]))
        ours, theirs = (r and Cell(score(r).text, sort=r["reproduced"]) for r in (row, other))
        column = entry.column_name(row["column"])
        weights = entry.other_weights(at, row["system"])
        system = Cell(rows_of[row["system"]] or row["system"], weights and f"{at}: {weights}")
        rows.append((system, column, row["printed"], theirs, ours, row["n"]))
    data = f"; data at {at}: {entry.stand_ins[at].data}" if at in entry.stand_ins else ""
    other = f"ours, {at}" + " (proxies)" * (at in {**entry.stand_ins, **entry.weights})
    heads = ("system", "column", "the paper", other if at else "ours", f"this run ({profile})", "n")
    return Table(title + data, framed(rows, *heads), "This run beside the published numbers")


# -- Provenance ----------------------------------------------------------------------------------


def provenance_table(records: Sequence[Record]) -> Table:
    """Return the records behind a page, those of the same systems and code in one row.

    The caption has their total cost, each row the command that repeats it.
    """
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in records:
        standing = "outdated" if is_outdated(r) else "current"
        code = (r.git.commit or "none", "changed sources" * bool(r.git.dirty), standing)
        place: Any = (r.device, f"{r.threads} thread{'s' * (r.threads != 1)}")
        groups.setdefault((r.experiment, ", ".join(r.systems), *code, *place), []).append(r)
    rows = []
    for (_, systems, commit, dirty, code_is, *place), of in groups.items():
        wall, peak = sum(r.wall_seconds for r in of), max(r.peak_memory_bytes for r in of)
        rows.append((
            Cell(systems, command_of(of)), ", ".join(str(s) for s in sorted({r.seed for r in of})),
            Cell("", keys=tuple(r.key[:KEY_LENGTH] for r in of)),
            Cell(commit[:KEY_LENGTH], dirty), code_is, Cell(*place),
            Cell(duration(wall), sort=wall), peak / 2**30,
            min(r.started for r in of)[:16].replace("T", " "),
        ))  # fmt: skip
    names = ("systems", "seeds", "records", "commit", "code", "device", "wall time", "peak GiB",
             "started (UTC)")  # fmt: skip
    caption = f"Records behind this page. Total: {total_cost(records)}."
    caption = f"{caption} {trainings_sentence(records)}".rstrip()
    return Table(caption, framed(rows, *names), f"{len(records)} records")
