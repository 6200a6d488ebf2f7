"""Tables, senses, trees and graphs; and every reader, attacked with damaged files."""

import re
import zipfile

import pytest

from tests.attacks.readers import GRAPHS, READERS, TREES, attack
from xlrepro.data.readers.columns import read_senses
from xlrepro.data.readers.text_files import read_rows
from xlrepro.data.readers.trees import parse_graph, read_graphs, read_tree_zip, read_trees
from xlrepro.errors import DataError

# Tables


def test_blanks_separate_where_no_separator_is_named_but_none_of_no_break(write):
    rows = read_rows(write("the der\n20\xa0000\tzwanzig\n"), 2, separator=None)
    assert rows == [("the", "der"), ("20\xa0000", "zwanzig")]


def test_the_last_cell_takes_the_rest_of_the_line(write):
    assert read_rows(write('the\tder\n1\ta "b\tc\n'), 2) == [("the", "der"), ("1", 'a "b\tc')]


@pytest.mark.parametrize(("text", "line"), [("a\tb\nc\n", 2), ("a\tb\n\nc\td\n", 2)])
def test_short_row_is_an_error_with_its_line(write, text, line):
    with pytest.raises(DataError, match=rf"a\.tsv:{line}: expected 2 columns, found 1"):
        read_rows(write(text), 2)


# Words with senses


def test_words_have_the_senses_of_their_column(write):
    text = "# doc = a\nA\ta\tDT\t_\t_\t_\nbanks\tbank\tNN\tbank%1:1|bank%1:2\tx\td0.t1\n\n"
    (found,) = read_senses(write(text), "naf")
    assert found.tokens == ("A", "banks")
    assert found.lemmas == ("a", "bank")
    assert found.senses == ((), ("bank%1:1", "bank%1:2"))


def test_the_unified_sets_have_another_order(write):
    text = "# sent = s\nbanks\tbank\tNOUN\ts.t0\tbank%1:1\n\n# sent = t\n#\t#\t.\t_\t_\n"
    found = read_senses(write(text), "unified")
    assert [s.tokens for s in found] == [("banks",), ("#",)]
    assert found[0].senses == (("bank%1:1",),)


# Trees and graphs


def test_trees_have_their_labels_and_words():
    first, second = read_trees(TREES, "here")
    assert first.words() == ("the", "rain", "falls", ".")
    assert [child.label for child in first.children[0].children] == ["NP", "VP", "."]
    assert second.words() == ("yes",)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("(S (NN a)", "never closed"), ("a (S)", "outside"), ("(S)", "holds"),
        ("(S a b)", "holds"), ("(" * 5000, "are open"),
    ],
)  # fmt: skip
def test_damaged_brackets_are_refused(text, wrong):
    with pytest.raises(DataError, match=wrong):
        read_trees(text, "here")


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_files_of_a_zip_are_read_by_name(tmp_path):
    files = {"t/b.mrg": TREES, "t/a.mrg": "(X (UH yes))", "t/README": "no tree"}
    found = read_tree_zip(zipped(tmp_path / "trees.zip", files))
    assert {name: len(trees) for name, trees in found.items()} == {"a.mrg": 1, "b.mrg": 2}


def test_graphs_have_their_sentences_and_edges(write):
    first, second = read_graphs(write(GRAPHS))
    assert first.sentence == "The boy wants to go ."
    assert first.concepts() == {"w": "want-01", "b": "boy", "g": "go-02"}
    assert first.root.edges[1][1].edges == ((":ARG0", "b"),)
    assert second.root.edges[0][1].edges == ((":op1", '"Pa ris (x)"'),)


@pytest.mark.parametrize(
    "text",
    ["(w / want-01", "(w want-01)", "(w / a :b", "(w / a b)", "(w / a) (c / d)", "w / a",
     "(w / a :b)", "(w / )", "( / a)", "", "(w / a :b " * 5000],
)  # fmt: skip
def test_damaged_graphs_are_refused(text):
    with pytest.raises(DataError, match="damaged"):
        parse_graph(text)


def test_a_damaged_graph_is_named_by_its_line(write):
    with pytest.raises(DataError, match=r"a\.tsv:3: .*line 5"):
        read_graphs(write(GRAPHS.replace("go-02\n            :ARG0 b))", "go-02")))


def test_a_file_of_comments_alone_has_no_graph(write):
    with pytest.raises(DataError, match="has no graph"):
        read_graphs(write("# AMR release; 0 graphs\n"))


@pytest.mark.parametrize("name", READERS)
def test_an_empty_file_is_refused(tmp_path, name):
    path = tmp_path / f"empty{READERS[name].suffix}"
    path.write_bytes(b"")
    with pytest.raises(DataError, match=re.escape(str(path))):
        READERS[name].read(path)


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path, name):
    refused, faults = attack(name, range(200), tmp_path)
    assert not faults
    assert refused > 20
