"""Table 4 once more without the sentences that are no sentences: WikiANN's Spanish redirects."""

from collections.abc import Sequence
from statistics import fmean

from xlrepro.evidence.tables.table import Entry, Table, headings, number
from xlrepro.trials.record import Record


def without_redirects(records: Sequence[Record], profile: str) -> Table:
    """List F1 with and without the test sentences that the settings leave out, per row and target.

    Args:
        records: of Table 4; only those with a second score have a row.
        profile: whose they are.
    """
    scores: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for record in records:
        whole = {cell.column: cell.value for cell in record.cells}
        for column, report in record.details.get("experiments", {}).items():
            if without := report.get("without_left_out"):
                triple = (whole[column], without["score"], without["sentences"])
                scores.setdefault((", ".join(record.systems), column), []).append(triple)
    rows = []
    for (system, column), seeds in scores.items():
        whole_mean, without_mean, left_out = (fmean(values) for values in zip(*seeds, strict=True))
        rows.append(
            (
                Entry(system.partition(":")[2], system.partition(":")[0]),
                Entry(column),
                Entry(str(len(seeds)), sort=len(seeds)),
                Entry(number(whole_mean), sort=whole_mean),
                Entry(number(without_mean), sort=without_mean),
                Entry(number(left_out, 0), sort=left_out),
            )
        )
    names = ("system", "target", "seeds", "F1, all", "F1, without", "left out")
    caption = (
        f"F1 with and without test sentences that begin with REDIRECCIÓN ({profile}): what WikiANN "
        "took from Wikipedia's redirects is a title behind a keyword, and mostly one entity."
    )
    return Table(caption, headings(*names, numeric=names[2:]), tuple(rows))
