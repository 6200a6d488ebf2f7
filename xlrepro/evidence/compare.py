"""Reported beside reproduced: one row per cell and profile, with a two-sided verdict."""

from typing import TYPE_CHECKING, Any

from xlrepro.evidence.catalog import LITERATURE, load_catalog
from xlrepro.evidence.reported import ReportedCell, load_reported
from xlrepro.evidence.reproduced import ReproducedCell, View

if TYPE_CHECKING:
    import pandas as pd

    from xlrepro.experiments import Experiment

WITHIN, ABOVE, BELOW = "within", "above", "below"
NOT_RUN, NOT_REPORTED = "not run", "not reported"
# Where a profile has other data (or weights) than the paper: both numbers are there, or ours
# cannot be.
OTHER_DATA, NOT_HERE, QUOTED = "other data", "not here", "quoted"
VERDICTS = (WITHIN, ABOVE, BELOW, OTHER_DATA, NOT_RUN, NOT_HERE, QUOTED, NOT_REPORTED)
SLACK = 1e-9  # a difference of exactly the tolerance is within, whatever the binary fractions

COLUMNS = (
    "experiment", "profile", "system", "block", "name", "column", "metric", "unit", "reported",
    "printed", "reproduced", "low", "high", "n", "difference", "allowed", "verdict", "stale",
    "note", "source", "keys",
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


def unit_factor(ours: str, theirs: str) -> float:
    """Return what turns our unit into the paper's; 1 where neither is a share.

    Example:
        >>> unit_factor("percent", "fraction")
        0.01
    """
    shares = {"percent": 100.0, "fraction": 1.0}
    first, second = ours.split(" ")[0], theirs.split(" ")[0]
    return shares[second] / shares[first] if first in shares and second in shares else 1.0


def _row(
    view: View, system: str, column: str, theirs: ReportedCell | None, ours: ReproducedCell | None
) -> dict[str, Any]:
    """Return a cell's row: reported, reproduced in the paper's unit, and the verdict."""
    catalog = load_catalog()
    entry = catalog.experiment(view.experiment)
    side = theirs or ours
    metric, unit = (side.metric, side.unit) if side else ("", "")
    factor = unit_factor(ours.unit, unit) if ours else 1.0
    printed = theirs.value if theirs else None
    mean = ours.mean * factor if ours else None
    has_interval = ours is not None and ours.n > 1
    low, high = (e * factor for e in ours.interval) if ours and has_interval else (mean, mean)
    allowed = catalog.tolerance(view.experiment, metric) + (theirs.rounding if theirs else 0.0)
    judged = verdict(printed, mean, low or 0.0, high or 0.0, allowed)
    stand_in = entry.stand_ins.get(view.profile)
    data = stand_in if stand_in and stand_in.covers(column) else None
    quoted = entry.quoted_because(theirs.system) if theirs else ""
    note = ours.note if ours else quoted
    if ours and entry.deterministic:
        note = note.replace("one seed: no interval", "no seed: computed")
    elif theirs and not ours:
        note = note or entry.not_run.get(view.profile, {}).get(theirs.system, "")
    if quoted == LITERATURE and not ours:
        judged = QUOTED  # nobody means to run it
    elif data and judged == NOT_RUN and data.lacks(column):
        judged, note = NOT_HERE, note or f"{data.column(column)} stands in"
    elif judged not in (NOT_RUN, NOT_REPORTED) and entry.differs(view.profile, system, column):
        judged = OTHER_DATA  # numbers of two corpora or weights
    block, _, name = system.partition(":")
    return {
        "experiment": view.experiment, "profile": view.profile,
        "system": system, "block": block, "name": name, "column": column,
        "metric": metric, "unit": unit,
        "reported": printed, "printed": theirs.printed if theirs else "", "reproduced": mean,
        "low": low if has_interval else None, "high": high if has_interval else None,
        "n": ours.n if ours else 0,
        "difference": mean - printed if mean is not None and printed is not None else None,
        "allowed": allowed, "verdict": judged, "stale": bool(ours and ours.stale), "note": note,
        "source": theirs.source if theirs else "", "keys": ours.keys if ours else (),
    }  # fmt: skip


def _not_run(experiment: "Experiment", view: View) -> set[tuple[str, str]]:
    """Return the cells of the trials that filled none; what a trial left out does not exist."""
    if view.profile not in experiment.profiles:
        return set()
    filled = {(c.system, c.column) for c in view.cells}
    announced = experiment.announced(view.profile)
    return {cell for cells in announced if filled.isdisjoint(cells) for cell in cells}


def compared_rows(view: View, experiment: "Experiment | None" = None) -> list[dict[str, Any]]:
    """Set every reported cell of an experiment beside the reproduced one.

    A system of a block of ours (``word-mapped:ORT``) stands beside the reported row that the
    catalog's ``reference_blocks`` names (``word:ORT``), in the columns that it was run in.

    Args:
        view: the reproduced cells of an experiment at a profile.
        experiment: as it is built; its rows and columns give ours their order. Where the paper
            prints no number of it, cells of trials that nobody ran are there as "not run".

    Returns:
        A row per (system, column), all reported, then all that were run, with the names of
        ``COLUMNS``; a number that is not there is ``None``. ``reproduced``, ``low`` and ``high``
        are in the paper's unit; ``difference`` is reproduced minus reported, ``allowed`` rounding
        plus tolerance. At a profile with a stand-in for the paper's data or pre-trained weights
        ``verdict`` is ``"other data"`` where both numbers are there, and ``"not here"`` for a
        column that the stand-in lacks.
        ``"quoted"`` is what the paper itself quotes from elsewhere. A gap of the paper's table that
        nobody ran is no row.

    Raises:
        SettingsError: for an unknown experiment or profile.
    """
    entry, reported = load_catalog().experiment(view.experiment), load_reported()
    systems, columns = reported.systems(view.experiment), reported.columns(view.experiment)
    missing: set[tuple[str, str]] = set()
    if experiment is not None:
        if not columns:
            missing = _not_run(experiment, view)
        rows = {system for system, _ in missing}.union(view.systems)
        across = {column for _, column in missing}.union(view.columns)
        systems += [s.identifier for s in experiment.systems if s.identifier in rows]
        columns += [c for c in experiment.columns if c in across]
    made = []
    for system in dict.fromkeys([*systems, *view.systems]):
        for column in dict.fromkeys([*columns, *view.columns]):
            theirs = reported.get(view.experiment, entry.reference(system), column)
            ours = view.get(system, column)
            if ours is None and system in entry.differences:
                ours = view.difference(*entry.differences[system], column, system)
            wanted = (system, column) in missing if theirs is None else theirs.printed != ""
            in_its_place = entry.reference(system) != system  # its trials fill what they fill
            if ours is not None or (wanted and not in_its_place):
                made.append(_row(view, system, column, theirs, ours))
    return made


def compare(view: View, experiment: "Experiment | None" = None) -> "pd.DataFrame":
    """Return `compared_rows` as a table with the columns ``COLUMNS``."""
    import pandas as pd

    frame = pd.DataFrame(compared_rows(view, experiment), columns=list(COLUMNS))
    numbers = ["reported", "reproduced", "low", "high", "difference", "allowed"]
    return frame.astype(dict.fromkeys(numbers, float))
