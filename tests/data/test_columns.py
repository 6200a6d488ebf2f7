"""CoNLL columns: tags as BIO whatever the file's scheme, and every fault named with its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from tests.papers.word_order.made_up_supplies import CONLL
from xlrepro.data.readers.columns import iob1_to_bio, read_columns, read_conll_ner
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError

NER = "Ada\tB-PER\nLovelace\tI-PER\n#\tO\n\nnear\tO\nTorino\tB-LOC\n\n\n"


def test_sentences_end_at_blank_lines(write):
    assert read_columns(write(NER), ["token", "entity"]) == [
        Sentence(tokens=("Ada", "Lovelace", "#"), entities=("B-PER", "I-PER", "O")),
        Sentence(tokens=("near", "Torino"), entities=("O", "B-LOC")),
    ]


def test_utterances_have_slots_and_the_intent_of_their_lines(write):
    text = (
        "# text: Wake me at nine\n# slots: 8:15:datetime\n"
        "1\twake\talarm/set\tNoLabel\n2\tme\talarm/set\tNoLabel\n"
        "3\tat\talarm/set\tB-datetime\n4\tnine\talarm/set\tI-datetime\n\n"
        "1\t#\tweather/find\tNoLabel\n"
    )
    columns = ["index", "token", "intent", "slot"]
    found = read_columns(write(text), columns, comment="#", tag_aliases={"NoLabel": "O"})
    slots = ("O", "O", "B-datetime", "I-datetime")
    assert found == [
        Sentence(("wake", "me", "at", "nine"), slots=slots, intent="alarm/set"),
        Sentence(("#",), slots=("O",), intent="weather/find"),
    ]


TAGS = st.lists(st.sampled_from(["O", "I-PER", "B-PER", "I-LOC", "B-LOC", "I-a-b"]), max_size=8)


@settings(deadline=None)
@given(TAGS)
def test_iob1_and_its_bio_hold_the_same_spans_and_each_begins_with_b(tags):
    bio = iob1_to_bio(tags)  # seqeval reads both schemes as conlleval does
    assert get_entities(list(bio)) == get_entities(tags)
    assert all(bio[start].startswith("B-") for _, start, _ in get_entities(list(bio)))


FB = ["index", "token", "intent", "slot"]


@pytest.mark.parametrize(
    ("columns", "text", "line", "expected"),
    [
        (["token", "entity"], "a\tO\nb\n", 2, "expected 2 columns (token, entity), found 1"),
        (["token", "entity"], "a\tO\n\tO\n", 2, "found an empty one"),
        (["token", "entity"], "a\tPER\n", 1, "a tag O|[BI]-(PER|LOC|ORG|MISC), found 'PER'"),
        (["token", "entity"], "a\tE-PER\n", 1, "found 'E-PER'"),
        (FB, "1\ta\tx\tO\n3\tb\tx\tO\n", 2, "expected token number 2, found '3'"),
        (FB, "1\ta\tx\tO\n2\tb\ty\tO\n", 1, "expected one intent, found x, y"),
        (FB, "# text: a\n\n1\ta\tx\tO\n", 2, "expected a sentence after the comment lines"),
    ],
)
def test_malformed_line_is_named_with_what_was_expected(write, columns, text, line, expected):
    path = write(text)
    with pytest.raises(DataError) as error:
        read_columns(path, columns, comment="#" if columns is FB else None)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert expected in str(error.value)


# CoNLL-2002 and 2003


def test_iob1_tags_become_bio_and_marks_of_documents_are_no_sentences(write):
    first, second = read_conll_ner(write(CONLL["en"]))
    assert first.tokens == ("Zorp", "Quax", "Blim", "voo", "Gleth")
    assert first.entities == ("B-PER", "I-PER", "B-PER", "O", "B-LOC")
    assert second.entities == ("O", "B-LOC", "O")


def test_a_document_mark_on_a_sentences_first_line_is_taken_off(write):
    first, _ = read_conll_ner(write(CONLL["nl"]))
    assert (first.tokens, first.entities) == (("wib", "Gleth"), ("O", "B-LOC"))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_the_distributed_encoding_and_that_of_many_copies_are_both_read(write, encoding):
    text = "«José» B-PER\nJOSÉ» B-PER\nMuñoz I-PER\n\n"  # É» is one letter of UTF-8
    assert read_conll_ner(write(text, encoding))[0].tokens == ("«José»", "JOSÉ»", "Muñoz")


SPOILT = {
    "a byte": "Muñoz B-PER\nZü O\n".encode().replace("Zü".encode(), b"Z\xfc"),
    "two encodings": "Muñoz B-PER\n".encode() + "Zürich B-LOC\n".encode("latin-1"),
    "Windows": "Zorp O\n\x93voo\x94 O\n".encode("latin-1"),
}


@pytest.mark.parametrize("content", SPOILT.values(), ids=SPOILT)
def test_a_file_of_neither_encoding_is_refused_with_its_line(tmp_path, content):
    (tmp_path / "test").write_bytes(content)
    with pytest.raises(DataError, match=r"test:2: expected text in UTF-8"):
        read_conll_ner(tmp_path / "test")
