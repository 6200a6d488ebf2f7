"""Running one notebook: its kernel's sockets, and what a run that fails leaves."""

import tempfile

import nbformat
import papermill
import pytest

from xlrepro.book.notebooks import execute

SOCKETS = """
from ipykernel.kernelapp import IPKernelApp
kernel = IPKernelApp.instance()
print(kernel.transport, kernel.ip)
"""


def test_a_kernel_listens_on_no_port_that_another_could_take(tmp_path):
    source, target = tmp_path / "a.ipynb", tmp_path / "out.ipynb"
    cells = [nbformat.v4.new_code_cell(SOCKETS)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), source)
    with tempfile.TemporaryDirectory() as sockets:
        execute.execute(source, target, {}, tmp_path, sockets)
    shown = nbformat.read(target, as_version=4).cells[0].outputs[0].text
    assert shown.split() == ["ipc", f"{sockets}/kernel"]


def test_a_kernel_that_dies_leaves_the_half_run_notebook_and_the_earlier_one(monkeypatch, tmp_path):
    def die(source, target, **_):
        nbformat.write(nbformat.v4.new_notebook(), target)
        raise RuntimeError("Kernel died")

    monkeypatch.setattr(papermill, "execute_notebook", die)
    target = tmp_path / "out.ipynb"
    target.write_text("earlier", encoding="utf-8")
    with pytest.raises(RuntimeError, match="Kernel died"):
        execute.execute(tmp_path / "a.ipynb", target, {}, tmp_path, str(tmp_path))
    assert target.read_text(encoding="utf-8") == "earlier"
    assert {path.name for path in tmp_path.iterdir()} == {"out.ipynb", "out.failed.ipynb"}
