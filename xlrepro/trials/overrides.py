"""Bounds of the settings that a user changes (``--set``).

The settings classes of the papers give each setting a type, and most a least value; a number that
they let through can still be one that nothing trains with, such as a million layers. It is refused
before a trial is made of it. Which of its settings are of which kind, a paper's package says in
``BOUNDS``, beside ``TASKS``.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.trials.tasks import table_of

Bound = tuple[Callable[[float], bool], str]  # which numbers are meant, and how to say it

LARGEST = 1e9
OTHER: Bound = (lambda number: 0 <= number <= LARGEST, "from 0 to 1e9")
# What a paper's table ``BOUNDS`` may call a setting.
BOUNDS: dict[str, Bound] = {
    "count": (lambda number: 1 <= number <= LARGEST, "from 1 to 1e9"),
    "updates": (lambda number: 0 <= number <= 10_000_000, "from 0 to 10,000,000"),
    "epochs": (lambda number: 1 <= number <= 10_000, "from 1 to 10,000"),
    "size": (lambda number: 1 <= number <= 65_536, "from 1 to 65,536"),
    "layers": (lambda number: 1 <= number <= 1_000, "from 1 to 1,000"),
    "rate": (lambda number: 0 < number <= 1_000, "above 0 and at most 1,000"),
    "dropped": (lambda number: 0 <= number < 1, "of 0 or more and less than 1"),
}
EMPTY = "empty"  # what the table calls a setting that may be an empty list


def kinds_of(paper: str) -> dict[str, str]:
    """Return what a paper's ``BOUNDS`` calls its settings: name to kind."""
    table: dict[str, Sequence[str]] = table_of(paper, "BOUNDS")
    return {name: kind for kind, names in table.items() for name in names}


def check_overrides(overrides: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    """Refuse values that no experiment can mean.

    A number that no bound is known for must be finite, 0 or more and at most 1e9. Unknown names,
    and types, are the matter of the experiment's own settings.

    Args:
        overrides: settings by name, as ``--set`` gave them.
        kinds: :func:`kinds_of` the paper.

    Raises:
        SettingsError: for the first such value; names the setting, the value and its bound.

    Example:
        >>> check_overrides({"epochs": 0}, {"epochs": "epochs"})
        Traceback (most recent call last):
        xlrepro.errors.SettingsError: setting epochs must be a number from 1 to 10,000, not 0
    """
    for name, value in _values(overrides, kinds):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        bound = BOUNDS.get(kinds.get(name, ""))
        if not is_number and (bound is None or value is None):
            continue
        holds, words = bound or OTHER
        if not is_number or not math.isfinite(value) or not holds(value):
            raise SettingsError(f"setting {name} must be a number {words}, not {value!r}")


def _values(settings: Mapping[str, Any], kinds: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield each value with its setting's name, those inside lists and groups too."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name not in kinds:
            yield from _values(value, kinds)
        elif isinstance(value, list | tuple):
            if not value and kinds.get(name) != EMPTY:
                raise SettingsError(f"setting {name} is an empty list: name at least one")
            yield from ((name, part) for part in value)
        else:
            yield name, value
