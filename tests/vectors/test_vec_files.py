import gzip
import lzma
import unicodedata

import numpy as np
import pytest

from xlrepro.errors import DataError, SettingsError
from xlrepro.vectors import vec_files
from xlrepro.vectors.vec_files import load_vec, read_vec


def write(path, words, matrix, opener=open):
    with opener(path, "wt", encoding="utf-8") as out:
        out.write(f"{len(words)} {matrix.shape[1]}\n")
        for word, row in zip(words, matrix):
            out.write(word + " " + " ".join(f"{value:.4f}" for value in row) + " \n")
    return path


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / "cache"))


@pytest.fixture
def example(tmp_path):
    matrix = np.round(np.random.default_rng(0).normal(size=(50, 6)), 4).astype(np.float32)
    return [f"word{row}" for row in range(50)], matrix, tmp_path


@pytest.mark.parametrize(("suffix", "opener"), [("", open), (".gz", gzip.open), (".xz", lzma.open)])
def test_words_and_vectors_come_as_written(example, suffix, opener):
    words, matrix, folder = example
    path = write(folder / f"en.vec{suffix}", words, matrix, opener)
    vectors = load_vec({"en": path})
    assert list(vectors.words("en")) == words
    np.testing.assert_allclose(vectors.matrix("en"), matrix, atol=1e-6)
    assert isinstance(vectors.matrix("en"), np.memmap)


def test_only_the_most_frequent_words_are_read(example):
    words, matrix, folder = example
    path = write(folder / "en.vec", words, matrix)
    vectors = load_vec({"en": path}, limit=7)
    assert list(vectors.words("en")) == words[:7]


def test_lines_beyond_the_limit_are_not_looked_at(example):
    words, matrix, folder = example
    path = write(folder / "en.vec", words, matrix)
    path.write_text(path.read_text() + "torn 1.0\n")
    assert len(list(read_vec(path, limit=50))) == 50


def test_word_with_a_space_in_it_is_one_word(tmp_path):
    path = tmp_path / "en.vec"
    path.write_text("1 2\nnew york 0.5 1\n")
    ((word, vector),) = read_vec(path)
    assert word == "new york"
    assert vector.tolist() == [0.5, 1.0]


def test_word_with_a_carriage_return_in_it_is_one_word(tmp_path):
    path = tmp_path / "en.vec"
    path.write_bytes(b"1 1\nnew\ryork 0.5\n")
    assert list(load_vec({"en": path}).words("en")) == ["new york"]


def test_second_occurrence_of_a_word_is_left_out(tmp_path):
    path = tmp_path / "en.vec"
    path.write_text("3 1\na 1\na 2\nb 3\n")
    vectors = load_vec({"en": path})
    assert list(vectors.words("en")) == ["a", "b"]
    assert vectors.matrix("en")[:, 0].tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", 1),
        ("two words here\n", 1),
        ("2 3\na 1 2 3\nb 1 2\n", 3),
        ("2 3\na 1 2 x\n", 2),
        ("1 1\na 1\nb 2\n", 1),
        ("0 300\n", 1),
        ("1 0\na\n", 1),
        ("9" * 5000 + " 2\n", 1),
        ("1 " + "9" * 12 + "\n", 1),
    ],
)
def test_malformed_line_is_named_by_file_and_number(tmp_path, content, line):
    path = tmp_path / "bad.vec"
    path.write_text(content)
    with pytest.raises(DataError, match=rf"bad\.vec:{line}: ") as raised:
        load_vec({"en": path})
    assert "\n" not in str(raised.value)


def test_word_that_is_not_utf8_is_named_by_file_and_number(tmp_path):
    path = tmp_path / "bad.vec"
    path.write_bytes(b"1 1\n\xff\xfe 1\n")
    with pytest.raises(DataError, match=r"bad\.vec:2"):
        list(read_vec(path))


def test_truncated_archive_is_one_line(example):
    words, matrix, folder = example
    path = write(folder / "en.vec.gz", words, matrix, gzip.open)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"en\.vec\.gz cannot be read"):
        load_vec({"en": path})


def test_plain_file_cut_at_a_line_end_is_refused(example):
    words, matrix, folder = example
    path = write(folder / "en.vec", words, matrix)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:31]))
    with pytest.raises(DataError, match=r"en\.vec ends after 30 of the 50 words"):
        load_vec({"en": path})


@pytest.mark.parametrize("value", ["inf", "-Infinity", "nan", "1e39"])
def test_a_value_that_is_not_finite_is_named_by_file_and_number(tmp_path, value):
    path = tmp_path / "bad.vec"
    path.write_text(f"2 2\na 1 2\nb 1 {value}\n")
    with pytest.raises(DataError, match=r"bad\.vec:3: expected finite numbers"):
        list(read_vec(path))


def test_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no word vectors at .*absent\.vec"):
        load_vec({"en": tmp_path / "absent.vec"})


def test_languages_of_different_dimensions_are_refused(tmp_path):
    paths = {"en": tmp_path / "en.vec", "de": tmp_path / "de.vec"}
    paths["en"].write_text("1 2\na 1 2\n")
    paths["de"].write_text("1 1\nb 1\n")
    with pytest.raises(SettingsError, match=r"de has 1 words but vectors of shape \(1, 1\)"):
        load_vec(paths)


def test_file_is_parsed_once(example, monkeypatch):
    words, matrix, folder = example
    path = write(folder / "en.vec", words, matrix)
    load_vec({"en": path})
    monkeypatch.setattr(vec_files, "read_vec", None)
    assert list(load_vec({"en": path}).words("en")) == words


NFD = ["ba\u0323n", "ba\u0300n", "ba\u0309n"]  # of three Vietnamese words


def test_words_in_another_normal_form_than_the_text_have_their_own_vectors(tmp_path):
    lines = [f"{word} {number}" for number, word in enumerate(NFD)]
    (tmp_path / "vi.vec").write_text("\n".join(["3 1", *lines, ""]), encoding="utf-8")
    (tmp_path / "en.vec").write_text("1 1\na 1\n")
    vectors = load_vec({"en": tmp_path / "en.vec", "vi": tmp_path / "vi.vec"})
    for text in (NFD, [unicodedata.normalize("NFC", word) for word in NFD]):
        found, kinds = vectors.lookup("vi", text)
        assert kinds.tolist() == [1, 1, 1]
        assert np.unique(found).size == 3
