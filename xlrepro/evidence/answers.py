"""What a page answers, in sentences computed from records: claims, the main difference, cost."""

from collections.abc import Mapping, Sequence

from xlrepro.evidence.catalog import Difference, load_catalog
from xlrepro.evidence.compare import (
    ABOVE,
    BELOW,
    WITHIN,
    compare,
    unit_factor,
    verdict_counts,
)
from xlrepro.evidence.html_table import number
from xlrepro.evidence.judging import FAILS, HOLDS, UNDECIDED, ClaimVerdict, status_counts
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.reported import ReportedNumbers, load_reported
from xlrepro.evidence.statement import Statement
from xlrepro.evidence.view import View
from xlrepro.trials.record import Record

MEANING = {
    "smoke": "smoke: shows that the code runs, not evidence",
    "open": "open data: evidence for orderings",
    "paper": "paper scale: evidence for values",
}
VERBS = {  # of one claim, of several
    HOLDS: ("holds", "hold"),
    FAILS: ("fails", "fail"),
    UNDECIDED: ("is undecided", "are undecided"),
}


def answer(
    view: View,
    verdicts: Sequence[ClaimVerdict],
    records: Sequence[Record],
    *,
    reported: ReportedNumbers | None = None,
) -> Statement:
    """Return what came back on a page, in two or three sentences.

    Args:
        view: the page's cells at its most telling profile.
        verdicts: of the claims that the experiment bears on, at that profile.
        records: behind the cells.
        reported: replaces the project's own.
    """
    main = load_catalog().experiment(view.experiment).answer
    told = [difference_sentence(view, main, reported or load_reported())] if main else []
    told += [] if main else cells_sentence(verdict_counts(compare(view, reported=reported)))
    told += [claims_sentence(verdicts)] if verdicts else []
    told.append(f"Behind this: {total_cost(records)} ({MEANING[view.profile]}).")
    return Statement(f"Answer, {view.experiment} ({view.profile})", tuple(told))


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
        'Of 3 claims 1 holds, 2 fail.'
    """
    counts = status_counts(verdicts)
    parts = [f"{counts[s]} {VERBS[s][counts[s] != 1]}" for s in VERBS if counts[s]]
    rest = len(verdicts) - sum(counts[s] for s in VERBS)
    parts += [f"{rest} {'was' if rest == 1 else 'were'} not judged"] if rest else []
    return f"Of {len(verdicts)} claim{'s' * (len(verdicts) != 1)} {', '.join(parts)}."


def difference_sentence(view: View, main: Difference, reported: ReportedNumbers) -> str:
    """Return the page's main difference with its interval, beside the paper's.

    Example of one: "ORT − TRS (avg): +0.10 points, 95 % interval −0.02 to +0.22, 5 seeds; the
    paper: +9.62."
    """
    entry = load_catalog().experiment(view.experiment)
    what = f"{main.first.partition(':')[2]} − {main.second.partition(':')[2]} ({main.column})"
    printed = [
        reported.get(view.experiment, entry.reference(system), main.column)
        for system in (main.first, main.second)
    ]
    values = [cell.value for cell in printed if cell is not None and cell.value is not None]
    unit = printed[0].unit if printed[0] else ""
    theirs = ""
    if len(values) == 2:
        decimals = len(printed[0].printed.partition(".")[2]) if printed[0] else 2
        theirs = f"; the paper: {number(values[0] - values[1], decimals, True)}"
    return f"{what}: {_ours(view, main, unit)}{theirs}."


def _ours(view: View, main: Difference, unit: str) -> str:
    """Return our difference in the paper's unit, or why there is none."""
    cells = [view.get(system, main.column) for system in (main.first, main.second)]
    first, second = cells
    if first is None or second is None:
        return f"not run at {view.profile}"
    if not set(first.seeds) & set(second.seeds):
        return "not run with the same seeds"
    pair = paired_differences(view, main.first, main.second, [main.column]).iloc[0]
    factor = unit_factor(first.unit, unit or first.unit)
    mean, low, high = (factor * float(pair[name]) for name in ("mean", "low", "high"))
    words = "points" if factor == 1 and first.unit == "percent" else unit
    told = f"{number(mean, 2 if factor == 1 else 3, True)} {words}".rstrip()
    if pair["n"] == 1:
        return f"{told}, one seed, so no interval"
    ends = " to ".join(number(end, 2 if factor == 1 else 3, True) for end in (low, high))
    return f"{told}, 95 % interval {ends}, {pair['n']} seeds"
