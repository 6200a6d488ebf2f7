"""What a page answers, in sentences computed from records: claims, the main difference, cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import fmean

from xlrepro.evidence.catalog import Difference, load_catalog
from xlrepro.evidence.claims import (
    NOT_RUN,
    NOT_TESTABLE,
    ON_OURS,
    Claim,
    ClaimVerdict,
    status_counts,
)
from xlrepro.evidence.compare import (
    ABOVE,
    BELOW,
    WITHIN,
    compared_rows,
    unit_factor,
    verdict_counts,
)
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
        ours: the mean over the columns that both systems have, paired by seed; ``None``: not run.
        columns: those columns, of ours.
        reported: the paper's mean over the same columns; ``None`` where it does not print them.
        unit: of both.
        ends: the columns most for and most against the first system, where there are several.
    """

    ours: ReproducedCell | None
    columns: tuple[str, ...]
    reported: float | None
    unit: str
    ends: tuple[ReproducedCell, ...] = ()


def gap_of(view: View, main: Difference) -> Gap:
    """Return a page's main difference, over all columns that its pattern names."""
    entry, reported = load_catalog().experiment(view.experiment), load_reported()
    left_out = {*entry.source_columns} if "*" in main.column else set()
    if not main.column.endswith(AVERAGE):
        left_out |= {*entry.average_columns}
    printed = [c for c in reported.columns(view.experiment) or view.columns
               if fnmatchcase(c, main.column) and c not in left_out]  # fmt: skip
    ours_of = {c: entry.column_at(view.profile, c) for c in printed or [main.column]}
    pairs = {ours: theirs for theirs, ours in reversed(ours_of.items())}  # a proxy's column once
    gaps = [(theirs, gap) for ours, theirs in reversed(pairs.items())
            if (gap := view.difference(main.first, main.second, ours))]  # fmt: skip
    both = [
        [reported.get(view.experiment, entry.reference(s), c) for s in (main.first, main.second)]
        for c in printed
        if not gaps or ours_of[c] in {gap.column for _, gap in gaps}
    ]
    known = [[cell.value for cell in pair if cell is not None and cell.value is not None]
             for pair in both]  # fmt: skip
    units = [cell.unit for pair in both for cell in pair if cell] + [g.unit for _, g in gaps]
    unit = units[0] if units else ""
    theirs = fmean(a - b for a, b in known) if known and all(len(k) == 2 for k in known) else None
    cells = [gap for _, gap in gaps]
    ours = joined_cell(cells, fmean, main.first, main.column) if cells else None
    down = load_catalog().higher_is_better(cells[0].metric) is False if cells else False
    ranked = sorted(cells, key=lambda cell: cell.mean if down else -cell.mean)
    ends = (ranked[0], ranked[-1]) if len(ranked) > 1 else ()
    return Gap(ours, tuple(c.column for c in cells), theirs, unit, ends)


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
        theirs = (printed_sentence(view, main),) if main else ()
        return Answer(title, NO_RECORDS, theirs, (), f"{MEANING['smoke'].capitalize()}: see below.")
    if main:
        headline = headline_of(view, main)
        lines = [difference_sentence(view, each) for each in (main, *entry.contrasts)]
    else:
        lines = cells_sentence([row["verdict"] for row in compared_rows(view)])
        headline = _main_claim(entry.main_claim, judged) or (lines.pop() if lines else entry.title)
    counted = [verdict for claim, verdict in judged if claim.counted]
    lines += [claims_sentence(counted)] if counted else []
    cost = f"Behind this: {total_cost(records)} ({MEANING[view.profile]})."
    why = () if entry.ours else tuple(major_deviations(view.experiment, view.profile)[:2])
    return Answer(title, headline, tuple(lines), why, cost)


def _main_claim(chosen: str, judged: Sequence[tuple[Claim, ClaimVerdict]]) -> str:
    said = (f"{v.status.capitalize()}: {c.text}" for c, v in judged if c.id == chosen)
    return next(said, "")


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
    if gap.ours.interval.sign == "0":
        return "No significant difference (95 % CI)"
    sign = gap.ours.interval.sign
    if gap.reported is None:
        return f"{main.first.partition(':')[2]} scores {'higher' if sign == '+' else 'lower'}"
    same = (gap.reported > 0) == (sign == "+")
    if same:
        return "Significant, in the same direction as in the paper"
    return "Significant, opposite to what the paper reports"


