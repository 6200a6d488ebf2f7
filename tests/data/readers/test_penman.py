"""AMR graphs: shape, comments, and damaged files."""

import pytest

from xlrepro.data.readers.penman import parse_graph, read_graphs
from xlrepro.errors import DataError

TEXT = """# AMR release; 2 graphs

# ::id one.1 ::date 2020
# ::snt The boy wants to go .
(w / want-01
      :ARG0 (b / boy)
      :ARG1 (g / go-02
            :ARG0 b))

# ::id one.2
# ::snt "Paris"
(c / city :name (n / name :op1 "Pa ris (x)"))
"""


def test_graphs_have_their_sentences_and_edges(tmp_path):
    path = tmp_path / "amr.txt"
    path.write_text(TEXT)
    first, second = read_graphs(path)
    assert (first.identifier, first.sentence) == ("one.1", "The boy wants to go .")
    assert first.concepts() == {"w": "want-01", "b": "boy", "g": "go-02"}
    go = first.root.edges[1][1]
    assert go.edges == ((":ARG0", "b"),)
    assert second.root.edges[0][1].edges == ((":op1", '"Pa ris (x)"'),)


@pytest.mark.parametrize(
    "text", ["(w / want-01", "(w want-01)", "(w / a :b", "(w / a b)", "(w / a) c", "w / a"]
)
def test_damaged_graphs_are_refused(text):
    with pytest.raises(DataError, match="damaged"):
        parse_graph(text)


def test_a_damaged_graph_is_named_by_its_line(tmp_path):
    path = tmp_path / "amr.txt"
    path.write_text(TEXT.replace("go-02\n            :ARG0 b))", "go-02"))
    with pytest.raises(DataError, match=r"amr\.txt:5"):
        read_graphs(path)
