"""What is looked at: one experiment at one profile, among all the reproduced numbers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers

AVERAGE = "avg"  # a column that is computed where the trials did not fill it


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
        return self._average(system) if cell is None and column == AVERAGE else cell

    def _average(self, system: str) -> ReproducedCell | None:
        entry = load_catalog().experiments.get(self.experiment)
        if entry is None or AVERAGE not in entry.average_columns:
            return None
        left_out = {*entry.source_columns, *entry.average_columns}
        targets = [
            cell.column
            for cell in load_reported().cells(self.experiment)
            if cell.system == entry.reference(system)
            and cell.printed
            and cell.column not in left_out
        ]
        cells = [self.numbers.get(self.experiment, self.profile, system, t) for t in targets]
        return joined_cell(cells, fmean, system, AVERAGE)

    def mean(self, system: str, column: str) -> float:
        """Return a cell's mean over seeds; NaN where nobody ran it."""
        cell = self.get(system, column)
        return cell.mean if cell else math.nan

    @cached_property
    def cells(self) -> list[ReproducedCell]:
        """Its cells, in the order of the records."""
        return self.numbers.cells(self.experiment, self.profile)

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

    def difference(self, first: str, second: str, column: str) -> ReproducedCell | None:
        """Return ``first`` minus ``second``, paired by seed; ``None`` where they share no seed.

        Pairing takes out what the two runs of a seed share.
        """
        sides = [self.get(system, column) for system in (first, second)]
        return joined_cell(sides, lambda values: values[0] - values[1], first, column)


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
    keys = dict(zip(cells[0].seeds, cells[0].keys))
    return replace(
        cells[0],
        system=system,
        column=column,
        seeds=tuple(seeds),
        values=tuple(value([v[s] for v in by_seed]) for s in seeds),
        keys=tuple(keys[s] for s in seeds),
        stale=any(c.stale for c in cells),
        mixed=any(c.mixed for c in cells),
    )
