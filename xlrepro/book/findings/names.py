"""What a findings page may name: differences, numbers, verdicts, links, costs."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, reduce
from html import escape
from statistics import fmean
from typing import Any

from xlrepro.book.findings.numbers import Gap, Number, Sentences
from xlrepro.book.verdicts import Evidence, load_evidence
from xlrepro.errors import SettingsError
from xlrepro.evidence.claims.files import Claim
from xlrepro.evidence.claims.judging import Address, Condition, status_counts
from xlrepro.evidence.claims.table import SIGNS
from xlrepro.evidence.compare import unit_factor
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.tables.table import in_words, number
from xlrepro.evidence.view import View

FUNCTIONS = ("gap", "mean", "ends", "number", "printed", "told", "verdict", "judged", "tally",
             "claim", "page", "cost", "all_claims")  # fmt: skip
BRACKETS = (
    "In brackets behind a difference stands its 95 % interval over *n* seeds; behind a claim "
    "whether it ✓ holds, ✗ fails or ? is undecided at open."
)


class _NotRun(Exception):
    """A cell that an expression reads was not run."""


def _inner(details: Any, name: str) -> Any:
    return details.get(name) if isinstance(details, Mapping) else None


class Findings:
    """The names that the findings page of one paper may use.

    Args:
        paper: ``"word_order"``.
        where: the page, for errors.
        evidence: replaces the project's evidence.
    """

    def __init__(self, paper: str, where: str, evidence: Evidence | None = None) -> None:
        self.paper = paper
        self.evidence = evidence or load_evidence()
        self.sentences = Sentences(where)

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """The paper's claims by id."""
        return {c.id: c for c in self.evidence.all_claims[self.paper]}

    @property
    def names(self) -> dict[str, Any]:
        """Everything that the page may name; README.md beside tells it to its writers."""
        functions = {name: getattr(self, name) for name in FUNCTIONS}
        known = {"paper": self.evidence.catalog.paper(self.paper), "brackets": BRACKETS}
        state = self.sentences
        marks = {"_enter": state.enter, "_leave": state.leave, "_refuse": state.refuse}
        return {**functions, **known, **marks}

    def gap(self, table: str, first: str, second: str, column: str, at: str = "open") -> Gap:
        """Return ``first`` minus ``second`` in a column, as the paper names it, or one of ours."""
        key = f"{self.paper}/{table}"
        entry = self.evidence.catalog.experiment(key)
        ours = entry.column_at(at, column)
        view = View(key, at, self.evidence.numbers)
        cells = [view.get(system, ours) for system in (first, second)]
        printed = [
            self.evidence.reported.get(key, entry.reference(s), column) for s in (first, second)
        ]
        values = [cell.value for cell in printed if cell is not None and cell.value is not None]
        unit = printed[0].unit if printed[0] else cells[0].unit if cells[0] else ""
        decimals = len(printed[0].printed.partition(".")[2]) if printed[0] else 2
        theirs = number(values[0] - values[1], decimals, True) if len(values) == 2 else ""
        gap = Gap(
            self.sentences,
            f"{first} − {second} in {table}, {column}",
            "points" if unit.startswith("percent") else unit,
            theirs=theirs,
        )
        if cells[0] and cells[1] and set(cells[0].seeds) & set(cells[1].seeds):
            pair = paired_differences(view, first, second, [ours]).iloc[0]
            factor = unit_factor(cells[0].unit, unit)
            gap.mean, gap.low, gap.high = (factor * float(pair[n]) for n in ("mean", "low", "high"))
            gap.n = int(pair["n"])
        return gap

    def mean(
        self, table: str, system: str, column: str, at: str = "open", decimals: int = 1
    ) -> Number:
        """Return a system's mean over seeds, in our unit."""
        key = f"{self.paper}/{table}"
        ours = self.evidence.catalog.experiment(key).column_at(at, column)
        value = View(key, at, self.evidence.numbers).mean(system, ours)
        return Number(self.sentences, value, decimals, f"{system} in {table}, {ours}")

    def ends(
        self, table: str, system: str, column: str, at: str = "open", decimals: int = 1
    ) -> tuple[Number, Number]:
        """Return the smallest and the largest of a system's values over seeds, in our unit."""
        mean = self.mean(table, system, column, at, decimals)
        key = f"{self.paper}/{table}"
        cell = View(key, at, self.evidence.numbers).get(
            system, self.evidence.catalog.experiment(key).column_at(at, column)
        )
        values = cell.values if cell else (math.nan,)
        return replace(mean, value=min(values)), replace(mean, value=max(values))

    def printed(self, table: str, system: str, column: str) -> str:
        """Return a number as the paper prints it; it may stand anywhere."""
        cell = self.evidence.reported.get(f"{self.paper}/{table}", system, column)
        if cell is None or not cell.printed:
            where = self.sentences.where
            raise SettingsError(f"{where}: nothing is printed for {system} in {table}, {column}")
        return cell.printed

    def told(
        self, table: str, system: str, column: str, *path: str, at: str = "open", decimals: int = 1
    ) -> Number:
        """Return the mean over seeds of what the records of a cell tell beside their scores.

        Args:
            table: its short name.
            system: whose cell.
            column: of the cell.
            path: keys in the records' details; what stands there is a number, or a total and the
                number of what it is of: then their ratio.
            at: profile.
            decimals: how many are shown.
        """
        experiment = f"{self.paper}/{table}"
        ours = self.evidence.catalog.experiment(experiment).column_at(at, column)
        cell = View(experiment, at, self.evidence.numbers).get(system, ours)
        records = {r.key: r for r in self.evidence.records} if cell else {}
        keys = cell.keys if cell else ()
        details: list[Any] = [reduce(_inner, path, records[key].details) for key in keys]
        values = [
            v[0] / v[1] if isinstance(v, list) else float(v) for v in details if v is not None
        ]
        value = fmean(values) if values else math.nan
        return Number(self.sentences, value, decimals, f"{'/'.join(path)} of {system} in {table}")

    def number(self, expression: str, at: str = "open", decimals: int = 1) -> Number:
        """Return the value of an expression over cells, in the language of the claims.

        Rows and columns may be ours; at ``"reported"`` they are the printed ones.
        """
        claim = self._claim(expression)
        condition = self._condition(at)
        judge = self.evidence.judge
        parsed = claim.expression
        assert parsed is not None
        functions = judge.functions(self.paper, lambda cell: self._value(cell, condition))
        try:
            value = float(parsed.evaluate(claim.names, functions))
        except _NotRun:
            value = math.nan
        return Number(self.sentences, value, decimals, f"`{expression}`")

    def _value(self, cell: Address, condition: Condition) -> float:
        experiment, system, column = cell
        entry = self.evidence.catalog.experiment(experiment)
        ours = entry.column_at(condition.profile, column)
        view = View(experiment, condition.profile, self.evidence.numbers)
        reproduced = view.get(condition.place(system), ours)
        if reproduced is not None:
            return reproduced.mean
        printed = self.evidence.reported.get(*cell)
        fixed = entry.deterministic or condition.profile == "reported"
        if fixed and printed is not None and printed.value is not None:
            return printed.value
        raise _NotRun(cell)

    def verdict(self, claim: str, at: str = "open") -> str:
        """Return a claim's verdict: ``"holds"``, ``"fails"``, ``"undecided"``, ``"not run"``,
        ``"not evaluable"``.
        """
        self._known(claim)
        verdict = self.evidence.verdicts(self.paper)[claim].get(self._condition(at).label)
        return verdict.status if verdict else "not run"

    def judged(self, predicate: str, at: str = "open") -> str:
        """Return the verdict on a predicate of the page's own, reached as those on claims."""
        verdict = self.evidence.judge.judge(self._claim(predicate), self._condition(at))
        return verdict.status if verdict else "not run"

    def _condition(self, label: str) -> Condition:
        """Return what a claim can be judged on: a profile, or ``"open, word-mapped"``."""
        known = {c.label: c for c in self.evidence.conditions(self.paper)}
        return known.get(label, Condition(label))

    def _known(self, claim: str) -> Claim:
        if claim not in self.claims:
            raise SettingsError(f"{self.sentences.where}: unknown claim {claim!r}")
        return self.claims[claim]

    def _claim(self, predicate: str) -> Claim:
        names = next(iter(self.claims.values())).names if self.claims else {}
        return Claim(
            id=self.sentences.where, kind="ours", section="", text="", cells="", paper=self.paper,
            predicate=predicate, names=names,
        )  # fmt: skip

    def tally(self, at: str = "open") -> dict[str, int]:
        """Return how many claims have each verdict, and ``judged``: how many hold, fail or are
        undecided.

        Args:
            at: ``"reported"``, ``"open"`` or ``"paper"``.
        """
        by_claim = self.evidence.verdicts(self.paper)
        counts = status_counts([by_claim[name].get(at) for name in self.claims])
        judged = sum(counts[s] for s in ("holds", "fails", "undecided"))
        return {**counts, "judged": judged, "all": len(self.claims)}

    def claim(self, name: str, text: str = "") -> str:
        """Return a link to a claim, by its id or by ``text``, which tells the sentence.

        Behind an id stands the sign of its verdict at open.
        """
        href = f"../{self.paper}/claims.html#{name}"
        status = self.verdict(name)
        if text or status not in SIGNS:
            return f'<a href="{href}">{escape(text or name)}</a>'
        return f'<a href="{href}" title="{status} at open">{escape(name)}&nbsp;{SIGNS[status]}</a>'

    def all_claims(self) -> str:
        """Return a link to the paper's claims."""
        return f"[{len(self.claims)} claims](claims.md)"

    def page(self, experiment: str, text: str = "") -> str:
        """Return a link to an experiment's page: ``page("table2")`` reads "Table 2"."""
        key = experiment if "/" in experiment else f"{self.paper}/{experiment}"
        label = self.evidence.catalog.experiment(key).label
        return f"{{doc}}`{text or label} </{key}>`"

    def cost(self) -> str:
        """Return what the paper's records at open took."""
        keys = list(self.evidence.catalog.of_paper(self.paper))
        records = [r for r in self.evidence.records if r.experiment in keys and r.profile == "open"]
        return total_cost(records).brief(in_words)
