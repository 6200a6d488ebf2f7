"""Errata of the papers, as a table for the book."""

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.deviations import load_errata
from xlrepro.evidence.tables.table import Entry, Table, headings


def errata_table() -> str:
    """Return the errata of all papers as HTML."""
    catalog = load_catalog()
    rows = [
        (
            Entry(e.id),
            Entry(catalog.paper(e.paper).short),
            Entry(e.where),
            Entry(e.what),
            Entry(e.claim or "", href=f"{e.paper}/claims.html" if e.claim else ""),
        )
        for e in load_errata()
    ]
    caption = f"{len(rows)} places where a paper's sentences or marks differ from its own numbers."
    return Table(caption, headings("id", "paper", "where", "what", "claim"), tuple(rows)).html
