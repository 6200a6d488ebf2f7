"""What a page answers, in sentences computed from records: claims, the main difference, cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from statistics import fmean

from xlrepro.evidence.catalog import Difference, load_catalog
from xlrepro.evidence.claims import NOT_TESTABLE, Claim, ClaimVerdict, counted, reads, status_counts
from xlrepro.evidence.compare import ABOVE, BELOW, WITHIN, compared_rows, unit_factor
from xlrepro.evidence.conditions import failed_conditions
from xlrepro.evidence.deviations import WEIGHTS, Deviation, load_deviations
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import AVERAGE, ReproducedCell, View, joined_cell
from xlrepro.evidence.text import LANGUAGES, enumerated, in_words, minus, number
from xlrepro.trials import Record

MEANING = {
    "smoke": "smoke: shows that the code runs, not evidence",
    "open": "open data: evidence for directions of effects",
    "paper": "paper scale: evidence for values",
}
SENTENCES = {"text": "Claims of the paper that rest on this page",
             "figure": "Sentences on the figure, by a rule of ours"}  # fmt: skip
NO_RECORDS = "Nothing has been run on real data yet"
MOST_DECIMALS = 3
MEASURES = {"percent": "points", "fraction": "F1"}  # what differences are counted in


@dataclass(frozen=True)
class Answer:
    """What was found on a page.

    Attributes:
        headline: the verdict in a few words.
        sentences: plain text, computed.
        why: the deviations of major weight, so that numbers may differ for them.
        cost: what is behind it.
    """

    headline: str
    sentences: tuple[str, ...]
    why: tuple[Deviation, ...]
    cost: str


@dataclass(frozen=True)
class Gap:
    """The first of two systems minus the second, paired by seed, in the paper's unit.

    Attributes:
        mean: over the columns that both systems have; NaN where there is none.
        low, high: ends of the 95 % interval over seeds and test items; NaN for one seed.
        n: seeds; 0 where one of the two was not run.
        unit: what a difference is counted in, ``"points"``.
        reported: the same difference in the paper's numbers; NaN where it does not print them.
        decimals: of the paper's numbers.
        columns: column of ours -> the difference in it, the one most for the first system first.
    """

    mean: float
    low: float
    high: float
    n: int
    unit: str
    reported: float = math.nan
    decimals: int = 2
    columns: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return ``"+0.2 points (95 % CI −0.3 to +0.7, n = 5)"``."""
        return self.said(f"n = {self.n}")

    def said(self, seeds: str) -> str:
        """Return the difference and its interval, with its seeds in words."""
        size = f"{self.written(self.mean)} {self.unit}".rstrip()
        ends = f"95 % CI {self.written(self.low)} to {self.written(self.high)}, {seeds}"
        return f"{size} ({ends if self.n > 1 else 'one seed'})"

    @property
    def short(self) -> str:
        """The same where a table's head names unit and seeds, ``"+0.2 (−0.3 to +0.7)"``."""
        return f"{self.written(self.mean)} ({self.written(self.low)} to {self.written(self.high)})"

    def written(self, value: float) -> str:
        """Write a difference down: as few decimals as do not show a number other than 0 as 0."""
        least = 1 if self.unit == "points" else self.decimals
        parts = [abs(v) for v in (self.mean, self.low, self.high) if v and not math.isnan(v)]
        fitting = (d for d in range(least, MOST_DECIMALS) if all(v >= 0.5 * 10**-d for v in parts))
        return number(value, next(fitting, MOST_DECIMALS), True)

    @property
    def direction(self) -> str:
        """``higher``, ``lower`` or ``same``, by the interval; ``missing`` where there is none."""
        if self.n < 2:
            return "missing"
        return "higher" if self.low > 0 else "lower" if self.high < 0 else "same"

    @property
    def printed(self) -> str:
        """The paper's difference, ``"+9.55"``."""
        return number(self.reported, self.decimals, True)


