"""The page of an experiment: its executed notebook, or a page that says why there is none."""

import json
from dataclasses import dataclass
from pathlib import Path

from xlrepro.book.batch import executed_dir, failed_notebook, notebooks_dir
from xlrepro.book.reported_page import reported_tables
from xlrepro.book.templating import render_file
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reported import load_reported
from xlrepro.paths import project_root

BUILT, SHOWN, FAILED, NOT_BUILT = "built", "not run since", "failed", "not built yet"

STATE_TEXT = {
    SHOWN: (
        "note",
        "Not run on this machine",
        "The notebook of this experiment was not run for this copy of the book. `xlrepro book` "
        "runs it.",
    ),
    FAILED: (
        "danger",
        "The last run failed",
        "The notebook of this experiment stopped with an error when this copy of the book was "
        "made. `xlrepro batch {key}` runs it again and names the log.",
    ),
    NOT_BUILT: (
        "warning",
        "Not built yet",
        "Nothing has been reproduced here yet. What the paper prints stands below, so that this "
        "page can be used from the first day.",
    ),
}


@dataclass(frozen=True)
class ExperimentPage:
    """The page of one experiment: a notebook, or a text.

    Attributes:
        state: one of ``BUILT``, ``SHOWN``, ``FAILED``, ``NOT_BUILT``.
        notebook: the notebook to show; None where ``text`` is the page.
        text: Markdown.
    """

    state: str
    notebook: Path | None = None
    text: str = ""


def page(key: str, profile: str) -> ExperimentPage:
    """Return the page of experiment ``key`` from the notebooks executed at ``profile``."""
    state = state_of(key, profile)
    if state == BUILT:
        return ExperimentPage(state, notebook=executed_dir(profile) / f"{key}.ipynb")
    return ExperimentPage(state, text=_text(key, state))


def state_of(key: str, profile: str) -> str:
    """Tell what there is to show for experiment ``key``."""
    if not (notebooks_dir() / f"{key}.ipynb").is_file():
        return NOT_BUILT
    if (executed_dir(profile) / f"{key}.ipynb").is_file():
        return BUILT
    return FAILED if failed_notebook(key, profile) else SHOWN


def _text(key: str, state: str) -> str:
    entry = load_catalog().experiment(key)
    kind, title, text = STATE_TEXT[state]
    tables = reported_tables(load_reported(), key)
    if not tables and not entry.ours:
        text += " The paper prints no numbers for this one: it is a figure."
    names = {
        "title": entry.title,
        "question": entry.question,
        "state": f":::{{admonition}} {title}\n:class: {kind}\n{text.format(key=key)}\n:::",
        "tables": "\n\n".join(t.html for t in tables),
        "claims": "",
        "deviations": "",
    }
    return render_file(project_root() / "book" / "templates" / "experiment.md", names)


def notebook_text(path: Path) -> str:
    """Return a notebook as the book shows it: long cells scroll, setting-up cells fold."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        tags = set(cell.get("metadata", {}).get("tags", []))
        if "injected-parameters" in tags:
            # Its values say how this copy was run; the defaults stand right above it.
            cell["metadata"]["tags"] = sorted(tags | {"hide-input"})
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def claims_page(paper: str) -> str:
    """Return the page of a paper's claims."""
    from xlrepro.book.claims_page import claims_markdown

    return claims_markdown(paper)
