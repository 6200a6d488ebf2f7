"""Links from the names of code in a page's prose to the lines that they name."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from pathlib import Path

from xlrepro.paths import project_root

FOLDER = "_static/source"  # of the book: copies of source files as pages
_NAMED = re.compile(r"(?<!`)`([A-Za-z_][\w./]*)`(?!`)")
_LINKED = re.compile(rf"{FOLDER}/([\w/.]+\.(?:py|yaml))\.html")
_STYLE = (
    ":root{color-scheme:light dark}pre{counter-reset:n;line-height:1.4}"
    "pre span::before{counter-increment:n;content:counter(n);display:inline-block;width:3em;"
    "margin-right:1em;text-align:right;opacity:.6}:target{background:#fc08;display:block}"
)

Place = tuple[str, int]  # a file below the project's root, and a line


def linked(text: str, paper: str) -> str:
    """Return Markdown in which names of code lead to their lines: files, functions, settings.

    A preset is named ``presets/table2.yaml``.

    Args:
        text: Markdown; names stand between backticks, ``crf.decode`` or ``xlrepro/nn/crf.py``.
        paper: whose code is looked at first.
    """

    def link(match: re.Match[str]) -> str:
        place = place_of(match[1], paper)
        if place is None:
            return match[0]
        file, line = place
        return (
            f'<a class="xl-code" href="../{FOLDER}/{file}.html#L{line}" title="{file}:{line}">'
            f"<code>{escape(match[1])}</code></a>"
        )

    return _NAMED.sub(link, text)


def place_of(name: str, paper: str) -> Place | None:
    """Return where a name is defined: in the paper's code, else in the library; None if nowhere."""
    return _places(f"xlrepro/papers/{paper}").get(name) or _places("xlrepro").get(name)


@cache
def _places(folder: str) -> dict[str, Place]:
    """Return every name below a folder that means one place alone."""
    places: dict[str, Place | None] = {}
    for path in sorted((project_root() / folder).rglob("*.*")):
        if path.suffix not in (".py", ".yaml"):
            continue
        parts = path.relative_to(project_root()).parts
        file = "/".join(parts)
        names = [("/".join(parts[i:]), 1) for i in range(len(parts))]
        names += [(path.stem, 1), *_definitions(path)] if path.suffix == ".py" else []
        for name, line in names:
            places[name] = None if name in places else (file, line)
    return {name: place for name, place in places.items() if place is not None}


def _definitions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield what a file defines: ``name`` and ``module.name``; fields and methods too."""
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    for node in nodes:
        for name, line in _named(node):
            yield name, line
            yield f"{path.stem}.{name}", line
            yield f"{path.parent.name}.{path.stem}.{name}", line
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                for name, line in _named(inner):
                    yield f"{node.name}.{name}", line
                    if isinstance(inner, ast.AnnAssign):
                        yield name, line


def _named(node: ast.stmt) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name, node.lineno
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, node.lineno
    elif isinstance(node, ast.Assign):
        yield from ((t.id, node.lineno) for t in node.targets if isinstance(t, ast.Name))


def source_pages(texts: Iterable[str]) -> dict[str, str]:
    """Return the source files that texts link to, as pages: path below the book to HTML."""
    files = sorted({file for text in texts for file in _LINKED.findall(text)})
    return {f"{FOLDER}/{file}.html": _page(file) for file in files}


def _page(file: str) -> str:
    lines = (project_root() / file).read_text(encoding="utf-8").splitlines()
    body = "\n".join(f'<span id="L{i}">{escape(line)}</span>' for i, line in enumerate(lines, 1))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{file}</title>'
        f"<style>{_STYLE}</style><h1>{file}</h1><pre>{body}</pre></html>\n"
    )
