"""Bracketed trees: shape, and damaged files."""

import zipfile

import pytest

from xlrepro.data.readers.penn_trees import read_tree_zip, read_trees
from xlrepro.errors import DataError

TEXT = "( (S (NP (DT the) (NN rain)) (VP (VBZ falls)) (. .)) )\n( (X (UH yes)) )"


def test_trees_have_their_labels_and_words():
    first, second = read_trees(TEXT, "here")
    assert first.words() == ("the", "rain", "falls", ".")
    assert [child.label for child in first.children[0].children] == ["NP", "VP", "."]
    assert second.words() == ("yes",)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("(S (NN a)", "never closed"), ("a (S)", "outside"), ("(S)", "holds"), ("(S a b)", "holds")],
)
def test_damaged_brackets_are_refused(text, wrong):
    with pytest.raises(DataError, match=wrong):
        read_trees(text, "here")


def test_files_of_a_zip_are_read_by_name(tmp_path):
    path = tmp_path / "trees.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t/b.mrg", TEXT)
        archive.writestr("t/a.mrg", "(X (UH yes))")
        archive.writestr("t/README", "no tree")
    assert {name: len(found) for name, found in read_tree_zip(path).items()} == {
        "a.mrg": 1,
        "b.mrg": 2,
    }


def test_what_is_no_zip_is_refused(tmp_path):
    path = tmp_path / "trees.zip"
    path.write_text("(X (UH yes))")
    with pytest.raises(DataError, match="zip of treebank files"):
        read_tree_zip(path)
