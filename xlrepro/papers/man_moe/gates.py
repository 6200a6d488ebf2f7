"""Figure 4: how much each target's tokens use each source language's expert.

Nothing is trained for it: the trials of Tables 4 and 5 leave the weights in their records.
"""

from statistics import fmean

from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell

METRIC = "gate weight"
# Row of the figure -> the experiment and the system whose models' gates it shows.
SHOWN = {
    "gates:reviews": ("table5", "without:MAN-MoE"),
    "gates:NER": ("table4", "without:MAN-MOE+CharCNN"),
    "gates:NER, long training": ("table4", "long:MAN-MOE+CharCNN"),
}


def cells(record: Record) -> list[Cell]:
    """Return the cells of Figure 4 that a record of Table 4 or 5 fills.

    Per target and source language the average weight of the source's private expert on the
    target's dev text, a fraction: over a text's tokens, over texts, and over domains (§4.4).
    """
    table = record.experiment.split("/")[1]
    (system,) = (row for row, shown in SHOWN.items() if shown == (table, *record.systems))
    by_column: dict[str, list[float]] = {}
    for column, report in record.details["experiments"].items():
        target = column.split("/")[0]
        for source, weight in report["gates"].items():
            by_column.setdefault(f"{target}/{source}", []).append(weight)
    return [Cell(system, c, fmean(weights), METRIC, "fraction") for c, weights in by_column.items()]
