"""Bounds of the settings that a user changes (``--set``), the same in every experiment.

The settings classes of the papers give each setting a type, and most a least value; a number that
they let through can still be one that nothing trains with, such as a million layers. It is refused
before a trial is made of it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xlrepro.errors import SettingsError

Bound = tuple[Callable[[float], bool], str]  # which numbers are meant, and how to say it

LARGEST = 1e9
OTHER: Bound = (lambda number: 0 <= number <= LARGEST, "from 0 to 1e9")
COUNT: Bound = (lambda number: 1 <= number <= LARGEST, "from 1 to 1e9")
EPOCHS: Bound = (lambda number: 1 <= number <= 10_000, "from 1 to 10,000")
SIZE: Bound = (lambda number: 1 <= number <= 65_536, "from 1 to 65,536")
LAYERS: Bound = (lambda number: 1 <= number <= 1_000, "from 1 to 1,000")
RATE: Bound = (lambda number: 0 < number <= 1_000, "above 0 and at most 1,000")
DROPPED: Bound = (lambda number: 0 <= number < 1, "of 0 or more and less than 1")

COUNTS = ("batch_size", "train_sentences", "test_sentences")
SIZES = (
    "heads", "dim", "hidden_dim", "ff_dim", "latent_dim", "kernel_size", "kernel_sizes",
    "transformer_heads", "extractor_dim", "expert_dim", "predictor_dim",
    "character_embedding", "character_filters", "character_dim",
    "discriminator_filters", "discriminator_dim",
)  # fmt: skip
BOUNDS: dict[str, Bound] = {
    **dict.fromkeys(COUNTS, COUNT),
    **dict.fromkeys(SIZES, SIZE),
    **dict.fromkeys(("layers", "extractor_layers"), LAYERS),
    "epochs": EPOCHS,
    "learning_rate": RATE,
    **dict.fromkeys(("dropout", "transformer_dropout"), DROPPED),
}
MAY_BE_EMPTY = ("test_shuffles",)  # no disturbed test set beside the plain one


def check_overrides(overrides: Mapping[str, Any]) -> None:
    """Refuse values that no experiment can mean.

    A number that no bound is known for must be finite, 0 or more and at most 1e9. Unknown names,
    and types, are the matter of the experiment's own settings.

    Args:
        overrides: settings by name, as ``--set`` gave them.

    Raises:
        SettingsError: for the first such value; names the setting, the value and its bound.

    Example:
        >>> check_overrides({"epochs": 0})
        Traceback (most recent call last):
        xlrepro.errors.SettingsError: setting epochs must be a number from 1 to 10,000, not 0
    """
    for name, value in _values(overrides):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number and (name not in BOUNDS or value is None):
            continue
        holds, words = BOUNDS.get(name, OTHER)
        if not is_number or not math.isfinite(value) or not holds(value):
            raise SettingsError(f"setting {name} must be a number {words}, not {value!r}")


def _values(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each value with its setting's name, those inside lists and groups too."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and name not in BOUNDS:
            yield from _values(value)
        elif isinstance(value, list | tuple):
            if not value and name not in MAY_BE_EMPTY:
                raise SettingsError(f"setting {name} is an empty list: name at least one")
            yield from ((name, part) for part in value)
        else:
            yield name, value
