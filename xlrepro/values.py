"""Plain values of files and settings: read as YAML, checked by pydantic, known by their hash.

Whatever is wrong with a file is said in one line.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from xlrepro.errors import DataError, SettingsError

Model = TypeVar("Model")
S = TypeVar("S", bound=BaseModel)

SCIENTIFIC = re.compile(r"\s*[-+]?\d+(\.\d*)?[eE][-+]?\d+\s*$", re.ASCII)


class Checked(BaseModel):
    """Values of the types that their names announce; other names are refused, none changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces: equal values, equal text.

    Example:
        >>> canonical_json({"b": 1, "a": [2, 3]})
        '{"a":[2,3],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_of(recipe: Any) -> str:
    """Return the SHA-256 of a recipe's canonical JSON, 64 hex digits.

    Example:
        >>> hash_of({"b": 1, "a": 2}) == hash_of({"a": 2, "b": 1})
        True
    """
    return hashlib.sha256(canonical_json(recipe).encode()).hexdigest()


class _Words:
    """Of the booleans of YAML 1.1 only true and false: ``no`` is Norwegian, ``off`` a word. And no
    key twice, of which the last would win.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [
            (tag, re.compile("true|True|TRUE|false|False|FALSE") if tag.endswith(":bool") else rule)
            for tag, rule in resolvers
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def flatten_mapping(self, node: Any) -> None:
        seen = set[str]()
        for key, _ in () if hasattr(node, "flat") else node.value:  # `<<` brings keys to say anew
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    said = f"{key.value!r} stands twice"
                    raise yaml.MarkedYAMLError(problem=said, problem_mark=key.start_mark)
                seen.add(key.value)
        node.flat = True
        super().flatten_mapping(node)  # type: ignore[misc]


class _Safe(_Words, yaml.SafeLoader):
    """PyYAML's own parser."""


class _Fast(_Words, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The parser of C, ten times as fast; some 20,000 levels end the process."""


def parse_yaml(text: str, loader: Any = _Fast) -> Any:
    """Return the value of a YAML text.

    Raises:
        ValueError: with one line that says what is wrong, if it is not YAML, or a tagged value is
            not of its type.

    Example:
        >>> parse_yaml("[1, two]")
        [1, 'two']
        >>> parse_yaml("2001-99-99")
        Traceback (most recent call last):
        ValueError: month must be in 1..12
    """
    try:
        return yaml.load(text, Loader=loader)
    except Exception as error:  # a tag's constructor raises what it likes, `!!bool x` a KeyError
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        said = getattr(error, "problem", None) or str(error)
        raise ValueError(" ".join(f"{where}{said}".split())) from None


def parse_value(text: str) -> Any:
    """Return the value that ``NAME=VALUE`` gives on the command line: YAML, and ``1e-3`` a number.

    Raises:
        ValueError: as `parse_yaml`, and for a value that JSON has not, as settings are kept in it:
            a date, a list in itself.

    Example:
        >>> parse_value("1e-3")  # text in YAML 1.1, which nobody means
        0.001
    """
    value = float(text) if SCIENTIFIC.match(text) else parse_yaml(text, _Safe)
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return value


def read_yaml(path: Path | Traversable) -> Any:
    """Read a YAML file of the project or of the package.

    Raises:
        DataError: if the file is missing, unreadable or not YAML; names file and line.
    """
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): restore it") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8: save it as such, or restore it") from None
    except ValueError as error:
        raise DataError(f"{path} is not valid YAML ({error}): mend it, or restore it") from None


def read_model(path: Path | Traversable, model: type[Model]) -> Model:
    """Read a YAML file into a pydantic model, or into a ``dict`` or ``list`` of them.

    Raises:
        DataError: as `read_yaml`, or if it is not what the model wants; names file and place.
    """
    try:
        return TypeAdapter(model).validate_python(read_yaml(path))
    except ValidationError as error:
        raise DataError(f"{path}: {describe(error)}") from None


def describe(error: ValidationError) -> str:
    """Return the first complaint of a pydantic error as ``place: what`` on one line."""
    return " ".join(_complaints(error)[0].split())[:500]


def _complaints(error: ValidationError) -> list[str]:
    found = error.errors(include_url=False, include_input=False)
    said = ((".".join(map(str, e["loc"])), e["msg"].removeprefix("Value error, ")) for e in found)
    return [f"{where}: {what}" if where else what for where, what in said]


def validated(values: Mapping[str, Any], where: str, kind: type[S]) -> S:
    """Return ``values`` as settings of the given kind.

    Args:
        values: setting to value.
        where: what they are the settings of, for the error's message.
        kind: the class that says which settings there are, and their bounds.

    Raises:
        SettingsError: one line that names each unknown or impossible setting.

    Example:
        >>> validated({}, "a trial", Checked)
        Checked()
    """
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        problems = "; ".join(_complaints(error))
        raise SettingsError(f"settings of {where}: {problems}") from None
