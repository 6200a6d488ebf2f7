"""The numbers computed here: records gathered into one value per seed, with an interval.

The interval is Student's t over seeds, at 95 %: with three to five seeds a bootstrap of the mean
is too narrow (with n values it can only return their own range), while t is exact for normally
distributed scores. One seed has no interval.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell

LEVEL = 0.95
# Of Student's t at 1, 2, 3 and 4 degrees of freedom, as scipy gives them: importing it takes
# longer than all intervals of a command.
QUANTILES = (12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934)
Address = tuple[str, str, str, str]  # experiment, profile, system, column


@dataclass(frozen=True)
class Interval:
    """A confidence interval, ends included."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width."""
        return (self.high - self.low) / 2

    @property
    def sign(self) -> str:
        """``"+"`` or ``"-"`` where it leaves out 0, else ``"0"``."""
        return "+" if self.low > 0 else "-" if self.high < 0 else "0"


def t_interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Return Student's t interval of the mean of ``values``; ``None`` for fewer than two.

    Args:
        values: one number per seed.
        level: the share of intervals that hold the true mean, between 0 and 1.

    Example:
        >>> interval = t_interval([1.0, 2.0, 3.0])
        >>> round(interval.low, 3), round(interval.high, 3)
        (-0.484, 4.484)
        >>> t_interval([1.0]) is None
        True
    """
    n = len(values)
    if n < 2:
        return None
    mean = math.fsum(values) / n
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = _quantile(n - 1, level) * spread / math.sqrt(n)
    return Interval(mean - half, mean + half)


@cache
def _quantile(freedom: int, level: float) -> float:
    """Return where ``level`` of Student's t lies between it and its negative."""
    if level == LEVEL and freedom <= len(QUANTILES):
        return QUANTILES[freedom - 1]
    from scipy.special import stdtrit  # a second less to import than scipy.stats

    return float(stdtrit(freedom, 0.5 + level / 2))


@dataclass(frozen=True)
class ReproducedCell:
    """One cell as computed here, at one profile.

    Attributes:
        seeds: the seeds, rising; ``values`` and ``keys`` (of the records) go with them.
        stale: whether the code has changed since one of the records was made.
        mixed: whether the records differ in their settings, so that their mean means little.
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
    mixed: bool = False

    @property
    def n(self) -> int:
        """Number of seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean over seeds, in ``unit``."""
        return math.fsum(self.values) / len(self.values)

    @property
    def interval(self) -> Interval | None:
        """95 % t interval of the mean over seeds; ``None`` for one seed."""
        return t_interval(self.values)

    @property
    def note(self) -> str:
        """What a reader must know about the number; empty where nothing."""
        remarks = ["one seed: no interval"] * (self.n == 1)
        remarks += ["stale: the code has changed since"] * self.stale
        remarks += ["records of different settings"] * self.mixed
        return "; ".join(remarks)


class ReproducedNumbers:
    """All reproduced cells, by (experiment, profile, system, column)."""

    def __init__(self, cells: Iterable[ReproducedCell]) -> None:
        self._by_place: dict[tuple[str, str], dict[tuple[str, str], ReproducedCell]] = {}
        for cell in cells:
            place = self._by_place.setdefault((cell.experiment, cell.profile), {})
            place[cell.system, cell.column] = cell

    def __iter__(self) -> Iterator[ReproducedCell]:
        return (cell for place in self._by_place.values() for cell in place.values())

    def get(self, experiment: str, profile: str, system: str, column: str) -> ReproducedCell | None:
        """Return the cell at an address, or ``None`` where nobody ran it."""
        return self._by_place.get((experiment, profile), {}).get((system, column))

    def cells(self, experiment: str, profile: str) -> list[ReproducedCell]:
        """Return the cells of an experiment at a profile, in the order of the records."""
        return list(self._by_place.get((experiment, profile), {}).values())


def gather(
    records: Iterable[Record], *, stale: Callable[[Record], bool] | None = None
) -> ReproducedNumbers:
    """Gather records into cells.

    Where two records fill the same cell with the same seed, one made by today's code is taken
    before a stale one, and then the later one.

    Args:
        records: finished trials of any experiments and profiles.
        stale: tells whether the code has changed since a record was made; today's code if not
            given.
    """
    if stale is None:
        from xlrepro.experiments import is_outdated as stale
    chosen: dict[Address, dict[int, tuple[Record, Cell, bool]]] = {}
    # the last one put in wins: stale before fresh, earlier before later
    known = [(r, stale(r)) for r in records]
    for record, old in sorted(known, key=lambda pair: (not pair[1], pair[0].started)):
        for cell in record.cells:
            address = (record.experiment, record.profile, cell.system, cell.column)
            chosen.setdefault(address, {})[record.seed] = (record, cell, old)
    return ReproducedNumbers(_join(address, filled) for address, filled in chosen.items())


def _join(address: Address, filled: dict[int, tuple[Record, Cell, bool]]) -> ReproducedCell:
    seeds = tuple(sorted(filled))
    records, cells, stale = zip(*(filled[seed] for seed in seeds), strict=True)
    return ReproducedCell(
        *address,
        metric=cells[0].metric,
        unit=cells[0].unit,
        seeds=seeds,
        values=tuple(cell.value for cell in cells),
        keys=tuple(record.key for record in records),
        stale=any(stale),
        mixed=any(record.settings != records[0].settings for record in records),
    )
