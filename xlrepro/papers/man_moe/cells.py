"""Cells of Figure 4, read from records of Tables 4 and 5; loads no torch."""

from statistics import fmean

from xlrepro.trials import Cell, Record


def gate_cells(record: Record) -> list[Cell]:
    """Return the cells of Figure 4 that a record of Table 4 or 5 fills.

    Per target and source language the average weight of the source's private expert on the
    target's dev text, a fraction: over a text's tokens, over texts, and over domains (§4.4).
    """
    by_column: dict[str, list[float]] = {}
    for column, report in record.details["experiments"].items():
        target = column.split("/")[0]
        for source, weight in report["gates"].items():
            by_column.setdefault(f"{target}/{source}", []).append(weight)
    (system,) = record.systems
    return [Cell(system, c, fmean(w), "gate weight", "fraction") for c, w in by_column.items()]
