"""Two systems compared seed by seed: what a seed does to both drops out of their difference."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlrepro.errors import SettingsError
from xlrepro.evidence.compare import records_of
from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers, gather, t_interval

if TYPE_CHECKING:
    import pandas as pd


def paired_differences(
    experiment: str,
    profile: str,
    first: str,
    second: str,
    columns: Sequence[str] | None = None,
    *,
    numbers: ReproducedNumbers | None = None,
) -> "pd.DataFrame":
    """Compare two systems seed by seed: ``first`` minus ``second``, with a t interval.

    Pairing takes out what the two runs of a seed share; only seeds that both have count.

    Args:
        experiment: ``"word_order/table2"``.
        profile: ``"open"``.
        first: identifier of the one system, ``"word:ORT"``.
        second: of the other, ``"word:TRS"``.
        columns: which columns; ``None``: all that both have.
        numbers: reproduced cells; ``None``: gathered from the project's records.

    Returns:
        Per column: ``column``, ``mean``, ``low``, ``high`` (missing for one seed), ``n``,
        ``seeds``, ``values`` (one difference per seed), ``first``, ``second`` (means over those
        seeds), ``stale``, ``note``; and ``sign``: ``"+"`` or ``"-"`` where the interval leaves
        out 0, else ``"0"``.

    Raises:
        SettingsError: if the two share no seed in a column that was asked for.
    """
    import pandas as pd

    if numbers is None:
        numbers = gather(records_of([experiment], [profile]))
    shared = {c.column for c in numbers.cells(experiment, profile) if c.system == second}
    wanted = columns or [
        c.column
        for c in numbers.cells(experiment, profile)
        if c.system == first and c.column in shared
    ]
    rows = []
    for column in wanted:
        a = numbers.get(experiment, profile, first, column)
        b = numbers.get(experiment, profile, second, column)
        seeds = sorted(set(a.seeds) & set(b.seeds)) if a and b else []
        if a is None or b is None or not seeds:
            raise SettingsError(
                f"{experiment} {profile}: {first} and {second} share no seed in column {column}; "
                "run both with the same seeds"
            )
        rows.append(_pair(column, a, b, seeds))
    return pd.DataFrame(rows, columns=list(PAIR_COLUMNS))


PAIR_COLUMNS = (
    "column", "mean", "low", "high", "n", "sign", "seeds", "values", "first", "second", "stale",
    "note",
)  # fmt: skip


def _pair(
    column: str, a: ReproducedCell, b: ReproducedCell, seeds: Sequence[int]
) -> dict[str, object]:
    one, two = dict(zip(a.seeds, a.values)), dict(zip(b.seeds, b.values))
    values = tuple(one[s] - two[s] for s in seeds)
    interval = t_interval(values)
    sign = "0"
    if interval and (interval.low > 0 or interval.high < 0):
        sign = "+" if interval.low > 0 else "-"
    return {
        "column": column,
        "mean": sum(values) / len(values),
        "low": interval.low if interval else float("nan"),
        "high": interval.high if interval else float("nan"),
        "n": len(values),
        "sign": sign,
        "seeds": tuple(seeds),
        "values": values,
        "first": sum(one[s] for s in seeds) / len(seeds),
        "second": sum(two[s] for s in seeds) / len(seeds),
        "stale": a.stale or b.stale,
        "note": "" if interval else "one seed: no interval",
    }
