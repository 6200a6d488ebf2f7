"""The table of contents: all five papers from day one, built or not; a menu that folds by paper."""

from typing import Any

import yaml

from xlrepro.book.findings import page as findings_page
from xlrepro.evidence.catalog import Catalog

Entry = dict[str, Any]


def table_of_contents(catalog: Catalog, api: list[str]) -> str:
    """Return ``_toc.yml``.

    Args:
        catalog: the papers and their experiments.
        api: pages of the API reference, without its index.
    """
    guide = ["guide/reading", "guide/reproducing", "guide/data", "guide/artificial"]
    reference = {**_page("api/index"), "sections": [_page(name) for name in api]}
    parts = [
        _part("Start", [_page(name) for name in guide]),
        _part("Papers", [_paper(catalog, paper) for paper in catalog.papers]),
        _part("Across the papers", [_page("deviations"), _page("benchmarks")]),
        _part("Reference", [reference, _page("bibliography"), _page("changelog")]),
    ]
    return yaml.safe_dump({"format": "jb-book", "root": "index", "parts": parts}, sort_keys=False)


def _paper(catalog: Catalog, paper: str) -> Entry:
    """Return a paper's pages, folded under the first of them."""
    pages = [_page(f"{paper}/method", "Method")]
    pages += [
        _page(key, entry.short)
        for key, entry in catalog.of_paper(paper).items()
        if not entry.shown_on
    ]
    pages += [_page(f"{paper}/claims", "Claims")]
    if findings_page.exists(paper):
        pages.insert(0, _page(f"{paper}/findings"))
    return {**pages[0], "title": catalog.paper(paper).menu, "sections": pages[1:]}


def _page(name: str, title: str = "") -> Entry:
    return {"file": name, "title": title} if title else {"file": name}


def _part(caption: str, chapters: list[Entry]) -> Entry:
    return {"caption": caption, "chapters": chapters}
