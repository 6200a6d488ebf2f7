"""What a page answers, in sentences computed from records: claims, the main difference, cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from statistics import fmean

from xlrepro.evidence.catalog import Difference, load_catalog
from xlrepro.evidence.claims import NOT_RUN, NOT_TESTABLE, Claim, ClaimVerdict, status_counts
from xlrepro.evidence.compare import ABOVE, BELOW, WITHIN, compared_rows, unit_factor
from xlrepro.evidence.conditions import failed_conditions
from xlrepro.evidence.deviations import Deviation, major_deviations
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import AVERAGE, ReproducedCell, View, joined_cell
from xlrepro.evidence.text import in_words, minus, number
from xlrepro.trials import Record

MEANING = {
    "smoke": "smoke: shows that the code runs, not evidence",
    "open": "open data: evidence for orderings",
    "paper": "paper scale: evidence for values",
}
NO_RECORDS = "Nothing has been run on real data yet: what follows is the paper's own"
DECIMALS = {"points": 1, "perplexity": 1}  # of a difference; 3 for fractions and the like


@dataclass(frozen=True)
class Answer:
    """What was found on a page; as text a line without its numbers.

    Attributes:
        title: which page, at which profile.
        headline: the verdict in a few words.
        sentences: plain text, computed.
        why: the deviations of major weight, so that numbers may differ for them.
        cost: what is behind it.
    """

    title: str
    headline: str
    sentences: tuple[str, ...]
    why: tuple[Deviation, ...]
    cost: str

    def __repr__(self) -> str:
        return f"{self.title}: {len(self.sentences)} sentences computed from records"


@dataclass(frozen=True)
class Gap:
    """The main difference of a page: the mean over its columns, and those most for and against it.

    Attributes:
        what: its name, with the columns in brackets.
        ours: the mean over the columns that both systems have, paired by seed; ``None``: not run.
        columns: those columns, of ours.
        reported: the paper's mean over the same columns; ``None`` where it does not print them.
        unit: of both.
        ends: the columns most for and most against the first system, where there are several.
    """

    what: str
    ours: ReproducedCell | None
    columns: tuple[str, ...]
    reported: float | None
    unit: str
    ends: tuple[ReproducedCell, ...] = ()

    @property
    def measure(self) -> str:
        """What a difference is counted in."""
        return "points" if self.unit == "percent" else self.unit

    def said(self, value: float) -> str:
        """Write a difference down, with its sign."""
        return number(value, DECIMALS.get(self.measure, 3), True)


def gap_of(view: View, main: Difference) -> Gap:
    """Return a page's main difference, over all columns that its pattern names."""
    entry, reported = load_catalog().experiment(view.experiment), load_reported()
    left_out = {*entry.source_columns} if "*" in main.column else set()
    if not main.column.endswith(AVERAGE):
        left_out |= {*entry.average_columns}
    named = [c for c in reported.columns(view.experiment) or view.columns
             if fnmatchcase(c, main.column) and c not in left_out]  # fmt: skip
    ours_of = {c: entry.column_at(view.profile, c) for c in named or [main.column]}
    gaps = {c: view.difference(main.first, main.second, c) for c in ours_of.values()}
    cells = [gap for gap in gaps.values() if gap is not None]  # a proxy's column once
    pairs = [
        [reported.get(view.experiment, entry.reference(s), c) for s in (main.first, main.second)]
        for c, ours in ours_of.items()
        if not cells or gaps[ours]
    ]
    values = [[cell.value for cell in pair if cell and cell.value is not None] for pair in pairs]
    known = all(len(pair) == 2 for pair in values)
    unit = next((cell.unit for cell in chain(*pairs, cells) if cell), "")
    down = bool(cells) and load_catalog().higher_is_better(cells[0].metric) is False
    ranked = sorted(cells, key=lambda cell: cell.mean if down else -cell.mean)
    column = entry.column_at(view.profile, main.column)
    if len(cells) > 1 or "*" in main.column:
        column = f"mean of {len(cells)} columns" if cells else "mean of the columns"
    elif column != main.column:
        column = f"{column} for {main.column}"
    block, _, first = main.first.partition(":")
    if entry.reference(main.first) != main.first:
        column += f", block {block}"
    return Gap(
        f"{minus(first, main.second.partition(':')[2])} ({column})",
        joined_cell(cells, fmean, main.first, main.column) if cells else None,
        tuple(cell.column for cell in cells),
        fmean(first - second for first, second in values) if known else None,
        unit,
        (ranked[0], ranked[-1]) if len(ranked) > 1 else (),
    )


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
    main, title = entry.answer_at(view.profile), f"Answer, {view.experiment} ({view.profile})"
    if view.profile == "smoke":
        gap = gap_of(View(view.experiment, "reported", view.numbers), main) if main else None
        theirs = () if gap is None or gap.reported is None else (
            f"{gap.what}: the paper reports {gap.said(gap.reported)} {gap.measure}.",
        )  # fmt: skip
        return Answer(title, NO_RECORDS, theirs, (), f"{MEANING['smoke'].capitalize()}: see below.")
    if main:
        headline = headline_of(view, main)
        lines = [difference_sentence(view, each) for each in (main, *entry.contrasts)]
    else:
        said = [f"{v.status.capitalize()}: {c.text}" for c, v in judged if c.id == entry.main_claim]
        lines = [] if said else cells_sentence([row["verdict"] for row in compared_rows(view)])
        headline = said[0] if said else lines.pop() if lines else entry.title
    if counted := [verdict for claim, verdict in judged if claim.counted]:
        counts = ", ".join(f"{n} {status}" for status, n in status_counts(counted).items() if n)
        claims = f"{len(counted)} claim{'s' * (len(counted) != 1)}"
        lines.append(f"Of {claims} of the paper: {counts or NOT_RUN}.")
    cost = f"Behind this: {total_cost(records)} ({MEANING[view.profile]})."
    why = () if entry.ours else tuple(major_deviations(view.experiment, view.profile)[:2])
    return Answer(title, headline, tuple(lines), why, cost)


