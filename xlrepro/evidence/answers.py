"""What a page answers, in sentences computed from records: claims, the main difference, cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from xlrepro.evidence.catalog import Difference, load_catalog
from xlrepro.evidence.claims.files import Claim
from xlrepro.evidence.claims.judging import FAILS, HOLDS, UNDECIDED, ClaimVerdict, status_counts
from xlrepro.evidence.compare import (
    ABOVE,
    BELOW,
    WITHIN,
    compared_rows,
    unit_factor,
    verdict_counts,
)
from xlrepro.evidence.deviations import Deviation, deviation_anchor, weighing_most
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.tables.table import in_words, minus, number
from xlrepro.evidence.view import View
from xlrepro.trials.record import Record

MEANING = {
    "smoke": "smoke: shows that the code runs, not evidence",
    "open": "open data: evidence for orderings",
    "paper": "paper scale: evidence for values",
}
NO_RECORDS = "Nothing has been run on real data yet: what follows is the paper's own"
DECIMALS = {"points": 1, "perplexity": 1}  # of a difference; 3 for fractions and the like
VERBS = {  # of one claim, of several
    HOLDS: ("holds", "hold"),
    FAILS: ("fails", "fail"),
    UNDECIDED: ("is undecided", "are undecided"),
}


@dataclass(frozen=True)
class Answer:
    """What came back on a page; as text a line without its numbers.

    Attributes:
        title: which page, at which profile.
        headline: the verdict in a few words.
        sentences: plain text, computed.
        why: the deviations that weigh most, so that numbers may differ for them.
        cost: what is behind it.
    """

    title: str
    headline: str
    sentences: tuple[str, ...]
    why: tuple[Deviation, ...]
    cost: str

    def _repr_html_(self) -> str:
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        links = "; ".join(
            f'<a href="#{deviation_anchor(d.id)}">{escape(d.title)}</a>' for d in self.why
        )
        why = f"<p>Why it may differ: {links}.</p>" if links else ""
        return (
            f'<p class="xl-headline"><strong>{escape(self.headline)}</strong></p>{paragraphs}{why}'
            f'<p class="xl-cost">{escape(self.cost)}</p>'
        )

    def __repr__(self) -> str:
        return f"{self.title}: {len(self.sentences)} sentences computed from records"


def answer(
    view: View, judged: Sequence[tuple[Claim, ClaimVerdict]], records: Sequence[Record]
) -> Answer:
    """Return what came back on a page: a headline, two or three sentences, and what it cost.

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
    headline = headline_of(view, main, judged)
    if main:
        lines = [difference_sentence(view, each) for each in (main, *entry.contrasts)]
    else:
        lines = cells_sentence(verdict_counts(row["verdict"] for row in compared_rows(view)))
        if lines and not entry.main_claim:  # printed numbers that can be judged are the question
            headline = lines.pop()
    counted = claims_sentence([verdict for _, verdict in judged])
    lines += [counted] if judged and headline != counted else []
    cost = f"Behind this: {total_cost(records)} ({MEANING[view.profile]})."
    why = () if entry.ours else tuple(weighing_most(view.experiment, view.profile)[:2])
    return Answer(title, headline, tuple(lines), why, cost)


def headline_of(
    view: View, main: Difference | None, judged: Sequence[tuple[Claim, ClaimVerdict]] = ()
) -> str:
    """Return the verdict on the main difference: its direction beside the paper's.

    A page without one says what became of its main claim, or counts its claims.
    """
    if main is None:
        chosen = load_catalog().experiment(view.experiment).main_claim
        for claim, verdict in judged:
            if claim.id == chosen:
                return f"{verdict.status.capitalize()}: {claim.text}"
        return claims_sentence([v for _, v in judged]) if judged else "Numbers of ours"
    pair = view.difference(main.first, main.second, _column(view, main))
    if pair is None:
        return "The main difference was not run"
    if pair.interval is None:
        return "One seed: a direction, without an interval"
    sign, (theirs, _) = pair.interval.sign, _printed(view, main)
    if {sign} != {sign, *_signs(view)}:
        return "It depends: the differences below have different signs"
    if sign == "0":
        return "No difference is shown: the interval includes 0"
    if theirs is None:
        return f"{main.first.partition(':')[2]} scores {'higher' if sign == '+' else 'lower'}"
    same = (theirs > 0) == (sign == "+")
    return "The same direction as in the paper" if same else "The other way round than in the paper"


def _signs(view: View) -> list[str]:
    """Return the signs of what is contrasted with the main difference, where it has an interval."""
    contrasts = load_catalog().experiment(view.experiment).contrasts
    pairs = [view.difference(c.first, c.second, c.column) for c in contrasts]
    return [pair.interval.sign for pair in pairs if pair and pair.interval]


