"""A paper's findings: Markdown whose numbers are filled in, and refuse to stand where they fell.

``book/<paper>/findings.md`` has a head in YAML (what the first screen shows, and the comparisons of
the page's forest plot) and Markdown with ``{{ expressions }}``. A difference is written by the
function that says its direction, ``higher``, ``lower`` or ``same``: where today's 95 % interval
says otherwise, the build fails with file and line. There are no wordings for other outcomes:
whoever meets the error rewrites the sentence.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

import jinja2
from pydantic import Field

from xlrepro.errors import SettingsError
from xlrepro.evidence.answers import Gap, gap_of
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import NO_EFFECT, ClaimVerdict
from xlrepro.evidence.gathered import load_evidence
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedCell, View
from xlrepro.evidence.text import LANGUAGES, in_words, number
from xlrepro.pages.tables import markup
from xlrepro.paths import project_root
from xlrepro.trials import duration
from xlrepro.values import Checked, parse_yaml

AXIS = 16  # points, to both sides, at a glance; what lies outside is drawn at its end
BECAUSE = {
    NO_EFFECT: "the 95 % CI lies within ± a quarter of the reported difference",
    "same": "the 95 % CI includes 0",
    "higher": "the 95 % CI lies above 0",
    "lower": "the 95 % CI lies below 0",
    "missing": "fewer than two seeds",
}


class Compared(Checked):
    """A comparison of two systems: what the forest plot has a line of.

    Attributes:
        says: what the paper says, in a few words.
        compare: table, first system, second, column or columns (their mean).
        claim: the claim whose verdict stands beside it.
        unit: of the difference, ``"points"``.
        scale: what makes it points on the axis: 100 for a fraction, -1 where less is better.
    """

    says: str
    compare: tuple[str, str, str, str | tuple[str, ...]]
    claim: str = ""
    unit: str = "points"
    scale: float = 1.0


class Head(Checked):
    """What stands at the head of ``findings.md``."""

    claim: str
    main: Compared
    runs: str  # what was run instead of the paper's, in a few words
    needs: str  # what it would take
    forest: list[Compared] = Field(default_factory=list)


class Findings:
    """The names that the findings page of one paper may use: every method without underscore.

    Args:
        paper: ``"word_order"``.
    """

    def __init__(self, paper: str) -> None:
        self.paper_key, self.evidence = paper, load_evidence()

    @cached_property
    def names(self) -> dict[str, Any]:
        """Everything that the page may name."""
        names = ("gap", "mean", "spread", "reported", "claim", "page", "cost")
        directed = {d: partial(self._directed, d) for d in ("higher", "lower", "same")}
        paper = load_catalog().paper(self.paper_key)
        known = {n: getattr(self, n) for n in names} | directed
        return known | {"paper": paper, "languages": LANGUAGES}

    def _key(self, table: str) -> str:
        return table if "/" in table else f"{self.paper_key}/{table}"

    def _cell(self, table: str, system: str, column: str) -> ReproducedCell | None:
        """Return our cell in a column of the paper's, or in one of ours."""
        key = self._key(table)
        ours = load_catalog().experiment(key).column_at("open", column)
        return View(key, "open", self.evidence.numbers).get(system, ours)

    def gap(self, table: str, first: str, second: str, column: str | Sequence[str]) -> Gap:
        """Return ``first`` minus ``second``: in a column, or on average over several."""
        view = View(self._key(table), "open", self.evidence.numbers)
        return gap_of(view, first, second, [column] if isinstance(column, str) else column)

    def _directed(self, direction: str, *where: Any) -> Gap:
        """Return a gap whose interval lies above 0, below, or includes it; else a SettingsError."""
        table, first, second, _ = where
        found = self.gap(*where)
        if found.direction != direction:
            said = f"{first} − {second} in {table} is not {direction!r} but {found.direction}"
            raise SettingsError(f"{said}: {found}: rewrite the sentence")
        return found

    def spread(
        self, table: str, first: str, second: str, columns: Sequence[str], decimals: int = 1
    ) -> str:
        """Return the standard deviation between two trainings of a kind, from their differences.

        In each column the two have a variance of half their squared difference; this is its mean.
        """
        gaps = [self.gap(table, first, second, column).mean for column in columns]
        return number(math.sqrt(fmean(gap**2 / 2 for gap in gaps)), decimals)

    def mean(self, table: str, system: str, column: str, decimals: int = 1) -> str:
        """Return a mean over seeds at open, in our unit; a SettingsError where nobody ran it."""
        if (cell := self._cell(table, system, column)) is None:
            raise SettingsError(f"{system} in {table}, {column} was not run")
        return number(cell.mean, decimals)

    def reported(self, table: str, system: str, column: str) -> str:
        """Return a number as the paper prints it."""
        cell = load_reported().get(self._key(table), system, column)
        if cell is None or not cell.printed:
            raise SettingsError(f"nothing is reported for {system} in {table}, {column}")
        return cell.printed

    def verdict(self, claim: str) -> ClaimVerdict | None:
        """Return the verdict on a claim at open; a SettingsError if there is no such claim."""
        verdicts = self.evidence.verdicts(self.paper_key)
        if claim not in verdicts:
            raise SettingsError(f"unknown claim {claim!r}")
        return verdicts[claim].get("open")

    def claim(self, name: str, text: str = "") -> str:
        """Return a link to a claim, with the sign of its verdict at open."""
        found = self.verdict(name)
        return markup("claim_link", self.paper_key, name, text, found.status if found else "")

    def page(self, experiment: str, text: str = "") -> str:
        """Return a link to an experiment's page: ``page("table2")`` reads "Table 2"."""
        key = self._key(experiment)
        return f"{{doc}}`{text or load_catalog().experiment(key).label} </{key}>`"

    def cost(self, table: str = "", system: str = "") -> str:
        """Return what the paper's records at open took; of a system in a table, a trial's mean."""
        keys = [self._key(table)] if table else load_catalog().of_paper(self.paper_key)
        records = [r for k in keys for r in self.evidence.of(k, ["open"])]
        if not system:
            return total_cost(records).brief(in_words)
        times = [r.wall_seconds for r in records if system in r.systems]
        if not times:
            raise SettingsError(f"{system} in {table} was not run")
        return duration(fmean(times))


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
    except Exception as error:  # an expression raises what it likes
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
    try:
        _, head, body = text.split("---\n", 2)
        return Head.model_validate(parse_yaml(head)), body, head.count("\n") + 3
    except ValueError as error:
        raise SettingsError(f"{path_of(paper)}: its head is malformed: {error}") from None


