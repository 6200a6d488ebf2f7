"""CoNLL-U: equal to the conllu package on what is well formed, one line of error on what is not."""

from pathlib import Path

import conllu
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xlrepro.data import registry
from xlrepro.data.readers.columns import read_conllu
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError

UPOS = ["NOUN", "VERB", "ADJ", "ADP", "PUNCT", "X"]
RELATIONS = ["nsubj", "obj", "acl:relcl", "punct"]


def row(identifier, form, upos="NOUN", head="0", relation="root"):
    return f"{identifier}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t_\n"


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "a.conllu"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_conllu(path)

    return read_text


def oracle(text):
    """The same sentences by the conllu package: the tokens with a plain number are the words."""
    sentences = []
    for parsed in conllu.parse(text):
        words = [token for token in parsed if isinstance(token["id"], int)]
        sentences.append(
            Sentence(
                tokens=tuple(word["form"] for word in words),
                upos=tuple(word["upos"] for word in words),
                heads=tuple(word["head"] for word in words),
                deprels=tuple(word["deprel"] for word in words),
            )
        )
    return sentences


@pytest.mark.parametrize("ending", ["\n\n", "\n", ""])
def test_last_blank_line_may_be_missing(read, ending):
    assert read(row(1, "mole").rstrip("\n") + ending)[0].tokens == ("mole",)


def test_unicode_line_separators_within_a_form_do_not_end_the_line(read):
    assert read(row(1, "a\u2028b\x85c\x0bd") + "\n")[0].tokens == ("a\u2028b\x85c\x0bd",)


GOOD = row(1, "a", head="2", relation="nsubj") + row(2, "b")


def test_windows_line_ends_and_byte_order_mark_are_accepted(read):
    text = "# sent_id = s\n1-2\tab" + "\t_" * 8 + "\n" + GOOD + "2.1\tc" + "\t_" * 8 + "\n\n"
    assert read(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == oracle(text)


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (GOOD + "3\tc\tshort\n\n", 3, "expected 10 columns"),
        (GOOD + "\n" + row(2, "c") + "\n", 4, "expected ID 1, found '2'"),
        (GOOD + row("03", "c") + "\n", 3, "expected ID 3"),
        (GOOD + row("3-2", "c") + row(3, "c") + "\n", 3, "expected ID 3, found '3-2'"),
        (GOOD + row("1.1", "c") + "\n", 3, "expected ID 3, found '1.1'"),
        (GOOD + row(3, "") + "\n", 3, "found an empty one"),
        (GOOD + row(3, "c", upos="_") + "\n", 3, "expected a UPOS, found '_'"),
        (GOOD + row(3, "c", head="4") + "\n", 3, "not the word itself, found '4'"),
        (GOOD + row(3, "c", head="3") + "\n", 3, "expected a HEAD from 0 to 3"),
        (GOOD + row(3, "c", head="root") + "\n", 3, "expected a HEAD"),
        (GOOD + row(3, "c", head="0") + "\n", 3, "expected a tree: one root"),
        (GOOD + row(3, "c", head="4") + row(4, "d", head="3") + "\n", 3, "expected a tree"),
        (GOOD + row(3, "c", upos="FOO") + "\n", 3, "expected a UPOS of UD, found 'FOO'"),
        (GOOD + row(3, "c", relation="_") + "\n", 3, "expected a DEPREL"),
        (GOOD + "# late comment\n\n", 3, "expected 10 columns"),
        ("# sent_id = alone\n\n" + GOOD, 2, "expected a sentence"),
    ],
)
def test_malformed_line_is_named_with_what_was_expected(read, tmp_path, text, line, expected):
    with pytest.raises(DataError) as error:
        read(text)
    assert str(error.value).startswith(f"{tmp_path / 'a.conllu'}:{line}: ")
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


# Letters, marks, numbers, punctuation and symbols of any script, with single spaces inside.
PIECES = st.text(st.characters(categories=["L", "M", "N", "P", "S"]), min_size=1, max_size=6)
FORMS = st.lists(PIECES, min_size=1, max_size=2).map(" ".join)


@st.composite
def sentences(draw):
    """A well-formed sentence; comments, multiword tokens and empty nodes wherever they may be."""
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(1, n + 1)))
    lines = draw(st.sampled_from(["", "# sent_id = s 1\n", "# text = x\n# sent_id=s2\n", "# a\n"]))
    end_of_range = 0
    for word in range(1, n + 1):
        if word < n and word > end_of_range and draw(st.booleans()):
            end_of_range = draw(st.integers(word, n))
            lines += f"{word}-{end_of_range}\t{draw(FORMS)}" + "\t_" * 8 + "\n"
        tag, relation = draw(st.sampled_from(UPOS)), draw(st.sampled_from(RELATIONS))
        at = order.index(word)  # each leads to one before it, the first is the root
        head = order[draw(st.integers(0, at - 1))] if at else 0
        lines += row(word, draw(FORMS), tag, head, relation)
        for empty in range(1, draw(st.integers(0, 2)) + 1):
            lines += f"{word}.{empty}\t{draw(FORMS)}" + "\t_" * 6 + "\t0:root\t_\n"
    return lines + "\n"


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(sentences(), min_size=1, max_size=3).map("".join))
def test_well_formed_files_read_as_the_conllu_package_reads_them(tmp_path, text):
    path = tmp_path / "a.conllu"
    path.write_text(text, encoding="utf-8")
    assert read_conllu(path) == oracle(text)


# Multiword tokens, empty nodes, spaces within words, the two UD versions.
REAL = ["de/test", "vi/test", "ar-padt/test"]


@pytest.mark.mirror
@pytest.mark.parametrize("file_id", REAL)
def test_real_treebanks_read_as_the_conllu_package_reads_them(file_id, tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))
    path: Path = registry.fetch("ud-r2.2", file_id)
    assert read_conllu(path) == oracle(path.read_text(encoding="utf-8"))