def cells_sentence(counts: Mapping[str, int]) -> list[str]:
    """Return how the cells that can be judged lie beside the paper's; [] where there is none.

    Args:
        counts: verdict -> cells.

    Example:
        >>> cells_sentence({"within": 31, "above": 1, "below": 0, "not run": 5})
        ['Of 32 cells 31 are within the interval, 1 above, 0 below the paper.']
    """
    within, above, below = (counts.get(verdict, 0) for verdict in (WITHIN, ABOVE, BELOW))
    judged = within + above + below
    if not judged:
        return []
    beside = f"{within} are within the interval, {above} above, {below} below the paper"
    return [f"Of {judged} cells {beside}."]


def claims_sentence(verdicts: Sequence[ClaimVerdict]) -> str:
    """Return how many claims hold, fail, are undecided, and how many were not judged.

    Example:
        >>> claims_sentence([ClaimVerdict("holds"), ClaimVerdict("fails"), ClaimVerdict("fails")])
        'Judged on these numbers, of 3 claims 1 holds, 2 fail.'
    """
    counts = status_counts(verdicts)
    parts = [f"{counts[s]} {VERBS[s][counts[s] != 1]}" for s in VERBS if counts[s]]
    rest = len(verdicts) - sum(counts[s] for s in VERBS)
    parts += [f"{rest} {'was' if rest == 1 else 'were'} not judged"] if rest else []
    claims = f"{len(verdicts)} claim{'s' * (len(verdicts) != 1)}"
    return f"Judged on these numbers, of {claims} {', '.join(parts)}."


def difference_sentence(view: View, main: Difference) -> str:
    """Return the page's main difference with its interval, beside the paper's.

    Example of one: "ORT − TRS (avg): +0.1 points, 0.0 to +0.2, five seeds; the paper: +9.6, outside
    of it."
    """
    theirs, unit = _printed(view, main)
    decimals = DECIMALS.get(unit, 3)
    ours, ends = _ours(view, main, unit, decimals)
    said = "" if theirs is None else f"; the paper: {number(theirs, decimals, True)}"
    if theirs is not None and ends is not None:
        said += ", inside of it" if ends[0] <= theirs <= ends[1] else ", outside of it"
    return f"{_what(view, main, _column(view, main))}: {ours}{said}."


def printed_sentence(view: View, main: Difference) -> str:
    """Return the paper's main difference alone, in the form of ours; empty where it has none."""
    theirs, unit = _printed(view, main)
    if theirs is None:
        return ""
    size = number(theirs, DECIMALS.get(unit, 3), True)
    return f"{_what(view, main, main.column)}: the paper: {size} {unit}."


def _what(view: View, main: Difference, ours: str) -> str:
    column = ours if ours == main.column else f"{ours} for {main.column}"
    if load_catalog().experiment(view.experiment).reference(main.first) != main.first:
        column += f", block {main.first.partition(':')[0]}"
    return f"{minus(main.first.partition(':')[2], main.second.partition(':')[2])} ({column})"


def _column(view: View, main: Difference) -> str:
    """Return the column of ours that answers: a stand-in's where it has the printed one's place."""
    return load_catalog().experiment(view.experiment).column_at(view.profile, main.column)


def _printed(view: View, main: Difference) -> tuple[float | None, str]:
    """Return the paper's difference, ``None`` where it does not print both, and its unit.

    Where the paper prints none the unit is ours.
    """
    reference, reported = load_catalog().experiment(view.experiment).reference, load_reported()
    cells = [
        reported.get(view.experiment, reference(system), main.column)
        for system in (main.first, main.second)
    ]
    first = cells[0] or view.get(main.first, _column(view, main))
    unit = "points" if first and first.unit == "percent" else first.unit if first else ""
    values = [cell.value for cell in cells if cell is not None and cell.value is not None]
    return values[0] - values[1] if len(values) == 2 else None, unit


def _ours(
    view: View, main: Difference, unit: str, decimals: int
) -> tuple[str, tuple[float, float] | None]:
    """Return our difference in the paper's unit, or why there is none; and its interval's ends."""
    column = _column(view, main)
    if None in [view.get(system, column) for system in (main.first, main.second)]:
        return f"not run at {view.profile}", None
    pair = view.difference(main.first, main.second, column)
    if pair is None:
        return "not run with the same seeds", None
    factor = unit_factor(pair.unit, "percent" if unit == "points" else unit or pair.unit)
    mean, interval = factor * pair.mean, pair.interval
    if interval is None:
        return (
            f"{number(mean, decimals, True)} {unit}".rstrip() + ", one seed, so no interval",
            None,
        )
    low, high = factor * interval.low, factor * interval.high
    if not all(float(f"{end:.{decimals}f}") for end in (low, high)):
        decimals += 1  # an end beside 0 shows on which side
    size, *ends = (number(value, decimals, True) for value in (mean, low, high))
    seeds = load_catalog().experiment(view.experiment).counted_seeds(in_words(pair.n))
    return f"{f'{size} {unit}'.rstrip()}, {' to '.join(ends)}, {seeds}", (low, high)
