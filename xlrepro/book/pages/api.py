"""The API reference: a page per package, written from the packages themselves."""

import importlib.util
import pkgutil
from pathlib import Path

import xlrepro
from xlrepro.evidence.catalog import Catalog

Shown = dict[str, tuple[str, tuple[str, ...]]]  # page name -> title, its packages or modules

# In reading order; a page per paper stands between. What is behind the commands is not shown.
BELOW: Shown = {
    "corpora": ("Corpora", ("xlrepro.data",)),
    "artificial": ("Artificial languages", ("xlrepro.artificial",)),
    "embeddings": ("Embeddings", ("xlrepro.vectors",)),
    "encoders": ("Encoders", ("xlrepro.encoders",)),
    "nn": ("Layers", ("xlrepro.nn",)),
    "metrics": ("Metrics", ("xlrepro.metrics",)),
    "training": ("Training", ("xlrepro.training",)),
    "tasks": ("Tasks", ("xlrepro.tasks",)),
}
ABOVE: Shown = {
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


def modules_of(name: str, elsewhere: frozenset[str] = frozenset()) -> list[str]:
    """Return the public modules of a package, or the module itself.

    Args:
        name: of the package or module.
        elsewhere: packages that have a page of their own: left out.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        return [name]
    # A package without a docstring has nothing to say for itself.
    modules = [name] if spec.origin and Path(spec.origin).stat().st_size else []
    for entry in pkgutil.iter_modules(list(spec.submodule_search_locations)):
        full = f"{name}.{entry.name}"
        if entry.name.startswith("_") or full in elsewhere:
            continue
        modules += modules_of(full, elsewhere) if entry.ispkg else [full]
    return modules


def api_pages(catalog: Catalog) -> dict[str, str]:
    """Return path below the book's source to Markdown, for every page of the reference."""
    papers = {
        key: (f"Paper: {paper.menu}", (f"xlrepro.papers.{key}",))
        for key, paper in catalog.papers.items()
    }
    shown_on = {**BELOW, **papers, **ABOVE}
    elsewhere = frozenset(name for _, names in shown_on.values() for name in names)
    pages = {}
    lines = []
    for page, (title, names) in shown_on.items():
        modules = [module for name in names for module in modules_of(name, elsewhere)]
        pages[f"api/{page}.md"] = _page(title, modules)
        shown = ", ".join(f"`{m.removeprefix('xlrepro.')}`" for m in modules)
        lines.append(f"- [{title}]({page}.md): {shown}")
    pages["api/index.md"] = "\n".join(
        [
            "# API reference",
            "",
            f"xlrepro {xlrepro.__version__}. Imports follow the way of the data: corpora, "
            "embeddings, encoders, models, trials, evidence, notebooks. What stands lower in "
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
