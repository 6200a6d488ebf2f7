"""Two systems compared seed by seed: what a seed does to both drops out of their difference."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlrepro.errors import SettingsError
from xlrepro.evidence.reproduced import Interval, ReproducedCell
from xlrepro.evidence.view import View

if TYPE_CHECKING:
    import pandas as pd

NAN = float("nan")
COLUMNS = ["column", "mean", "low", "high", "n", "sign", "seeds", "values", "first"]
Pair = tuple[str, str, ReproducedCell]  # two systems, and the first minus the second


def paired_differences(
    view: View, first: str, second: str, columns: Sequence[str] | None = None
) -> "pd.DataFrame":
    """Compare two systems seed by seed: ``first`` minus ``second``, with a t interval.

    Args:
        view: reproduced cells.
        first: identifier of the one system, ``"word:ORT"``.
        second: of the other, ``"word:TRS"``.
        columns: which columns; ``None``: all that both have from one seed.

    Returns:
        Per column: ``column``, ``mean``, ``low``, ``high`` (missing for one seed), ``n``,
        ``seeds``, ``values`` (one difference per seed), ``first`` (its mean over those seeds); and
        ``sign``: ``"+"`` or ``"-"`` where the interval leaves out 0, else ``"0"``.

    Raises:
        SettingsError: if the two share no seed in a column that was asked for.
    """
    import pandas as pd

    rows = []
    for column in columns or shared_columns(view, first, second):
        pair, one = view.difference(first, second, column), view.get(first, column)
        if pair is None or one is None:
            raise SettingsError(
                f"{view.experiment} {view.profile}: {first} and {second} share no seed in column "
                f"{column}; run both with the same seeds"
            )
        ends = pair.interval or Interval(NAN, NAN)
        value = dict(zip(one.seeds, one.values))
        mean = sum(value[seed] for seed in pair.seeds) / pair.n
        rows.append((column, pair.mean, ends.low, ends.high, pair.n, ends.sign, pair.seeds,
                     pair.values, mean))  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def shared_columns(view: View, first: str, second: str) -> list[str]:
    """Return the columns in which two systems have a seed in common, in the first one's order."""
    return [c.column for c in view.of(first) if view.difference(first, second, c.column)]
