"""Claims on a page: each sentence with its verdict on reported and on reproduced numbers."""

from collections.abc import Mapping, Sequence

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims.comparisons import shown, told
from xlrepro.evidence.claims.files import Claim, load_claims
from xlrepro.evidence.claims.judging import (
    FAILS,
    HOLDS,
    NOT_RUN,
    REPORTED,
    UNDECIDED,
    ClaimVerdict,
    Condition,
    Judge,
    judge_all,
)
from xlrepro.evidence.deviations import WEIGHTS, Deviation, deviation_link, load_deviations
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.tables.table import Entry, Link, Table, headings
from xlrepro.evidence.view import View

EVERY = "../deviations.html"  # the page of all deviations, as seen from a paper's pages
SIGNS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?"}


def claims_of(key: str, judge: Judge) -> list[Claim]:
    """Return the claims of a paper (``"ramen"``), or those that an experiment bears on.

    An experiment bears on the claims whose predicates read its cells, and on those without a
    predicate that rest on the figure of its name (``"word_order/figure2"``: "Figure 2").
    """
    paper, _, experiment = key.partition("/")
    claims = load_claims(paper)
    if not experiment:
        return claims
    judge.catalog.experiment(key)
    figure = experiment.replace("figure", "Figure ")
    return [
        c
        for c in claims
        if (c.expression is None and c.cells == figure)
        or (c.expression is not None and any(key == read[0] for read in judge.reads(c)))
    ]


def touching(
    claim: Claim, judge: Judge, profiles: Sequence[str], known: Sequence[Deviation]
) -> list[Deviation]:
    """Return the deviations that touch the cells a claim rests on, most weighing first.

    A block of ours that stands in for one of the paper's counts as that one too.

    Args:
        claim: a sentence on cells.
        judge: says which cells it reads.
        profiles: those of a deviation that has one of these.
        known: the deviations to choose from.
    """
    reads = judge.reads(claim) if claim.expression else []
    cells = [(e, s, column) for e, system, column in reads for s in _stood_in(e, system, judge)]
    deviations = [
        d for d in known if {*profiles} & {*d.profiles} and any(d.touches(*cell) for cell in cells)
    ]
    return sorted(deviations, key=lambda d: WEIGHTS.index(d.weight))


def _stood_in(experiment: str, system: str, judge: Judge) -> list[str]:
    """Return a system, and those of ours that claims on it are judged on too."""
    block, _, name = system.partition(":")
    blocks = judge.catalog.experiment(experiment).reference_blocks
    return [system, *(f"{ours}:{name}" for ours, theirs in blocks.items() if theirs == block)]


def conditions_of(
    paper: str, profiles: Sequence[str], numbers: ReproducedNumbers
) -> list[Condition]:
    """Return the conditions worth a column: the printed numbers, each profile, and each profile
    with a block of ours in the place of the paper's, if that block was run at it.
    """
    conditions = [REPORTED, *map(Condition, profiles)]
    for key, entry in load_catalog().of_paper(paper).items():
        for ours, theirs in entry.reference_blocks.items():
            for profile in profiles:
                if entry.judged_on.get(profile, {}).get(theirs) == ours:
                    continue  # the profile's own verdict
                ran = any(s.startswith(f"{ours}:") for s in View(key, profile, numbers).systems)
                condition = Condition(profile, {theirs: ours})
                if ran and condition not in conditions:
                    conditions.insert(conditions.index(Condition(profile)) + 1, condition)
    return conditions


def verdict_entry(verdict: ClaimVerdict | None) -> Entry:
    """Return a verdict as a table cell: the status, below it numbers, share, seeds and notes."""
    if verdict is None:
        return Entry("–", title="does not depend on this block")
    parts = [told(verdict.compared)]
    if verdict.share is not None:
        parts.append(f"{100 * verdict.share:.0f} % of draws")
        parts.append(
            "no single difference decides it"  # it picks, counts or ranks
            if verdict.decidable is None
            else f"decidable from {shown(verdict.decidable)}"
        )
    if verdict.n > 1 and verdict.alone is not None:
        parts.append(f"in {verdict.alone} of {verdict.n} seeds")
    elif verdict.n:
        parts.append(f"n = {verdict.n}")
    detail = "; ".join(filter(None, (*parts, verdict.note)))
    text = f"{SIGNS.get(verdict.status, '')} {verdict.status}".strip()
    return Entry(text, detail, verdict=verdict.status)


def says_something(
    condition: Condition, verdicts: Mapping[str, Mapping[str, ClaimVerdict | None]]
) -> bool:
    """Tell whether a condition has a verdict on any claim: other tables may have run its block."""
    column = (of_claim[condition.label] for of_claim in verdicts.values())
    return any(v is not None and v.status != NOT_RUN for v in column)


def claims_table(key: str, profiles: Sequence[str], judge: Judge) -> Table:
    """Render the claims of a paper or an experiment with their verdicts.

    Args:
        key: ``"word_order"`` or ``"word_order/table2"``.
        profiles: a column for each, beside the one for the printed numbers.
        judge: knows the reproduced cells of the paper.
    """
    paper = key.split("/", 1)[0]
    claims = claims_of(key, judge)
    wanted = conditions_of(paper, profiles, judge.numbers)
    verdicts = judge_all(claims, wanted, judge)
    wanted = [w for w in wanted if not w.blocks or says_something(w, verdicts)]
    known = load_deviations()

    def links(claim: Claim) -> tuple[Link, ...]:
        deviations = touching(claim, judge, profiles, known)
        return tuple(deviation_link(d, "" if key in d.experiments else EVERY) for d in deviations)

    rows = tuple(
        (
            Entry(c.id, f"{c.kind} of {c.variant_of}" if c.variant_of else c.kind, anchor=c.id),
            Entry(
                c.text,
                f"{c.section}; {c.cells}",
                title=c.rule or c.predicate or "",
                links=links(c),
            ),
            *(verdict_entry(verdicts[c.id][w.label]) for w in wanted),
        )
        for c in claims
    )
    names = headings("id", "claim", *(w.label for w in wanted))
    caption = (
        f"Claims, {key}: the verdict on the printed numbers and on ours. Ours: holds where the "
        "predicate is true in at least 95 % of the draws of the means over seeds, fails at 5 % or "
        "less. No claim holds beside an interval that includes 0, and none fails unless one of its "
        "comparisons is refuted alone. The numbers are the means that it compares; ✗ is one that "
        "is not so. "
        "Decidable: the smallest difference that these seeds could have decided, half of the "
        "widest 95 % interval among those compared. Below a "
        "claim: the deviations that touch it, bold those that weigh most."
    )
    return Table(caption, names, rows, f"{key}: {len(rows)} claims judged")
