"""The book: its source folder assembled, rendered by Jupyter Book.

Source: ``book/`` (prose), executed notebooks, and pages made from the evidence, all written to
``build/book/src``; only what has changed is written, so that Sphinx reads again only that.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xlrepro import __version__
from xlrepro.errors import XlreproError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.gathered import load_evidence
from xlrepro.experiments import all_experiments
from xlrepro.pages import findings, notebooks, overview
from xlrepro.pages.page import claims_list
from xlrepro.pages.tables import markup
from xlrepro.paths import build_dir, project_root
from xlrepro.values import read_yaml

# The package cannot be run with -m, its script need not be on the path, and it has no option for
# the number of processes.
JUPYTER_BOOK = """
import functools, os, sys
from jupyter_book import sphinx
from jupyter_book.cli.main import main
sphinx.build_sphinx = functools.partial(sphinx.build_sphinx, jobs=min(4, os.cpu_count() or 1))
sys.exit(main())
"""
ORIGIN = ("remote", "get-url", "origin")
NOT_RUN = """:::{{admonition}} Not run for this copy of the book
The notebook of this experiment was not run, or stopped with an error: `xlrepro batch {key}`.
:::"""

Files = dict[str, str | Path]  # path below the source folder to its text, or to what is copied
Report = Callable[[str], None]


def book_dir() -> Path:
    """Return the folder of the book's source and of what is made of it."""
    return build_dir() / "book"


def index_page() -> Path:
    """Return the page to open."""
    return book_dir() / "_build" / "html" / "index.html"


# -- Assembling ------------------------------------------------------------------------------


def assemble(profile: str = "smoke") -> Path:
    """Write the book's source folder and return it.

    Args:
        profile: whose executed notebooks are shown.

    Raises:
        SettingsError: if a page of prose is not true of today's numbers.
    """
    folder = book_dir() / "src"
    files = {**prose(), **papers(profile)}
    files |= {f"_static/downloads/{n}": text for n, text in overview.download_files().items()}
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        gone = path.relative_to(folder)
        if gone.as_posix() not in files:
            path.unlink()
            (index_page().parent / gone).with_suffix(".html").unlink(missing_ok=True)
    for name, content in files.items():
        path = folder / name
        new = content.read_bytes() if isinstance(content, Path) else content.encode("utf-8")
        if not (path.is_file() and path.read_bytes() == new):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(new)
    return folder


def prose() -> Files:
    """Return the files of ``book/`` with the numbers and tables of their pages filled in."""
    root, files = project_root() / "book", Files()
    for path in sorted(p for p in root.rglob("*") if p.is_file() and "/." not in p.as_posix()):
        if path.name != "findings.md":
            is_template = path.suffix in (".md", ".yml")
            files[path.relative_to(root).as_posix()] = filled_in(path) if is_template else path
    return files


def filled_in(path: Path) -> str:
    """Return a file of ``book/`` with its ``{{ expressions }}`` filled in."""
    names = {"catalog": load_catalog(), "notebooks": notebooks.find_notebooks(), "footer": footer}
    text = path.read_text(encoding="utf-8")
    return findings.filled(text, {**vars(overview), **names}, f"book/{path.name}")


def footer() -> str:
    """Return the foot of each page: version, commit, date, how to cite.

    A repository is linked where ``CITATION.cff`` names it (``repository-code``), or else where the
    checkout came from, if that is a public page.
    """
    cited = read_yaml(project_root() / "CITATION.cff").get("repository-code", "")
    said = _git("log", "-1", "--format=%H %cs").split()
    commit, date = said if len(said) == 2 else ("", datetime.now(UTC).date().isoformat())
    return str(markup("footer", __version__, commit, date, public(cited or _git(*ORIGIN))))


def public(url: str) -> str:
    """Return the page of a repository, or nothing where the address is none that a reader can open.

    Example:
        >>> public("https://example.org/a/b.git"), public("git@host:a/b"), public("../a/b")
        ('https://example.org/a/b', '', '')
    """
    return url.removesuffix(".git") if re.fullmatch(r"https://[^@\s]+", url) else ""


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=project_root(), text=True, check=False,
                          capture_output=True).stdout.strip()  # fmt: skip


def papers(profile: str) -> Files:
    """Return each paper's pages: findings, claims, and its notebooks as executed."""
    files: Files = {}
    evidence = load_evidence()
    for key, paper in load_catalog().papers.items():
        names = indexed(paper.menu, paper.short, *paper.also)
        files[f"{key}/findings.md"] = findings.markdown(key).replace("\n\n", f"\n\n{names}\n\n", 1)
        files[f"{key}/claims.md"] = (
            f"# Claims: {paper.short}\n\n*{paper.title}*: {paper.version}\n\n"
            f"{indexed(*(c.id for c in evidence.claims(key)))}\n\n"
            "*Reported*: judged on the paper's own numbers. *Open*: on our runs with open data. "
            "What stands after it names our additional rows, such as other word vectors.\n\n"
            f"{overview.claims_summary(key)}\n\n{claims_list(evidence, key)}\n"
        )
    for key in notebooks.find_notebooks():
        files[f"{key}.ipynb"] = notebook_page(key, profile)
    return files


