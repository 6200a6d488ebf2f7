"""The tables of a paper as it printed them, one of ours per table of the paper."""

from collections.abc import Sequence

from xlrepro.evidence.reported import ReportedCell, ReportedNumbers, table_name
from xlrepro.evidence.tables.table import Entry, Heading, Table

# The marks that the papers print, in words; the word is in the cell's title, the sign beside it.
MARKS = {
    "bold": ("", "printed in bold"),
    "underline": ("", "printed underlined"),
    "double_dagger": ("‡", "printed with a double dagger"),
}
# A table with more columns than this is turned, so that it reads downwards.
MOST_COLUMNS = 14


def reported_tables(numbers: ReportedNumbers, experiment: str) -> list[Table]:
    """Return the reported tables of an experiment, in the order of the paper."""
    cells = numbers.cells(experiment, context=None)
    names = dict.fromkeys(cell.table for cell in cells)
    return [_one_table([c for c in cells if c.table == name], name) for name in names]


def _one_table(cells: Sequence[ReportedCell], name: str) -> Table:
    systems = list(dict.fromkeys(cell.system for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    by_place = {(cell.system, cell.column): cell for cell in cells}
    first = {cell.system: cell for cell in reversed(cells)}
    caption = f"{table_name(name)} as printed: {_metrics(cells)}."
    if len(columns) > MOST_COLUMNS:
        head = [Heading("column")]
        head += [Heading(_full_name(first[s]), numeric=True) for s in systems]
        body = [(Entry(c), *(_entry(by_place.get((s, c))) for s in systems)) for c in columns]
    else:
        head = [Heading("system"), Heading("rows"), *(Heading(c, numeric=True) for c in columns)]
        body = [
            (
                Entry(first[s].name),
                Entry(first[s].row_group),
                *(_entry(by_place.get((s, c))) for c in columns),
            )
            for s in systems
        ]
    return Table(caption, tuple(head), tuple(body))


def _full_name(cell: ReportedCell) -> str:
    """Return a system's name with its row group, which tells namesakes apart."""
    return f"{cell.name} ({cell.row_group})" if cell.row_group else cell.name


def _entry(cell: ReportedCell | None) -> Entry:
    if cell is None or not cell.printed:
        return Entry("–")
    signs = "".join(MARKS[m][0] for m in cell.marks if m in MARKS)
    titles = [cell.source, *(MARKS[m][1] for m in cell.marks if m in MARKS)]
    return Entry(cell.printed + signs, sort=cell.value, title="; ".join(titles))


def _metrics(cells: Sequence[ReportedCell]) -> str:
    pairs = dict.fromkeys((cell.metric, cell.unit) for cell in cells)
    names = [f"{metric} ({unit})" if unit else metric for metric, unit in pairs]
    return ", ".join(names) if len(names) <= 4 else f"{len(names)} quantities"
