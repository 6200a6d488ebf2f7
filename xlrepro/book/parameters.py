"""A notebook's parameters: what its ``parameters`` cell knows, and values checked against it.

papermill only warns about a parameter the notebook does not know; here it is an error.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from xlrepro.errors import SettingsError


def declared(notebook: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return name to default of every assignment in the cell tagged ``parameters``.

    Args:
        notebook: a notebook as JSON (``{"cells": [...]}``).
        where: how to call it in an error.

    Raises:
        SettingsError: if there is no such cell, or a default is not a plain value.
    """
    tagged = [
        cell
        for cell in notebook.get("cells", [])
        if "parameters" in cell.get("metadata", {}).get("tags", [])
    ]
    if len(tagged) != 1:
        raise SettingsError(
            f"{where} has {len(tagged)} cells tagged 'parameters'; it needs exactly one"
        )
    source = tagged[0]["source"]
    text = source if isinstance(source, str) else "".join(source)
    found: dict[str, Any] = {}
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign):
            names, value = statement.targets, statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            names, value = [statement.target], statement.value
        else:
            continue
        for name in names:
            if isinstance(name, ast.Name):
                found[name.id] = _literal(value, name.id, where)
    return found


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
        SettingsError: for a name that ``known`` lacks, or a value of another type.

    Example:
        >>> check({"seeds": "0,1"}, {"seeds": [0]}, "a.ipynb")
        {'seeds': [0, 1]}
    """
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SettingsError(
            f"{where} has no parameter {unknown[0]!r}; it has: {', '.join(known) or 'none'}"
        )
    return {name: _fit(value, known[name], name, where) for name, value in given.items()}


def _fit(value: Any, default: Any, name: str, where: str) -> Any:
    if isinstance(default, list) and not isinstance(value, list):
        parts = value.split(",") if isinstance(value, str) else [value]
        return [yaml.safe_load(part) if isinstance(part, str) else part for part in parts]
    if default is None or isinstance(value, type(default)):
        return value
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise SettingsError(
        f"{where}: parameter {name!r} is a {type(default).__name__} "
        f"(default {default!r}), not {value!r}"
    )


def parse_assignments(texts: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``NAME=VALUE`` texts; a value is read as YAML.

    Raises:
        SettingsError: for a text without ``=``.

    Example:
        >>> parse_assignments(["seeds=[0, 1]", "device=cpu"])
        {'seeds': [0, 1], 'device': 'cpu'}
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise SettingsError(f"-p takes NAME=VALUE, not {text!r}")
        values[name.strip()] = yaml.safe_load(value)
    return values
