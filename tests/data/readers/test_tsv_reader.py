"""Tables without a header: every row whole, or an error with its line."""

import pytest

from xlrepro.data.readers.tsv import read_rows
from xlrepro.errors import DataError


@pytest.fixture
def write(tmp_path):
    def write_file(text, encoding="utf-8"):
        path = tmp_path / "a.tsv"
        path.write_bytes(text.encode(encoding))
        return path

    return write_file


def test_rows_have_their_cells(write):
    assert read_rows(write("the\tder\nthe\tdie\n"), 2) == [("the", "der"), ("the", "die")]


def test_any_blank_separates_where_no_separator_is_named(write):
    rows = read_rows(write("the der\nthe\tdie\n"), 2, separator=None)
    assert rows == [("the", "der"), ("the", "die")]


def test_no_break_space_does_not_separate(write):
    assert read_rows(write("20\xa0000 zwanzig\n"), 2, separator=None) == [("20\xa0000", "zwanzig")]


def test_last_cell_takes_the_rest_of_the_line(write):
    assert read_rows(write('1\ta "b\tc\n'), 2) == [("1", 'a "b\tc')]


def test_encoding_is_that_which_was_named(write):
    assert read_rows(write("é\t1\n", "latin-1"), 2, encoding="latin-1") == [("é", "1")]


@pytest.mark.parametrize(("text", "line"), [("a\tb\nc\n", 2), ("a\tb\n\nc\td\n", 2)])
def test_short_row_is_an_error_with_its_line(write, text, line):
    with pytest.raises(DataError, match=rf"a\.tsv:{line}: expected 2 columns, found 1"):
        read_rows(write(text), 2)
