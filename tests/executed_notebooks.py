"""What nbval has run, the book shows: ``pytest -p tests.executed_notebooks --nbval-lax notebooks``.

A notebook whose every cell passed is kept where `xlrepro book` looks for it, with the hash of all
that decided it; so ``make book`` after ``make test`` runs only what has changed in between.
"""

import copy
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from xlrepro.engine import WORKER_ENVIRONMENT
from xlrepro.pages import notebooks

passed: dict[Any, dict[int, Any]] = defaultdict(dict)  # by notebook: outputs by number of the cell
before: list[str] = []  # the hash of what notebooks read


def pytest_configure() -> None:
    """Let kernels have the settings of a batch's."""
    os.environ.update(WORKER_ENVIRONMENT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest begin first, so that no process waits for another's last one."""
    items.sort(key=lambda item: item.path.stem != "walkthrough")


def pytest_collection_finish() -> None:
    """Take the hash before the first cell runs."""
    before.append(notebooks.state_of_things())


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Note the outputs of a cell that passed."""
    if call.when == "call" and call.excinfo is None:
        passed[item.parent][item.cell_num] = item.test_outputs  # type: ignore[attr-defined]


def pytest_sessionfinish() -> None:
    """Keep the notebooks whose cells have all passed."""
    jobs = {job.source.resolve(): job for job in notebooks.plan(None, "smoke")} if passed else {}
    for file, outputs in passed.items():
        job, notebook = jobs[Path(file.path).resolve()], copy.deepcopy(file.nb)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        if len(outputs) == len(cells):
            for number, cell in enumerate(cells):
                cell.outputs = outputs[number]
            notebooks.keep(job, notebook, notebooks.digest(job, *before))
