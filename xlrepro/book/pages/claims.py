"""The page of a paper's claims: verdicts, and the predicates behind them."""

from collections.abc import Sequence

from xlrepro.book.dashboard.squares import reasons
from xlrepro.book.templating import render_file
from xlrepro.book.verdicts import load_evidence
from xlrepro.evidence.claims.files import Claim
from xlrepro.evidence.claims.judging import STATUSES, status_counts
from xlrepro.evidence.claims.table import EVERY, claims_table, says_something, touching
from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.tables.table import Entry, Table, headings
from xlrepro.paths import project_root


def claims_markdown(paper: str) -> str:
    """Return the Markdown of ``<paper>/claims``."""
    evidence = load_evidence()
    names = {
        "short": evidence.catalog.paper(paper).short,
        "title": evidence.catalog.paper(paper).title,
        "ids": ", ".join(claim.id for claim in evidence.all_claims[paper]),
        "summary": summary_table(paper).html,
        "reasons": reasons(evidence, paper, page=EVERY),
        "table": verdicts_html(paper),
        "predicates": predicates_table(evidence.all_claims[paper]).html,
    }
    return render_file(project_root() / "book" / "templates" / "claims.md", names)


def verdicts_html(key: str) -> str:
    """Return the claims of a paper or an experiment with their verdicts; empty for none."""
    evidence = load_evidence()
    if not evidence.claims(key):
        return ""
    profiles = evidence.profiles(key.split("/", 1)[0])
    return claims_table(key, profiles, evidence.judge).html


def claims_touched() -> dict[str, list[tuple[str, str]]]:
    """Return id of a deviation -> (paper, id) of the claims that it touches."""
    evidence, touched = load_evidence(), dict[str, list[tuple[str, str]]]()
    known = load_deviations()
    for paper, claims in evidence.all_claims.items():
        for claim in claims:
            for deviation in touching(claim, evidence.judge, evidence.profiles(paper), known):
                touched.setdefault(deviation.id, []).append((paper, claim.id))
    return touched


def summary_table(paper: str) -> Table:
    """Return how many claims of ``paper`` have each verdict, a row per condition."""
    evidence = load_evidence()
    verdicts = evidence.verdicts(paper)
    rows = []
    for condition in evidence.conditions(paper):
        if condition.blocks and not says_something(condition, verdicts):
            continue
        judged = [by_label[condition.label] for by_label in verdicts.values()]
        counts = status_counts(judged)
        numbers = [Entry(str(counts[s]), sort=counts[s]) for s in STATUSES]
        rows.append((Entry(condition.label), *numbers))
    caption = (
        f"Verdicts on the {len(verdicts)} claims, by the numbers they are judged on. Ours hold or "
        "fail where 95 % of the draws of the means over seeds agree and no interval of what a "
        "claim compares speaks against it."
    )
    head = headings("judged on", *STATUSES, numeric=STATUSES)
    return Table(caption, head, tuple(rows), interactive=False)


def predicates_table(claims: Sequence[Claim]) -> Table:
    """Return the predicates in full."""
    rows = [
        (
            Entry(claim.id),
            Entry(claim.section),
            Entry(
                " ".join((claim.predicate or claim.rule or "").split()), code=bool(claim.predicate)
            ),
        )
        for claim in claims
    ]
    caption = (
        "The predicates as they are evaluated. A claim on a figure without printed numbers is "
        "judged on ours alone; where its experiment is not built yet, it has a rule in words."
    )
    return Table(caption, headings("id", "stated in", "predicate"), tuple(rows))
