"""What the marks in the prose pages stand for: tables and numbers, never typed by hand."""

from collections.abc import Callable
from typing import Any

from xlrepro.book.dashboard.experiments import experiments_table
from xlrepro.book.dashboard.scatter import scatter
from xlrepro.book.dashboard.squares import board
from xlrepro.book.dashboard.summary import cost, findings, scope, standing
from xlrepro.book.pages import data, errata
from xlrepro.book.pages.benchmarks import benchmark_tables
from xlrepro.book.pages.claims import claims_touched
from xlrepro.book.pages.experiments import NOT_BUILT, state_of
from xlrepro.book.pages.settings import settings_table
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.deviations import deviations_list
from xlrepro.paths import project_root


def names(profile: str) -> dict[str, Callable[..., Any]]:
    """Return every name that a prose page may use.

    Args:
        profile: whose executed notebooks the book shows.
    """
    return {
        "registry_table": data.registry_table,
        "registry_details": data.registry_details,
        "deviations_list": lambda: deviations_list(claims=claims_touched())._repr_html_(),
        "errata_table": errata.errata_table,
        "benchmark_tables": benchmark_tables,
        "changelog": changelog,
        "settings_table": settings_table,
        "built_note": lambda paper: built_note(paper, profile),
        "experiments_table": lambda: experiments_table(profile),
        "scope": scope,
        "board": board,
        "scatter": scatter,
        "standing": standing,
        "cost": cost,
        "findings": findings,
    }


def built_note(paper: str, profile: str) -> str:
    """Return a note where no experiment of ``paper`` is built yet; else nothing."""
    keys = load_catalog().of_paper(paper)
    if any(state_of(key, profile) != NOT_BUILT for key in keys):
        return ""
    return (
        ":::{admonition} Not built yet\n:class: warning\n"
        "No experiment of this paper can be run here yet. This chapter is a summary of the method; "
        "the pages of its experiments show the reported numbers.\n:::"
    )


def changelog() -> str:
    """Return CHANGELOG.md without its own title."""
    text = (project_root() / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.partition("\n")[2].strip()
