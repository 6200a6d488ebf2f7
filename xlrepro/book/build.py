"""Render the assembled book with Jupyter Book, warnings as errors, without a network."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from xlrepro.book.assemble import listed_pages
from xlrepro.book.notebooks.digest import code_files, files_digest
from xlrepro.errors import XlreproError
from xlrepro.paths import build_dir, project_root

# The package cannot be run with -m, its script need not be on the path, and it has no option for
# the number of processes.
JUPYTER_BOOK = """
import functools, os, sys
from jupyter_book import sphinx
from jupyter_book.cli.main import main
sphinx.build_sphinx = functools.partial(sphinx.build_sphinx, jobs=min(4, os.cpu_count() or 1))
sys.exit(main())
"""

CURRENT = "current.sha256"  # the digest of what the rendered book shows
# Pages that Sphinx makes by itself.
OWN_PAGES = ("search", "genindex")


class BookError(XlreproError):
    """The book cannot be rendered."""


def book_dir() -> Path:
    """Return the folder of the book's source and of what is made of it."""
    return build_dir() / "book"


def html_dir() -> Path:
    """Return the folder of the rendered book."""
    return book_dir() / "_build" / "html"


def current_page(digest: str) -> Path | None:
    """Return the page to open if the rendered book shows what has this digest; else None.

    Args:
        digest: of :func:`everything`.
    """
    return _page_of(book_dir() / CURRENT, digest)


def _page_of(stamp: Path, digest: str) -> Path | None:
    """Return the page to open if it is there and ``stamp`` holds the digest; else None."""
    page = html_dir() / "index.html"
    shown = page.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest
    return page if shown else None


def mark_current(digest: str) -> None:
    """Note of the rendered book what it shows; the digest is that of before it was assembled."""
    (book_dir() / CURRENT).write_text(digest, encoding="utf-8")


def unmark() -> None:
    """Take that note away: what is rendered next may be another book, or half of one."""
    (book_dir() / CURRENT).unlink(missing_ok=True)


def everything(profile: str) -> str:
    """Return a digest of all that a book of ``profile``'s notebooks is made from."""
    root, build = project_root(), build_dir()
    made = [*(build / "records").glob("*.json"), *(build / "notebooks" / profile).rglob("*.ipynb")]
    shown = [p for name in ("book", "notebooks", "data") for p in (root / name).rglob("*")]
    tracked = [*code_files(False), *root.glob("CHANGELOG.md"), *(p for p in shown if p.is_file())]
    parts = (profile, files_digest(tracked, root), files_digest(made, build))
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def render(source: Path) -> Path:
    """Render ``source`` and return the page to open.

    Nothing is done when neither the source nor the code it documents has changed since the last
    whole run.

    Raises:
        BookError: if Jupyter Book fails or warns; its messages are in the log.
    """
    page, stamp = html_dir() / "index.html", book_dir() / "rendered.sha256"
    digest = _digest(source)
    if rendered := _page_of(stamp, digest):
        return rendered
    stamp.unlink(missing_ok=True)
    log = book_dir() / "build.log"
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(source)]
    command += ["--path-output", str(book_dir()), "-W", "--keep-going", "--quiet"]
    # Nothing of ours may be drawn on a screen or sent away
    quiet = {"MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **quiet}
    with log.open("w", encoding="utf-8") as handle:
        done = subprocess.run(
            command, stdout=handle, stderr=subprocess.STDOUT, env=environment, check=False
        )
    if done.returncode or not page.is_file():
        raise BookError(f"the book was not rendered: {_first_complaint(log)} (all of it: {log})")
    _remove_stale(source)
    stamp.write_text(digest, encoding="utf-8")
    return page


def _remove_stale(source: Path) -> None:
    """Remove rendered pages whose source is gone; Sphinx leaves them where they are."""
    pages = {f"{name}.html" for name in [*listed_pages(source), *OWN_PAGES]}
    for path in html_dir().rglob("*.html"):
        name = path.relative_to(html_dir()).as_posix()
        if name not in pages and not name.startswith("_"):
            path.unlink()


def _digest(source: Path) -> str:
    files = [p for p in source.rglob("*") if p.is_file()]
    parts = [files_digest(files, source), files_digest(code_files(False), project_root())]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def _first_complaint(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    marked = [line for line in lines if "WARNING" in line or "ERROR" in line or "Error" in line]
    chosen = (marked or lines or ["no message"])[0].strip()
    return chosen[:300]
