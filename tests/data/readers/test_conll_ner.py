"""Files of CoNLL 2002 and 2003, as distributed and as many copies are. All words are invented."""

import pytest

from tests.papers.word_order.made_up_supplies import CONLL, supply_entities
from xlrepro.data.readers import conll_ner
from xlrepro.errors import DataError


@pytest.fixture
def supplied(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))
    supply_entities(tmp_path)
    return tmp_path


def test_iob1_tags_become_bio_and_marks_of_documents_are_no_sentences(supplied):
    first, second = conll_ner.read(supplied / conll_ner.NAME / "en" / "train")
    assert first.tokens == ("Zorp", "Quax", "Blim", "voo", "Gleth")
    assert first.entities == ("B-PER", "I-PER", "B-PER", "O", "B-LOC")
    assert second.entities == ("O", "B-LOC", "O")


def test_a_document_mark_on_a_sentences_first_line_is_taken_off(supplied):
    first, _ = conll_ner.read(supplied / conll_ner.NAME / "nl" / "test")
    assert (first.tokens, first.entities) == (("wib", "Gleth"), ("O", "B-LOC"))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_the_distributed_encoding_and_that_of_many_copies_are_both_read(tmp_path, encoding):
    (tmp_path / "test").write_text(CONLL["es"], encoding=encoding)
    assert conll_ner.read(tmp_path / "test")[0].tokens == ("Blimé", "voo")


def test_a_file_of_another_format_is_one_line_with_its_place(tmp_path):
    (tmp_path / "test").write_text("Zorp B-PER\nvoo\n\n")
    with pytest.raises(DataError, match=r"test:2: expected 2 columns"):
        conll_ner.read(tmp_path / "test")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(DataError, match="has no sentence"):
        conll_ner.read(tmp_path / "empty")


def test_every_missing_file_is_named_in_one_line(supplied):
    (supplied / conll_ner.NAME / "es" / "dev").unlink()
    wanted = [("en", "train"), ("es", "dev"), ("fr", "test")]
    with pytest.raises(DataError, match=r"^no es/dev, fr/test below .*XLREPRO_SUPPLIED") as raised:
        conll_ner.files(wanted)
    assert "\n" not in str(raised.value)
