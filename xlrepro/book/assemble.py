"""Gather the book's source folder: prose, executed notebooks and generated pages.

Only files whose content has changed are written and only files that no page needs any more are
removed, so that Sphinx renders again what is new and nothing else.
"""

from collections.abc import Mapping
from pathlib import Path

from xlrepro.book.findings import page as findings_page
from xlrepro.book.pages import experiments, prose_values
from xlrepro.book.pages.api import api_pages
from xlrepro.book.pages.claims import claims_markdown
from xlrepro.book.pages.code_links import source_pages
from xlrepro.book.templating import render_file
from xlrepro.book.toc import table_of_contents
from xlrepro.book.vendored import MATHJAX, locate
from xlrepro.evidence.catalog import load_catalog
from xlrepro.experiments import check_deviations
from xlrepro.paths import build_dir, project_root

# Files of book/ that are not pages themselves.
NOT_PAGES = ("templates",)


Files = dict[str, str | Path]  # path below the source folder to its text, or to what is copied


def assemble(profile: str = "smoke") -> Path:
    """Write the book's source folder and return it.

    Args:
        profile: whose executed notebooks are shown.
    """
    return write(gather(profile), build_dir() / "book" / "src")


def gather(profile: str) -> Files:
    """Return every file of the book's source folder.

    Raises:
        DataError: if a deviation names a row or a column that its experiment lacks.
    """
    check_deviations()
    catalog = load_catalog()
    api = api_pages(catalog)
    files = {**_prose(prose_values.names(profile)), **_experiments(profile), **api}
    files |= source_pages(text for text in files.values() if isinstance(text, str))
    pages = [path.removesuffix(".md") for path in api if path != "api/index.md"]
    files["_toc.yml"] = table_of_contents(catalog, pages)
    files["_static/vendor/tex-svg.js"] = locate(MATHJAX)
    return files


def _prose(values: Mapping[str, object]) -> Files:
    files: Files = {}
    folder = project_root() / "book"
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        filled_in = path.name == findings_page.NAME  # below, with names of its paper
        if filled_in or not path.is_file() or name.split("/")[0] in NOT_PAGES or "/." in f"/{name}":
            continue
        files[name] = render_file(path, values) if path.suffix == ".md" else path
    return files


def _experiments(profile: str) -> Files:
    files: Files = {}
    for key in (k for k, e in load_catalog().experiments.items() if not e.shown_on):
        suffix, text = experiments.page(key, profile)
        files[f"{key}{suffix}"] = text
    for paper in load_catalog().papers:
        files[f"{paper}/claims.md"] = claims_markdown(paper)
        if findings_page.exists(paper):
            files[f"{paper}/{findings_page.NAME}"] = findings_page.markdown(paper)
    return files


def write(files: Files, folder: Path) -> Path:
    """Bring ``folder`` in line with ``files`` and return it; touch nothing that is the same."""
    wanted = {folder / name for name in files}
    for path in [p for p in folder.rglob("*") if p.is_file() and p not in wanted]:
        path.unlink()
    for name, content in files.items():
        path = folder / name
        new = content.read_bytes() if isinstance(content, Path) else content.encode("utf-8")
        if not (path.is_file() and path.read_bytes() == new):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(new)
    return folder


def listed_pages(folder: Path) -> list[str]:
    """Return the pages of an assembled folder, without suffix, sorted."""
    kinds = (".md", ".ipynb")
    paths = [p.relative_to(folder) for p in folder.rglob("*") if p.suffix in kinds]
    return sorted(p.with_suffix("").as_posix() for p in paths)
