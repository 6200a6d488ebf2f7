"""What of a source file counts: code, and the data files that it names."""

import sys
from pathlib import Path

import pytest

from xlrepro.errors import SettingsError
from xlrepro.trials.fingerprint import SourceTree
from xlrepro.trials.sources import files_of
from xlrepro.trials.tasks import function_name

FILES = {
    "__init__.py": 'TASKS = {"run": "sample_words.model:run"}\nSHRINK: dict = {}\n',
    "model.py": (
        'def run():\n    """Reads other.yaml."""\n'
        '    return read("presets.yaml"), read(f"{name}.yaml")\n'
    ),
    "presets.yaml": "a: 1  # chosen by hand\n",
    "other.yaml": "a: 1\n",
    "words/__init__.py": "",
    "words/presets.yaml": "b: 1\n",
    "words/order.py": 'ORDER = "data/presets.yaml"\n',
    "words/late.py": 'ORDER = "other.yaml"\n',
    "building.py": "from sample_words.deep import train\n",
    "deep.py": "train = 1\n",
    "loads.py": "def load():\n    from sample_words.building import build\n    return build\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "sample_words"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return folder


def digest(*modules: str) -> str:
    return SourceTree().covering(modules or ["sample_words.model"]).digest


def test_a_changed_value_in_a_data_file_changes_the_modules_that_name_it(package):
    before = digest()
    (package / "presets.yaml").write_text("a: 2\n")
    assert digest() != before


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("presets.yaml", "a: 1  # chosen by lot\n"),
        ("presets.yaml", '{"a": 1}\n'),
        ("other.yaml", "a: 2\n"),  # stands in a docstring only
        ("words/presets.yaml", "b: 2\n"),  # farther than the one beside the module
    ],
)
def test_comments_layout_and_other_files_leave_it_alone(package, file, text):
    before = digest()
    (package / file).write_text(text)
    assert digest() == before


def test_a_data_file_is_looked_for_near_the_module_first(package):
    assert files_of("sample_words.words.order")[1:] == [str(package / "words/presets.yaml")]
    assert files_of("sample_words.words.late")[1:] == [str(package / "other.yaml")]


def test_tables_of_tasks_do_not_count(package):
    before = digest("sample_words")
    (package / "__init__.py").write_text(
        'TASKS = {"run": "elsewhere:run"}\nSHRINK: dict = {1: 2}\n'
    )
    assert digest("sample_words") == before
    (package / "__init__.py").write_text("TASK = {}\n")
    assert digest("sample_words") != before


def test_builders_of_artefacts_and_what_they_alone_import_do_not_count(package):
    sources = SourceTree().fingerprint("sample_words.loads:load").sources
    assert sources == ("sample_words", "sample_words.loads")


def test_a_broken_data_file_is_an_error_that_names_it(package):
    (package / "presets.yaml").write_text("a: [\n")
    with pytest.raises(SettingsError, match=r"presets\.yaml is not valid YAML"):
        digest()


@pytest.mark.parametrize(
    ("task", "file"),
    [
        ("word_order/pos", "artificial/presets.yaml"),
        ("word_order/pos", "artificial/ontology.yaml"),
        ("word_order/pos", "open/open_vectors.yaml"),
        ("word_order/pos", "corpora/treebanks.yaml"),
        ("word_order/mbert", "pretraining/presets.yaml"),
    ],
)
def test_data_files_of_ours_count_in_the_tasks_that_read_them(task, file):
    sources = SourceTree().fingerprint(function_name(task)).sources
    assert any(path.endswith(file) for name in sources for path in files_of(name))
