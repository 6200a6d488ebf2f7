"""The project's YAML: read in one place, and whatever is wrong with it said in one line.

Tags and numbers of YAML run Python's own constructors, which raise what they like: ``!!bool x``
gives a KeyError, ``2001-99-99`` a ValueError. Here that is a `ValueError` of one line for a text,
and a `DataError` that names the file for a file.
"""

import re
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from xlrepro.errors import DataError

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

Model = TypeVar("Model", bound="BaseModel")

SCIENTIFIC = re.compile(r"\s*[-+]?\d+(\.\d*)?[eE][-+]?\d+\s*$", re.ASCII)
MOST_LEVELS = 50
MOST_VALUES = 1_000_000
TOO_DEEP = f"more than {MOST_LEVELS} levels, one in another"
MOST_BITS = 256  # a whole number of 77 digits
# The C parser descends on the stack of C, which ends the process some 20,000 levels down.
SAFE_FOR_C = 5_000

# What the constructors of PyYAML's tags raise on a value that is not of their type.
_UNREADABLE = (
    yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError,
    RecursionError,
)  # fmt: skip


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        ValueError: with one line that says what is wrong, if it is not YAML, a tagged value is not
            of its type, lists stand more than 50 deep (or in themselves), or a whole number has
            more than 77 digits.

    Example:
        >>> parse_yaml("[1, two]")
        [1, 'two']
        >>> parse_yaml("2001-99-99")
        Traceback (most recent call last):
        ValueError: month must be in 1..12
    """
    try:
        value = yaml.load(text, Loader=_loader(text))
    except _UNREADABLE as error:
        raise ValueError(_reason(error)) from None
    _check(value)
    return value


def parse_value(text: str) -> Any:
    """Return the value that ``NAME=VALUE`` gives on the command line: YAML, and ``1e-3`` a number.

    Raises:
        ValueError: as `parse_yaml`.

    Example:
        >>> parse_value("1e-3")  # text in YAML 1.1, which nobody means
        0.001
    """
    return float(text) if SCIENTIFIC.match(text) else parse_yaml(text)


def read_yaml(path: Path | Traversable) -> Any:
    """Read a YAML file of the project or of the package.

    Raises:
        DataError: if the file is missing, unreadable or not YAML; names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"{path} is missing: restore it from the repository") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): restore it") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8: save it as such, or restore it") from None
    try:
        return parse_yaml(text)
    except ValueError as error:
        raise DataError(f"{path} is not valid YAML ({error}): mend it, or restore it") from None


def read_model(path: Path | Traversable, model: type[Model]) -> Model:
    """Read a YAML file into a pydantic model.

    Raises:
        DataError: as `read_yaml`, or if it is not what the model wants; names file and place.
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(read_yaml(path))
    except ValidationError as error:
        raise DataError(f"{path}: {describe(error)}") from None


def describe(error: "ValidationError") -> str:
    """Return the first complaint of a pydantic error as ``place: what`` on one line."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "top level"
    return " ".join(f"{where}: {first['msg'].removeprefix('Value error, ')}".split())


class _Words:
    """Of the booleans of YAML 1.1 only true and false: ``no`` is Norwegian, ``off`` a word."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [
            (tag, re.compile("true|True|TRUE|false|False|FALSE") if tag.endswith(":bool") else rule)
            for tag, rule in resolvers
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class _Safe(_Words, yaml.SafeLoader):
    """PyYAML's own parser."""


class _Fast(_Words, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The parser of C, where PyYAML has it."""


def _loader(text: str) -> Any:
    """Return the C loader, ten times as fast, unless the text may be too deep for it."""
    # Each level opens a bracket, or stands at least a column further right.
    levels = text.count("[") + text.count("{") + max(map(len, text.splitlines()), default=0)
    return _Fast if levels < SAFE_FOR_C else _Safe


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    mark = getattr(error, "problem_mark", None)
    said = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if not isinstance(error, yaml.YAMLError | ValueError):
        said = "a value that is not of its tag's type"
    where = f"line {mark.line + 1}: " if mark else ""
    return " ".join(f"{where}{said}".split())


def _check(value: Any) -> None:
    """Refuse what no setting means and Python cannot print: endless depth, endless digits."""
    waiting, count = [(value, 0)], 0
    while waiting:
        part, level = waiting.pop()
        count += 1
        if isinstance(part, int) and part.bit_length() > MOST_BITS:
            raise ValueError("a whole number of more than 77 digits")
        if not isinstance(part, dict | list | set | tuple):
            continue
        if level == MOST_LEVELS:  # a list in itself, by an alias, comes here too
            raise ValueError(TOO_DEEP)
        if count > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values")
        inner = [*part, *part.values()] if isinstance(part, dict) else part
        waiting += [(each, level + 1) for each in inner]
