"""Two systems compared seed by seed: what a seed does to both drops out of their difference."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlrepro.errors import SettingsError
from xlrepro.evidence.reproduced import ReproducedCell, t_interval
from xlrepro.evidence.view import View

if TYPE_CHECKING:
    import pandas as pd


def paired_differences(
    view: View, first: str, second: str, columns: Sequence[str] | None = None
) -> "pd.DataFrame":
    """Compare two systems seed by seed: ``first`` minus ``second``, with a t interval.

    Pairing takes out what the two runs of a seed share; only seeds that both have count.

    Args:
        view: reproduced cells.
        first: identifier of the one system, ``"word:ORT"``.
        second: of the other, ``"word:TRS"``.
        columns: which columns; ``None``: all that both have from one seed.

    Returns:
        Per column: ``column``, ``mean``, ``low``, ``high`` (missing for one seed), ``n``,
        ``seeds``, ``values`` (one difference per seed), ``first``, ``second`` (means over those
        seeds), ``stale``, ``note``; and ``sign``: ``"+"`` or ``"-"`` where the interval leaves
        out 0, else ``"0"``.

    Raises:
        SettingsError: if the two share no seed in a column that was asked for.
    """
    import pandas as pd

    wanted = columns or shared_columns(view, first, second)
    rows = []
    for column in wanted:
        a = view.get(first, column)
        b = view.get(second, column)
        seeds = sorted(set(a.seeds) & set(b.seeds)) if a and b else []
        if a is None or b is None or not seeds:
            raise SettingsError(
                f"{view.experiment} {view.profile}: {first} and {second} share no seed in column "
                f"{column}; run both with the same seeds"
            )
        rows.append(_pair(column, a, b, seeds))
    return pd.DataFrame(rows, columns=list(PAIR_COLUMNS))


def shared_columns(view: View, first: str, second: str) -> list[str]:
    """Return the columns in which two systems have a seed in common, in the first one's order."""
    of_second = {cell.column: set(cell.seeds) for cell in view.of(second)}
    return [c.column for c in view.of(first) if of_second.get(c.column, set()) & set(c.seeds)]


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
