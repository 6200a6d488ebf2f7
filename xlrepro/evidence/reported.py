"""The numbers printed in the papers, as typed cells. Never changed, never confused with ours."""

import csv
import re
from dataclasses import dataclass, replace
from functools import cache
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
        table: ``"Table 2"``.
        system: ``"word:ORT"``; its block is the short form of the CSV's ``row_group``.
        column: ``"de"``; the ``"/"``-joined fields that the catalog lists.
        printed: the characters in the table, ``"53.10"``; empty where nothing is printed.
        value: the number, in ``unit``; ``None`` where the cell is empty or holds a word.
        rounding: half a unit of the last printed digit; 0 where there is no number.
        source: paper, version, table, row and column, for readers.
        context: whether it describes the data, so that no system fills it.
    """

    experiment: str
    table: str
    system: str
    column: str
    printed: str
    value: float | None
    rounding: float
    unit: str
    metric: str
    source: str
    context: bool = False

    @property
    def name(self) -> str:
        """The system's name without its block."""
        return self.system.split(":", 1)[1]


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


def _rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV; ``"PE=-; k=2"`` in ``extra`` are two further fields."""
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle, strict=True))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: restore it from the repository") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not readable as CSV ({error})") from None
    if not rows:
        raise DataError(f"{path} holds no number: restore it from the repository")
    for line, row in enumerate(rows, 2):
        if tuple(row) != HEADER or None in row.values():
            raise DataError(f"{path}:{line}: expected the fields {','.join(HEADER)}")
        extra = (part.partition("=") for part in row["extra"].split(";") if "=" in part)
        row.update({k.strip(): v.strip() for k, _, v in extra if k.strip() not in HEADER})
    return rows


def read_table(path: Path, spec: ReportedTable, experiment: str) -> list[ReportedCell]:
    """Read one CSV into the cells of ``experiment``, in the order of its rows.

    Raises:
        DataError: for a malformed row; names file, line and what was expected.
    """
    paper = experiment.split("/", 1)[0]
    source, cells = load_catalog().paper(paper), []
    for line, row in enumerate(_rows(path), 2):
        if any(row.get(field) not in values for field, values in spec.only.items()):
            continue
        group, where = row["row_group"], f"{path}:{line}"
        if row["paper"] != paper or group not in spec.blocks:
            raise DataError(
                f"{where}: the catalog names no block for {group!r} of {row['paper']!r}"
            )
        worded = {k: spec.words.get(k, {}).get(v, v) for k, v in row.items()}
        try:
            name = spec.system.format_map(worded)
            column = "/".join(filter(None, (worded[field] for field in spec.column)))
        except KeyError as error:
            raise DataError(f"{where}: the catalog asks for the field {error}") from None
        if not name or not column:
            raise DataError(f"{where}: the row has no {'column' if name else 'system'}")
        value, rounding = parse_number(row["value"])
        if value is None and row["value"] and row["unit"]:
            raise DataError(f"{where}: {row['value']!r} is no number")
        low, high = load_catalog().limits(row["metric"], row["unit"])
        if value is not None and not low <= value <= high:
            raise DataError(f"{where}: {value:g} is no {row['metric']} in {row['unit']}")
        table = f"Table {row['table']}".replace("Table figure", "Figure ")
        place = f"{table}, row {name} ({group}), column {column}"
        cells.append(
            ReportedCell(
                experiment, table, f"{spec.blocks[group]}:{name}", column, row["value"], value,
                rounding, row["unit"], row["metric"], f"{source.short}, {source.version}, {place}",
                spec.blocks[group] in spec.context,
            )
        )  # fmt: skip
    return cells


class ReportedNumbers:
    """All reported cells, by address: (experiment, system, column)."""

    def __init__(self, by_address: dict[tuple[str, str, str], ReportedCell]) -> None:
        self._by_address = by_address
        self._by_experiment: dict[str, list[ReportedCell]] = {}
        for cell in by_address.values():
            self._by_experiment.setdefault(cell.experiment, []).append(cell)

    def get(self, experiment: str, system: str, column: str) -> ReportedCell | None:
        """Return the cell at an address, or ``None`` where the paper has none."""
        return self._by_address.get((experiment, system, column))

    def cells(self, experiment: str, context: bool = False) -> list[ReportedCell]:
        """Return an experiment's cells: those of systems, or those of context."""
        return [c for c in self._by_experiment.get(experiment, []) if c.context == context]

    def systems(self, experiment: str) -> list[str]:
        """Return the systems of an experiment in the order of the table's rows."""
        return list(dict.fromkeys(c.system for c in self.cells(experiment)))

    def columns(self, experiment: str) -> list[str]:
        """Return the columns of an experiment in the order of the table."""
        return list(dict.fromkeys(c.column for c in self.cells(experiment)))


def read_reported(folder: Path, catalog: Catalog) -> ReportedNumbers:
    """Read every table that the catalog names from ``folder``/<paper>/<table>.csv.

    Raises:
        DataError: for a cell that is there twice; a table that ``repeats`` another may print it
            once more, if it is the same.
    """
    known: dict[tuple[str, str, str], ReportedCell] = {}
    for key, entry in catalog.experiments.items():
        for spec in entry.reported:
            path = folder / key.split("/", 1)[0] / f"{spec.table}.csv"
            for cell in read_table(path, spec, key):
                first = known.get((key, cell.system, cell.column))
                if first and not (spec.repeats and first.printed == cell.printed):
                    both = f"{cell.printed}, but {first.printed} in {first.source}"
                    raise DataError(f"{path}: {cell.source}: reported twice: {both}")
                again = f"{first.source}; again in {cell.table}" if first else cell.source
                known[key, cell.system, cell.column] = replace(first or cell, source=again)
    return ReportedNumbers(known)


@cache
def load_reported() -> ReportedNumbers:
    """Return the project's reported numbers, read once."""
    return read_reported(data_dir() / "reported", load_catalog())