@lru_cache
def markdown(paper: str) -> str:
    """Return the page with its numbers filled in, the forest plot below the title."""
    head, body, line = read(paper)
    where = path_of(paper).relative_to(project_root()).as_posix()
    text = filled(body, Findings(paper).names, where, line)
    title, _, rest = text.lstrip().partition("\n")
    rows, page = [head.main, *head.forest], Findings(paper)
    gaps = [(each.scale, page.gap(*each.compare)) for each in rows]
    ends = [abs(scale * value) for scale, gap in gaps for value in (gap.mean, gap.reported)]
    axis = math.ceil(max(end for end in ends if end == end))  # no number of a page is cut off
    forest = markup("forest", [compared(paper, each, axis) for each in rows], axis)
    return f"{title}\n\n{forest}\n\n{rest.lstrip()}"


def compared(paper: str, each: Compared, axis: int = AXIS) -> dict[str, Any]:
    """Return a line of a forest plot: texts, and places on the axis in percent of its width."""
    page = Findings(paper)
    gap = page.gap(*each.compare)
    verdict = page.verdict(each.claim) if each.claim else None
    note = verdict.note.split("; ")[0] if verdict else ""
    outcome = NO_EFFECT if verdict and verdict.status == NO_EFFECT else gap.direction
    values = {"mean": gap.mean, "low": gap.low, "high": gap.high, "reported": gap.reported}
    if each.scale < 0:
        values |= {"low": gap.high, "high": gap.low}
    return {
        "says": each.says, "gap": gap, "verdict": verdict, "claim": each.claim,
        "ours": str(gap).replace(gap.unit, each.unit, 1) if gap.unit else str(gap),
        "href": f"claims.html#{each.claim}" if each.claim else f"{each.compare[0]}.html",
        "reason": "; ".join(filter(None, (BECAUSE[outcome], note))),
        **{name: _place(each.scale * value / axis) for name, value in values.items()},
    }  # fmt: skip


def _place(share: float) -> float | None:
    return None if math.isnan(share) else round(50 + 50 * min(max(share, -1), 1), 2)


def in_short(paper: str) -> list[str]:
    """Return the items of the page's first section, as Markdown for a page of the top folder."""
    section = markdown(paper).partition("## In short\n")[2].partition("\n## ")[0]
    items = [" ".join(item.split()) for item in f"\n{section}".split("\n- ")[1:]]
    return [item.replace('href="../', 'href="') for item in items]
