"""The registry is whole and says what the papers' experiments need to hear."""

import collections

import pytest

from xlrepro import artefacts, artificial
from xlrepro.data import registry
from xlrepro.data.registry import content_hash, current_data, dataset, fetch, list_datasets
from xlrepro.errors import DataError, SettingsError

DATASETS = list_datasets()
NAMES = [entry.name for entry in DATASETS]


@pytest.mark.parametrize("field", ["path", "sha256"])
def test_no_two_entries_share_a_file_or_its_content(field):
    found = collections.Counter(getattr(f, field) for e in DATASETS for f in e.files.values())
    assert [each for each, times in found.items() if times > 1] == []


@pytest.mark.parametrize("entry", DATASETS, ids=NAMES)
def test_every_file_states_the_counts_its_reader_checks(entry):
    units = {"rows": [{"rows"}], "lines": [{"lines"}], "penman": [{"graphs"}]}
    units |= {name: [{"sentences", "tokens"}] for name in ("conllu", "columns")}
    units |= {"penn": [{"trees", "words"}], "vectors": [{"words"}]}
    units |= {"weights": [{"tensors", "subwords"}, {"tensors"}, {"subwords"}]}
    wrong = [i for i, f in entry.files.items() if set(f.counts) not in units[entry.reader.format]]
    assert wrong == []


def test_upstream_urls_name_a_pinned_commit():
    urls = [f.url for entry in DATASETS for f in entry.files.values() if f.url]
    commits = [url.removeprefix("https://raw.githubusercontent.com/").split("/")[2] for url in urls]
    assert [commit for commit in commits if len(commit) not in (12, 40)] == []
    assert all(set(commit) <= set("0123456789abcdef") for commit in commits)


def test_unknown_data_sets_and_files_name_the_known_ones():
    with pytest.raises(SettingsError, match=r"'ud-2\.2'.*ud-r2\.2"):
        dataset("ud-2.2")
    with pytest.raises(SettingsError, match=r"'en/trian'.*en/train"):
        fetch("ud-r2.2", "en/trian")


@pytest.mark.parametrize("path", ["../../x", "a/../../b", "/etc/x", ""])
def test_a_path_that_leaves_the_cache_is_refused(toy, path):
    toy.register("a", b"content", path=path)
    with pytest.raises(DataError, match=r"toy\.yaml: files\.a\.path: .*does not stay below"):
        fetch("toy", "a")


def test_entry_under_another_name_is_an_error(toy):
    toy.register("a", b"content")
    folder = toy.home / "data" / "registry"
    (folder / "toy.yaml").rename(folder / "tyo.yaml")
    with pytest.raises(DataError, match="says name: toy"):
        registry.dataset("tyo")


def test_data_that_was_read_has_a_current_hash(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path / "supplied"))
    monkeypatch.setattr(artefacts, "_read", [{}])
    file = tmp_path / "supplied" / "conll-ner" / "de" / "test"
    file.parent.mkdir(parents=True)
    file.symlink_to(tmp_path / "shared")  # as large files are supplied
    file.write_text("I-LOC")
    registry.note_supplied(file)
    ((name, first),) = artefacts.data_read().items()
    assert name == "supplied/conll-ner/de/test"
    assert current_data(name) == first
    file.write_text("I-ORG")  # corrected, of the same size
    assert current_data(name) not in (None, first)
    assert current_data("ud-r2.2/en/train") == content_hash("ud-r2.2", "en/train")


def test_artificial_languages_of_another_version_have_another_hash(monkeypatch):
    first = current_data("artificial")
    monkeypatch.setattr(artificial, "VERSION", artificial.VERSION + 1)
    assert current_data("artificial") not in (None, first)


@pytest.mark.parametrize(
    "name", ["supplied/../../etc/passwd", "supplied//etc/passwd", "supplied/x", "x/y", "ud-r2.2"]
)
def test_what_is_not_here_has_no_current_hash(name):
    assert current_data(name) is None
