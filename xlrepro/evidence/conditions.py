"""What must be so for a verdict: conditions that the catalog declares, computed from records."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any

from xlrepro.evidence.catalog import Catalog, Need
from xlrepro.evidence.provenance import training_ends
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers
from xlrepro.trials import Record


def items_of(catalog: Catalog, numbers: ReproducedNumbers, cell: ReproducedCell) -> float | None:
    """Return how many items the test set of a cell has, by its records, else by the catalog.

    ``None`` where neither says.
    """
    for record in _behind([cell], numbers):
        if cell.column in record.items:
            return record.items[cell.column].size
    sizes = catalog.experiment(cell.experiment).items.get(cell.profile, {})
    return next((n for name, n in sizes.items() if fnmatchcase(cell.column, name)), None)


def item_error(cell: ReproducedCell, items: float | None) -> float:
    """Return a cell's binomial standard error over so many test items, in its unit."""
    if not items:
        return 0.0
    scale = 100.0 if cell.unit == "percent" else 1.0
    share = min(max(cell.mean / scale, 0.0), 1.0)
    return scale * math.sqrt(share * (1 - share) / items)


def at_path(details: Any, path: str) -> Iterator[float]:
    """Yield the numbers that stand in a record's details at a path; ``[right, all]`` is a share.

    ``*`` is any part of a path: ``"adaptation.*.end.held_out"``.
    """
    if path and isinstance(details, Mapping):
        first, _, rest = path.partition(".")
        for key, value in details.items():
            if fnmatchcase(str(key), first):
                yield from at_path(value, rest)
    elif not path and isinstance(details, list) and len(details) == 2:
        yield 100 * details[0] / max(details[1], 1)
    elif not path and isinstance(details, int | float):
        yield float(details)


def failed_conditions(
    catalog: Catalog, numbers: ReproducedNumbers, profile: str, cells: Sequence[ReproducedCell]
) -> tuple[list[str], list[str]]:
    """Return the conditions that compared cells do not fulfil, with their values, and the unknown.

    Args:
        catalog: declares them per experiment and profile.
        numbers: with the records behind them.
        profile: of the cells.
        cells: what a claim compares.
    """
    failed, unknown = dict[str, None](), dict[str, None]()
    for experiment in dict.fromkeys(c.experiment for c in cells):
        read = [c for c in cells if c.experiment == experiment]
        for need in catalog.experiment(experiment).conditions.get(profile, ()):
            touched = [c for c in read if need.touches(c.system, c.column)]
            asked = not need.given or any(c.system in need.given for c in read)
            if not touched or not asked:
                continue
            said = _missed(need, touched, catalog, numbers)
            if said is None:
                unknown[need.what] = None
            elif said:
                failed[f"{need.what}: {said}"] = None
    return list(failed), list(unknown)


def _behind(cells: Sequence[ReproducedCell], numbers: ReproducedNumbers) -> list[Record]:
    """Return the records behind cells."""
    places = dict.fromkeys((c.experiment, c.profile) for c in cells)
    keys = {key for cell in cells for key in cell.keys}
    return [r for place in places for r in numbers.records.get(place, ()) if r.key in keys]


def _missed(
    need: Need,
    cells: Sequence[ReproducedCell],
    catalog: Catalog,
    numbers: ReproducedNumbers,
) -> str | None:
    """Return the value of a condition that is not met; empty: it is; ``None``: no record has it."""
    records = _behind(cells, numbers)
    if need.above is not None:
        for cell in sorted(cells, key=lambda c: c.mean):
            of_seeds = cell.interval.half if cell.interval else 0.0
            of_items = 1.96 * item_error(cell, items_of(catalog, numbers, cell))
            if cell.mean - math.hypot(of_seeds, of_items) <= need.above:
                return (
                    f"{cell.system.partition(':')[2]}, {cell.column}, has {cell.mean:.4g}, the "
                    f"baseline {need.above:g}"
                )
        return ""
    if need.stopped is not None:
        ends = training_ends(records)
        last = sum(since == 0 for since, _ in ends)
        if not ends:
            return None
        enough = last <= (1 - need.stopped) * len(ends)
        return "" if enough else f"in {last} of {len(ends)} the last epoch was the best on dev"
    if need.same:
        values: dict[str, set[Any]] = {}
        for cell in cells:
            for record in _behind([cell], numbers):
                found = set(at_path(record.settings, need.same))
                values.setdefault(cell.system.partition(":")[2], set()).update(found)
        if not values or not all(values.values()):
            return None
        if set.intersection(*values.values()):
            return ""
        said = {system: "/".join(f"{v:g}" for v in sorted(of)) for system, of in values.items()}
        return ", ".join(f"{system} {rates}" for system, rates in said.items())
    if need.cell:
        of = numbers.get(need.cell[0], cells[0].profile, *need.cell[1:])
        found_values = [of.mean] if of else []
    else:
        found_values = [v for r in records for v in at_path(r.details, need.detail)]
    if not found_values:
        return None
    value, low, high = fmean(found_values), need.at_least, need.at_most
    if (low is None or value >= low) and (high is None or value <= high):
        return ""
    bound = f"at least {low:,g}" if low is not None else f"at most {high:,g}"
    return f"{value:,.4g}, where {bound} is needed"
