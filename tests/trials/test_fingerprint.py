import sys
from pathlib import Path

import pytest

from xlrepro import artefacts
from xlrepro.errors import SettingsError
from xlrepro.trials import numerics
from xlrepro.trials.fingerprint import EXCLUDED, SourceTree, stale_check

FILES = {
    "__init__.py": '"""A package."""\nTASKS = {"run": "sample_paper.training:run"}\n',
    "training.py": (
        '"""Trains."""\n'
        "import os\n"
        "from sample_paper.model import Model\n"
        "from sample_paper import layers\n"
        "from .relative import thing\n\n\n"
        "def run(trial, context):\n"
        '    """Run it."""\n'
        "    from sample_paper.late import now\n\n"
        "    return Model(1)  # once\n"
    ),
    "model.py": "class Model:\n    x = 1\n",
    "layers.py": "import torch\nDEPTH = 2\n",
    "relative.py": "thing = 1\n",
    "late.py": "now = 1\n",
    "unused.py": "x = 1\n",
}
RUNNER = "sample_paper.training:run"


@pytest.fixture(autouse=True)
def nothing_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record names what its process has used, which here is other tests' too."""
    monkeypatch.setattr(artefacts, "_used", {})


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a small package that is on the path."""
    folder = tmp_path / "sample_paper"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return folder


def digest() -> str:
    return SourceTree().fingerprint(RUNNER).digest


def edit(paper: Path, file: str, old: str, new: str) -> None:
    text = (paper / file).read_text()
    assert old in text
    (paper / file).write_text(text.replace(old, new))


def test_it_covers_what_the_runner_imports_and_nothing_else(paper):
    modules = ["training", "model", "layers", "relative", "late"]
    expected = sorted(["sample_paper", *(f"sample_paper.{name}" for name in modules)])
    assert list(SourceTree().fingerprint(RUNNER).sources) == expected


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("training.py", "# once", "# exactly once"),
        ("training.py", '"""Run it."""', '"""Run the trial."""'),
        ("training.py", '"""Trains."""\n', ""),
        ("training.py", "\n\n\ndef", "\n\ndef"),
        ("model.py", "x = 1", "x = (\n        1\n    )"),
        ("__init__.py", "A package.", "The package."),
        ("unused.py", "x = 1", "x = 2"),
    ],
)
def test_prose_layout_and_unused_modules_leave_it_alone(paper, file, old, new):
    before = digest()
    edit(paper, file, old, new)
    assert digest() == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("training.py", "Model(1)", "Model(2)"),
        ("training.py", "Model(1)", "Model(1.0)"),
        ("model.py", "x = 1", "x = '1'"),
        ("model.py", "x = 1", "x = None"),
        ("layers.py", "DEPTH = 2", "DEPTH = 3"),
        ("relative.py", "thing = 1", "thing = -1"),
        ("late.py", "now = 1", "now = 2"),
        ("__init__.py", '"""A package."""', "import os"),
    ],
)
def test_code_changes_it(paper, file, old, new):
    before = digest()
    edit(paper, file, old, new)
    assert digest() != before


def test_imports_for_type_checkers_do_not_count(paper):
    edit(
        paper,
        "training.py",
        "import os\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sample_paper.unused\n",
    )
    assert "sample_paper.unused" not in SourceTree().fingerprint(RUNNER).sources


def test_a_tree_remembers_what_it_first_read(paper):
    tree = SourceTree()
    before = tree.fingerprint(RUNNER)
    edit(paper, "model.py", "x = 1", "x = 2")
    assert tree.fingerprint(RUNNER) == before


def test_nothing_is_imported(paper):
    digest()
    assert not [name for name in sys.modules if name.startswith("sample_paper")]


def test_circular_imports_end(paper):
    edit(paper, "model.py", "class", "import sample_paper.training\n\n\nclass")
    assert "sample_paper.model" in SourceTree().fingerprint(RUNNER).sources


def test_a_missing_runner_is_an_error_that_names_it():
    with pytest.raises(SettingsError, match="no_such_paper"):
        SourceTree().fingerprint("no_such_paper.training:run")


def test_a_runner_of_ours_leaves_out_what_cannot_move_a_number():
    sources = SourceTree().fingerprint("xlrepro.nn.crf:LinearChainCRF").sources
    assert "xlrepro.nn.crf" in sources
    assert not [name for name in sources if f"{name}.".startswith(EXCLUDED)]


def test_a_fresh_record_is_not_stale(record_of):
    assert not stale_check()(record_of())


def test_a_record_of_other_code_is_stale(record_of):
    assert stale_check()(record_of().model_copy(update={"fingerprint": "0" * 64}))


def test_a_record_whose_task_is_gone_is_stale(record_of):
    assert stale_check()(record_of().model_copy(update={"task": "no_such_paper/run"}))


def test_a_module_that_was_not_loaded_does_not_count(paper):
    used = ["sample_paper", "sample_paper.training", "sample_paper.model"]
    before = SourceTree().covering(used)
    edit(paper, "late.py", "now = 1", "now = 2")
    assert SourceTree().covering(used) == before
    edit(paper, "model.py", "x = 1", "x = 2")
    assert SourceTree().covering(used) != before


def test_a_check_of_many_records_looks_at_a_file_once_and_a_new_check_looks_again(paper, record_of):
    made = SourceTree().fingerprint(RUNNER)
    record = record_of().model_copy(
        update={"task": "sample_paper/run", "sources": made.sources, "fingerprint": made.digest}
    )
    other = record.model_copy(update={"fingerprint": "0" * 64})
    check = stale_check()
    assert [check(r) for r in (record, other, record)] == [False, True, False]
    edit(paper, "model.py", "x = 1", "x = 2")
    assert not check(record)
    assert stale_check()(record)


def _dictionary():
    return artefacts.built("dictionary", "de", {}, lambda f: (f / "words.txt").write_text("Haus"))


def test_an_artefact_of_other_bytes_makes_a_record_stale(record_of, monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    record = record_of().model_copy(update={"artefacts": {"dictionary-de-0123": "a" * 64}})
    assert not stale_check()(record)  # it is not here: nothing is built to look a record up
    folder = _dictionary()
    record = record_of().model_copy(update={"artefacts": {folder.name: "a" * 64}})
    assert stale_check()(record)
    same = record.model_copy(update={"artefacts": {folder.name: artefacts.content_of(folder.name)}})
    assert not stale_check()(same)


def test_other_bytes_of_a_machine_that_rounds_otherwise_make_nothing_stale(
    record_of, monkeypatch, tmp_path
):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    folder = _dictionary()
    record = record_of().model_copy(update={"artefacts": {folder.name: "a" * 64}})
    here, elsewhere = (
        record.model_copy(update={"numerical_class": of}) for of in (numerics.digest(), "0" * 16)
    )
    assert [stale_check()(r) for r in (here, elsewhere)] == [True, False]
