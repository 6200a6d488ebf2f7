"""CoNLL columns: tags as BIO whatever the file's scheme, and every fault named with its line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from xlrepro.data.readers.columns import iob1_to_bio, read_columns
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError, SettingsError


@pytest.fixture
def write(tmp_path):
    def write_file(text, encoding="utf-8"):
        path = tmp_path / "a.tsv"
        path.write_bytes(text.encode(encoding))
        return path

    return write_file


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
    assert found == [
        Sentence(
            tokens=("wake", "me", "at", "nine"),
            slots=("O", "O", "B-datetime", "I-datetime"),
            intent="alarm/set",
        ),
        Sentence(tokens=("#",), slots=("O",), intent="weather/find"),
    ]


def test_intent_may_be_named_by_a_comment(write):
    text = "# intent = alarm/set\n1\twake\twrong\tO\n"
    columns = ["index", "token", "ignore", "slot"]
    found = read_columns(write(text), columns, comment="#", intent_comment="# intent =")
    assert found[0].intent == "alarm/set"


def test_line_that_looks_like_a_comment_is_a_token_after_the_first_token(write):
    found = read_columns(write("a\tO\n#\tO\n"), ["token", "entity"], comment="#")
    assert found[0].tokens == ("a", "#")


def test_columns_of_conll_2003_by_blanks_in_iob1(write):
    text = "Oslo NNP I-NP I-LOC\nBergen NNP I-NP B-LOC\nis VBZ I-VP O\n\n"
    columns = ["token", "ignore", "ignore", "entity"]
    found = read_columns(write(text), columns, scheme="iob1", separator=None)
    assert found[0].entities == ("B-LOC", "B-LOC", "O")


def test_latin_1_is_read_as_such(write):
    path = write("Málaga\tB-LOC\n", "latin-1")
    assert read_columns(path, ["token", "entity"], encoding="latin-1")[0].tokens == ("Málaga",)


def test_latin_1_read_as_utf_8_is_an_error_with_its_line(write):
    path = write("a\tO\nMálaga\tB-LOC\n", "latin-1")
    with pytest.raises(DataError, match=r"a\.tsv:2: expected text in utf-8"):
        read_columns(path, ["token", "entity"])


def test_orphan_i_of_bio_is_left_as_it_is(write):
    found = read_columns(write("a\tO\nb\tI-LOC\n"), ["token", "entity"])
    assert found[0].entities == ("O", "I-LOC")


def test_empty_token_is_kept_where_the_corpus_has_them(write):
    found = read_columns(write("1\t\tO\n"), ["index", "token", "slot"], empty_tokens=True)
    assert found[0].tokens == ("",)


@pytest.mark.parametrize(
    ("iob1", "bio"),
    [
        ("O O", "O O"),
        ("I-PER", "B-PER"),
        ("I-PER I-PER O", "B-PER I-PER O"),
        ("I-PER B-PER I-PER", "B-PER B-PER I-PER"),
        ("I-PER I-LOC I-LOC", "B-PER B-LOC I-LOC"),
        ("O I-LOC O I-LOC", "O B-LOC O B-LOC"),
        ("B-PER I-PER", "B-PER I-PER"),
        ("I-a-b I-b", "B-a-b B-b"),
        ("", ""),
    ],
)
def test_iob1_becomes_bio(iob1, bio):
    assert iob1_to_bio(iob1.split()) == tuple(bio.split())


TAGS = st.lists(st.sampled_from(["O", "I-PER", "B-PER", "I-LOC", "B-LOC"]), max_size=8)


@given(TAGS)
def test_iob1_and_its_bio_hold_the_same_spans(tags):
    # seqeval reads both schemes as conlleval does.
    assert get_entities(list(iob1_to_bio(tags))) == get_entities(tags)


FB = ["index", "token", "intent", "slot"]


@pytest.mark.parametrize(
    ("columns", "text", "line", "expected"),
    [
        (["token", "entity"], "a\tO\nb\n", 2, "expected 2 columns (token, entity), found 1"),
        (["token", "entity"], "a\tO\tX\n", 1, "found 3"),
        (["token", "entity"], "a\tO\n\tO\n", 2, "found an empty one"),
        (["token", "entity"], "a\tO\n \nb\tO\n", 2, "expected 2 columns"),
        (["token", "entity"], "a\tPER\n", 1, "expected a tag O, B-… or I-…, found 'PER'"),
        (["token", "entity"], "a\tE-PER\n", 1, "found 'E-PER'"),
        (["token", "entity"], "a\tB-\n", 1, "found 'B-'"),
        (FB, "1\ta\tx\tO\n3\tb\tx\tO\n", 2, "expected token number 2, found '3'"),
        (FB, "1\ta\tx\tO\n2\tb\ty\tO\n", 2, "expected intent 'x'"),
        (FB, "# text: a\n\n1\ta\tx\tO\n", 2, "expected a sentence after the comment lines"),
    ],
)
def test_malformed_line_is_named_with_what_was_expected(write, columns, text, line, expected):
    path = write(text)
    with pytest.raises(DataError) as error:
        read_columns(path, columns, comment="#" if columns is FB else None)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert expected in str(error.value)


def test_missing_intent_comment_is_an_error(write):
    with pytest.raises(DataError, match=r"a\.tsv:2: expected a comment '# intent ='"):
        read_columns(
            write("# text = a\na\tO\n"),
            ["token", "slot"],
            comment="#",
            intent_comment="# intent =",
        )


@pytest.mark.parametrize(
    ("columns", "scheme"), [(["entity"], "bio"), (["token", "ner"], "bio"), (["token"], "bilou")]
)
def test_impossible_settings_are_an_error(write, columns, scheme):
    with pytest.raises(SettingsError):
        read_columns(write(NER), columns, scheme=scheme)
