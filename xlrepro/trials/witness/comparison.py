"""What two runs of one trial differ in: cells and details, to the last bit, seconds aside."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

CURVE = re.compile(r"(dev_|train_loss|loss_curve)")  # a list of one number per epoch
SECONDS = re.compile(r"(^|_)seconds$")


def values_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return every value of a result by a name for people: curves first, cells, other details.

    Args:
        result: ``cells`` (system, column, value, metric, unit) and ``details``.

    Example:
        >>> values_of({"cells": [], "details": {"train_loss": [0.5], "seconds": 3.0}})
        {'epoch 1 of train_loss': 0.5}
    """
    details = dict(_flat(result["details"], ""))
    curves = {name: value for name, value in details.items() if name.startswith("epoch ")}
    cells = {
        f"cell {system} / {column}": [value, metric, unit]
        for system, column, value, metric, unit in result["cells"]
        if unit != "seconds"
    }
    return {**curves, **cells, **details}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what two results differ in, the most telling first; empty where they are equal.

    A setting that only one side's details know is no difference: a new setting's default.
    """
    before, now = values_of(old), values_of(new)
    unequal = []
    for name in {**before, **now}:
        if name not in now:
            unequal += [] if _is_setting(name) else [f"{name} is gone"]
        elif name not in before:
            unequal += [] if _is_setting(name) else [f"{name} is new"]
        elif not _same(before[name], now[name]):
            unequal.append(
                f"{name}: {_shown(before[name])} at the commit, {_shown(now[name])} today"
            )
    return unequal


def _is_setting(name: str) -> bool:
    return name.startswith("detail settings.") or ".settings." in name


def _flat(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of what is no mapping or list; an empty one counts as a value."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            if not SECONDS.search(str(name)):
                yield from _flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        is_curve = CURVE.match(path.rpartition(".")[2])
        for number, inner in enumerate(value):
            yield from _flat(
                inner, f"epoch {number + 1} of {path}" if is_curve else f"{path}[{number}]"
            )
    elif path:
        yield path if path.startswith("epoch ") else f"detail {path}", value


def _same(old: Any, new: Any) -> bool:
    both_nan = all(isinstance(v, float) and math.isnan(v) for v in (old, new))
    return both_nan or (isinstance(old, bool) == isinstance(new, bool) and old == new)


def _shown(value: Any) -> str:
    value = value[0] if isinstance(value, list) and value else value
    return repr(value)
