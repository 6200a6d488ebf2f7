"""The numbers computed here: records gathered into one value per seed, with an interval."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from statistics import fmean

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.intervals import error_of_difference, error_of_items, t_interval
from xlrepro.evidence.predicates import Array
from xlrepro.evidence.provenance import training_ends
from xlrepro.evidence.reported import load_reported
from xlrepro.experiments import is_outdated
from xlrepro.trials import Cell, Record

AVERAGE = "avg"  # a column that is computed where the trials did not fill it
Address = tuple[str, str, str, str]  # experiment, profile, system, column


@dataclass(frozen=True)
class ReproducedCell:
    """One cell as computed here, at one profile.

    Attributes:
        seeds: the seeds, rising; ``values`` go with them.
        keys: of the records that it was made of.
        stale: whether one of the records is outdated.
        signed: whether it is a difference, which no unit bounds.
        of_items: of a difference: its standard error over test items.
    """

    experiment: str
    profile: str
    system: str
    column: str
    metric: str
    unit: str
    seeds: tuple[int, ...]
    values: tuple[float, ...]
    keys: tuple[str, ...]
    stale: bool = False
    signed: bool = False
    of_items: float = 0.0

    @property
    def n(self) -> int:
        """Number of seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean over seeds, in ``unit``."""
        return math.fsum(self.values) / len(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean over seeds, of a difference over items too; NaN for one seed.

        It ends where its unit does (a share at 0 and 100 %): a true mean lies nowhere else, so
        that the interval holds it as often as before.
        """
        low, high = t_interval(self.values, self.of_items)
        if self.signed:
            return low, high
        least, most = load_catalog().limits(self.metric, self.unit)
        return max(low, least), min(high, most)

    @property
    def note(self) -> str:
        """What a reader must know about the number; empty where nothing."""
        remarks = ["one seed: no interval"] * (self.n == 1)
        remarks += ["outdated records"] * self.stale
        return "; ".join(remarks)


class ReproducedNumbers:
    """All reproduced cells, by experiment, profile, system and column, and their records."""

    def __init__(self, cells: Iterable[ReproducedCell], records: Iterable[Record] = ()) -> None:
        self._cells: dict[tuple[str, str], dict[tuple[str, str], ReproducedCell]] = {}
        for c in cells:
            of = self._cells.setdefault((c.experiment, c.profile), {})
            of[c.system, c.column] = c
        self.records = {(r.experiment, r.key): r for r in records}

    def __iter__(self) -> Iterator[ReproducedCell]:
        return (cell for of in self._cells.values() for cell in of.values())

    def get(self, experiment: str, profile: str, system: str, column: str) -> ReproducedCell | None:
        """Return the cell at an address, or ``None`` where nobody ran it."""
        return self._cells.get((experiment, profile), {}).get((system, column))

    def cells(self, experiment: str, profile: str) -> list[ReproducedCell]:
        """Return the cells of an experiment at a profile, in the order of the records."""
        return [*self._cells.get((experiment, profile), {}).values()]

    def behind(self, *cells: ReproducedCell) -> list[Record]:
        """Return the records that cells were gathered from, each once."""
        keys = dict.fromkeys((cell.experiment, key) for cell in cells for key in cell.keys)
        return [self.records[key] for key in keys if key in self.records]

    @cache  # noqa: B019 (it lives as long as its process)
    def ends(self, experiment: str, key: str) -> list[tuple[int, int | None]]:
        """Return how the trainings of a record ended, looked for once; see `training_ends`."""
        return training_ends([self.records[experiment, key]])

    @cache  # noqa: B019 (likewise)
    def noise(self, cell: ReproducedCell) -> float | Array:
        """Return what the choice of test items does to a cell; see `error_of_items`."""
        return error_of_items(load_catalog(), self, cell)


def gather(records: Iterable[Record]) -> ReproducedNumbers:
    """Gather records of any experiments and profiles into cells.

    Where two records fill the same cell with the same seed, one made by today's code is taken
    before a stale one, and then the later one.
    """
    chosen: dict[Address, dict[int, tuple[Record, Cell]]] = {}
    known = list(records)
    old = {record.key for record in known if is_outdated(record)}
    # the last one put in wins: stale before fresh, earlier before later
    for record in sorted(known, key=lambda r: (r.key not in old, r.started)):
        for cell in record.cells:
            address: Address = (record.experiment, record.profile, cell.system, cell.column)
            chosen.setdefault(address, {})[record.seed] = (record, cell)
    cells = []
    for address, filled in chosen.items():
        seeds = sorted(filled)
        of, parts = zip(*(filled[seed] for seed in seeds), strict=True)
        cells.append(
            ReproducedCell(
                *address,
                metric=parts[0].metric,
                unit=parts[0].unit,
                seeds=tuple(seeds),
                values=tuple(cell.value for cell in parts),
                keys=tuple(record.key for record in of),
                stale=any(record.key in old for record in of),
            )
        )
    return ReproducedNumbers(cells, known)


