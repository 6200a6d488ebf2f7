"""The findings page of a paper, and its first section, which the dashboard shows too."""

import re
from functools import lru_cache
from pathlib import Path

from xlrepro.book.findings.names import Findings
from xlrepro.book.templating import render_file
from xlrepro.errors import DataError
from xlrepro.paths import project_root

NAME = "findings.md"
SHORT = "## In short"


def exists(paper: str) -> bool:
    """Tell whether somebody has written down what came back of ``paper``."""
    return _path(paper).is_file()


def _path(paper: str) -> Path:
    return project_root() / "book" / paper / NAME


@lru_cache
def markdown(paper: str) -> str:
    """Return the page with its numbers filled in, read once.

    Raises:
        SettingsError: if a sentence is not true of today's numbers; names the line.
    """
    path = _path(paper)
    where = path.relative_to(project_root()).as_posix()
    return render_file(path, Findings(paper, where).names)


def in_short(paper: str) -> list[str]:
    """Return the items of the page's first section, as Markdown for a page of the top folder.

    Raises:
        DataError: if it has no such section, or no list in it.
    """
    _, heading, rest = markdown(paper).partition(f"{SHORT}\n")
    section = rest.partition("\n## ")[0]
    items = [" ".join(item.split()) for item in re.split(r"^- ", section, flags=re.M)[1:]]
    if not heading or not items:
        raise DataError(f"{_path(paper)}: begin with {SHORT!r} and a list of one to three findings")
    return [item.replace('href="../', 'href="') for item in items]
