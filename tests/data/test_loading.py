"""Loading: the right reader, and the official counts or an error."""

import pytest

from xlrepro.data.loading import load, load_rows
from xlrepro.data.registry import dataset
from xlrepro.errors import DataError

TWO_WORDS = b"1\tMoles\tmole\tNOUN\t_\t_\t0\troot\t_\t_\n\n" * 2
ROWS = {"format": "rows", "columns": ["source", "target"]}


def test_treebank_is_read_as_conllu(toy):
    toy.supply(TWO_WORDS, counts={"sentences": 2, "tokens": 2})
    assert [s.tokens for s in load("toy", "a")] == [("Moles",), ("Moles",)]


@pytest.mark.parametrize("counts", [{"sentences": 3, "tokens": 2}, {"sentences": 2, "tokens": 9}])
def test_other_counts_than_the_registry_states_are_an_error(toy, counts):
    toy.supply(TWO_WORDS, counts=counts)
    with pytest.raises(DataError, match=r"toy a has 2 .* where the registry states [39]"):
        load("toy", "a")


def test_columns_are_read_as_the_registry_says(toy):
    reader = {"format": "columns", "columns": ["token", "entity"], "tag_aliases": {"-": "O"}}
    counts = {"sentences": 1, "tokens": 2}
    toy.supply(b"Ort\tB-LOC\nda\t-\n\n", counts=counts, reader=reader)
    assert load("toy", "a")[0].entities == ("B-LOC", "O")


def test_rows_and_lines_are_counted_too(toy):
    toy.supply(b"a\tb\nc\td\n", counts={"rows": 3}, reader=ROWS)
    with pytest.raises(DataError, match="has 2 rows"):
        load_rows("toy", "a")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


SENTENCES = [
    (name, file_id)
    for name in ("ud-r2.2", "fb-multilingual-nlu", "panx-wikiann", "xsid")
    for file_id in dataset(name).files
]
TABLES = ["muse-full", "muse-test", "wiktionary", "tatoeba", "tico19", "frequency-words"]
TABLES += ["word-order-distance", "xnli", "sentiment-umsab"]


@pytest.mark.mirror
@pytest.mark.parametrize(("name", "file_id"), SENTENCES)
def test_real_corpus_has_its_registered_counts(name, file_id, cache, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(cache))
    counts = dataset(name).file(file_id).counts
    assert len(load(name, file_id)) == counts["sentences"]


@pytest.mark.mirror
@pytest.mark.parametrize("name", TABLES)
def test_real_tables_have_their_registered_counts(name, cache, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(cache))
    for file_id, file in [*dataset(name).files.items()][-3:]:
        assert len(load_rows(name, file_id)) == file.counts["rows"]
