"""Gather the book's source folder: prose, executed notebooks and generated pages.

Only files whose content has changed are written and only files that no page needs any more are
removed, so that Sphinx renders again what is new and nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass
class Source:
    """The book's source folder before it is written.

    Attributes:
        texts: path below the folder to the file's text.
        copies: path below the folder to the file it is copied from.
    """

    texts: dict[str, str] = field(default_factory=dict)
    copies: dict[str, Path] = field(default_factory=dict)


def assemble(profile: str = "smoke") -> Path:
    """Write the book's source folder and return it.

    Args:
        profile: whose executed notebooks are shown.
    """
    return write(gather(profile), build_dir() / "book" / "src")


def gather(profile: str) -> Source:
    """Return every file of the book's source folder.

    Raises:
        DataError: if a deviation names a row or a column that its experiment lacks.
    """
    check_deviations()
    source = Source()
    values = prose_values.names(profile)
    _add_prose(source, values)
    _add_experiments(source, profile)
    api = api_pages()
    source.texts |= api
    source.texts |= source_pages(source.texts.values())
    pages = [path.removesuffix(".md") for path in api if path != "api/index.md"]
    source.texts["_toc.yml"] = table_of_contents(load_catalog(), pages)
    source.copies["_static/vendor/tex-svg.js"] = locate(MATHJAX)
    return source


def _add_prose(source: Source, values: Mapping[str, object]) -> None:
    folder = project_root() / "book"
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        filled_in = path.name == findings_page.NAME  # below, with names of its paper
        if filled_in or not path.is_file() or name.split("/")[0] in NOT_PAGES or "/." in f"/{name}":
            continue
        if path.suffix == ".md":
            source.texts[name] = render_file(path, values)
        else:
            source.copies[name] = path


def _add_experiments(source: Source, profile: str) -> None:
    for key in load_catalog().experiments:
        suffix, text = experiments.page(key, profile)
        source.texts[f"{key}{suffix}"] = text
    for paper in load_catalog().papers:
        source.texts[f"{paper}/claims.md"] = claims_markdown(paper)
        if findings_page.exists(paper):
            source.texts[f"{paper}/{findings_page.NAME}"] = findings_page.markdown(paper)


def write(source: Source, folder: Path) -> Path:
    """Bring ``folder`` in line with ``source`` and return it; touch nothing that is the same."""
    wanted = {folder / name for name in [*source.texts, *source.copies]}
    if folder.is_dir():
        for path in [p for p in folder.rglob("*") if p.is_file() and p not in wanted]:
            path.unlink()
    for name, text in source.texts.items():
        _write_if_changed(folder / name, text.encode("utf-8"))
    for name, origin in source.copies.items():
        _write_if_changed(folder / name, origin.read_bytes())
    return folder


def _write_if_changed(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def listed_pages(folder: Path) -> list[str]:
    """Return the pages of an assembled folder, without suffix, sorted."""
    kinds = (".md", ".ipynb")
    paths = [p.relative_to(folder) for p in folder.rglob("*") if p.suffix in kinds]
    return sorted(p.with_suffix("").as_posix() for p in paths)
