"""A paper's findings: Markdown whose numbers are filled in, and refuse to stand where they fell.

``book/<paper>/findings.md`` has a head in YAML (what the first screen shows, and the comparisons of
the page's forest plot) and Markdown with ``{{ expressions }}``. A difference is written by the
function that says its direction, ``higher``, ``lower`` or ``same``: where today's 95 % interval
says otherwise, the build fails with file and line. There are no wordings for other outcomes:
whoever meets the error rewrites the sentence.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

import jinja2
import yaml
from pydantic import Field

from xlrepro.checked import Checked
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.evidence.claims import SIGNS, ClaimVerdict, Condition
from xlrepro.evidence.compare import unit_factor
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.reproduced import View, t_interval
from xlrepro.evidence.text import in_words, number
from xlrepro.pages.gathered import Evidence, load_evidence
from xlrepro.paths import project_root

MOST_DECIMALS = 3


class Compared(Checked):
    """A comparison of two systems: what the forest plot has a line of.

    Attributes:
        says: what the paper says, in a few words.
        compare: table, first system, second, column or columns (their mean).
        claim: the claim whose verdict stands beside it.
        unit: of the difference, ``"points"``.
        scale: what makes it points on the axis: 100 for a fraction, -1 where less is better.
        profile: of the records.
    """

    says: str
    compare: tuple[str, str, str, str | tuple[str, ...]]
    claim: str = ""
    unit: str = "points"
    scale: float = 1.0
    profile: str = "open"


class Head(Checked):
    """What stands at the head of ``findings.md``."""

    claim: str
    main: Compared
    runs: str  # what was run instead of the paper's, in a few words
    needs: str  # what it would take
    forest: list[Compared] = Field(default_factory=list)


@dataclass(frozen=True)
class Gap:
    """The first of two systems minus the second, paired by seed, in the paper's unit.

    Attributes:
        low, high: ends of the 95 % interval; NaN for one seed.
        n: seeds; 0 where one of the two was not run.
        reported: the same difference in the printed numbers; NaN where there is none.
    """

    mean: float
    low: float
    high: float
    n: int
    unit: str
    reported: float
    decimals: int

    def __str__(self) -> str:
        """Return ``"+0.2 points (95 % CI −0.3 to +0.7, n = 5)"``."""
        size = f"{number(self.mean, self._shown, True)} {self.unit}".rstrip()
        if self.n < 2:
            return f"{size} (one seed)"
        low, high = (number(v, self._shown, True) for v in (self.low, self.high))
        return f"{size} (95 % CI {low} to {high}, n = {self.n})"

    @property
    def _shown(self) -> int:
        """Decimals: as few as do not show a number other than 0 as 0."""
        least = 1 if self.unit == "points" else self.decimals
        parts = [abs(v) for v in (self.mean, self.low, self.high) if v and not math.isnan(v)]
        fitting = (d for d in range(least, MOST_DECIMALS) if all(v >= 0.5 * 10**-d for v in parts))
        return next(fitting, MOST_DECIMALS)

    @property
    def direction(self) -> str:
        """``higher``, ``lower`` or ``same``, by the interval; ``missing`` if it was not run."""
        if self.n == 0:
            return "missing"
        return "higher" if self.low > 0 else "lower" if self.high < 0 else "same"

    @property
    def printed(self) -> str:
        """The paper's difference, ``"+9.55"``."""
        return number(self.reported, self.decimals, True)


