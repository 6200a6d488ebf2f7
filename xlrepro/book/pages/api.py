"""The API reference: a page per package, written from the packages themselves."""

import importlib.util
import pkgutil
from pathlib import Path

import xlrepro
from xlrepro.book.toc import MENU_TITLES

# Page name -> title and the packages or modules it shows, in reading order. What is behind the
# commands is not shown.
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "corpora": ("Corpora", ("xlrepro.corpora",)),
    "artificial": ("Artificial languages", ("xlrepro.corpora.artificial",)),
    "embeddings": ("Embeddings", ("xlrepro.embeddings",)),
    "pretraining": ("Pretraining", ("xlrepro.pretraining",)),
    "nn": ("Layers", ("xlrepro.nn",)),
    "metrics": ("Metrics", ("xlrepro.metrics",)),
    "training": ("Training", ("xlrepro.training",)),
    "tasks": ("Tasks", ("xlrepro.tasks",)),
    **{p: (f"Paper: {title}", (f"xlrepro.papers.{p}",)) for p, title in MENU_TITLES.items()},
    "trials": ("Trials, records, engine", ("xlrepro.trials",)),
    "evidence": ("Evidence", ("xlrepro.evidence",)),
    "running": ("Experiments and notebooks", ("xlrepro.experiments", "xlrepro.notebook")),
    "base": (
        "Errors and paths",
        tuple(
            f"xlrepro.{name}"
            for name in ("errors", "paths", "artefacts", "checked", "precision", "yaml_files")
        ),
    ),
}


def modules_of(name: str) -> list[str]:
    """Return the public modules of a package, or the module itself.

    Packages inside a package that have a page of their own are left out.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
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
    for page, (title, names) in PAGES.items():
        modules = [module for name in names for module in modules_of(name)]
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
