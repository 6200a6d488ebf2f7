"""A notebook's parameters: what its ``parameters`` cell knows, and values checked against it.

papermill only warns about a parameter the notebook does not know; here it is an error.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.machine import DEVICES
from xlrepro.trials import PROFILES
from xlrepro.yaml_files import parse_value


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _are_seeds(value: Any) -> bool:
    return isinstance(value, list) and all(_is_count(seed, 0) for seed in value)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


# What the parameters that all notebooks have may be, and how to say so.
ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "profile": (lambda value: value in PROFILES, f"one of {', '.join(PROFILES)}"),
    "seeds": (_are_seeds, "whole numbers of 0 or more, as in seeds=0,1,2"),
    "systems": (_are_names, "names of systems, as in systems=ORT,word:TRS"),
    "device": (lambda value: value in DEVICES, f"one of {', '.join(DEVICES)}"),
    "scheduler": (
        lambda value: value is None or (isinstance(value, str) and bool(value)),
        "the address of a Dask scheduler, as in scheduler=tcp://host:8786",
    ),
    "jobs": (
        lambda value: value is None or _is_count(value, 1),
        "a whole number of 1 or more, or null for one process per core",
    ),
}


def declared(notebook: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return name to default of every assignment in the cell tagged ``parameters``.

    Args:
        notebook: a notebook as JSON (``{"cells": [...]}``).
        where: how to call it in an error.

    Raises:
        SettingsError: if it is no notebook, there is no such cell or it is not Python, or a
            default is not a plain value.
    """
    try:
        cells = [
            (cell["cell_type"], cell["metadata"].get("tags", []), "".join(cell["source"]))
            for cell in notebook["cells"]
        ]
        tagged = [source for _, tags, source in cells if "parameters" in tags]
    except (LookupError, TypeError, AttributeError):
        raise SettingsError(f"{where} is not a notebook: restore it from the repository") from None
    if len(tagged) != 1:
        raise SettingsError(
            f"{where} has {len(tagged)} cells tagged 'parameters'; it needs exactly one"
        )
    try:
        statements = ast.parse(tagged[0]).body
    except (SyntaxError, ValueError, RecursionError):
        raise SettingsError(f"{where}: the cell tagged 'parameters' is not Python") from None
    defaults: dict[str, Any] = {}
    for statement in statements:
        if isinstance(statement, ast.Assign):
            names, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            names, value = [statement.target], statement.value
        else:
            continue
        for name in names:
            if isinstance(name, ast.Name):
                defaults[name.id] = _literal(value, name.id, where)
    return defaults


def _literal(value: ast.expr, name: str, where: str) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError as error:
        raise SettingsError(
            f"{where}: the default of parameter {name!r} must be a plain value"
        ) from error


def check(given: Mapping[str, Any], known: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return ``given`` with every value fitted to the type of its default.

    A single value, or text with commas, becomes a list where the default is a list.

    Raises:
        SettingsError: for a name that ``known`` lacks, a value of another type, or one that no
            notebook can be run with.

    Example:
        >>> check({"seeds": "0,1"}, {"seeds": [0]}, "a.ipynb")
        {'seeds': [0, 1]}
    """
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SettingsError(
            f"{where} has no parameter {unknown[0]!r}; it has: {', '.join(known) or 'none'}"
        )
    values = {name: _fit(value, known[name], name, where) for name, value in given.items()}
    for name, value in values.items():
        fits, allowed = ALLOWED.get(name, (None, ""))
        if fits is not None and not fits(value):
            raise SettingsError(f"{where}: parameter {name!r} must be {allowed}; not {value!r}")
    return values


def _fit(value: Any, default: Any, name: str, where: str) -> Any:
    if isinstance(default, list) and not isinstance(value, list):
        if not isinstance(value, str):
            return [value]
        try:
            return [parse_value(part) for part in value.split(",")]
        except ValueError as error:
            wrong = f"the value is not YAML ({error})"
            raise SettingsError(f"{where}: parameter {name!r}: {wrong}") from None
    if default is None or isinstance(value, type(default)):
        return value
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise SettingsError(
        f"{where}: parameter {name!r} is a {type(default).__name__} "
        f"(default {default!r}), not {value!r}"
    )
