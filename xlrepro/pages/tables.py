"""Tables of pages: pandas frames shown by one template that escapes all text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import (
    CONSISTENT,
    CONTRADICTS,
    INCONCLUSIVE,
    INCONSISTENT,
    NO_EFFECT,
    NOT_RUN,
    NOT_TESTABLE,
    REPLICATES,
    SIGNS,
    Claim,
    ClaimVerdict,
    Judge,
    claims_of,
    conditions_of,
    judge_all,
    kept_at_five_percent,
    touching,
)
from xlrepro.evidence.compare import ABOVE, BELOW, NOT_HERE, QUOTED, WITHIN
from xlrepro.evidence.deviations import (
    WEIGHTS,
    Deviation,
    deviations_by_weight,
    first_sentence,
    load_deviations,
)
from xlrepro.evidence.provenance import KEY_LENGTH, command_of, total_cost, trainings_sentence
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import Pair
from xlrepro.evidence.text import enumerated, in_words, minus, number
from xlrepro.experiments import standing
from xlrepro.trials import PROFILES, Record, duration

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cell", "Link", "Table", "enumerated", "in_words", "minus", "number", "render"]

MOST_COLUMNS = 7  # of numbers, in a table as wide as a page
EVERY = "../deviations.html"  # the page of all deviations, as seen from a paper's pages
STALE = "†"
MARKS = {WITHIN: "=", ABOVE: "▲", BELOW: "▼"}
# Middle tones, so that both themes stay readable.
COLOURS = {
    WITHIN: "#2e8b5733", ABOVE: "#b0780033", BELOW: "#b0780033", REPLICATES: "#2e8b5755",
    CONSISTENT: "#2e8b5755", CONTRADICTS: "#d55e0055", INCONSISTENT: "#d55e0055",
    NO_EFFECT: "#d55e0033", INCONCLUSIVE: "#b0780022", NOT_TESTABLE: "#80808022",
    NOT_RUN: "#80808022",
}  # fmt: skip
IN_FILE = ["system", "column", "metric", "unit", "printed", "reproduced", "low", "high", "n",
           "difference", "verdict", "note"]  # fmt: skip


class Link(NamedTuple):
    """A link by a short name; ``title`` is shown when the pointer rests on it."""

    text: str
    href: str
    title: str = ""
    strong: bool = False


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
        anchor: its id, that a link may lead to.
        strong: whether it is bold.
        code: whether it is code.
        links: further places to go, on a line of their own.
        folded: a line to click on, and the lines that it unfolds.
        keys: of records, each a place that a link may lead to.
    """

    text: str
    detail: str = ""
    sort: float | None = None
    kind: str = ""
    title: str = ""
    href: str = ""
    anchor: str = ""
    strong: bool = False
    code: bool = False
    links: tuple[Link, ...] = ()
    folded: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


