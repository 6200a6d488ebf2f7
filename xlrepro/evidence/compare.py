"""Reported beside reproduced: one row per cell and profile, with a two-sided verdict."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import LITERATURE, Catalog, CatalogEntry, StandIn, load_catalog
from xlrepro.evidence.reported import ReportedCell, ReportedNumbers, load_reported
from xlrepro.evidence.reproduced import (
    ReproducedCell,
    ReproducedNumbers,
    gather,
)
from xlrepro.trials.record import Record
from xlrepro.trials.trial import PROFILES

if TYPE_CHECKING:
    import pandas as pd

    from xlrepro.trials.experiment import Experiment

WITHIN, ABOVE, BELOW = "within", "above", "below"
NOT_RUN, NOT_REPORTED = "not run", "not reported"
# Where a profile has other data (or weights) than the paper: both numbers are there, or ours
# cannot be.
OTHER_DATA, NOT_HERE, QUOTED = "other data", "not in this corpus", "quoted"
VERDICTS = (WITHIN, ABOVE, BELOW, OTHER_DATA, NOT_RUN, NOT_HERE, QUOTED, NOT_REPORTED)
AVERAGE = "avg"  # a column that is computed where the trials did not fill it
SLACK = 1e-9  # a difference of exactly the tolerance is within, whatever the binary fractions

COLUMNS = (
    "experiment", "profile", "system", "block", "name", "column", "metric", "unit", "reported",
    "printed", "reproduced", "low", "high", "n", "seeds", "difference", "allowed", "verdict",
    "stale", "note", "source", "keys",
)  # fmt: skip


def verdict(
    reported: float | None, mean: float | None, low: float, high: float, allowed: float
) -> str:
    """Return the two-sided verdict on one cell.

    Args:
        reported: the printed number, or ``None``.
        mean: the reproduced mean, or ``None`` where nobody ran it.
        low: lower end of its interval; the mean where there is one seed.
        high: upper end, likewise.
        allowed: what the interval is widened by: the paper's rounding and the tolerance.

    Returns:
        ``"within"`` if the reported value lies in the widened interval; ``"above"`` if ours is
        higher than that, ``"below"`` if lower; ``"not run"``; ``"not reported"``.

    Example:
        >>> verdict(53.1, 61.0, 60.2, 61.8, 1.005)
        'above'
    """
    if mean is None:
        return NOT_RUN
    if reported is None:
        return NOT_REPORTED
    if low - allowed - SLACK > reported:
        return ABOVE
    if high + allowed + SLACK < reported:
        return BELOW
    return WITHIN


def _verdict_on(stand_in: StandIn, column: str, judged: str) -> str:
    """Return a cell's verdict where our data are others than the paper's.

    Numbers of two corpora are not judged against each other.

    Args:
        stand_in: what stands in for the paper's data.
        column: of the cell.
        judged: the cell's verdict if the data were the same.
    """
    if judged == NOT_RUN:
        return NOT_HERE if stand_in.lacks(column) else NOT_RUN
    return judged if judged == NOT_REPORTED else OTHER_DATA


def _note(sides: "_Sides", entry: CatalogEntry, judged: str) -> str:
    """Return what a reader must know of a cell: of our number, or why there is none."""
    if sides.reproduced:
        note = sides.reproduced.note
        exact = entry.deterministic
        return note.replace("one seed: no interval", "no seed: computed") if exact else note
    printed = sides.reported.system if sides.reported else ""
    reason = entry.quoted_because(printed) or entry.not_run.get(sides.profile, {}).get(printed, "")
    if reason or judged != NOT_HERE:
        return reason
    return f"{entry.stand_ins[sides.profile].column(sides.column)} stands in"


def _factor(ours: str, theirs: str) -> float:
    """Return what turns our unit into the paper's; 1 where neither is a share."""
    shares = {"percent": 100.0, "fraction": 1.0}
    first, second = ours.split(" ")[0], theirs.split(" ")[0]
    return shares[second] / shares[first] if first in shares and second in shares else 1.0


@dataclass(frozen=True)
class _Sides:
    experiment: str
    profile: str
    system: str
    column: str
    reported: ReportedCell | None
    reproduced: ReproducedCell | None


