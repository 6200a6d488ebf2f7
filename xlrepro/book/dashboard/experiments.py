"""Every experiment: what is built, how its cells compare, and the cost."""

from xlrepro.book.pages.experiments import BUILT, state_of
from xlrepro.book.verdicts import Evidence, load_evidence
from xlrepro.evidence.compare import ABOVE, BELOW, NOT_HERE, NOT_RUN, OTHER_DATA, QUOTED, WITHIN
from xlrepro.evidence.provenance import total_cost
from xlrepro.evidence.tables.table import Entry, Table, headings
from xlrepro.trials import PUBLISHED


def experiments_table(profile: str) -> str:
    """Return papers x experiments: what is built, how the cells compare, and the cost, as HTML."""
    evidence = load_evidence()
    rows = []
    for paper in evidence.catalog.papers:
        for key, entry in evidence.catalog.of_paper(paper).items():
            state, printed = state_of(key, profile), len(evidence.reported.cells(key))
            row = (
                Entry(key, entry.title, href=f"{entry.shown_on or key}.html"),
                Entry("ours" if entry.ours else "paper"),
                Entry(state, verdict="" if state == BUILT else NOT_RUN),
                Entry(str(printed), sort=printed),
                *(_cells(evidence, key, p) for p in PUBLISHED),
                _cost(evidence, key),
            )
            rows.append(row)
    cells = [f"cells at {p}" for p in PUBLISHED]
    names = ("experiment", "from", "state", "printed numbers", *cells, "cost")
    caption = (
        "Every experiment. Cells: = within the interval, ▲ above, ▼ below the paper; where our "
        "data are not the paper's, cells have no such verdict and are counted apart. Cost: trials "
        "and their summed wall time, without smoke runs."
    )
    return Table(caption, headings(*names, numeric=("printed numbers", "cost")), tuple(rows)).html


def _cells(evidence: Evidence, key: str, profile: str) -> Entry:
    counts = evidence.cell_counts(key, profile)
    if not counts:
        ours = evidence.catalog.experiment(key).ours
        return Entry("–" if ours else NOT_RUN, verdict="" if ours else NOT_RUN)
    signs = ((WITHIN, "="), (ABOVE, "▲"), (BELOW, "▼"))
    entry = evidence.catalog.experiment(key)
    judged = entry.is_judged(profile)
    parts = [f"{counts[v]} {sign}" for v, sign in signs if judged and counts[v]]
    if profile in {*entry.stand_ins, *entry.weights} and counts[OTHER_DATA]:
        parts.append(f"{counts[OTHER_DATA]} on {OTHER_DATA}")
    text = " ".join(parts) or "–"
    detail = ", ".join(f"{counts[v]} {v}" for v in (NOT_RUN, NOT_HERE, QUOTED) if counts[v])
    return Entry(text, detail)


def _cost(evidence: Evidence, key: str) -> Entry:
    records = [r for r in evidence.records if r.experiment == key and r.profile in PUBLISHED]
    if not records:
        return Entry("–")
    cost = total_cost(records)
    return Entry(cost.brief(), ", ".join(cost.devices), sort=cost.wall_seconds)
