"""The numbers printed in the papers, as typed cells. Never changed, never confused with ours."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from xlrepro.errors import DataError
from xlrepro.evidence.catalog import Catalog, ReportedTable, load_catalog
from xlrepro.paths import data_dir

HEADER = (
    "paper", "table", "row_group", "system", "language", "domain", "split", "metric", "extra",
    "value", "unit", "marks", "is_proposed", "source_note",
)  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?\Z")


@dataclass(frozen=True)
class ReportedCell:
    """One number printed in a paper.

    Attributes:
        system: ``"word:ORT"``; its block is the short form of ``row_group``.
        column: ``"de"``; the ``"/"``-joined fields that the catalog lists.
        printed: the characters in the table, ``"53.10"``; empty where nothing is printed.
        value: the number, in ``unit``; ``None`` where the cell is empty or holds a word.
        rounding: half a unit of the last printed digit; 0 where there is no number.
        marks: bold, underline, double_dagger, not_reported.
        source: paper, version, table, row and column, for readers.
        context: whether it describes the data, so that no system fills it.
        quoted: whether it is only shown: ``CatalogEntry.quoted_because`` says why it is not run.
    """

    paper: str
    experiment: str
    table: str
    row_group: str
    block: str
    system: str
    column: str
    printed: str
    value: float | None
    rounding: float
    unit: str
    metric: str
    marks: tuple[str, ...]
    source: str
    context: bool = False
    quoted: bool = False

    @property
    def name(self) -> str:
        """The system's name without its block."""
        return self.system.split(":", 1)[1]


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number, row) of a CSV whose header must be ``HEADER``.

    Raises:
        DataError: for a missing file, another header, or a row of another length.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing: restore it from the repository")
    with path.open(encoding="utf-8", newline="") as handle:
        reader = csv.reader(handle, strict=True)
        try:
            first = next(reader, [])
            if tuple(first) != HEADER:
                raise DataError(f"{path}:1: the header must be {','.join(HEADER)}")
            for row in reader:
                where = f"{path}:{reader.line_num}"
                if len(row) != len(HEADER):
                    raise DataError(f"{where}: {len(row)} fields, expected {len(HEADER)}")
                yield reader.line_num, dict(zip(HEADER, row))
        except (csv.Error, UnicodeDecodeError) as error:
            where = f"{path}:{reader.line_num + 1}"
            raise DataError(f"{where}: not readable as CSV ({error})") from None


def parse_number(printed: str) -> tuple[float | None, float]:
    """Return (value, half a unit of the last printed digit); (None, 0) for no number.

    Example:
        >>> parse_number("53.10")
        (53.1, 0.005)
        >>> parse_number("gelu")
        (None, 0.0)
    """
    match = _NUMBER.match(printed)
    if not match:
        return None, 0.0
    decimals = len(match.group(3) or ".") - 1
    return float(printed.replace(",", "")), 0.5 * 10.0**-decimals


def parse_extra(text: str, where: str) -> dict[str, str]:
    """Split ``"PE=-; k=2"`` into fields; a part without ``=`` is a remark and is left out."""
    fields: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            continue
        if not name or name in HEADER or name in fields:
            raise DataError(f"{where}: field {name!r} of 'extra' is empty, repeated or a column")
        fields[name.strip()] = value.strip()
    return fields


def table_name(table: str) -> str:
    """Return ``"Table 2"`` for ``"2"``, ``"Figure 2"`` for ``"figure2"``."""
    return f"Table {table}" if table.isdigit() else table.capitalize().replace("Figure", "Figure ")


def _cell(
    row: dict[str, str], spec: ReportedTable, catalog: Catalog, experiment: str, where: str
) -> ReportedCell:
    paper = experiment.split("/", 1)[0]
    if row["paper"] != paper:
        raise DataError(f"{where}: paper is {row['paper']!r}, expected {paper!r}")
    if row["row_group"] not in spec.blocks:
        raise DataError(f"{where}: the catalog names no block for {row['row_group']!r}")
    fields = {**row, **parse_extra(row["extra"], where)}
    worded = {k: spec.words.get(k, {}).get(v, v) for k, v in fields.items()}
    block = spec.blocks[row["row_group"]]
    try:
        name = spec.system.format_map(worded)
        column = "/".join(filter(None, (worded[field] for field in spec.column)))
    except KeyError as error:
        raise DataError(f"{where}: the catalog asks for the field {error}") from None
    if not name or not column:
        raise DataError(f"{where}: the row has no {'column' if name else 'system'}")
    value, rounding = parse_number(row["value"])
    entry, source = catalog.experiment(experiment), catalog.paper(paper)
    place = f"{table_name(row['table'])}, row {name} ({row['row_group']}), column {column}"
    return ReportedCell(
        paper=paper,
        experiment=experiment,
        table=row["table"],
        row_group=row["row_group"],
        block=block,
        system=f"{block}:{name}",
        column=column,
        printed=row["value"],
        value=value,
        rounding=rounding,
        unit=row["unit"],
        metric=row["metric"],
        marks=tuple(filter(None, row["marks"].split(";"))),
        source=f"{source.short}, {source.version}, {place}",
        context=entry.is_context(block),
        quoted=entry.is_quoted(f"{block}:{name}"),
    )