@dataclass(frozen=True, eq=False)
class View:
    """An experiment's reproduced cells at a profile: what figures, tables and sentences take.

    Attributes:
        experiment: ``"word_order/table2"``.
        profile: ``"open"``.
        numbers: the reproduced cells, others' among them.
    """

    experiment: str
    profile: str
    numbers: ReproducedNumbers

    def get(self, system: str, column: str) -> ReproducedCell | None:
        """Return a cell, or ``None`` where nobody ran it.

        The average over targets that trials of one target each could not fill is made of theirs,
        seed by seed.
        """
        cell = self.numbers.get(self.experiment, self.profile, system, column)
        if cell is None and column == AVERAGE:
            parts = [self.get(system, c) for c in self._of_average(system)]
            cell = joined_cell(parts, fmean, system, column)
        return cell

    def _of_average(self, system: str) -> list[str]:
        """Return the targets whose mean an average is that no trial fills."""
        entry = load_catalog().experiments.get(self.experiment)
        if entry is None or AVERAGE not in entry.average_columns:
            return []
        name, cells = entry.reference(system), load_reported().cells(self.experiment)
        return [c.column for c in cells
                if c.system == name and c.printed and entry.is_target(c.column)]  # fmt: skip

    @cached_property
    def cells(self) -> list[ReproducedCell]:
        """Its cells, in the order of the records."""
        return self.numbers.cells(self.experiment, self.profile)

    @property
    def proxies(self) -> str:
        """What stands in for the paper's data and weights, as the end of a title."""
        entry = load_catalog().experiment(self.experiment)
        return entry.proxies(self.profile, self.systems, self.columns)

    @cached_property
    def systems(self) -> list[str]:
        """The systems that have a cell."""
        return list(dict.fromkeys(cell.system for cell in self.cells))

    @cached_property
    def columns(self) -> list[str]:
        """The columns that have a cell."""
        return list(dict.fromkeys(cell.column for cell in self.cells))

    def of(self, system: str) -> list[ReproducedCell]:
        """Return the cells of one system."""
        return [cell for cell in self.cells if cell.system == system]

    def difference(
        self, first: str, second: str, column: str, system: str = ""
    ) -> ReproducedCell | None:
        """Return ``first`` minus ``second``, paired by seed; ``None`` where they share no seed.

        Pairing takes out what the two runs of a seed share. It stands in the first one's row, or in
        that of ``system``.
        """
        sides = [self.get(each, column) for each in (first, second)]
        gap = joined_cell(sides, lambda values: values[0] - values[1], system or first, column)
        filled = self.numbers.get(self.experiment, self.profile, first, column)
        columns = [column] if filled or column != AVERAGE else self._of_average(first)
        return gap and replace(gap, signed=True, of_items=self.item_error(first, second, columns))

    def item_error(self, first: str, second: str, columns: Iterable[str]) -> float:
        """Return the standard error over test items of the mean difference of two systems."""
        of = [[self.get(each, column) for each in (first, second)] for column in columns]
        noise = ((self.numbers.noise(a), self.numbers.noise(b)) for a, b in of if a and b)
        return error_of_difference(*noise)


def joined_cell(
    parts: Sequence[ReproducedCell | None],
    value: Callable[[Sequence[float]], float],
    system: str,
    column: str,
) -> ReproducedCell | None:
    """Return one cell made of several, seed by seed; ``None`` where no seed has them all.

    Args:
        parts: of one experiment and profile; ``None``: one that nobody ran.
        value: of a seed's values, in the order of the parts.
        system: the row where the new cell stands.
        column: its column.
    """
    cells = [cell for cell in parts if cell is not None]
    seeds = sorted(set.intersection(*(set(c.seeds) for c in cells))) if cells else []
    if not seeds or len(cells) < len(parts):
        return None
    by_seed = [dict(zip(c.seeds, c.values)) for c in cells]
    return replace(
        cells[0],
        system=system,
        column=column,
        seeds=tuple(seeds),
        values=tuple(value([v[s] for v in by_seed]) for s in seeds),
        keys=tuple(dict.fromkeys(key for c in cells for key in c.keys)),
        stale=any(c.stale for c in cells),
    )