class Findings:
    """The names that the findings page of one paper may use: every method without underscore.

    Args:
        paper: ``"word_order"``.
        evidence: replaces the project's.
    """

    def __init__(self, paper: str, evidence: Evidence | None = None) -> None:
        self.paper_key = paper
        self.evidence = evidence or load_evidence()

    @cached_property
    def names(self) -> dict[str, Any]:
        """Everything that the page may name."""
        names = ("gap", "higher", "lower", "same", "mean", "value", "told", "reported", "check",
                 "claim", "page", "cost", "tally")  # fmt: skip
        paper = self.evidence.catalog.paper(self.paper_key)
        return {**{n: getattr(self, n) for n in names}, "paper": paper}

    def _key(self, table: str) -> str:
        return table if "/" in table else f"{self.paper_key}/{table}"

    def gap(
        self, table: str, first: str, second: str, column: str | Sequence[str], at: str = "open"
    ) -> Gap:
        """Return ``first`` minus ``second``: in a column, or on average over several.

        A column is the paper's (where ours stands for it, that is read), or one of ours.
        """
        key, columns = self._key(table), [column] if isinstance(column, str) else list(column)
        entry = self.evidence.catalog.experiment(key)
        view = View(key, at, self.evidence.numbers)
        cells = [
            view.get(system, entry.column_at(at, each))
            for system in (first, second)
            for each in columns
        ]
        printed = [
            self.evidence.reported.get(key, entry.reference(system), each)
            for system in (first, second)
            for each in columns
        ]
        theirs = [p.value if p and p.value is not None else math.nan for p in printed]
        half = len(columns)
        reported = fmean(theirs[:half]) - fmean(theirs[half:])
        known = next((p for p in printed if p), None)
        unit = known.unit if known else next((c.unit for c in cells if c), "")
        decimals = len(known.printed.partition(".")[2]) if known else 2
        values: list[float] = []
        if all(cells):
            by_seed = [dict(zip(c.seeds, c.values)) for c in cells if c]
            factor = unit_factor(cells[0].unit, unit) if cells[0] else 1.0
            for seed in sorted(set.intersection(*(set(each) for each in by_seed))):
                seen = [each[seed] * factor for each in by_seed]
                values.append(fmean(seen[:half]) - fmean(seen[half:]))
        ends = t_interval(values)
        return Gap(
            fmean(values) if values else math.nan,
            ends.low if ends else math.nan,
            ends.high if ends else math.nan,
            len(values),
            "points" if unit.startswith("percent") else "F1" if unit == "fraction" else unit,
            reported,
            decimals,
        )

    def higher(self, *where: Any, at: str = "open") -> Gap:
        """Return the gap, whose whole interval lies above 0; a SettingsError if it does not."""
        return self._directed("higher", *where, at=at)

    def lower(self, *where: Any, at: str = "open") -> Gap:
        """Return the gap, whose whole interval lies below 0."""
        return self._directed("lower", *where, at=at)

    def same(self, *where: Any, at: str = "open") -> Gap:
        """Return the gap, whose interval includes 0 (or that has one seed)."""
        return self._directed("same", *where, at=at)

    def _directed(self, direction: str, *where: Any, at: str) -> Gap:
        table, first, second, column = where
        found = self.gap(table, first, second, column, at=at)
        if found.direction != direction:
            said = f"{first} − {second} in {table} is not {direction!r} but {found.direction}"
            raise SettingsError(f"{said}: {found}: rewrite the sentence")
        return found

    def check(self, true: bool) -> str:
        """Write nothing; a SettingsError if what the sentence rests on is not so any more."""
        if not true:
            raise SettingsError("the condition of this sentence is not true any more: rewrite it")
        return ""

    def value(self, table: str, system: str, column: str, at: str = "open") -> float:
        """Return a mean over seeds, in our unit, for conditions; NaN where nobody ran it."""
        key = self._key(table)
        ours = self.evidence.catalog.experiment(key).column_at(at, column)
        return View(key, at, self.evidence.numbers).mean(system, ours)

    def mean(
        self, table: str, system: str, column: str, decimals: int = 1, at: str = "open"
    ) -> str:
        """Return a mean over seeds, in our unit; a SettingsError where nobody ran it."""
        found = self.value(table, system, column, at)
        if math.isnan(found):
            raise SettingsError(f"{system} in {table}, {column} was not run")
        return number(found, decimals)

    def told(self, table: str, system: str, column: str, *path: str, at: str = "open") -> float:
        """Return the mean over seeds of what a cell's records tell beside their scores.

        Args:
            table: of the cell.
            system: of the cell.
            column: of the cell.
            path: keys in the records' details, of a number, or of a total and of how many.
            at: profile.
        """
        key = self._key(table)
        ours = self.evidence.catalog.experiment(key).column_at(at, column)
        cell = View(key, at, self.evidence.numbers).get(system, ours)
        records = {r.key: r for r in self.evidence.records} if cell else {}

        def inside(details: Any, name: str) -> Any:
            return details.get(name) if isinstance(details, Mapping) else None

        details = [reduce(inside, path, records[k].details) for k in (cell.keys if cell else ())]
        found: list[Any] = [v for v in details if v is not None]
        if not found:
            raise SettingsError(f"{'/'.join(path)} of {system} in {table} is in no record")
        return fmean(v[0] / v[1] if isinstance(v, list) else float(v) for v in found)

    def reported(self, table: str, system: str, column: str) -> str:
        """Return a number as the paper prints it."""
        cell = self.evidence.reported.get(self._key(table), system, column)
        if cell is None or not cell.printed:
            raise SettingsError(f"nothing is reported for {system} in {table}, {column}")
        return cell.printed

    def verdict(self, claim: str, at: str = "open") -> ClaimVerdict | None:
        """Return the verdict on a claim; a SettingsError if there is no such claim."""
        verdicts = self.evidence.verdicts(self.paper_key)
        if claim not in verdicts:
            raise SettingsError(f"unknown claim {claim!r}")
        return verdicts[claim].get(Condition(at).label)

    def claim(self, name: str, text: str = "") -> str:
        """Return a link to a claim, with the sign of its verdict at open."""
        found = self.verdict(name)
        sign = SIGNS.get(found.status, "") if found else ""
        shown = escape(text) if text else f"{name}&nbsp;{sign}".removesuffix("&nbsp;")
        title = found.status if found else ""
        return f'<a href="../{self.paper_key}/claims.html#{name}" title="{title}">{shown}</a>'

    def page(self, experiment: str, text: str = "") -> str:
        """Return a link to an experiment's page: ``page("table2")`` reads "Table 2"."""
        key = self._key(experiment)
        return f"{{doc}}`{text or self.evidence.catalog.experiment(key).label} </{key}>`"

    def tally(self, at: str = "open") -> dict[str, int]:
        """Return how many of the paper's own sentences have each verdict; ``all``: how many."""
        return self.evidence.tally(self.paper_key, at)

    def cost(self) -> str:
        """Return what the paper's records at open took."""
        keys = self.evidence.catalog.of_paper(self.paper_key)
        records = [r for r in self.evidence.records if r.experiment in keys and r.profile == "open"]
        return total_cost(records).brief(in_words)


