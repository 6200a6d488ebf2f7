"""The table of contents: all five papers from day one, built or not."""

from typing import Any

import yaml

from xlrepro.evidence.catalog import Catalog

# Ours first where a page explains what another rests on.
PART_TITLES = {
    "word_order": "Word order",
    "man_moe": "MAN-MoE",
    "sense_alignment": "Sense alignment",
    "routing_nmt": "Routing in translation",
    "ramen": "RAMEN",
}


def table_of_contents(catalog: Catalog, api: list[str]) -> str:
    """Return ``_toc.yml``.

    Args:
        catalog: the papers and their experiments.
        api: pages of the API reference, without its index.
    """
    parts: list[dict[str, Any]] = [
        _part(
            "Start",
            ["guide/reading", "guide/reproducing", "guide/data", "guide/artificial"],
        )
    ]
    for paper in paper_order(catalog):
        pages = [f"{paper}/method", *catalog.of_paper(paper), f"{paper}/claims"]
        parts.append(_part(PART_TITLES.get(paper, catalog.paper(paper).short), pages))
    parts.append(_part("Across the papers", ["deviations", "benchmarks"]))
    reference = _part("Reference", ["bibliography", "changelog"])
    reference["chapters"].insert(
        0, {"file": "api/index", "sections": [{"file": page} for page in api]}
    )
    parts.append(reference)
    return yaml.safe_dump({"format": "jb-book", "root": "index", "parts": parts}, sort_keys=False)


def paper_order(catalog: Catalog) -> list[str]:
    """Return the papers in the order of the book."""
    return [*PART_TITLES, *(p for p in catalog.papers if p not in PART_TITLES)]


def _part(caption: str, pages: list[str]) -> dict[str, Any]:
    return {"caption": caption, "chapters": [{"file": page} for page in pages]}
