"""Settings that a paper prints, beside those of our presets: entries of a table of them."""

from collections.abc import Sequence
from math import prod

from xlrepro.evidence.reported import ReportedCell
from xlrepro.evidence.tables.table import Entry

DIFFERS = "not as printed"


def printed_entry(cells: Sequence[ReportedCell], unless: str = "") -> Entry:
    """Return a setting as the paper prints it; a dash where it does not.

    Args:
        cells: the printed number, or several whose product it is.
        unless: said of the dash.
    """
    if not cells:
        return Entry("–", title=unless)
    text = " × ".join(cell.printed for cell in cells)
    return Entry(text, sort=printed_value(cells), title="; ".join(cell.source for cell in cells))


def own_entry(
    ours: float | str | None, cells: Sequence[ReportedCell] = (), unless: str = ""
) -> Entry:
    """Return a setting of ours, and say so where it is not the printed one; a dash for ``None``.

    Args:
        ours: a number, or a word as the paper would print it.
        cells: as for `printed_entry`; none where nothing is compared.
        unless: said of the dash.
    """
    if ours is None:
        return Entry("–", title=unless)
    if isinstance(ours, str):
        return Entry(ours, DIFFERS if [c for c in cells if c.printed != ours] else "")
    text = f"{int(ours):,}" if float(ours).is_integer() else f"{ours:g}"
    differs = bool(cells) and float(ours) != printed_value(cells)
    return Entry(text, DIFFERS if differs else "", sort=float(ours))


def printed_value(cells: Sequence[ReportedCell]) -> float | None:
    """Return the product of printed numbers; ``None`` where one is a word or there is none."""
    values = [cell.value for cell in cells if cell.value is not None]
    return prod(values) if values and len(values) == len(cells) else None
