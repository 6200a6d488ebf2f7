"""Tables, senses, trees and graphs; and every reader, attacked with damaged files."""

import random
import zipfile

import pytest

from xlrepro.data.readers.columns import (
    read_columns,
    read_conll_ner,
    read_conllu,
    read_senses,
)
from xlrepro.data.readers.labelled import read_pairs, read_reviews
from xlrepro.data.readers.text_files import read_rows, read_text_lines
from xlrepro.data.readers.trees import parse_graph, read_graphs, read_tree_zip, read_trees
from xlrepro.data.readers.word_order_features import N_FEATURES, read_features
from xlrepro.errors import DataError
from xlrepro.vectors.vec_files import read_vec


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="a.tsv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


# Tables


def test_rows_have_their_cells(write):
    assert read_rows(write("the\tder\nthe\tdie\n"), 2) == [("the", "der"), ("the", "die")]


def test_blanks_separate_where_no_separator_is_named_but_none_of_no_break(write):
    rows = read_rows(write("the der\n20\xa0000\tzwanzig\n"), 2, separator=None)
    assert rows == [("the", "der"), ("20\xa0000", "zwanzig")]


def test_last_cell_takes_the_rest_of_the_line(write):
    assert read_rows(write('1\ta "b\tc\n'), 2) == [("1", 'a "b\tc')]


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
    assert found.instances == (None, "d0.t1")


def test_the_unified_sets_have_another_order(write):
    text = "# sent = s\nbanks\tbank\tNOUN\ts.t0\tbank%1:1\n\n# sent = t\n#\t#\t.\t_\t_\n"
    found = read_senses(write(text), "unified")
    assert [s.tokens for s in found] == [("banks",), ("#",)]
    assert (found[0].senses, found[0].instances) == ((("bank%1:1",),), ("s.t0",))


# Trees and graphs

TREES = "( (S (NP (DT the) (NN rain)) (VP (VBZ falls)) (. .)) )\n( (X (UH yes)) )"
GRAPHS = """# AMR release; 2 graphs

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
    assert (first.identifier, first.sentence) == ("one.1", "The boy wants to go .")
    assert first.concepts() == {"w": "want-01", "b": "boy", "g": "go-02"}
    assert first.root.edges[1][1].edges == ((":ARG0", "b"),)
    assert second.root.edges[0][1].edges == ((":op1", '"Pa ris (x)"'),)


@pytest.mark.parametrize(
    "text",
    ["(w / want-01", "(w want-01)", "(w / a :b", "(w / a b)", "(w / a) c", "w / a",
     "(w / a :b " * 5000],
)  # fmt: skip
def test_damaged_graphs_are_refused(text):
    with pytest.raises(DataError, match="damaged"):
        parse_graph(text)


def test_a_damaged_graph_is_named_by_its_line(write):
    with pytest.raises(DataError, match=r"a\.tsv:5"):
        read_graphs(write(GRAPHS.replace("go-02\n            :ARG0 b))", "go-02")))


# Attacks: whatever is done to a file, it is read, or refused in one line that names it

CONLLU = "# sent_id = 1\n" + "".join(
    f"{n}\tÄpfel{n}\t_\tNOUN\t_\t_\t{n - 1}\tdep\t_\t_\n" for n in range(1, 6)
)
SENSES = "A\ta\tDT\t_\t_\t_\nbanks\tbank\tNN\tbank%1:1\tx\td0.t1\n\n"
FEATURES = "\t".join(["lang", *(f"f{n}" for n in range(N_FEATURES))]) + "\nen" + "\t0.5" * 52 + "\n"
JSON = '{"sentence1": "a", "sentence2": "é", "gold_label": "neutral"}\n'
VECTORS = "3 2\nä 0.1 0.2\nb 1e-3 -4\ncd 0 1\n"
UTTERANCE = "# text: a\n1\ta\tx/y\tB-z\n2\tb\tx/y\tO\n\n"
FB = ("index", "token", "intent", "slot")
READERS = {
    "conllu": (read_conllu, CONLLU + "\n" + CONLLU),
    "conll": (read_conll_ner, "-DOCSTART- O\n\nMuñoz I-PER\nin O\n\nZürich B-LOC\n\n"),
    "columns": (lambda path: read_columns(path, FB, comment="#"), UTTERANCE * 2),
    "senses": (lambda path: read_senses(path, "naf"), SENSES * 2),
    "rows": (lambda path: read_rows(path, 2), "the\tder\nrain\tRegen\n"),
    "lines": (read_text_lines, "the\nräin\n"),
    "penn": (lambda path: read_trees("\n".join(read_text_lines(path)), str(path)), TREES),
    "penman": (read_graphs, GRAPHS),
    "features": (read_features, FEATURES),
    "jsonl": (read_pairs, JSON * 2),
    "pairs": (read_pairs, "a\tb\tneutral\nc\td\t-\n"),
    "reviews": (read_reviews, "positive\tgut\nnegative\tschlecht\n"),
    "vec": (read_vec, VECTORS),
    "zip": (read_tree_zip, TREES),
}
PIECES = [b"\0", b"\xff", b"\xc3", b"\t", b"\n", b" ", b"(", b")", b'"', b"{", b"_",
          b"-", b"0", b"1-2", b"9" * 5000, b"\xe2\x80\xa8", b"nan", b"1e999"]  # fmt: skip


def damaged(content, chance):
    """Return a file's bytes with one to four damages of the kinds that happen."""
    for _ in range(chance.randint(1, 4)):
        start, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
        kind = chance.randrange(6)
        if kind == 0:  # cut short
            content = content[:start]
        elif kind == 1:  # a hole of zeros, as after a crash
            content = content[:start] + bytes(end - start) + content[end:]
        elif kind == 2:  # a part is missing, or stands twice
            content = content[:start] + content[end:]
        elif kind == 3:
            content = content[:end] + content[start:]
        elif kind == 4:  # a bit
            changed = bytearray(content or b"x")
            changed[start % len(changed)] ^= 1 << chance.randrange(8)
            content = bytes(changed)
        else:
            content = content[:start] + chance.choice(PIECES) + content[start:]
    return content


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path, name):
    import gzip

    read, text = READERS[name]
    suffix = {"jsonl": ".jsonl", "vec.gz": ".gz", "zip": ".zip"}.get(name, ".txt")
    path = tmp_path / f"attacked{suffix}"
    if name == "zip":
        content = zipped(path, {"t/a.mrg": text, "t/b.mrg": text}).read_bytes()
    else:
        content = gzip.compress(text.encode()) if suffix == ".gz" else text.encode()
    path.write_bytes(content)
    read(path)
    refused = 0
    for seed in range(400):
        path.write_bytes(damaged(content, random.Random(seed)))
        if name == "conll":
            read_conll_ner.cache_clear()
        try:
            read(path)
        except DataError as error:
            refused += 1
            message = str(error)
            assert str(path) in message
            assert "\n" not in message
            assert len(message) < 2000
    assert refused > 20