def read_table(
    path: Path, spec: ReportedTable, catalog: Catalog, experiment: str
) -> list[ReportedCell]:
    """Read one CSV into the cells of ``experiment``, in the order of its rows.

    Raises:
        DataError: for a malformed row; names file, line and what was expected.
    """
    cells: dict[tuple[str, str], ReportedCell] = {}
    for line, row in _rows(path):
        if any(row.get(field) not in values for field, values in spec.only.items()):
            continue
        cell = _cell(row, spec, catalog, experiment, f"{path}:{line}")
        if (cell.system, cell.column) in cells:
            raise DataError(f"{path}:{line}: {cell.system} / {cell.column} stands here twice")
        cells[cell.system, cell.column] = cell
    return list(cells.values())


class ReportedNumbers:
    """All reported cells, by experiment and by address."""

    def __init__(self, cells: list[ReportedCell]) -> None:
        self._by_address: dict[tuple[str, str, str], ReportedCell] = {}
        self._by_experiment: dict[str, list[ReportedCell]] = {}
        for cell in cells:
            address = (cell.experiment, cell.system, cell.column)
            if address in self._by_address:
                raise DataError(f"reported twice: {' / '.join(address)}; see {cell.source}")
            self._by_address[address] = cell
            self._by_experiment.setdefault(cell.experiment, []).append(cell)

    def __len__(self) -> int:
        return len(self._by_address)

    def __iter__(self) -> Iterator[ReportedCell]:
        return iter(self._by_address.values())

    def get(self, experiment: str, system: str, column: str) -> ReportedCell | None:
        """Return the cell at an address, or ``None`` where the paper has none."""
        return self._by_address.get((experiment, system, column))

    def cells(self, experiment: str, context: bool | None = False) -> list[ReportedCell]:
        """Return an experiment's cells: those of systems, of context (True), or all (None)."""
        every = self._by_experiment.get(experiment, [])
        return [c for c in every if context is None or c.context == context]

    def systems(self, experiment: str, context: bool | None = False) -> list[str]:
        """Return the systems of an experiment in the order of the table's rows."""
        return list(dict.fromkeys(c.system for c in self.cells(experiment, context)))

    def columns(self, experiment: str, context: bool | None = False) -> list[str]:
        """Return the columns of an experiment in the order of the table."""
        return list(dict.fromkeys(c.column for c in self.cells(experiment, context)))


def _merge_repeats(cells: list[ReportedCell], again: list[ReportedCell]) -> list[ReportedCell]:
    """Join a table that prints cells again; a cell printed twice must be the same twice."""
    known = {(c.system, c.column): i for i, c in enumerate(cells)}
    merged = list(cells)
    for cell in again:
        index = known.get((cell.system, cell.column))
        if index is None:
            merged.append(cell)
        elif merged[index].printed != cell.printed:
            raise DataError(f"{cell.source}: {cell.printed}, but {merged[index].source} differs")
        else:
            both = f"{merged[index].source}; again in {table_name(cell.table)}"
            merged[index] = replace(merged[index], source=both)
    return merged


def read_reported(folder: Path, catalog: Catalog) -> ReportedNumbers:
    """Read every table that the catalog names from ``folder``/<paper>/<table>.csv."""
    everything: list[ReportedCell] = []
    for key, entry in catalog.experiments.items():
        cells: list[ReportedCell] = []
        for spec in entry.reported:
            path = folder / key.split("/", 1)[0] / f"{spec.table}.csv"
            table = read_table(path, spec, catalog, key)
            cells = _merge_repeats(cells, table) if spec.repeats else cells + table
        everything += cells
    return ReportedNumbers(everything)


@lru_cache(maxsize=4)
def _cached(folder: Path, stamp: tuple[int, ...]) -> ReportedNumbers:
    return read_reported(folder, load_catalog())


def load_reported() -> ReportedNumbers:
    """Return the project's reported numbers, read once per change of a file."""
    folder = data_dir() / "reported"
    files = [data_dir() / "catalog.yaml", *sorted(folder.glob("*/*.csv"))]
    return _cached(folder, tuple(f.stat().st_mtime_ns for f in files if f.is_file()))
