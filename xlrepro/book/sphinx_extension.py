"""A Sphinx extension: plain docstrings, and no script on a page that the page does not need."""

import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util.parallel import make_chunks

import xlrepro
from xlrepro.book.notebooks.digest import files_digest

_LITERAL = re.compile(r"(``.+?``)")
# Runs code on a server: there is none here, and its address lies in the network.
UNWANTED = ("sphinx-thebe.js",)
UNWANTED_BODY = "THEBE_JS_URL"


def escape_bars(line: str) -> str:
    r"""Return a docstring line with bars escaped, except in literal text.

    ``|σ(i) − i| ≤ k`` would otherwise be read as a reference to a substitution.

    Example:
        >>> print(escape_bars("|x| in ``a|b``"))
        \|x\| in ``a|b``
    """
    parts = _LITERAL.split(line)
    return "".join(p if p.startswith("``") else p.replace("|", r"\|") for p in parts)


def _process_docstring(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    in_block = False
    for i, line in enumerate(lines):
        if in_block and line.strip() and not line.startswith(" "):
            in_block = False
        if not in_block and not line.lstrip().startswith((">>>", "...")):
            lines[i] = escape_bars(line)
        if line.rstrip().endswith("::"):
            in_block = True


def needed_scripts(scripts: list[Any], has_math: bool) -> list[Any]:
    """Return the scripts of a page without repetitions and without what it does not use.

    Args:
        scripts: Sphinx's script objects, with ``filename`` and ``attributes``.
        has_math: whether the page has an equation; if not, it goes without MathJax.
    """
    kept: list[Any] = []
    seen: set[str] = set()
    for script in scripts:
        name = str(getattr(script, "filename", None) or "")
        body = str(getattr(script, "attributes", {}).get("body") or "")
        is_math = name.endswith("tex-svg.js") or body.startswith("window.MathJax")
        unwanted = name.endswith(UNWANTED) or UNWANTED_BODY in body or (is_math and not has_math)
        if unwanted or (name or body) in seen:
            continue
        seen.add(name or body)
        kept.append(script)
    return kept


def _choose_scripts(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    # The domain's own method also counts the pages below this one in the menu.
    has_math = app.env.get_domain("math").data["has_equations"].get(pagename, False)
    scripts = context.get("script_files")
    if isinstance(scripts, list):
        scripts[:] = needed_scripts(scripts, has_math)


def titles_alone(contents: nodes.Element) -> nodes.Element:
    """Return a page's contents without its headings: its title, and the lists of pages below it.

    Args:
        contents: a bullet list, as in Sphinx's ``env.tocs``.
    """
    slim: nodes.Element = contents.copy()
    for item in contents.children:
        if not isinstance(item, nodes.list_item) or len(item) < 2:
            slim += item.deepcopy()
            continue
        kept: nodes.Element = item.copy()
        kept += item[0].deepcopy()
        if pages := [node.deepcopy() for node in item.findall(addnodes.toctree)]:
            below = item[1].copy()
            below += pages
            kept += below
        slim += kept
    return slim


def _make_menu_of_titles(
    app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let the menu be made from titles where it shows no more.

    Sphinx copies every heading and every name of the reference for the menu of every page, and
    then drops them.
    """
    if not hasattr(app, "xlrepro_titles"):
        app.xlrepro_titles = {name: titles_alone(toc) for name, toc in app.env.tocs.items()}
    whole = context["toctree"]

    def toctree(**options: Any) -> Any:
        if not options.get("titles_only"):
            return whole(**options)
        contents, app.env.tocs = app.env.tocs, app.xlrepro_titles
        try:
            return whole(**options)
        finally:
            app.env.tocs = contents

    context["toctree"] = toctree


def _keep_napoleon_out(app: Any) -> None:
    """Let Napoleon not look at what pydantic keeps in a class: to look at some of it is an error.

    Its look serves settings of its own that the book does not use.
    """
    listeners = app.events.listeners["autodoc-skip-member"]
    listeners[:] = [each for each in listeners if each.handler.__module__ != "sphinx.ext.napoleon"]


def dealt_out(pages: list[str], parts: int) -> list[str]:
    """Return pages in an order whose runs of equal length hold equal shares of their neighbours.

    Example:
        >>> dealt_out(["api/a", "api/b", "ramen/a", "ramen/b"], 2)
        ['api/a', 'ramen/a', 'api/b', 'ramen/b']
    """
    return [page for first in range(parts) for page in pages[first::parts]]


def _deal_out(app: Any, env: Any, pages: list[str]) -> None:
    """Let each process read as many pages of the reference as the other: they take by far longest.

    Sphinx cuts its sorted list into runs, of which one would be the whole reference.
    """
    pages[:] = dealt_out(pages, len(make_chunks(pages, app.parallel)) or 1)


def _let_processes_read(app: Any, config: Any) -> None:
    """Say for an extension that does not that pages may be read by several processes.

    It numbers sections, in the main process and after all pages are read; this book has none.
    """
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True


def watch_static_files(app: Any) -> None:
    """Have all pages written again when a stylesheet or a script has changed.

    Sphinx would find no page out of date where nothing else has, and copy nothing.
    """
    source = Path(app.srcdir)
    static = [path for path in (source / "_static").rglob("*") if path.is_file()]
    # Of the kind "html": pages written with another value are out of date
    app.add_config_value("static_digest", files_digest(static, source), "html")


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    watch_static_files(app)
    # Before autodoc, which imports under TYPE_CHECKING: pydantic's classes cannot be made then.
    for module in pkgutil.walk_packages(xlrepro.__path__, "xlrepro."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    app.connect("config-inited", _let_processes_read)
    app.connect("builder-inited", _keep_napoleon_out)
    app.connect("env-before-read-docs", _deal_out)
    app.connect("autodoc-process-docstring", _process_docstring, priority=900)
    app.connect("html-page-context", _choose_scripts, priority=999)
    app.connect("html-page-context", _make_menu_of_titles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
