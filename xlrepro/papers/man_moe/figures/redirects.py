"""Table 4 once more without the sentences that are no sentences: WikiANN's Spanish redirects."""

from collections.abc import Sequence
from statistics import fmean

from xlrepro.evidence.tables.table import Table, listing, measured
from xlrepro.papers.man_moe.figures.gate_tables import by_row
from xlrepro.trials.record import Record


def without_redirects(records: Sequence[Record], profile: str) -> Table:
    """List F1 with and without the test sentences that the settings leave out, per row and target.

    Args:
        records: of Table 4; only those with a second score have a row.
        profile: whose they are.
    """
    rows = []
    for (system, column), seeds in by_row(records, "without_left_out").items():
        whole = measured(fmean(score for score, _ in seeds))
        without = measured(fmean(report["score"] for _, report in seeds))
        left_out = measured(fmean(report["sentences"] for _, report in seeds), 0)
        rows.append((system, column, len(seeds), whole, without, left_out))
    caption = (
        f"F1 with and without test sentences that begin with REDIRECCIÓN ({profile}): what WikiANN "
        "took from Wikipedia's redirects is a title behind a keyword, and mostly one entity."
    )
    numbers = ("seeds", "F1, all", "F1, without", "left out")
    return listing(caption, ("system", "target"), numbers, rows)