def _row(sides: _Sides, catalog: Catalog, tolerance: float | None) -> dict[str, object]:
    theirs, ours = sides.reported, sides.reproduced
    metric = theirs.metric if theirs else ours.metric if ours else ""
    unit = theirs.unit if theirs else ours.unit if ours else ""
    factor = _factor(ours.unit, unit) if ours else 1.0
    printed = theirs.value if theirs else None
    mean = ours.mean * factor if ours else None
    interval = ours.interval if ours else None
    low = interval.low * factor if interval else mean
    high = interval.high * factor if interval else mean
    allowed = catalog.tolerance(sides.experiment, metric) if tolerance is None else tolerance
    allowed += theirs.rounding if theirs else 0.0
    entry = catalog.experiment(sides.experiment)
    judged = verdict(printed, mean, low or 0.0, high or 0.0, allowed)
    stand_in = entry.stand_ins.get(sides.profile)
    if stand_in and stand_in.covers(sides.column):
        judged = _verdict_on(stand_in, sides.column, judged)
    elif entry.other_weights(sides.profile, sides.system) and judged in (WITHIN, ABOVE, BELOW):
        judged = OTHER_DATA
    if theirs and not ours and entry.quoted_because(theirs.system) == LITERATURE:
        judged = QUOTED  # nobody means to run it
    block, _, name = sides.system.partition(":")
    return {
        "experiment": sides.experiment,
        "profile": sides.profile,
        "system": sides.system,
        "block": block,
        "name": name,
        "column": sides.column,
        "metric": metric,
        "unit": unit,
        "reported": printed,
        "printed": theirs.printed if theirs else "",
        "reproduced": mean,
        "low": low if interval else None,
        "high": high if interval else None,
        "n": ours.n if ours else 0,
        "seeds": ours.seeds if ours else (),
        "difference": mean - printed if mean is not None and printed is not None else None,
        "allowed": allowed,
        "verdict": judged,
        "stale": bool(ours and ours.stale),
        "note": _note(sides, entry, judged),
        "source": theirs.source if theirs else "",
        "keys": ours.keys if ours else (),
    }


def _average(
    experiment: str,
    profile: str,
    system: str,
    numbers: ReproducedNumbers,
    reported: ReportedNumbers,
    entry: CatalogEntry,
) -> ReproducedCell | None:
    """Return the mean over the paper's target columns, if all of them were run."""
    reference = entry.reference(system)
    left_out = {*entry.source_columns, *entry.average_columns}
    targets = [
        cell.column
        for cell in reported.cells(experiment)
        if cell.system == reference and cell.printed and cell.column not in left_out
    ]
    if not targets or any(
        numbers.get(experiment, profile, system, column) is None for column in targets
    ):
        return None
    return numbers.averaged(experiment, profile, system, targets, AVERAGE)


@dataclass(frozen=True)
class _Layout:
    """Which cells to show: those of the rows and columns that are reported, run or asked for."""

    systems: Sequence[str]
    columns: Sequence[str]
    asked_for: Callable[[str, str], bool]


def _layout(
    experiment: str,
    profile: str,
    numbers: ReproducedNumbers,
    reported: ReportedNumbers,
    own: "Experiment | None",
) -> _Layout:
    """Return the paper's rows and columns, then ours; where it prints none, those of ``own``."""
    rows, across = reported.systems(experiment), reported.columns(experiment)
    ran = numbers.systems(experiment, profile), numbers.columns(experiment, profile)
    missing: set[tuple[str, str]] = set()
    if own is not None and not across:
        missing = _not_run(own, profile, numbers)
        named = {s for s, _ in missing}.union(ran[0]), {c for _, c in missing}.union(ran[1])
        rows = [s.identifier for s in own.systems if s.identifier in named[0]]
        across = [c for c in own.columns if c in named[1]]
    return _Layout(_merged(rows, ran[0]), _merged(across, ran[1]), lambda s, c: (s, c) in missing)


def _not_run(own: "Experiment", profile: str, numbers: ReproducedNumbers) -> set[tuple[str, str]]:
    """Return the cells of the trials that filled none; what a trial left out does not exist."""
    if profile not in own.profiles:
        return set()
    filled = {(c.system, c.column) for c in numbers.cells(own.key, profile)}
    try:
        announced = own.announced(profile)
    except DataError:  # files that name the trials must be supplied, and are not here
        return set()
    return {cell for cells in announced if filled.isdisjoint(cells) for cell in cells}