def filled(text: str, names: Mapping[str, Any], where: str, first_line: int = 1) -> str:
    """Return Markdown with its ``{{ expressions }}`` filled in.

    Args:
        text: Markdown.
        names: what the expressions may use.
        where: the file, for errors.
        first_line: of the text in that file.

    Raises:
        SettingsError: for an expression that is malformed, names something unknown, or whose
            sentence is not true any more; with file and line.
    """
    # The pages are Markdown; HTML is escaped where a template of HTML makes it.
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
                                     trim_blocks=True, autoescape=False)  # fmt: skip
    try:
        return environment.from_string(text).render(**names)
    except (jinja2.TemplateError, XlreproError, TypeError) as error:
        line, trace = getattr(error, "lineno", None), error.__traceback__
        while trace is not None and not isinstance(error, jinja2.TemplateSyntaxError):
            if trace.tb_frame.f_code.co_filename == "<template>":
                line = trace.tb_lineno
            trace = trace.tb_next
        place = f"{where}:{line + first_line - 1}" if line else where
        raise SettingsError(f"{place}: {error}") from error


def path_of(paper: str) -> Path:
    """Return where the findings of ``paper`` are written down."""
    return project_root() / "book" / paper / "findings.md"


@lru_cache
def read(paper: str) -> tuple[Head, str, int]:
    """Return a page's head, its Markdown as written, and the line that this begins on.

    Raises:
        SettingsError: if the head is malformed.
    """
    text = path_of(paper).read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    try:
        return Head.model_validate(yaml.safe_load(head)), body, head.count("\n") + 3
    except ValueError as error:
        raise SettingsError(f"{path_of(paper)}: its head is malformed: {error}") from None


@lru_cache
def markdown(paper: str) -> str:
    """Return the page with its numbers filled in, the forest plot below the title."""
    from xlrepro.pages.overview import forest, rendered

    _, body, line = read(paper)
    where = path_of(paper).relative_to(project_root()).as_posix()
    text = filled(body, Findings(paper).names, where, line)
    title, _, rest = text.lstrip().partition("\n")
    return f"{title}\n\n{rendered('forest', rows=forest(paper), paper=paper)}\n\n{rest.lstrip()}"


def in_short(paper: str) -> list[str]:
    """Return the items of the page's first section, as Markdown for a page of the top folder."""
    section = markdown(paper).partition("## In short\n")[2].partition("\n## ")[0]
    items = [" ".join(item.split()) for item in f"\n{section}".split("\n- ")[1:]]
    return [item.replace('href="../', 'href="') for item in items]