class Note(NamedTuple):
    """A line below a caption, and links behind it."""

    text: str
    links: tuple[Link, ...] = ()


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("xlrepro.pages"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("table.html").module


def render(macro: str, *values: Any) -> Markup:
    """Return HTML by a macro of ``templates/table.html``; all text in it is escaped."""
    return Markup(getattr(_template(), macro)(*values))


@dataclass(frozen=True, eq=False)
class Table:
    """A frame that shows itself as HTML in a notebook and as text in a terminal.

    ``repr`` is one line without measured numbers, so that a notebook's text output stays the
    same when a number moves by a hair; ``str`` is the whole table.

    Attributes:
        caption: what it shows, one sentence.
        frame: text, numbers or `Cell`; the first column holds the heads of the rows. A column is
            set flush right where all it holds can be sorted by number.
        summary: the stable line.
        notes: lines below the caption.
        details: column -> a smaller line below its head.
        sortable: whether a click sorts it.
    """

    caption: str
    frame: "pd.DataFrame"
    summary: str = ""
    notes: tuple[Note, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    sortable: bool = True

    def _repr_html_(self) -> str:
        return render("table", self)

    def __repr__(self) -> str:
        return self.summary or f"{self.caption} ({len(self.frame)} rows)"

    @property
    def heads(self) -> list[tuple[Cell, bool]]:
        """The heads of the columns, and whether each is of numbers."""
        names = map(str, self.frame.columns)
        return [
            (Cell(name, self.details.get(name, "")), numeric)
            for name, numeric in zip(names, self._numeric, strict=True)
        ]

    @cached_property
    def body(self) -> list[list[tuple[Cell, bool]]]:
        """The rows: cells, and whether each is of a column of numbers."""
        return [
            [(as_cell(value), numeric) for value, numeric in zip(row, self._numeric, strict=True)]
            for row in self.frame.itertuples(index=False)
        ]

    @cached_property
    def _numeric(self) -> list[bool]:
        columns = (self.frame.iloc[:, i] for i in range(self.frame.shape[1]))
        cells = [[as_cell(value) for value in column] for column in columns]
        return [
            i > 0 and any(c.sort is not None for c in of) and not any(len(c.text) > 40 for c in of)
            for i, of in enumerate(cells)
        ]

    @staticmethod
    def colour(kind: str) -> str:
        """Return the style of a cell's ground by its kind."""
        return f"background-color:{COLOURS[kind]}" if kind in COLOURS else ""

    def __str__(self) -> str:
        """Return the table as aligned plain text."""
        shown = [[head.text for head, _ in self.heads]]
        shown += [[c.text + f" ({c.detail})" * bool(c.detail) for c, _ in row] for row in self.body]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = [
            "  ".join(
                text.rjust(width) if numeric else text.ljust(width)
                for text, width, numeric in zip(row, widths, self._numeric, strict=True)
            ).rstrip()
            for row in shown
        ]
        return "\n".join([self.caption, "", *lines])


def as_cell(value: Any) -> Cell:
    """Return a frame's value as a cell: a whole number as it is, others with two decimals."""
    if isinstance(value, Cell):
        return value
    if value is None or value != value:
        return Cell("")
    if isinstance(value, str):
        return Cell(value)
    if float(value).is_integer() and not isinstance(value, float):
        return Cell(f"{value:,}", sort=float(value))
    return Cell(number(float(value)), sort=float(value))


def framed(rows: Iterable[Sequence[Any]], *columns: str) -> "pd.DataFrame":
    """Return a frame of rows, with what its columns hold left as it is."""
    import pandas as pd

    return pd.DataFrame([list(row) for row in rows], columns=list(columns), dtype=object)


# -- Comparison ----------------------------------------------------------------------------------


def decimals_of(printed: str, unit: str = "percent", value: float = 0.0) -> int:
    """Return how many decimals to show: those the paper printed, else what the unit is worth."""
    if printed.strip():
        return len(printed.partition(".")[2])
    if unit == "count" and (value >= 100 or float(value).is_integer()):
        return 0
    return 3 if unit == "fraction" else 2


def run_summary(frame: "pd.DataFrame") -> str:
    """Return one line that says how much was run; no measured number in it."""
    key, profile = (", ".join(dict.fromkeys(frame[name])) for name in ("experiment", "profile"))
    line = f"{key}, {profile}: {frame['system'].nunique()} systems x "
    line += f"{frame['column'].nunique()} columns, {int((frame['n'] > 0).sum())} of {len(frame)} "
    counts = {v: int((frame["verdict"] == v).sum()) for v in (NOT_HERE, QUOTED)}
    return line + "cells run" + "".join(f", {n} {v}" for v, n in counts.items() if n)


def cells_table(frame: "pd.DataFrame") -> Table:
    """Return a comparison cell by cell, for a terminal: a row per system and column."""
    rows = []
    for row in frame.to_dict("records"):
        places = decimals_of(row["printed"], row["unit"], row["reproduced"])
        span = f"{number(row['low'], places)} to {number(row['high'], places)}" * (row["n"] > 1)
        rows.append(
            (row["system"], row["column"], row["printed"], number(row["reproduced"], places), span,
             row["n"], number(row["difference"], places, True),
             Cell(row["verdict"], kind=row["verdict"]), row["note"])
        )  # fmt: skip
    names = ("system", "column", "reported", "reproduced", "95 % interval", "n", "difference",
             "verdict", "note")  # fmt: skip
    summary = run_summary(frame) if rows else "No cells."
    return Table(summary, framed(rows, *names), summary)


def best_cells(frame: "pd.DataFrame") -> set[tuple[str, str]]:
    """Return (system, column) of ours that are not below the best, column by column, in a block.

    Those whose interval reaches the best one's mean are bold with it; where all are, none is. Of a
    sweep, row by row: its columns are values of a setting.
    """
    catalog = load_catalog()
    sweep = catalog.experiment(str(frame["experiment"].iloc[0])).sweep
    cells: set[tuple[str, str]] = set()
    ran = frame[frame["n"] > 0].reset_index(drop=True)
    for (_, _, metric), part in ran.groupby(
        ["block", "system" if sweep else "column", "metric"], sort=False
    ):
        higher = catalog.higher_is_better(str(metric))
        if higher is None:
            continue
        best = part["reproduced"].max() if higher else part["reproduced"].min()
        end = part["high" if higher else "low"].fillna(part["reproduced"])
        bold = part[end >= best] if higher else part[end <= best]
        if len(bold) < len(part):
            cells |= set(zip(bold["system"], bold["column"], strict=True))
    return cells


def _overview_cell(row: Mapping[str, Any], usual: int, best: bool) -> Cell:
    """Return one cell of the overview: ours ± half an interval, and below it the paper's number."""
    places = decimals_of(row["printed"], row["unit"], row["reproduced"])
    theirs = row["printed"]
    if not row["n"]:
        return Cell(row["verdict"], theirs, kind=row["verdict"], title=row["note"])
    half = number((row["high"] - row["low"]) / 2, places)
    text = number(row["reproduced"], places) + f" ± {half}" * bool(half) + STALE * row["stale"]
    if gap := number(row["difference"], places, signed=True):
        theirs = f"{theirs}, {gap} {MARKS.get(row['verdict'], '')}".rstrip()
    if row["n"] != usual:
        theirs = "; ".join(filter(None, (theirs, f"n={row['n']}")))
    link = f"#r-{row['keys'][0][:KEY_LENGTH]}" if row["keys"] else ""
    return Cell(text, theirs, row["reproduced"], row["verdict"], row["verdict"], link, strong=best)


def comparison_tables(
    frame: "pd.DataFrame", deviations: Sequence[Deviation] = (), labels: Mapping[str, str] = {}
) -> list[Table]:
    """Return a comparison as tables that fit a page: systems and columns across each other.

    Args:
        frame: what `xlrepro.evidence.compare.compare` returns, of one experiment and profile.
        deviations: those of the page; a note names what touches some rows or columns alone.
        labels: system -> what ran in it, where it stands for a row of the paper.
    """
    experiment, profile = (str(frame[name].iloc[0]) for name in ("experiment", "profile"))
    systems, columns = (list(dict.fromkeys(frame[name])) for name in ("system", "column"))
    long = len(columns) > len(systems)
    ran = frame[frame["n"] > 0]["n"]
    usual, best = int(ran.mode().max()) if len(ran) else 0, best_cells(frame)
    cells = {
        (r["system"], r["column"]): _overview_cell(r, usual, (r["system"], r["column"]) in best)
        for r in frame.to_dict("records")
    }
    title = f"{load_catalog().experiment(experiment).title} ({profile})"
    described = {c.column: Cell(c.printed, sort=c.value, title=c.source)
                 for c in load_reported().cells(experiment, context=True)
                 if long and c.column in columns}  # fmt: skip
    local = [d for d in deviations if any(d.place(experiment))]
    notes = [Note(f"Of {', '.join(d.place(experiment)[1])} alone:", (deviation_link(d),))
             for d in local]  # fmt: skip
    tables = []
    for group in _groups(systems if long else columns, ":" if long else "/"):
        down = columns if long else systems
        rows = []
        for name in down:
            at = [(across, name) if long else (name, across) for across in group]
            if not any(place in cells for place in at):
                continue
            head = [Cell(name, labels.get(name, ""))]
            head += [described.get(name, Cell(""))] * bool(described)
            rows.append([*head, *(cells.get(place, Cell("–")) for place in at)])
        if rows:
            first = ["column" if long else "system"] + ["distance"] * bool(described)
            tables.append(Table(title, framed(rows, *first, *group), title, details=dict(labels)))
    summary = run_summary(frame)
    return [replace(t, summary=summary, notes=tuple(notes)) if i == 0 else t
            for i, t in enumerate(tables)]  # fmt: skip


def _groups(names: Sequence[str], mark: str) -> list[list[str]]:
    """Return names in parts that a page is wide enough for, kept together by first part."""
    parts: dict[str, list[str]] = {}
    for name in names:
        parts.setdefault(name.partition(mark)[0] if mark in name else "", []).append(name)
    groups: list[list[str]] = [[]]
    for part in parts.values():
        count = -(-len(part) // MOST_COLUMNS)
        size = -(-len(part) // count)
        for start in range(0, len(part), size):
            if len(groups[-1]) + size > MOST_COLUMNS:
                groups.append([])
            groups[-1] += part[start : start + size]
    return [group for group in groups if group]


def legend(frame: "pd.DataFrame") -> list[str]:
    """Return what a comparison says once, above its tables: units, n, ±, signs, proxies."""
    entry = load_catalog().experiment(str(frame["experiment"].iloc[0]))
    profile, ran = str(frame["profile"].iloc[0]), frame[frame["n"] > 0]
    told = ("percent", "points", "fraction")  # units that a metric's name does not say
    units = [f"{m} in {u}" if u in told and u not in m else m
             for m, u in dict.fromkeys(zip(frame["metric"], frame["unit"])) if m]  # fmt: skip
    parts = [", ".join(dict.fromkeys(units)) + "."] if units else []
    if len(ran):
        usual = int(ran["n"].mode().max())
        over = f"mean over {entry.counted_seeds(usual)} ± half of its 95 % confidence interval"
        parts.append(
            f"Large: ours at {profile}, {over if usual > 1 else 'one seed'}"
            + " unless n is given" * bool((ran["n"] != usual).any())
            + "; the interval covers seeds, not the choice of test items; a click leads to the "
            "records."
        )
        parts += [f"{STALE}: the code has changed since."] * bool(ran["stale"].any())
        parts += ["Bold: not below the best of its block."] * bool(best_cells(frame))
    if any(frame["printed"]):
        parts.append("Small: the paper's number, then ours minus it.")
        source = load_catalog().paper(str(frame["experiment"].iloc[0]).split("/")[0]).version
        parts += [f"The paper's numbers: {source}."] * ("pictures" in source)
        parts += ["= within, ▲ above, ▼ below the paper."] * entry.is_judged(profile)
    if (proxy := entry.stand_ins.get(profile)) is not None:
        where = " there" * bool(proxy.only)
        parts.append(
            f"Our data are not the paper's (proxy: {proxy.data}), so differences have no verdict"
            f"{where}."
        )
    if weights := entry.weights.get(profile):
        each = dict.fromkeys(weights.values())
        said = "; ".join(f"{w} for {enumerated([b for b in weights if weights[b] == w])}"
                         for w in each)  # fmt: skip
        parts.append(f"Proxies for the paper's weights: {said}; those rows have no verdict.")
    return parts


def pairs_table(pairs: Sequence[Pair]) -> Table:
    """Return differences paired by seed, a row per pair of systems and column."""
    rows = []
    for one, other, gap in pairs:
        ends = gap.interval
        span = f"{number(ends.low)} to {number(ends.high)}" if ends else "one seed"
        by_seed = ", ".join(number(v, signed=True) for v in gap.values)
        size = Cell(number(gap.mean, signed=True), sort=gap.mean)
        rows.append((f"{one} − {other}", gap.column, size, span, gap.n, by_seed))
    names = ("difference", "column", "mean", "95 % interval", "n", "by seed")
    return Table("Differences paired by seed.", framed(rows, *names))


def run_table(mine: "pd.DataFrame", shown: "pd.DataFrame", title: str) -> Table:
    """Return the cells of the user's own run beside the published ones and the paper's."""
    published = {(r["system"], r["column"]): r for r in shown.to_dict("records")}
    same = mine["profile"].iloc[0] == shown["profile"].iloc[0] if len(mine) and len(shown) else True
    rows = []
    for row in mine[mine["n"] > 0].to_dict("records"):
        other = published.get((row["system"], row["column"]), {})
        rows.append((row["system"], row["column"], row["printed"] or "–",
                     _score(other) if other.get("n") else "–", _score(row), row["n"]))  # fmt: skip
    profile = "published" if same or not len(shown) else f"published, {shown['profile'].iloc[0]}"
    return Table(title, framed(rows, "system", "column", "the paper", profile, "this run", "n"),
                 "This run beside the published numbers")  # fmt: skip


def _score(row: Mapping[str, Any]) -> Cell:
    places = decimals_of(row["printed"], row["unit"], row["reproduced"])
    half = number((row["high"] - row["low"]) / 2, places)
    text = number(row["reproduced"], places) + f" ± {half}" * bool(half)
    return Cell(text, sort=row["reproduced"])


@dataclass(frozen=True, eq=False)
class CellsFile:
    """Every cell of a comparison, as a file of comma-separated values that a link holds."""

    frame: "pd.DataFrame"

    def __repr__(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        key, profile = (str(self.frame[name].iloc[0]) for name in ("experiment", "profile"))
        text = self.frame.to_csv(
            columns=IN_FILE, index=False, float_format="%.5g", lineterminator="\n"
        )
        label = f"All {len(self.frame)} cells with their intervals, as CSV"
        name = f"{key.replace('/', '-')}-{profile}.csv"
        return render("download", name, quote(text, safe=" ,:/()=.+-%"), label)


# -- Claims --------------------------------------------------------------------------------------


def verdict_cell(verdict: ClaimVerdict | None) -> Cell:
    """Return a verdict as a cell: its word, below it what was compared and what to know."""
    if verdict is None:
        return Cell("–", title="does not depend on this block")
    parts = [verdict.told]
    if verdict.n > 1 and verdict.alone is not None:
        parts.append(f"in {verdict.alone} of {verdict.n} seeds")
    elif verdict.n:
        parts.append(f"n = {verdict.n}")
    if verdict.decidable:
        parts.append(f"detectable from {number(verdict.decidable)}")
    if verdict.power is not None:
        parts.append(f"power {100 * verdict.power:.0f} %")
    text = f"{SIGNS.get(verdict.status, '')} {verdict.status}".strip()
    detail = "; ".join(filter(None, (verdict.note, *parts)))
    return Cell(text, detail, kind=verdict.status)


def claims_table(key: str, profiles: Sequence[str], judge: Judge) -> Table:
    """Return the authors' claims of a paper or an experiment with their verdicts.

    Our readings of a claim (stricter, weaker, sign-only) are folded under it.

    Args:
        key: ``"word_order"`` or ``"word_order/table2"``.
        profiles: a column for each, beside the one for the reported numbers.
        judge: knows the reproduced cells of the paper.
    """
    claims = claims_of(key, judge)
    wanted = conditions_of(key.split("/", 1)[0], profiles, judge.numbers)
    verdicts = judge_all(claims, wanted, judge)

    def says_something(label: str) -> bool:
        of = (each[label] for each in verdicts.values())
        return any(v is not None and v.status != NOT_RUN for v in of)

    wanted = [w for w in wanted if not w.blocks or says_something(w.label)]
    known, by_id = load_deviations(), {c.id: c for c in claims}

    def root(claim: Claim) -> str:
        while claim.variant_of in by_id:
            claim = by_id[claim.variant_of]
        return claim.id

    readings: dict[str, list[Claim]] = {}
    for claim in claims:
        readings.setdefault(root(claim), []).append(claim)
    rows = []
    for own, claim in ((of, by_id[name]) for name, of in readings.items()):
        links = [
            deviation_link(d, "" if key in d.experiments else EVERY)
            for d in touching(claim, judge, profiles, known)
        ]
        folded = [f"{len(own) - 1} reading{'s' * (len(own) > 2)} of ours"] * (len(own) > 1)
        for each in own[1:]:
            said = ", ".join(
                f"{w.label}: {v.status}" for w in wanted if (v := verdicts[each.id][w.label])
            )
            folded.append(f"{each.id} ({each.kind}): {each.text} {said}")
        rows.append(
            [Cell(claim.id, claim.kind if claim.kind != "text" else "", anchor=claim.id),
             Cell(claim.text, f"{claim.section}; {claim.cells}",
                  title=claim.rule or claim.predicate or "", links=tuple(links[:2]),
                  folded=tuple(folded)),
             *(verdict_cell(verdicts[claim.id][w.label]) for w in wanted)]
        )  # fmt: skip
    caption = (
        f"Claims, {key}: the verdict on the reported numbers and on ours. Replicates: every "
        "comparison is significant in its direction (95 %), and so are 95 % of draws of the means. "
        "Contradicts: one is significant the other way round, corrected (Holm) for the number of "
        "comparisons. No effect: each interval lies within a quarter of the reported difference. "
        "Not testable here: a condition is not met; it stands first below the verdict. Power: the "
        "chance that the claim would replicate if the reported differences were true."
    )
    for want in (w for w in wanted if w.profile in PROFILES and not w.blocks):
        of_authors = [verdicts[c.id][want.label] for c in claims if c.counted]
        tested = [v for v in of_authors if v is not None and v.p and v.status != NOT_TESTABLE]
        caption += (
            f" At {want.label} {len(tested)} of the authors' {len(of_authors)} sentences were "
            f"tested; {kept_at_five_percent(of_authors)} of these stay significant "
            "in one direction at a false discovery rate of 5 % (Benjamini–Hochberg)."
        )
    names = ("id", "claim", *(w.label for w in wanted))
    return Table(caption, framed(rows, *names), f"{key}: {len(rows)} claims judged")


# -- Deviations and provenance -------------------------------------------------------------------


def deviation_link(deviation: Deviation, page: str = "") -> Link:
    """Return a link by the deviation's id, bold if it is of major weight.

    Args:
        deviation: where it leads.
        page: that lists it, as seen from the link; its own page if empty.
    """
    href = f"{page}#deviation-{deviation.id}"
    return Link(deviation.id, href, deviation.title, deviation.weight == WEIGHTS[0])


@dataclass(frozen=True)
class DeviationList:
    """Deviations as a list, those of major weight first: each folds out; ``repr`` is a line.

    Attributes:
        about: what they are deviations of.
        deviations: in the order of the list.
        linked: whether each links to the pages of its experiments; else these are one page's.
        claims: id -> paper and claim of those that it touches.
    """

    about: str
    deviations: tuple[Deviation, ...]
    linked: bool = False
    claims: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self.about}: {len(self.deviations)} known deviations"

    def _repr_html_(self) -> str:
        return render("deviations", [self._item(d) for d in self.deviations])

    def _item(self, d: Deviation) -> dict[str, Any]:
        paper, here = first_sentence(d.paper), first_sentence(d.here)
        folded = [("The paper", d.paper)] * (paper != d.paper)
        folded += [("Here", d.here)] * (here != d.here)
        folded.append(("Why", d.why))
        if not self.linked and (only := _only(d, self.about)):
            folded.append(("Touches here", only.strip(" ()")))
        return {
            **d.model_dump(include={"id", "title", "certainty", "effect"}),
            "profiles": [p for p in PROFILES if p in d.profiles],
            "weight_said": {"most": "major; ", "little": "minor; "}.get(d.weight, ""),
            "paper_first": paper,
            "here_first": here,
            "folded": folded,
            "pages": [(e, _only(d, e)) for e in d.experiments] if self.linked else [],
            "claims": self.claims.get(d.id, ()),
        }


def _only(deviation: Deviation, experiment: str) -> str:
    """Return which rows and columns alone of an experiment it touches; else nothing."""
    parts = [f"{kind}s {', '.join(names)}" for kind, names in deviation.named(experiment).items()]
    return f" ({'; '.join(parts)})" * bool(parts)


def deviations_list(
    experiment: str | None = None,
    *,
    profile: str | None = None,
    claims: Mapping[str, Sequence[tuple[str, str]]] | None = None,
) -> DeviationList:
    """Return the deviations of an experiment (all of them for ``None``), at one profile or all."""
    shown = tuple(deviations_by_weight(experiment, profile))
    return DeviationList(experiment or "all experiments", shown, experiment is None, claims or {})


def provenance_table(records: Sequence[Record]) -> Table:
    """Return the records behind a page, those of the same systems and code in one row.

    The caption has their total cost, each row the command that repeats it.
    """
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        code = (record.git.commit, record.git.dirty, standing(record))
        place = (record.device, record.threads)
        groups.setdefault((record.experiment, record.systems, *code, *place), []).append(record)
    rows = [_records_row(of, group[-3]) for group, of in groups.items()]
    names = ("systems", "seeds", "records", "commit", "code", "device", "wall time", "peak GiB",
             "started (UTC)")  # fmt: skip
    total = f"Records behind this page. Total: {total_cost(records)}."
    caption = f"{total} {trainings_sentence(records)}".rstrip()
    return Table(caption, framed(rows, *names), f"{len(records)} records")


def _records_row(records: Sequence[Record], standing: str) -> list[Any]:
    first = records[0]
    wall, peak = sum(r.wall_seconds for r in records), max(r.peak_memory_bytes for r in records)
    commit = (first.git.commit or "none")[:KEY_LENGTH]
    threads = f"{first.threads} thread{'s' * (first.threads != 1)}"
    dirty = "changed sources" if first.git.dirty else ""
    return [
        Cell(", ".join(first.systems), command_of(records)),
        ", ".join(str(seed) for seed in sorted({r.seed for r in records})),
        Cell("", keys=tuple(r.key for r in records)),
        Cell(commit, dirty, title=first.git.commit or "", code=True),
        standing,
        Cell(first.device, threads),
        Cell(duration(wall), sort=wall),
        Cell(number(peak / 2**30), sort=peak),
        min(r.started for r in records)[:16].replace("T", " "),
    ]  # fmt: skip