def _sides(
    experiment: str,
    profile: str,
    numbers: ReproducedNumbers,
    reported: ReportedNumbers,
    entry: CatalogEntry,
    layout: _Layout,
) -> Iterator[_Sides]:
    """Yield the cells to show; a gap of the paper's table that nobody ran is none."""
    for system in layout.systems:
        for column in layout.columns:
            theirs = reported.get(experiment, entry.reference(system), column)
            ours = numbers.get(experiment, profile, system, column)
            if ours is None and column == AVERAGE and column in entry.average_columns:
                ours = _average(experiment, profile, system, numbers, reported, entry)
            asked = layout.asked_for(system, column) if theirs is None else theirs.printed != ""
            if ours is not None or asked:
                yield _Sides(experiment, profile, system, column, theirs, ours)


def _merged(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))


def records_of(
    experiments: Sequence[str] | None = None, profiles: Sequence[str] | None = None
) -> list[Record]:
    """Return the project's own and published records of some experiments and profiles."""
    from xlrepro.trials.store import RecordStore

    store = RecordStore()
    if experiments is None:
        found = list(store.records())
    else:
        found = [r for key in experiments for r in store.records(experiment=key)]
    return [r for r in found if profiles is None or r.profile in profiles]


def compare(
    experiment: str,
    profiles: Sequence[str] = ("open",),
    *,
    numbers: ReproducedNumbers | None = None,
    systems: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    tolerance: float | None = None,
    keys: Collection[str] | None = None,
    reported: ReportedNumbers | None = None,
    catalog: Catalog | None = None,
    own: "Experiment | None" = None,
) -> "pd.DataFrame":
    """Set every reported cell of an experiment beside the reproduced one.

    A system of a block of ours (``word-mapped:ORT``) stands beside the reported row that the
    catalog's ``reference_blocks`` names (``word:ORT``).

    Args:
        experiment: ``"word_order/table2"``.
        profiles: a row per cell for each of them.
        numbers: reproduced cells; ``None``: gathered from the project's records.
        systems: identifiers to show, in this order; ``None``: all reported, then all run.
        columns: columns to show, in this order; ``None``: all reported, then all run.
        tolerance: replaces the catalog's, in the metric's unit.
        keys: count only records of these keys (when ``numbers`` is ``None``).
        reported: replaces the project's own.
        catalog: replaces the project's own.
        own: the experiment as it is built. Where the paper prints no number of it, its rows and
            columns give the order, and cells of trials that nobody ran are there as "not run".

    Returns:
        A table with the columns ``COLUMNS``: one row per (profile, system, column).
        ``reproduced``, ``low`` and ``high`` are in the paper's unit; ``difference`` is reproduced
        minus reported; ``allowed`` is rounding plus tolerance. At a profile with a stand-in for
        the paper's data or pre-trained weights ``verdict`` is ``"other data"`` where both numbers
        are there, and ``"not in this corpus"`` for a column that the stand-in lacks. ``"quoted"``
        is what the paper itself quotes from elsewhere.

    Raises:
        SettingsError: for an unknown experiment or profile.
    """
    import pandas as pd

    catalog = catalog or load_catalog()
    reported = reported or load_reported()
    entry = catalog.experiment(experiment)
    for profile in profiles:
        if profile not in PROFILES:
            raise SettingsError(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
    if numbers is None:
        numbers = gather(records_of([experiment], profiles), keys=keys)
    rows = []
    for profile in profiles:
        layout = _layout(experiment, profile, numbers, reported, own)
        if systems or columns:
            layout = _Layout(systems or layout.systems, columns or layout.columns, lambda *_: True)
        shown = _sides(experiment, profile, numbers, reported, entry, layout)
        rows += [_row(sides, catalog, tolerance) for sides in shown]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in ("reported", "reproduced", "low", "high", "difference", "allowed"):
        frame[name] = frame[name].astype(float)
    return frame


def verdict_counts(frame: "pd.DataFrame") -> dict[str, int]:
    """Return how many cells have each verdict, in the order of ``VERDICTS``."""
    found = frame["verdict"].value_counts()
    return {v: int(found.get(v, 0)) for v in VERDICTS}