def cells_sentence(verdicts: Sequence[str]) -> list[str]:
    """Return how the cells that can be compared lie beside the paper's; [] where there is none.

    Example:
        >>> cells_sentence(["within", "within", "above", "not run"])
        ['Of 3 cells 2 are within the interval, 1 above, 0 below the paper.']
    """
    counts = verdict_counts(verdicts)
    within, above, below = (counts[verdict] for verdict in (WITHIN, ABOVE, BELOW))
    judged = within + above + below
    if not judged:
        return []
    beside = f"{within} are within the interval, {above} above, {below} below the paper"
    return [f"Of {judged} cells {beside}."]


def claims_sentence(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return how many of the authors' claims have each verdict.

    Example:
        >>> claims_sentence([ClaimVerdict("replicates"), ClaimVerdict("not run")])
        'Of 2 claims of the paper: 1 replicates, 1 not run.'
    """
    counts = status_counts(verdicts)
    parts = [f"{counts[s]} {s}" for s in ON_OURS if counts[s]]
    claims = f"{len(verdicts)} claim{'s' * (len(verdicts) != 1)}"
    return f"Of {claims} of the paper: {', '.join(parts) or NOT_RUN}."


def difference_sentence(view: View, main: Difference) -> str:
    """Return the page's main difference with its interval, beside the paper's.

    Example of one: "ORT − TRS (avg): +0.1 points (95 % CI 0.0 to +0.2, five seeds); the paper
    reports +9.6, outside the interval."
    """
    gap = gap_of(view, main)
    unit = "points" if gap.unit == "percent" else gap.unit
    decimals = DECIMALS.get(unit, 3)
    what = _what(view, main, gap)
    if gap.ours is None:
        said, ends = f"not run with the same seeds at {view.profile}", None
    else:
        factor = unit_factor(gap.ours.unit, gap.unit or gap.ours.unit)
        size, interval = number(factor * gap.ours.mean, decimals, True), gap.ours.interval
        ends = (factor * interval.low, factor * interval.high) if interval else None
        seeds = load_catalog().experiment(view.experiment).counted_seeds(in_words(gap.ours.n))
        span = " to ".join(number(e, decimals, True) for e in ends or ())
        inner = f"95 % CI {span}, {seeds}" if ends else "one seed, so no interval"
        said = f"{size} {unit}".rstrip() + f" ({inner})"
    if gap.reported is not None:
        said += f"; the paper reports {number(gap.reported, decimals, True)}"
        if ends:
            within = ends[0] <= gap.reported <= ends[1]
            said += f", {'inside' if within else 'outside'} the interval"
    if gap.ends:
        each = ", ".join(f"{number(c.mean, decimals, True)} in {c.column}" for c in gap.ends)
        said += f"; most for and most against it: {each}"
    return f"{what}: {said}."


def printed_sentence(view: View, main: Difference) -> str:
    """Return the paper's main difference alone, in the form of ours; empty where it has none."""
    gap = gap_of(View(view.experiment, "reported", view.numbers), main)
    if gap.reported is None:
        return ""
    unit = "points" if gap.unit == "percent" else gap.unit
    size = number(gap.reported, DECIMALS.get(unit, 3), True)
    return f"{_what(view, main, gap)}: the paper reports {size} {unit}."


def _what(view: View, main: Difference, gap: Gap) -> str:
    entry = load_catalog().experiment(view.experiment)
    column = entry.column_at(view.profile, main.column)
    if len(gap.columns) > 1 or "*" in main.column:
        column = f"mean of {len(gap.columns)} columns" if gap.columns else "mean of the columns"
    elif column != main.column:
        column = f"{column} for {main.column}"
    if entry.reference(main.first) != main.first:
        column += f", block {main.first.partition(':')[0]}"
    return f"{minus(main.first.partition(':')[2], main.second.partition(':')[2])} ({column})"