def headline_of(view: View, main: Difference) -> str:
    """Return the direction of the main difference beside the paper's."""
    gap = gap_of(view, main)
    if gap.ours is None:
        return "The main difference was not run"
    sides = [view.get(s, c) for s in (main.first, main.second) for c in gap.columns]
    compared = [cell for cell in sides if cell is not None]
    failed, _ = failed_conditions(load_catalog(), view.numbers, view.profile, compared)
    if failed:
        return f"{NOT_TESTABLE.capitalize()}: {failed[0]}"
    if gap.ours.interval is None:
        return "One seed: a direction, without an interval"
    sign = gap.ours.interval.sign
    if sign == "0":
        return "No significant difference (95 % CI)"
    if gap.reported is None:
        return f"{main.first.partition(':')[2]} scores {'higher' if sign == '+' else 'lower'}"
    if (gap.reported > 0) == (sign == "+"):
        return "Significant, in the same direction as in the paper"
    return "Significant, opposite to what the paper reports"


def cells_sentence(verdicts: Sequence[str]) -> list[str]:
    """Return how the cells that can be compared lie beside the paper's; [] where there is none.

    Example:
        >>> cells_sentence(["within", "within", "above", "not run"])
        ['Of 3 cells 2 are within the interval, 1 above, 0 below the paper.']
    """
    within, above, below = (verdicts.count(verdict) for verdict in (WITHIN, ABOVE, BELOW))
    beside = f"{within} are within the interval, {above} above, {below} below the paper"
    judged = within + above + below
    return [f"Of {judged} cells {beside}."] * bool(judged)


def difference_sentence(view: View, main: Difference) -> str:
    """Return the page's main difference with its interval, beside the paper's.

    Example of one: "ORT − TRS (avg): +0.1 points (95 % CI 0.0 to +0.2, five seeds); the paper
    reports +9.6, outside the interval."
    """
    gap = gap_of(view, main)
    said, ends = f"not run with the same seeds at {view.profile}", None
    if gap.ours is not None:
        factor = unit_factor(gap.ours.unit, gap.unit) if gap.unit else 1.0
        inner, interval = "one seed, so no interval", gap.ours.interval
        if interval:
            ends = (factor * interval.low, factor * interval.high)
            seeds = load_catalog().experiment(view.experiment).counted_seeds(in_words(gap.ours.n))
            inner = f"95 % CI {gap.said(ends[0])} to {gap.said(ends[1])}, {seeds}"
        said = f"{gap.said(factor * gap.ours.mean)} {gap.measure}".rstrip() + f" ({inner})"
    if gap.reported is not None:
        said += f"; the paper reports {gap.said(gap.reported)}"
        if ends:
            within = ends[0] <= gap.reported <= ends[1]
            said += f", {'inside' if within else 'outside'} the interval"
    if gap.ends:
        each = ", ".join(f"{gap.said(c.mean)} in {c.column}" for c in gap.ends)
        said += f"; most for and most against it: {each}"
    return f"{gap.what}: {said}."
