import unicodedata

import numpy as np
import pytest

from tests.vectors.written import write_vec
from xlrepro.data.readers.vec import read_vec
from xlrepro.errors import DataError, SettingsError
from xlrepro.vectors import vec_files
from xlrepro.vectors.vec_files import load_vec


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))
    monkeypatch.setenv("XLREPRO_SUPPLIED", str(tmp_path))


@pytest.fixture
def example(tmp_path):
    matrix = np.round(np.random.default_rng(0).normal(size=(50, 6)), 4).astype(np.float32)
    words = [f"word{row}" for row in range(50)]
    write_vec(tmp_path / "en.vec", words, matrix)
    return words, matrix, tmp_path / "en.vec"


def test_words_and_vectors_come_as_written_and_are_parsed_once(example, monkeypatch):
    words, matrix, path = example
    load_vec({"en": path})
    monkeypatch.setattr(vec_files, "read_vec", None)
    vectors = load_vec({"en": path})
    assert list(vectors.words("en")) == words
    np.testing.assert_allclose(vectors.matrix("en"), matrix, atol=1e-6)
    assert isinstance(vectors.matrix("en"), np.memmap)


def test_lines_beyond_the_limit_are_not_looked_at(example):
    words, _, path = example
    path.write_text(path.read_text() + "torn 1.0\n")
    assert list(load_vec({"en": path}, limit=50).words("en")) == words
    assert read_vec(path, limit=7)[0] == words[:7]


def test_a_carriage_return_is_in_its_word_and_a_second_occurrence_is_left_out(tmp_path):
    path = tmp_path / "en.vec"
    path.write_bytes(b"\xef\xbb\xbf3 1\nnew\ryork 1\na 2\na 3\n")  # a byte order mark, too
    words, matrix = read_vec(path)
    assert (words, matrix[:, 0].tolist()) == (["new york", "a"], [1.0, 2.0])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"2 3\na 1 2 3\nb 1 2\n", 3),
        (b"2 2\na 1 2\nb 1 x\n", 3),
        (b"3 1\na 1\nb 2\n", 3),  # cut off
        (b"2 1\na 1\nb 2", 3),  # in the last number
        (b"1 1\na 1\nb 2\n", 2),  # too many
        (b"0 300\n", 1),
        (b"-1 1\na 1\n", 1),
        (b"1 0\na\n", 2),
        (b"1 1\n 1\n", 2),
        (b"9" * 5000 + b" 2\n", 1),
        (b"1 1\n\xff\xfe 1\n", 2),
        (b"2 2\na 1 2\nb 1 nan\n", 3),
        (b"2 2\na 1 2\nb 1 1e39\n", 3),
    ],
)
def test_malformed_file_is_named_in_one_line_with_the_line(tmp_path, content, line):
    path = tmp_path / "bad.vec"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"bad\.vec:{line}: no word vectors \(") as raised:
        load_vec({"en": path})
    assert "\n" not in str(raised.value)


def test_missing_files_and_other_dimensions_are_refused(tmp_path):
    paths = {"en": tmp_path / "en.vec", "de": tmp_path / "de.vec"}
    paths["en"].write_text("1 2\na 1 2\n")
    with pytest.raises(DataError, match=r"de\.vec cannot be read"):
        load_vec(paths)
    paths["de"].write_text("1 1\nb 1\n")
    with pytest.raises(SettingsError, match=r"de have \(1, 1\); expected \(1, 2\)"):
        load_vec(paths)


NFD = ["ba\u0323n", "ba\u0300n", "ba\u0309n"]  # of three Vietnamese words


def test_words_in_another_normal_form_than_the_text_have_their_own_vectors(tmp_path):
    write_vec(tmp_path / "vi.vec", NFD, [[0], [1], [2]])
    write_vec(tmp_path / "en.vec", ["a"], [[1]])
    vectors = load_vec({"en": tmp_path / "en.vec", "vi": tmp_path / "vi.vec"})
    for text in (NFD, [unicodedata.normalize("NFC", word) for word in NFD]):
        found, kinds = vectors.lookup("vi", text)
        assert kinds.tolist() == [1, 1, 1]
        assert np.unique(found).size == 3
