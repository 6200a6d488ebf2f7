"""The landing page: what there is, which claims come back, and at what cost."""

from xlrepro.book.experiment_pages import BUILT, NOT_BUILT, state_of
from xlrepro.book.toc import paper_order
from xlrepro.book.verdicts import EVIDENT, REPORTED, Evidence, evidence
from xlrepro.evidence.claim_files import Claim
from xlrepro.evidence.claims import verdict_entry
from xlrepro.evidence.compare import ABOVE, BELOW, NOT_HERE, NOT_RUN, OTHER_DATA, QUOTED, WITHIN
from xlrepro.evidence.html_table import Entry, Table, headings
from xlrepro.evidence.judging import FAILS, HOLDS, NOT_EVALUABLE, UNDECIDED, status_counts
from xlrepro.evidence.provenance import duration, total_cost

JUDGED = (HOLDS, FAILS, UNDECIDED)


def scope(profile: str) -> str:
    """Return a sentence on how much is there."""
    found = evidence()
    printed = [k for k, e in found.catalog.experiments.items() if not e.ours]
    built = [k for k in found.catalog.experiments if state_of(k, profile) != NOT_BUILT]
    evident = [r for r in found.records if r.profile in EVIDENT]
    claims = sum(len(c) for c in found.all_claims.values())
    text = (
        f"{len(found.catalog.papers)} papers, {len(printed)} tables and figures with "
        f"{len(found.reported)} printed numbers, and {claims} claims. "
        f"{len(built)} experiments are built so far. "
    )
    if not evident:
        return text + "No record on real data is part of this copy yet."
    cost = total_cost(evident)
    return (
        text + f"Behind the evidence shown here stand {cost.trials} trials that took "
        f"{duration(cost.wall_seconds)} one after the other."
    )


def papers_table() -> str:
    """Return the papers with the verdicts on their claims, as HTML."""
    found = evidence()
    rows = []
    for paper in paper_order(found.catalog):
        entry = found.catalog.paper(paper)
        link = Entry(entry.short, entry.title, href=f"{paper}/method.html")
        claims = Entry(str(len(found.all_claims[paper])), href=f"{paper}/claims.html")
        counts = [_claim_counts(found, paper, label) for label in (REPORTED, *EVIDENT)]
        rows.append((link, claims, *counts))
    head = headings("paper", "claims", "on the printed numbers", *(f"at {p}" for p in EVIDENT))
    caption = "Which claims come back: verdicts by the numbers that they are judged on."
    return Table(caption, head, tuple(rows), interactive=False).html


def _claim_counts(found: Evidence, paper: str, label: str) -> Entry:
    counts = status_counts([v.get(label) for v in found.verdicts[paper].values()])
    parts = [f"{counts[s]} {_verb(s, counts[s])}" for s in JUDGED if counts[s]]
    if not parts:
        return Entry(NOT_RUN, verdict=NOT_RUN)
    rest = counts[NOT_RUN] + counts[NOT_EVALUABLE]
    return Entry(", ".join(parts), f"{rest} cannot be judged" if rest else "")


def _verb(status: str, count: int) -> str:
    return {HOLDS: "hold", FAILS: "fail"}.get(status, status) if count != 1 else status


def findings() -> str:
    """Return the claims that were judged on real data, with all their verdicts, as HTML."""
    found = evidence()
    parts = [_judged_claims(found, paper) for paper in paper_order(found.catalog)]
    tables = [table.html for table in parts if table]
    return "\n\n".join(tables) or "No claim has been judged on real data in this copy yet."


def _judged_claims(found: Evidence, paper: str) -> Table | None:
    """Return the claims of ``paper`` that real data decide, or leave open; None for none."""
    conditions = found.conditions(paper)
    labels = [c.label for c in conditions]
    evident = [c.label for c in conditions if c.profile in EVIDENT]

    def is_judged(claim: Claim) -> bool:
        verdicts = [found.verdicts[paper][claim.id][label] for label in evident]
        return any(v is not None and v.status in JUDGED for v in verdicts)

    rows = tuple(
        (
            Entry(c.id, href=f"{paper}/claims.html"),
            Entry(c.text, f"{c.kind}; {c.cells}"),
            *(verdict_entry(found.verdicts[paper][c.id][label]) for label in labels),
        )
        for c in found.all_claims[paper]
        if is_judged(c)
    )
    if not rows:
        return None
    short = found.catalog.paper(paper).short
    return Table(f"Claims of {short} judged on real data.", headings("id", "claim", *labels), rows)


def experiments_table(profile: str) -> str:
    """Return papers x experiments: what is built, how the cells compare, and the cost, as HTML."""
    found = evidence()
    rows = []
    for paper in paper_order(found.catalog):
        for key, entry in found.catalog.of_paper(paper).items():
            state = state_of(key, profile)
            shown = Entry(
                "built" if state == BUILT else state, verdict="" if state == BUILT else NOT_RUN
            )
            rows.append(
                (
                    Entry(key, entry.title, href=f"{key}.html"),
                    Entry("ours" if entry.ours else "paper"),
                    shown,
                    Entry(str(len(found.reported.cells(key))), sort=len(found.reported.cells(key))),
                    *(_cells(found, key, p) for p in EVIDENT),
                    _cost(found, key),
                )
            )
    names = (
        "experiment",
        "from",
        "state",
        "printed numbers",
        *(f"cells at {p}" for p in EVIDENT),
        "cost",
    )
    caption = (
        "Every experiment. Cells: = within the interval, ▲ above, ▼ below the paper; where our "
        "data are not the paper's, cells have no such verdict and are counted apart. Cost: trials "
        "and their summed wall time, without smoke runs."
    )
    return Table(caption, headings(*names, numeric=("printed numbers", "cost")), tuple(rows)).html


def _cells(found: Evidence, key: str, profile: str) -> Entry:
    counts = found.cell_counts(key, profile)
    if not counts:
        ours = found.catalog.experiment(key).ours
        return Entry("–" if ours else NOT_RUN, verdict="" if ours else NOT_RUN)
    signs = ((WITHIN, "="), (ABOVE, "▲"), (BELOW, "▼"))
    entry = found.catalog.experiment(key)
    parts = [f"{counts[v]} {sign}" for v, sign in signs] if entry.is_judged(profile) else []
    parts += [f"{counts[OTHER_DATA]} on {OTHER_DATA}"] if profile in entry.stand_ins else []
    text = " ".join(parts)
    detail = ", ".join(f"{counts[v]} {v}" for v in (NOT_RUN, NOT_HERE, QUOTED) if counts[v])
    return Entry(text, detail)


def _cost(found: Evidence, key: str) -> Entry:
    records = [r for r in found.records if r.experiment == key and r.profile in EVIDENT]
    if not records:
        return Entry("–")
    cost = total_cost(records)
    trials = f"{cost.trials} trial{'s' if cost.trials != 1 else ''}, {duration(cost.wall_seconds)}"
    return Entry(trials, ", ".join(cost.devices), sort=cost.wall_seconds)
