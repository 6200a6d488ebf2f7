"""In sentences: how much there is, what it cost, how current it is, what was found out."""

from collections import Counter

from xlrepro.book.findings import page as findings_page
from xlrepro.book.verdicts import load_evidence
from xlrepro.evidence.deviations import load_errata
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.tables.table import enumerated
from xlrepro.experiments import STANDINGS
from xlrepro.experiments import standing as standing_of
from xlrepro.trials import PUBLISHED, duration


def scope() -> str:
    """Return a sentence on how much the papers print and claim."""
    evidence = load_evidence()
    printed = [k for k, e in evidence.catalog.experiments.items() if not e.ours]
    numbers = sum(len(evidence.reported.cells(key)) for key in printed)
    claims = sum(len(c) for c in evidence.all_claims.values())
    return (
        f"{len(evidence.catalog.papers)} papers, {len(printed)} tables and figures with "
        f"{numbers:,} printed numbers, {claims} claims"
    )


def standing() -> str:
    """Return how many of the records today's code stands behind, as a line of HTML."""
    records = list({r.key: r for r in load_evidence().records if r.profile in PUBLISHED}.values())
    if not records:
        return "<p>No record on real data is part of this copy yet.</p>"
    counts = Counter(map(standing_of, records))
    standings = ", ".join(f"<b>{counts[s]}</b> {s}" for s in STANDINGS)
    return f'<p class="xl-standing">Records behind them: {standings}.</p>'


def cost() -> str:
    """Return what the evidence cost, and what its records' standings mean; nothing without any."""
    records = [r for r in load_evidence().records if r.profile in PUBLISHED]
    if not records:
        return ""
    total = total_cost(records)
    return (
        f"**Cost**: {total.trials:,} trials, {duration(total.wall_seconds)} one after the other, "
        f"{duration(total.pretraining_seconds)} of pretraining before them, "
        f"{total.training_tokens / 1e6:,.0f} million training tokens, on "
        f"{enumerated(total.devices)}. Of a trial's record, *fresh* means made by today's code, "
        "*witnessed* that a shortened run has shown that it gives the same; *stale* awaits either."
    )


def findings() -> str:
    """Return what this repository found out: the first lines of every findings page, a list."""
    lines = []
    for paper, entry in load_evidence().catalog.papers.items():
        if findings_page.exists(paper):
            link = f"{{doc}}`{entry.menu} <{paper}/findings>`"
            lines += [f"- **{link}**: {item}" for item in findings_page.in_short(paper)]
    errata = len(load_errata())
    lines.append(
        f"- **{{doc}}`Errata <deviations>`**: in {errata} places a paper's own tables do not "
        "support its sentence, or break the rule of a mark."
    )
    return "\n".join(lines)
