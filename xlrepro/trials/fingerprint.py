"""Which source files a trial runs on, and one hash over what they do.

The imports are followed in the source text (nothing is imported), inside ``xlrepro`` and inside
the task's own package. A module counts by its syntax tree without docstrings, so a change of
prose, comments or layout leaves records fresh, and any change of code makes them stale.

A record covers those of the modules that its process had really loaded: what a function imports
only for another profile cannot have moved a number.
"""

import ast
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from xlrepro.errors import SettingsError
from xlrepro.trials.record import Record
from xlrepro.trials.tasks import function_name

OWN = (str(Path(__file__).resolve().parents[2]),)  # the folder that holds the package

# They name, run, keep and show trials; they do not decide a trial's numbers.
EXCLUDED = (
    "xlrepro.trials",
    "xlrepro.errors",
    "xlrepro.paths",
    "xlrepro.cli",
    "xlrepro.evidence",
    "xlrepro.notebook",
    "xlrepro.book",
)


@dataclass(frozen=True)
class Module:
    """One source file: the hash of its code, and the names it may import."""

    digest: str
    imports: tuple[str, ...]


@dataclass(frozen=True)
class Fingerprint:
    """The hash over all source files of a trial, and the modules it covers, sorted."""

    digest: str
    sources: tuple[str, ...]


class SourceTree:
    """The modules below some packages, read from disk.

    Args:
        frozen: remember each module as it was first read. A process that has imported a module
            keeps running that version whatever happens to the file later, so a worker asks with
            ``frozen=True``; a long-lived notebook that wants today's answer does not.
    """

    def __init__(self, frozen: bool = False) -> None:
        self._frozen = frozen
        self._known: dict[str, Module | None] = {}

    def fingerprint(self, function: str) -> Fingerprint:
        """Return the fingerprint of a function, ``"package.module:function"``.

        Raises:
            SettingsError: if the function's module is not found or does not parse.
        """
        start = function.partition(":")[0]
        if self._module(start) is None:
            raise SettingsError(f"{function}: there is no source file of module {start}")
        roots = {"xlrepro", start.partition(".")[0]}
        reached: set[str] = set()
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name in reached or name.partition(".")[0] not in roots or _is_excluded(name):
                continue
            module = self._module(name)
            if module is None:  # `from package import function`: not every name is a module
                continue
            reached.add(name)
            waiting += module.imports
            # Importing a.b.c runs a and a.b first.
            waiting += [name.rsplit(".", depth)[0] for depth in range(1, name.count(".") + 1)]
        return self.covering(reached)

    def covering(self, names: Iterable[str]) -> Fingerprint:
        """Return the fingerprint of just these modules.

        Raises:
            SettingsError: if one of them is not found or does not parse.
        """
        sources = tuple(sorted(names))
        lines = []
        for name in sources:
            module = self._module(name)
            if module is None:
                raise SettingsError(f"there is no source file of module {name}")
            lines.append(f"{name} {module.digest}")
        return Fingerprint(hashlib.sha256("\n".join(lines).encode()).hexdigest(), sources)

    def _module(self, name: str) -> Module | None:
        if self._frozen and name in self._known:
            return self._known[name]
        path = module_file(name)
        module = None
        if path is not None:
            status = path.stat()
            module = _read_module(name, path, status.st_mtime_ns, status.st_size)
        if self._frozen:
            self._known[name] = module
        return module


def is_stale(record: Record) -> bool:
    """Tell whether the code that made ``record`` differs from today's."""
    return stale_check()(record)


def stale_check() -> Callable[[Record], bool]:
    """Return `is_stale` for many records: it looks at each source file once, and not again."""
    tree = SourceTree(frozen=True)

    @cache
    def today(task: str, sources: tuple[str, ...]) -> str | None:
        try:
            tree.fingerprint(function_name(task))
            return tree.covering(sources).digest
        except SettingsError:  # one of them is gone or broken: today's code cannot make it again
            return None

    return lambda record: today(record.task, tuple(record.sources)) != record.fingerprint


def module_file(name: str) -> Path | None:
    """Return the source file of a module, without importing it; ``None`` where there is none."""
    inner = Path(*name.split("."))
    for base in OWN if name.partition(".")[0] == "xlrepro" else sys.path:
        for path in (Path(base or ".", inner) / "__init__.py", Path(base or ".", f"{inner}.py")):
            if path.is_file():
                return path
    return None


def _is_excluded(name: str) -> bool:
    return any(name == part or name.startswith(part + ".") for part in EXCLUDED)


@lru_cache(maxsize=4096)
def _read_module(name: str, path: Path, mtime_ns: int, size: int) -> Module:
    """Parse one file; cached as long as its time and size stay the same."""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise SettingsError(f"{path}, line {error.lineno}: {error.msg}") from error
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    imports = tuple(sorted(set(_imported_names(tree, package))))
    text = "".join(_code_text(tree))
    return Module(hashlib.sha256(text.encode()).hexdigest(), imports)


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
