"""A tiny project with notebooks of a line each, in a folder of its own."""

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

PARAMETERS = 'profile = "smoke"\nseeds = [0]\nfactor = 1.0\nscheduler = None'


def notebook(*sources: str, parameters: str = PARAMETERS) -> nbformat.NotebookNode:
    tag = nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    cells = [tag, *map(nbformat.v4.new_code_cell, sources)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


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
    return "".join(
        "".join(out.get("text", [])) for cell in cells for out in cell.get("outputs", [])
    )