def gap_of(view: View, first: str, second: str, columns: Sequence[str]) -> Gap:
    """Return the mean difference of two systems over the paper's ``columns``."""
    entry, reported = load_catalog().experiment(view.experiment), load_reported()
    ours_of = {c: entry.column_at(view.profile, c) for c in columns}
    gaps = {c: view.difference(first, second, c) for c in ours_of.values()}
    cells = [gap for gap in gaps.values() if gap is not None]  # a proxy's column once
    pairs = [[reported.get(view.experiment, entry.reference(s), c) for s in (first, second)]
             for c, ours in ours_of.items() if not cells or gaps[ours]]  # fmt: skip
    theirs = [[math.nan if p is None or p.value is None else p.value for p in of] for of in pairs]
    known = next((cell for cell in chain(*pairs) if cell), None)
    ours = joined_cell(cells, fmean, first, "")
    if ours:
        ours = replace(ours, of_items=view.item_error(first, second, [c.column for c in cells]))
    unit = known.unit if known else ours.unit if ours else ""
    factor = unit_factor(ours.unit, unit) if ours else 1.0
    parts = (ours.mean, *ours.interval) if ours else 3 * (math.nan,)
    mean, low, high = (factor * part for part in parts)
    down = bool(cells) and load_catalog().metric(cells[0].metric).higher_is_better is False
    ranked = sorted(cells, key=lambda cell: cell.mean if down else -cell.mean)
    by_column = {cell.column: factor * cell.mean for cell in ranked}
    unit, n = MEASURES.get(unit.split(" ")[0], unit), ours.n if ours else 0
    decimals = len(known.printed.partition(".")[2]) if known else 2
    return Gap(mean, low, high, n, unit, fmean(a - b for a, b in theirs), decimals, by_column)


def main_gap(view: View, main: Difference) -> Gap:
    """Return a page's difference, over all columns that its pattern names."""
    entry = load_catalog().experiment(view.experiment)
    left_out = {*entry.source_columns} if "*" in main.column else set()
    if not main.column.endswith(AVERAGE):
        left_out |= {*entry.average_columns}
    named = [c for c in load_reported().columns(view.experiment) or view.columns
             if fnmatchcase(c, main.column) and c not in left_out]  # fmt: skip
    return gap_of(view, main.first, main.second, named or [main.column])


def _name(view: View, main: Difference, gap: Gap) -> str:
    """Return what a difference is called, with its columns in brackets."""
    entry = load_catalog().experiment(view.experiment)
    ours, count = entry.column_at(view.profile, main.column), len(gap.columns)
    column = entry.column_name(next(iter(gap.columns), ours))
    if count > 1 or (not count and "*" in main.column):
        head, _, tail = main.column.partition("*")
        own = [c.removeprefix(head).removesuffix(tail) for c in sorted(gap.columns)]
        names = [entry.column_name(part).replace(", ", " ") for part in own or ["the columns"]]
        kind = "languages" if LANGUAGES.keys() >= {*own} else "columns"
        which = enumerated(names) if count <= 3 else f"{count} {kind}"
        fixed = entry.column_name(f"{head}{tail}".strip("/")) * ("*" in main.column)
        column = f"{fixed}, mean of {which}".lstrip(", ")
    elif ours != main.column and "*" not in main.column:
        column += f" for {entry.column_name(main.column)}"
    block = main.first.partition(":")[0]
    places = ", ".join(filter(None, (column, entry.shown.get(f"{block}:"))))
    return f"{minus(*map(entry.row_name, (main.first, main.second)))} ({places})"


def answer(
    view: View, judged: Sequence[tuple[Claim, ClaimVerdict]], records: Sequence[Record]
) -> Answer:
    """Return what was found on a page: a headline, a few sentences, and what it cost.

    Args:
        view: the page's cells at its most telling profile.
        judged: the claims that the experiment bears on, with their verdicts at that profile.
        records: behind the cells.
    """
    entry = load_catalog().experiment(view.experiment)
    main = entry.answer
    if view.profile == "smoke":
        return Answer(NO_RECORDS, (), (), f"{MEANING['smoke'].capitalize()}: see below.")
    if main:
        headline = headline_of(view, main)
        if entry.contrasts and not headline.startswith(NOT_TESTABLE.capitalize()):
            name = _name(view, main, main_gap(view, main))
            headline = f"{name}: {headline[:1].lower()}{headline[1:]}"
        lines = [difference_sentence(view, each) for each in (main, *entry.contrasts)]
        columns = main_gap(view, main).columns
        read = [(view.experiment, s, c) for s in (main.first, main.second) for c in columns]
    else:
        lines, told = [], [(c, v) for c, v in judged if c.id == entry.main_claim]
        read = [address for claim, _ in told for address in reads(claim)]
        if told:
            ((claim, verdict),) = told
            headline = f"{verdict.status.capitalize()}: {claim.text}"
            reason = verdict.note.split("; ")[0]
            lines = [f"{reason[:1].upper()}{reason[1:]}."] * bool(reason)
        else:
            cells = cells_sentence([row["verdict"] for row in compared_rows(view)])
            headline = _untested(view, view.cells) or (cells[0] if cells else entry.title)
    for kind, whose in SENTENCES.items():
        if counts := counted(status_counts([v for claim, v in judged if claim.kind == kind])):
            lines.append(f"{whose}: {counts}.")
    cost = f"Behind this: {total_cost(records)} ({MEANING[view.profile]})."
    known = load_deviations(view.experiment, view.profile)
    why = [d for d in known if d.weight == WEIGHTS[0] and not entry.ours]
    why = [d for d in why if not read or any(d.touches(*address) for address in read)][:2]
    return Answer(headline, tuple(lines), tuple(why), cost)


