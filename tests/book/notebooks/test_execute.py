"""A notebook whose kernel does not answer is started once more, and only then fails."""

import nbformat
import papermill
import pytest

from xlrepro.book.notebooks import execute


@pytest.fixture
def kernel(monkeypatch):
    """Return what to do at each start: an error to raise, or None; and count the starts."""
    plan, starts = [], []

    def run(source, target, **_):
        starts.append(source)
        if problem := plan.pop(0):
            raise problem
        nbformat.write(nbformat.v4.new_notebook(), target)

    monkeypatch.setattr(papermill, "execute_notebook", run)
    return plan, starts


def test_a_kernel_that_does_not_answer_is_started_once_more(kernel, tmp_path):
    plan, starts = kernel
    plan += [RuntimeError("Kernel didn't respond in 60 seconds"), None]
    execute.execute(tmp_path / "a.ipynb", tmp_path / "out.ipynb", {}, tmp_path)
    assert len(starts) == 2
    assert (tmp_path / "out.ipynb").is_file()


@pytest.mark.parametrize(
    ("message", "count"), [("Kernel didn't respond in 60 seconds", 2), ("out of memory", 1)]
)
def test_other_problems_and_a_second_silence_are_raised(kernel, tmp_path, message, count):
    plan, starts = kernel
    plan += [RuntimeError(message)] * 3
    with pytest.raises(RuntimeError, match=message):
        execute.execute(tmp_path / "a.ipynb", tmp_path / "out.ipynb", {}, tmp_path)
    assert len(starts) == count
    assert not (tmp_path / "out.ipynb").exists()


def test_a_kernel_that_dies_leaves_the_half_run_notebook_and_the_earlier_one(monkeypatch, tmp_path):
    def die(source, target, **_):
        nbformat.write(nbformat.v4.new_notebook(), target)
        raise RuntimeError("Kernel died")

    monkeypatch.setattr(papermill, "execute_notebook", die)
    target = tmp_path / "out.ipynb"
    target.write_text("earlier", encoding="utf-8")
    with pytest.raises(RuntimeError, match="Kernel died"):
        execute.execute(tmp_path / "a.ipynb", target, {}, tmp_path)
    assert target.read_text(encoding="utf-8") == "earlier"
    assert {path.name for path in tmp_path.iterdir()} == {"out.ipynb", "out.failed.ipynb"}
