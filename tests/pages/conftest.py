"""A tiny project with notebooks of a line each, in a folder of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PARAMETERS = 'profile = "smoke"\nseeds = [0]\nfactor = 1.0\nscheduler = None'


def notebook(*sources: str, parameters: str = PARAMETERS) -> dict[str, Any]:
    """Return a notebook; nbformat, which would check it, takes seconds to load."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "source": source,
         "execution_count": None, "outputs": []}
        for number, source in enumerate((parameters, *sources))
    ]  # fmt: skip
    cells[0]["metadata"]["tags"] = ["parameters"]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


WriteNotebook = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data" / "reported").mkdir(parents=True)
    nothing = "papers: {}\nmetrics: {}\nexperiments: {}\n"
    (tmp_path / "data" / "catalog.yaml").write_text(nothing, encoding="utf-8")
    monkeypatch.setenv("XLREPRO_HOME", str(tmp_path))
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path / "build"))
    return tmp_path


@pytest.fixture
def write_notebook(project: Path) -> WriteNotebook:
    def write(experiment: str, *sources: str, **kwargs: str) -> Path:
        path = project / "notebooks" / f"{experiment}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook(*sources, **kwargs)), encoding="utf-8")
        return path

    return write


def outputs(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    found = (out.get("text", []) for cell in cells for out in cell.get("outputs", []))
    return "".join(map("".join, found))
