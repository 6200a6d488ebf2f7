"""The API reference: a page per package, written from the packages themselves."""

import importlib.util
import pkgutil
from pathlib import Path

import xlrepro
from xlrepro.book.toc import MENU_TITLES

# Page name -> title and the packages or modules it shows, in reading order. What is not named here
# finds its place by itself: a package gets a page, a module stands on the last one.
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "corpora": ("Corpora", ("xlrepro.corpora",)),
    "artificial": ("Artificial languages", ("xlrepro.corpora.artificial",)),
    "embeddings": ("Embeddings", ("xlrepro.embeddings",)),
    "pretraining": ("Pretraining", ("xlrepro.pretraining",)),
    "nn": ("Layers", ("xlrepro.nn",)),
    "metrics": ("Metrics", ("xlrepro.metrics",)),
    "training": ("Training", ("xlrepro.training",)),
    "tasks": ("Tasks", ("xlrepro.tasks",)),
    "trials": ("Trials, records, engine", ("xlrepro.trials",)),
    "evidence": ("Evidence", ("xlrepro.evidence",)),
    "running": ("Experiments and notebooks", ("xlrepro.experiments", "xlrepro.notebook")),
    "base": ("Errors and paths", ("xlrepro.errors", "xlrepro.paths")),
}
NOT_SHOWN = ("book", "cli", "papers")  # what is behind the commands; papers have pages of their own


def packages() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return every page of the reference, those of the built papers included."""
    pages: dict[str, tuple[str, tuple[str, ...]]] = {}
    for page, named_in in PAGES.items():
        if page == "trials":
            papers = (p for p in MENU_TITLES if importlib.util.find_spec(f"xlrepro.papers.{p}"))
            pages |= {p: (f"Paper: {MENU_TITLES[p]}", (f"xlrepro.papers.{p}",)) for p in papers}
        pages[page] = named_in
    named = {name for _, names in PAGES.values() for name in names}
    rest = [e for e in pkgutil.iter_modules(xlrepro.__path__) if f"xlrepro.{e.name}" not in named]
    shown = [e for e in rest if e.name not in NOT_SHOWN and not e.name.startswith("_")]
    title, names = pages.pop("base")
    for entry in shown:
        if entry.ispkg:
            pages[entry.name] = (entry.name.capitalize(), (f"xlrepro.{entry.name}",))
        else:
            names += (f"xlrepro.{entry.name}",)
    return {**pages, "base": (title, names)}


def modules_of(name: str) -> list[str]:
    """Return the public modules of a package, or the module itself; [] where there is none.

    Packages inside a package that have a page of their own are left out.
    """
    spec = importlib.util.find_spec(name)
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [name]
    elsewhere = {n for _, names in PAGES.values() for n in names if n != name}
    # A package without a docstring has nothing to say for itself.
    modules = [name] if spec.origin and Path(spec.origin).stat().st_size else []
    for entry in pkgutil.iter_modules(list(spec.submodule_search_locations)):
        full = f"{name}.{entry.name}"
        if entry.name.startswith("_") or full in elsewhere:
            continue
        modules += modules_of(full) if entry.ispkg else [full]
    return modules


def api_pages() -> dict[str, str]:
    """Return path below the book's source to Markdown, for every page of the reference."""
    pages = {}
    lines = []
    for page, (title, names) in packages().items():
        modules = [module for name in names for module in modules_of(name)]
        if not modules:
            continue
        pages[f"api/{page}.md"] = _page(title, modules)
        shown = ", ".join(f"`{m.removeprefix('xlrepro.')}`" for m in modules)
        lines.append(f"- [{title}]({page}.md): {shown}")
    pages["api/index.md"] = "\n".join(
        [
            "# API reference",
            "",
            f"xlrepro {xlrepro.__version__}. Imports follow the way of the data: corpora, "
            "embeddings, pretraining, models, trials, evidence, notebooks. What stands lower in "
            "that list never imports what stands higher.",
            "",
            *lines,
            "",
        ]
    )
    return pages


def _page(title: str, modules: list[str]) -> str:
    parts = [f"# {title}", ""]
    if len(modules) > 1:
        parts += ["```{eval-rst}", ".. autosummary::", ""]
        parts += [f"   {module}" for module in modules]
        parts += ["```", ""]
    for module in modules:
        parts += [f"## `{module}`", "", "```{eval-rst}", f".. automodule:: {module}", "```", ""]
    return "\n".join(parts)
