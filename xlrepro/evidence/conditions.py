"""What must be so for a verdict: conditions that the catalog declares, computed from records."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any

from xlrepro.evidence.catalog import Catalog, Need
from xlrepro.evidence.intervals import item_error, t_interval
from xlrepro.evidence.provenance import cut_off
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers


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


def commonest(counts: Mapping[str, Sequence[int]]) -> float:
    """Return the accuracy, in percent, of naming the commonest class throughout.

    Example:
        >>> commonest({"NOUN": [5, 6], "VERB": [0, 2]})
        75.0
    """
    of = [count for _, count in counts.values()]
    return 100 * max(of) / sum(of)


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
            touched = [c for c in read if need.touches(c.system)]
            asked = not need.given or any(c.system in need.given for c in read)
            if not touched or not asked:
                continue
            said = _missed(need, touched, catalog, numbers)
            if said is None:
                unknown[need.what] = None
            elif said:
                failed[f"{need.what} ({said})"] = None
    return list(failed), list(unknown)


def _missed(
    need: Need, cells: Sequence[ReproducedCell], catalog: Catalog, numbers: ReproducedNumbers
) -> str | None:
    """Return the value of a condition that is not met; empty: it is; ``None``: no record has it."""
    records, entry = numbers.behind(*cells), catalog.experiment(cells[0].experiment)
    if need.above is not None:
        for cell in sorted(cells, key=lambda c: c.mean):
            values, above = cell.values * (1 + (cell.n == 1)), need.above  # one seed: over items
            if isinstance(above, str):
                counts = next((r.details.get(above) for r in numbers.behind(cell)), None)
                if counts is None:
                    return None
                targets = [c for c in counts if entry.is_target(c)]
                columns = [cell.column] if cell.column in counts else targets
                above = fmean(commonest(counts[column]) for column in columns)
            if t_interval(values, item_error(catalog, numbers, cell))[0] <= above:
                name = f"{entry.row_name(cell.system)} in {entry.column_name(cell.column)}"
                return f"{name}: {cell.mean:.4g}, baseline {above:.4g}"
        return ""
    if need.stopped is not None:
        cut = {
            name: [cut_off(*end) for r in numbers.behind(*(c for c in cells if c.system == name))
                   for end in numbers.ends(r.experiment, r.key)]
            for name in dict.fromkeys(c.system for c in cells)
        }  # fmt: skip
        for name, each in cut.items():
            if len(each) - sum(each) < need.stopped * len(each):
                return f"{entry.row_name(name)}: {sum(each)} of {len(each)} were cut off"
        return "" if any(cut.values()) else None
    if need.same:
        for column in dict.fromkeys(c.column for c in cells):
            found = [(c, {v for r in numbers.behind(c) for v in at_path(r.settings, need.same)})
                     for c in cells if c.column == column]  # fmt: skip
            if not all(of for _, of in found):
                return None
            if len(set.union(*(of for _, of in found))) > 1:
                said = (f"{entry.row_name(c.system)} {'/'.join(f'{v:g}' for v in of)}"
                        for c, of in found)  # fmt: skip
                return f"{', '.join(said)} in {entry.column_name(column)}"
        return ""
    if need.cell:
        of = numbers.get(need.cell[0], cells[0].profile, *need.cell[1:])
        numbers_found = [of.mean] if of else []
    else:
        numbers_found = [v for r in records for v in at_path(r.details, need.detail)]
    if not numbers_found:
        return None
    value, low, high = fmean(numbers_found), need.at_least, need.at_most
    if (low is None or value >= low) and (high is None or value <= high):
        return ""
    bound = f"at least {low:,.12g}" if low is not None else f"at most {high:,.12g}"
    return f"{value:,.{0 if value >= 1000 else 2}f}, where {bound} is required"
