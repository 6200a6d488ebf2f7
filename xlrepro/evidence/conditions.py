"""What must be so for a verdict: conditions that the catalog declares, computed from records."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any

from xlrepro.evidence.catalog import Catalog, Need
from xlrepro.evidence.provenance import training_ends
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers
from xlrepro.trials import Record


def test_items(catalog: Catalog, profile: str, cell: ReproducedCell) -> float | None:
    """Return how many items the test set of a cell has; ``None`` where nobody says."""
    sizes = catalog.experiment(cell.experiment).items.get(profile, {})
    return next((n for name, n in sizes.items() if fnmatchcase(cell.column, name)), None)


def at_path(details: Any, path: str) -> Iterator[Any]:
    """Yield what stands in a record's details at a path; ``*`` is any part: ``"heads.*.dev"``."""
    if not path:
        yield details
        return
    first, _, rest = path.partition(".")
    if isinstance(details, Mapping):
        for key, value in details.items():
            if fnmatchcase(str(key), first):
                yield from at_path(value, rest)
    elif isinstance(details, list) and re.fullmatch(r"-?\d+", first) and details:
        yield from at_path(details[int(first)], rest)


def failed_conditions(
    catalog: Catalog,
    numbers: ReproducedNumbers,
    profile: str,
    cells: Mapping[tuple[str, str, str], ReproducedCell],
) -> tuple[list[str], list[str]]:
    """Return the conditions that compared cells do not fulfil, with their values, and the unknown.

    Args:
        catalog: declares them per experiment and profile.
        numbers: with the records behind them.
        profile: of the cells.
        cells: what a claim compares.
    """
    failed, unknown = list[str](), list[str]()
    for experiment in dict.fromkeys(c.experiment for c in cells.values()):
        read = [c for c in cells.values() if c.experiment == experiment]
        records = numbers.records.get((experiment, profile), [])
        for need in catalog.experiment(experiment).conditions.get(profile, ()):
            touched = [c for c in read if need.touches(c.system, c.column)]
            if not touched:
                continue
            said, value = _missed(need, touched, records)
            failed += [said] if said else []
            unknown += [need.what] if value is None else []
    return list(dict.fromkeys(failed)), list(dict.fromkeys(unknown))


def _missed(
    need: Need, cells: list[ReproducedCell], records: list[Record]
) -> tuple[str, float | None]:
    """Return what to say where a condition is not met, and its value (``None``: unknown)."""
    systems = {c.system for c in cells}
    behind = [r for r in records if systems & {*r.systems}]
    if need.above is not None:
        for cell in sorted(cells, key=lambda c: c.mean):
            low = cell.interval.low if cell.interval else cell.mean
            if low <= need.above:
                where = f"{cell.system.partition(':')[2]} ({cell.column}) {cell.mean:.4g}"
                return f"{need.what}: {where}, baseline {need.above:g}", cell.mean
        return "", cells[0].mean
    if need.stopped is not None:
        ends = training_ends(behind)
        if not ends:
            return "", None
        # stopped by patience, or the best epoch was not the last
        whole = fmean(since > 0 for since, _ in ends)
        text = f"{need.what}: in {100 * (1 - whole):.0f} % of {len(ends)} the last epoch was best"
        return (text if whole < need.stopped else ""), whole
    found = [float(v) for r in behind for v in at_path(r.details, need.detail)]
    if not found:
        return "", None
    value = fmean(found)
    low, high = need.at_least, need.at_most
    met = (low is None or value >= low) and (high is None or value <= high)
    bound = f"at least {low:g}" if low is not None else f"at most {high:g}"
    return ("" if met else f"{need.what}: {value:.3g}, needed {bound}"), value
