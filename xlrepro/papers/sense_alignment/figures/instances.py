"""Beside Table 2: intervals over test instances, the only ones that one language model leaves."""

from collections.abc import Sequence

from xlrepro.evidence.tables.table import Entry, Table, listing, number
from xlrepro.trials.record import Record


def over_instances(records: Sequence[Record], profile: str) -> Table:
    """List each cell's F1 with the bootstrap interval over test instances that its record holds.

    Args:
        records: of Table 2; of several seeds the lowest one is shown.
        profile: that they were run at.
    """
    rows, columns, shown = [], list[str](), set[str]()
    for record in sorted(records, key=lambda r: r.seed):
        values = {(cell.system, cell.column): cell.value for cell in record.cells}
        for system, intervals in record.details.get("bootstrap", {}).items():
            if system in shown:
                continue
            shown.add(system)
            columns = columns or list(intervals)
            block, _, name = system.partition(":")
            entries = [Entry(name, block)]
            for column in columns:
                low, high = intervals[column]
                value = values[system, column]
                text = f"{number(low, 3)} to {number(high, 3)}"
                entries.append(Entry(number(value, 3), text, sort=value))
            rows.append(entries)
    caption = (
        f"F1 as a fraction ({profile}), below it the 95 % interval over test instances by "
        "bootstrap: of the language model of the lowest seed alone, where the cells above are "
        "means over seeds; another model may lie outside. Instances without a place in the text "
        "count as unanswered."
    )
    return listing(caption, ["system"], columns, rows)
