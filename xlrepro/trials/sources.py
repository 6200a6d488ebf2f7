"""One source file as a trial runs it: a hash of its code and of the data files it names.

A module counts by its syntax tree without docstrings, so prose, comments and layout leave no
trace. The tables of a paper's package that name, and do not compute (``TASKS``, ``SHRINK``,
``BOUNDS``), leave none either. A YAML file counts with each module that names it by its whole name
(``"presets.yaml"``), by what it says, not by its comments. Presets whose name is put together
(``f"{experiment}.yaml"``) do not: what they say stands in each trial's settings.
"""

import ast
import atexit
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from xlrepro.errors import DataError, SettingsError, XlreproError
from xlrepro.paths import build_dir
from xlrepro.yaml_files import read_yaml

OWN = (str(Path(__file__).resolve().parents[2]),)  # the folder that holds the package
TABLES = ("TASKS", "SHRINK", "BOUNDS")
KEPT_IN = "sources.json"
FORM = 2  # of what is kept; raised when the hash of a module is made in another way


@dataclass(frozen=True)
class Module:
    """One source file: the hash of its code and data, the names it may import, its data files."""

    digest: str
    imports: tuple[str, ...]
    data: tuple[str, ...] = ()


def module_file(name: str) -> Path | None:
    """Return the source file of a module, without importing it; ``None`` where there is none."""
    inner = name.replace(".", "/")
    for base in OWN if name.partition(".")[0] == "xlrepro" else sys.path:
        for path in (f"{base or '.'}/{inner}/__init__.py", f"{base or '.'}/{inner}.py"):
            if os.path.isfile(path):  # a Path of each of a thousand names takes five times as long
                return Path(path)
    return None


def read_module(name: str) -> Module | None:
    """Return a module as it lies on disk now; ``None`` where there is none.

    Raises:
        SettingsError: if it, or a data file that it names, does not parse.
    """
    path = module_file(name)
    if path is None:
        return None
    code = _code(name, path, *_stamp(path))
    files = tuple(file for each in code.data for file in _files_called(each, name, path))
    if not files:
        return Module(code.digest, code.imports)
    parts = [code.digest, *(f"{file.name} {_data_digest(file, *_stamp(file))}" for file in files)]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return Module(digest, code.imports, tuple(map(str, files)))


def files_of(name: str) -> list[str]:
    """Return the paths of a module and of the data files it names; empty where there is none."""
    path, module = module_file(name), read_module(name)
    return [] if path is None or module is None else [str(path), *module.data]


def keep() -> None:
    """Keep what was parsed for the next process; where nothing can be written, nothing is kept."""
    from xlrepro.trials.store import write_atomically

    files = {place: facts for place, facts in _kept().items() if OWN[0] in place}
    with suppress(XlreproError, OSError):
        kept = {"form": _form(), "files": files}
        write_atomically(build_dir() / "cache" / KEPT_IN, json.dumps(kept))


@cache
def _kept() -> dict[str, Any]:
    """Return what an earlier process kept: file to its time and size, digest, imports, names."""
    try:
        kept = json.loads((build_dir() / "cache" / KEPT_IN).read_text("utf-8"))
        if kept["form"] == _form() and isinstance(kept["files"], dict):
            return dict(kept["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, XlreproError):
        pass
    return {}


def _form() -> list[Any]:
    return [FORM, list(sys.version_info[:2])]


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=4096)
def _code(name: str, path: Path, mtime_ns: int, size: int) -> Module:
    """Parse one file; kept as long as its time and size stay the same."""
    return _remembered(f"{name} {path}", [mtime_ns, size], lambda: _parsed(name, path))


def _remembered(place: str, stamp: list[int], make: Callable[[], Module]) -> Module:
    """Return what was kept of a file, if its time and size are the same; else make and keep it."""
    with suppress(LookupError, ValueError, TypeError):
        known, digest, imports, data = _kept()[place]
        if known == stamp:
            return Module(digest, tuple(imports), tuple(data))
    module = make()
    _keep_at_exit()
    _kept()[place] = [stamp, *astuple(module)]
    return module


@cache
def _keep_at_exit() -> None:
    atexit.register(keep)


def _parsed(name: str, path: Path) -> Module:
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise SettingsError(f"{path}, line {error.lineno}: {error.msg}") from error
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree.body = [statement for statement in tree.body if not _is_table(statement)]
    imports = tuple(sorted(set(_imported_names(tree, package))))
    text = "".join(_code_text(tree))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Module(digest, imports, tuple(sorted(set(_data_names(tree)))))


def _is_table(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
    return any(isinstance(each, ast.Name) and each.id in TABLES for each in targets)


def _imported_names(node: ast.AST, package: str) -> Iterator[str]:
    """Yield every name that may be an imported module, imports inside functions included."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        # `from ..x import y` in package a.b.c means a.b.x
        parts = package.split(".") if node.level else []
        parts = parts[: len(parts) - max(node.level - 1, 0)]
        base = ".".join(parts + ([node.module] if node.module else []))
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        for branch in node.orelse:
            yield from _imported_names(branch, package)
    else:
        for inner in ast.iter_child_nodes(node):
            yield from _imported_names(inner, package)


def _data_names(node: object) -> Iterator[str]:
    """Yield the file names of data in a module's code, docstrings aside."""
    if isinstance(node, list):
        for inner in node:
            if not _is_bare_string(inner):
                yield from _data_names(inner)
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str) and value.endswith(".yaml") and Path(value).stem:
            yield Path(value).name
    elif isinstance(node, ast.AST):
        for _, inner in ast.iter_fields(node):
            yield from _data_names(inner)


def _files_called(file: str, module: str, path: Path) -> list[Path]:
    """Return the files of that name nearest to a module: beside it, below, else up a folder."""
    depth = module.count(".") - (path.name != "__init__.py")
    root = path.parents[max(depth, 0)]
    known = [each for each in _data_files(root) if each.name == file]
    for folder in path.parents:
        beside = [each for each in known if each.parent == folder]
        files = beside or [each for each in known if each.is_relative_to(folder)]
        if files or folder == root:
            return files
    return []


@cache
def _data_files(root: Path) -> tuple[Path, ...]:
    return tuple(sorted(root.rglob("*.yaml")))


@lru_cache(maxsize=256)
def _data_digest(path: Path, mtime_ns: int, size: int) -> str:
    """Return the hash of what a YAML file says, kept like that of a module."""
    return _remembered(str(path), [mtime_ns, size], lambda: _read_data(path)).digest


def _read_data(path: Path) -> Module:
    try:
        content = read_yaml(path)
    except DataError as error:
        raise SettingsError(str(error)) from error
    return Module(hashlib.sha256(repr(content).encode("utf-8", "surrogatepass")).hexdigest(), ())


def _code_text(node: object) -> Iterator[str]:
    """Yield a text of the syntax tree that is the same in every Python from 3.11 on.

    Positions, comments, docstrings and empty fields leave no trace (``ast.dump`` prints empty
    fields in some versions of Python and not in others).
    """
    if isinstance(node, ast.AST):
        yield type(node).__name__ + "("
        for field, value in ast.iter_fields(node):
            if value is None and not (isinstance(node, ast.Constant) and field == "value"):
                continue
            if value == [] or field == "kind":
                continue
            yield field + "="
            yield from _code_text(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for inner in node:
            if not _is_bare_string(inner):
                yield from _code_text(inner)
                yield ","
        yield "]"
    else:
        yield repr(node)


def _is_bare_string(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
