"""A row of squares for each paper, one per claim: its verdicts by colour and sign."""

from collections import Counter
from html import escape

from xlrepro.book.verdicts import REPORTED, Evidence, load_evidence
from xlrepro.evidence.answers import VERBS
from xlrepro.evidence.claims.files import Claim
from xlrepro.evidence.claims.judging import (
    FAILS,
    HOLDS,
    NOT_EVALUABLE,
    NOT_RUN,
    UNDECIDED,
    status_counts,
)
from xlrepro.evidence.claims.table import touching
from xlrepro.evidence.deviations import WEIGHTS, deviation_anchor, load_deviations
from xlrepro.trials import PUBLISHED

SIGNS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?", NOT_EVALUABLE: "–", NOT_RUN: ""}
# What a claim is judged on, from top to bottom of its squares.
LABELS = (REPORTED, *PUBLISHED)
WORDS = {REPORTED: "printed"}
FROM_DASHBOARD = "deviations.html"  # the page of all deviations, as seen from the dashboard
MOST_REASONS = 2  # of a paper


def board() -> str:
    """Return a row of squares per paper, as HTML: each claim is a link that tells its sentence."""
    evidence = load_evidence()
    rows = "\n".join(_row(evidence, paper) for paper in evidence.catalog.papers)
    return f'<div class="xl-board">\n{_legend()}\n{rows}\n</div>'


def _legend() -> str:
    stack = ", ".join(WORDS.get(label, label) for label in LABELS)
    signs = " ".join(f"<span>{_square(s)} {s}</span>" for s in SIGNS)
    return (
        f'<p class="xl-legend">A column is a claim, judged on, from top to bottom: {stack}. '
        f"{signs}</p>"
    )


def _square(status: str) -> str:
    kind = "-".join(status.split())
    return f'<span class="xl-square xl-{kind}" aria-hidden="true">{SIGNS[status]}</span>'


def _row(evidence: Evidence, paper: str) -> str:
    claims = evidence.all_claims[paper]
    entry = evidence.catalog.paper(paper)
    counts = status_counts([evidence.verdicts(paper)[c.id].get("open") for c in claims])
    sums = ", ".join(f"{counts[s]} {VERBS[s][counts[s] != 1]}" for s in VERBS if counts[s])
    items = "".join(_claim(evidence, paper, claim) for claim in claims)
    return (
        f'<div class="xl-claims-of"><p><a href="{paper}/claims.html">{escape(entry.menu)}</a> '
        f"<span>{escape(entry.short)}; at open: {sums or NOT_RUN}</span>"
        "</p>\n"
        f'<ul aria-label="Claims: {escape(entry.menu)}">{items}</ul>'
        f"{reasons(evidence, paper)}</div>"
    )


def reasons(evidence: Evidence, paper: str, page: str = FROM_DASHBOARD) -> str:
    """Return why claims do not hold, as far as can be told: deviations, printed numbers, seeds.

    Args:
        evidence: the verdicts.
        paper: whose claims, judged at open.
        page: of all deviations, as seen from where this stands.
    """
    verdicts = evidence.verdicts(paper)
    judged = {c.id: v for c in evidence.all_claims[paper] if (v := verdicts[c.id].get("open"))}
    failing = [
        c for c in evidence.all_claims[paper] if (v := judged.get(c.id)) and v.status == FAILS
    ]
    known = [d for d in load_deviations() if d.weight == WEIGHTS[0]]
    touched = Counter(
        d.id for claim in failing for d in touching(claim, evidence.judge, ["open"], known)
    )
    by_id = {d.id: d for d in known}
    parts = [
        f'<a href="{page}#{deviation_anchor(i)}">{escape(by_id[i].title)}</a> ({count})'
        for i, count in touched.most_common(MOST_REASONS)
    ]
    printed = sum(v is not None and v.status == FAILS for c in failing
                  for v in [verdicts[c.id].get(REPORTED)])  # fmt: skip
    parts += [f"printed numbers fail too ({printed})"] * bool(printed)
    clauses = [
        f"Behind the {len(failing)} that fail{'s' * (len(failing) == 1)}: {'; '.join(parts)}"
    ] * bool(parts)
    open_ = [v for v in judged.values() if v.status == UNDECIDED]
    few = sum(v.n == 1 for v in open_)
    clauses += [f"{few} of {len(open_)} undecided: one seed"] * bool(few)
    return f'<p class="xl-why">{". ".join(clauses)}.</p>' if clauses else ""


def _claim(evidence: Evidence, paper: str, claim: Claim) -> str:
    verdicts = [evidence.verdicts(paper)[claim.id].get(label) for label in LABELS]
    statuses = [v.status if v else NOT_RUN for v in verdicts]
    standing = "; ".join(
        f"{WORDS.get(label, label)}: {status}" for label, status in zip(LABELS, statuses)
    )
    tip = f"<b>{claim.id}</b> {escape(claim.text)} <i>{standing}.</i>"
    return (
        f'<li><a href="{paper}/claims.html#{claim.id}">{"".join(map(_square, statuses))}'
        f'<span class="xl-tip">{tip}</span></a></li>'
    )
