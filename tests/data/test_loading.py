"""Loading: the right reader, and of real files the registered counts."""

import pytest

from xlrepro.data.loading import load, load_rows
from xlrepro.data.readers.text_files import read_text_lines
from xlrepro.data.readers.trees import read_graphs
from xlrepro.data.registry import dataset, fetch

TWO_WORDS = b"1\tMoles\tmole\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 2


def test_treebank_is_read_as_conllu(toy):
    toy.supply(TWO_WORDS, counts={"sentences": 2, "tokens": 2})
    assert [s.tokens for s in load("toy", "a")] == [("Moles",), ("Moles",)]


def test_columns_are_read_as_the_registry_says(toy):
    reader = {"format": "columns", "columns": ["token", "entity"], "tag_aliases": {"-": "O"}}
    counts = {"sentences": 1, "tokens": 2}
    toy.supply(b"Ort\tB-LOC\nda\t-\n\n", counts=counts, reader=reader)
    assert load("toy", "a")[0].entities == ("B-LOC", "O")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


SENTENCES = [
    (name, file_id)
    for name in ("ud-r2.2", "fb-multilingual-nlu", "panx-wikiann")
    for file_id in dataset(name).files
]
TABLES = ["muse-full", "wiktionary", "tatoeba", "tico19", "frequency-words"]
TABLES += ["word-order-distance", "xnli", "sentiment-umsab", "multi30k"]
TABLES += ["amr-little-prince"]


@pytest.mark.mirror
@pytest.mark.parametrize(("name", "file_id"), SENTENCES)
def test_real_corpus_has_its_registered_counts(name, file_id, cache, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(cache))
    counts = dataset(name).file(file_id).counts
    lengths = [*map(len, load(name, file_id))]
    assert {"sentences": len(lengths), "tokens": sum(lengths)} == counts


@pytest.mark.mirror
@pytest.mark.parametrize("name", TABLES)
def test_real_tables_have_their_registered_counts(name, cache, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(cache))
    read = {"lines": read_text_lines, "penman": read_graphs}.get(dataset(name).reader.format)
    for file_id, file in [*dataset(name).files.items()][-3:]:
        rows = read(fetch(name, file_id)) if read else load_rows(name, file_id)
        assert [len(rows)] == [*file.counts.values()]