def notebook_page(key: str, profile: str) -> str:
    """Return an executed notebook as the book shows it: the question and its answer first.

    Code folds to a line each; what runs the page stands before *Provenance*. One that was not run
    is a notebook all the same, so that links between notebooks hold.
    """
    path = notebooks.executed(key, profile)
    source = path if path.is_file() else project_root() / "notebooks" / f"{key}.ipynb"
    notebook = json.loads(source.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    if source != path or path.with_suffix(".failed.ipynb").is_file():
        notice = _markdown("notice", NOT_RUN.format(key=key))
        cells[:] = [cells[0], notice, *(cells[1:] if source == path else [])]
    experiment = all_experiments().get(key)
    if experiment is not None:
        for cell in [cell for cell in cells if cell["cell_type"] == "code"]:
            cell["metadata"]["tags"] = [*cell["metadata"].get("tags", []), "hide-input"]
        heads = [_heading(cell) for cell in cells]
        if "Answer" in heads and "Provenance" in heads:
            first, last = heads.index("Answer"), heads.index("Provenance")
            cells[:] = [cells[0], *cells[first:last], *cells[1:first], *cells[last:]]
        at = "open" if "open" in experiment.profiles else experiment.profiles[0]
        links = [(h.lower().replace(" ", "-"), h) for h in map(_heading, cells) if h]
        command = f"xlrepro run {key} --profile {at} --again"
        entry = load_catalog().experiment(key)
        top = markup("top", command, links)
        cells.insert(1, _markdown("top", f"{top}\n\n{indexed(entry.label, key, *entry.also)}"))
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def indexed(*names: str) -> str:
    """Return what makes a page the first that a search for one of ``names`` finds."""
    return f"```{{index}} {', '.join(f'! {name}' for name in names)}\n```"


def _heading(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    return source[3:].split("\n")[0] if source.startswith("## ") else ""


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


# -- Rendering -------------------------------------------------------------------------------


def everything(profile: str) -> str:
    """Return a digest of all that a book of ``profile``'s notebooks is made from."""
    root, build = project_root(), build_dir()
    prose = [p for name in ("book", "notebooks", "data") for p in (root / name).rglob("*")]
    files = [p for p in [*notebooks.library_files(), root / "CHANGELOG.md", *prose] if p.is_file()]
    made = [*(build / "notebooks" / profile).rglob("*.ipynb"), *(build / "records").glob("*.json")]
    return notebooks.files_digest(files, root) + notebooks.files_digest(made, build)


def make(
    profile: str = "smoke", jobs: int = 2, run: bool = True, report: Report = print
) -> tuple[Path, dict[str, Path]]:
    """Run what has changed and render the book.

    Args:
        profile: whose notebooks the book shows.
        jobs: notebooks at a time.
        run: whether notebooks that are not up to date are run first.
        report: called with lines for the user.

    Returns:
        The page to open, and the experiments whose notebook failed with their logs.

    Raises:
        SettingsError: for an unknown profile.
        XlreproError: if Jupyter Book fails or warns.
    """
    stamp = book_dir() / "current.sha256"
    page = index_page()
    if run and page.is_file() and stamp.is_file() and stamp.read_text() == everything(profile):
        report("nothing has changed since the book was rendered")
        return page, {}
    planned = notebooks.plan(None, profile)  # an unknown profile ends here, whatever is run
    failed = notebooks.run_batch(planned, workers=jobs, report=report).failed if run else {}
    report("rendering the book")
    with notebooks.only_one(book_dir()):
        digest = everything(profile)
        stamp.unlink(missing_ok=True)
        render(assemble(profile))
        if run and not failed:
            stamp.write_text(digest, encoding="utf-8")
    return page, failed


def render(source: Path) -> None:
    """Render ``source``, warnings as errors, without a network.

    Raises:
        XlreproError: if Jupyter Book fails or warns; its messages are in the log.
    """
    log = book_dir() / "build.log"
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(source)]
    command += ["--path-output", str(book_dir()), "-W", "--keep-going", "--quiet"]
    quiet = {"MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    with log.open("w", encoding="utf-8") as handle:
        # A session of its own: it ends with all that it has started
        child = subprocess.Popen(command, stdout=handle, stderr=subprocess.STDOUT,
                                 env={**os.environ, **quiet}, start_new_session=True)  # fmt: skip
        try:
            status = child.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
            raise
    if status or not index_page().is_file():
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        told = [each for each in lines if any(w in each for w in ("WARNING", "ERROR", "Error"))]
        first = (told or lines or ["no message"])[0].strip()[:300]
        raise XlreproError(f"the book was not rendered: {first} (all of it: {log})")