def headline_of(view: View, main: Difference) -> str:
    """Return the direction of the main difference beside the paper's."""
    gap = main_gap(view, main)
    if not gap.n:
        return "The main difference was not run"
    sides = [view.get(s, c) for s in (main.first, main.second) for c in gap.columns]
    if (untested := _untested(view, [cell for cell in sides if cell])) or gap.n == 1:
        return untested or "One seed: a direction, without an interval"
    if gap.direction == "same":
        return "No significant difference (95 % CI)"
    agrees = (gap.reported > 0) == (gap.direction == "higher")
    how = "in the paper's direction" if agrees else "opposite to what the paper reports"
    if math.isnan(gap.reported):
        named = load_catalog().experiment(view.experiment).row_name
        how = f"{named(main.first)} scores {gap.direction}"
    return f"Significant as a single comparison (95 % CI), {how}"


def _untested(view: View, cells: Sequence[ReproducedCell]) -> str:
    """Return that cells test nothing, and the conditions that failed; empty where none did."""
    failed, _ = failed_conditions(load_catalog(), view.numbers, view.profile, cells)
    return f"{NOT_TESTABLE.capitalize()}: {'; '.join(failed)}" * bool(failed)


def cells_sentence(verdicts: Sequence[str]) -> list[str]:
    """Return how the cells that can be compared lie beside the paper's; [] where there is none.

    Example:
        >>> cells_sentence(["within", "within", "above", "not run"])
        ['Of 3 cells 2 agree with the paper, 1 are above it, 0 below it.']
    """
    counts = [verdicts.count(verdict) for verdict in (WITHIN, ABOVE, BELOW)]
    beside = "{} agree with the paper, {} are above it, {} below it".format(*counts)
    return [f"Of {sum(counts)} cells {beside}."] * any(counts)


def difference_sentence(view: View, main: Difference) -> str:
    """Return the page's main difference with its interval, beside the paper's.

    Example of one: "ORT − TRS (avg): +0.1 points (95 % CI 0.0 to +0.2, five seeds); the paper
    reports +9.55, outside the interval." At other data there is no comparison of sizes.
    """
    gap = main_gap(view, main)
    entry = load_catalog().experiment(view.experiment)
    seeds = entry.counted_seeds(in_words(gap.n))
    said = [gap.said(seeds)] if gap.n else [f"not run with the same seeds at {view.profile}"]
    if gap.printed:
        inside = "inside" if gap.low <= gap.reported <= gap.high else "outside"
        too = ", as is 0" * (inside == "inside" and gap.direction == "same")
        where = f", {inside} the interval{too}" * (gap.n > 1) if gap.n else f" {gap.unit}"
        systems = (main.first, main.second)
        if any(entry.differs(view.profile, s, c) for s in systems for c in gap.columns):
            where = ", with other data or weights"
        mean = " on average" * ("*" in main.column)
        said.append(f"the paper reports {gap.printed}{mean}{where}")
    if len(gap.columns) > 1:
        (best, most), *_, (worst, least) = gap.columns.items()
        best, worst = map(entry.column_name, (best, worst))
        said.append(f"from {gap.written(most)} ({best}) to {gap.written(least)} ({worst})")
    return f"{_name(view, main, gap)}: {'; '.join(said)}."
