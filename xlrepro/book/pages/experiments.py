"""The page of an experiment: its executed notebook, or a page that says why there is none."""

import json
from pathlib import Path
from typing import Any

from xlrepro.book.notebooks.batch import executed_dir, failed_notebook, notebooks_dir
from xlrepro.book.pages.claims import verdicts_html
from xlrepro.book.pages.code_links import linked
from xlrepro.book.pages.reported import reported_tables
from xlrepro.book.templating import render_file
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.deviations import deviations_list
from xlrepro.evidence.reported import load_reported
from xlrepro.experiments import all_experiments
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

EARLIER = " Below stands what an earlier run has shown."
FIGURE = " The paper prints no numbers for this one: it is a figure."


def page(key: str, profile: str) -> tuple[str, str]:
    """Return the suffix and the text of the page of experiment ``key``.

    An experiment that has a notebook always has a notebook as its page, so that links between
    notebooks hold even where one of them failed.

    Args:
        key: ``"word_order/table2"``.
        profile: whose executed notebooks are shown.
    """
    state = state_of(key, profile)
    executed = executed_dir(profile) / f"{key}.ipynb"
    if state == BUILT:
        return ".ipynb", shown_notebook(executed, key, _search_words(key))
    if state == FAILED and executed.is_file():
        notice = _notice(key, state, EARLIER) + _search_words(key)
        return ".ipynb", shown_notebook(executed, key, notice)
    text = _text(key, state) + _search_words(key)
    return (".md", text) if state == NOT_BUILT else (".ipynb", _as_notebook(text))


def _search_words(key: str) -> str:
    """Return what the book's search finds the page by: the table's number, the experiment's key."""
    label = load_catalog().experiment(key).label
    return f"\n\n```{{index}} {label}, {key}\n```"


def state_of(key: str, profile: str) -> str:
    """Tell what there is to show for experiment ``key``."""
    if not (notebooks_dir() / f"{key}.ipynb").is_file():
        return NOT_BUILT
    if failed_notebook(key, profile):
        return FAILED
    return BUILT if (executed_dir(profile) / f"{key}.ipynb").is_file() else SHOWN


def _notice(key: str, state: str, addition: str = "") -> str:
    """Return a box that says why the page does not show a run of today."""
    kind, title, text = STATE_TEXT[state]
    return f":::{{admonition}} {title}\n:class: {kind}\n{text.format(key=key)}{addition}\n:::"


def _text(key: str, state: str) -> str:
    entry = load_catalog().experiment(key)
    tables = reported_tables(load_reported(), key)
    figure = not tables and not entry.ours
    names = {
        "title": entry.title,
        "question": entry.question,
        "state": _notice(key, state, FIGURE if figure else ""),
        "tables": "\n\n".join(t.html for t in tables),
        "claims": verdicts_html(key),
        "deviations": deviations_list(key)._repr_html_(),
    }
    return render_file(project_root() / "book" / "templates" / "experiment.md", names)


def shown_notebook(path: Path, key: str, notice: str = "") -> str:
    """Return an executed notebook as the book shows it: question and answer first.

    Code folds to a line each. What runs the page (parameters, *Run*) stands before *Provenance*;
    below the title are the command that does the same, and links to the sections.

    Args:
        path: the executed notebook.
        key: of its experiment.
        notice: Markdown to stand below its title.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    for cell in cells:
        if cell["cell_type"] == "code":
            tags = {*cell.get("metadata", {}).get("tags", []), "hide-input"}
            cell.setdefault("metadata", {})["tags"] = sorted(tags)
    heads = [_heading(cell) for cell in cells]
    for cell, head in zip(cells, heads, strict=True):
        if head == "Method in brief":
            cell["source"] = linked("".join(cell["source"]), key.split("/")[0])
    if "Answer" in heads and "Provenance" in heads:
        answer, last = heads.index("Answer"), heads.index("Provenance")
        run = sorted(cells[1:answer], key=lambda cell: cell["cell_type"] == "code")
        cells[:] = [cells[0], *cells[answer:last], *run, *cells[last:]]
        cells.insert(1, _markdown_cell("top", _top(key, cells)))
    if notice:
        cells.insert(1, _markdown_cell("notice", notice))
    return _notebook_json(notebook)


def _heading(cell: dict[str, Any]) -> str:
    """Return the section that a Markdown cell opens; empty for none."""
    source = "".join(cell["source"])
    return source[3:].split("\n")[0] if source.startswith("## ") else ""


def _top(key: str, cells: list[dict[str, Any]]) -> str:
    """Return the line below the title: the command that runs the page, and its sections."""
    profiles = all_experiments()[key].profiles
    command = f"xlrepro run {key} --profile {'open' if 'open' in profiles else profiles[0]}"
    links = " ".join(
        f'<a href="#{head.lower().replace(" ", "-")}">{head}</a>'
        for head in map(_heading, cells)
        if head
    )
    return (
        f'<div class="xl-top"><nav aria-label="Sections">{links}</nav>'
        f'<span>Run it: <code class="xl-command">{command}</code></span></div>'
    )


def _as_notebook(text: str) -> str:
    """Return Markdown as a notebook of one cell."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {
        "cells": [_markdown_cell("page", text)],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return _notebook_json(notebook)


def _markdown_cell(name: str, text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def _notebook_json(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
