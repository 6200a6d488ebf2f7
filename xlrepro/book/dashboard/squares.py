"""A row of squares for each paper, one per claim: its verdicts by colour and sign."""

from html import escape

from xlrepro.book.toc import MENU_TITLES, paper_order
from xlrepro.book.verdicts import EVIDENT, REPORTED, Evidence, evidence
from xlrepro.evidence.answers import VERBS
from xlrepro.evidence.claim_files import Claim
from xlrepro.evidence.judging import (
    FAILS,
    HOLDS,
    NOT_EVALUABLE,
    NOT_RUN,
    UNDECIDED,
    status_counts,
)

SIGNS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?", NOT_EVALUABLE: "–", NOT_RUN: ""}
# What a claim is judged on, from top to bottom of its squares.
LABELS = (REPORTED, *EVIDENT)
WORDS = {REPORTED: "printed"}


def board() -> str:
    """Return a row of squares per paper, as HTML: each claim is a link that tells its sentence."""
    found = evidence()
    rows = "\n".join(_row(found, paper) for paper in paper_order(found.catalog))
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


def _row(found: Evidence, paper: str) -> str:
    claims = found.all_claims[paper]
    title = MENU_TITLES.get(paper, paper)
    counts = status_counts([found.verdicts(paper)[c.id].get("open") for c in claims])
    told = ", ".join(f"{counts[s]} {VERBS[s][counts[s] != 1]}" for s in VERBS if counts[s])
    items = "".join(_claim(found, paper, claim) for claim in claims)
    return (
        f'<div class="xl-claims-of"><p><a href="{paper}/claims.html">{escape(title)}</a> '
        f"<span>{escape(found.catalog.paper(paper).short)}; at open: {told or NOT_RUN}</span></p>\n"
        f'<ul aria-label="Claims: {escape(title)}">{items}</ul></div>'
    )


def _claim(found: Evidence, paper: str, claim: Claim) -> str:
    verdicts = [found.verdicts(paper)[claim.id].get(label) for label in LABELS]
    statuses = [v.status if v else NOT_RUN for v in verdicts]
    told = "; ".join(
        f"{WORDS.get(label, label)}: {status}" for label, status in zip(LABELS, statuses)
    )
    tip = f"<b>{claim.id}</b> {escape(claim.text)} <i>{told}.</i>"
    return (
        f'<li><a href="{paper}/claims.html#{claim.id}">{"".join(map(_square, statuses))}'
        f'<span class="xl-tip">{tip}</span></a></li>'
    )
