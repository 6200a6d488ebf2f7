"""Deviations of ours and errata of the papers, as sections that read well on a phone."""

from xlrepro.book.templating import escape_markdown
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.deviations import Deviation, load_deviations, load_errata
from xlrepro.evidence.html_table import Entry, Table, headings
from xlrepro.trials.trial import PROFILES


def deviations_list(experiment: str | None = None) -> str:
    """Return the deviations of one experiment, or all, as Markdown; empty for none."""
    return "\n\n".join(_section(d) for d in load_deviations(experiment))


def _section(deviation: Deviation) -> str:
    touched = ", ".join(f"{{doc}}`{key} </{key}>`" for key in deviation.experiments)
    profiles = ", ".join(p for p in PROFILES if p in deviation.profiles)
    parts = (
        ("The paper", deviation.paper),
        ("Here", " ".join(filter(None, (deviation.here, _checked(deviation))))),
        ("Why", deviation.why),
        (f"Effect ({deviation.certainty})", deviation.effect),
    )
    lines = [f"### {deviation.id}: {escape_markdown(deviation.title)}", ""]
    lines += [f"Touches {touched} at {profiles}.", ""]
    for name, text in parts:
        lines += [name, f": {escape_markdown(text)}", ""]
    return "\n".join(lines)


def _checked(deviation: Deviation) -> str:
    return f"({deviation.checked.capitalize()}.)" if deviation.checked else ""


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
