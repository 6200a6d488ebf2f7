"""Text files as numbered lines, tables without a header, and what is wrong with one of their lines.

A file that cannot be read as what it should be is a DataError of one line that names file and line.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from xlrepro.errors import DataError

# What letters of Latin-1, dashes and quotes look like in UTF-8 (Ã¼ for ü), and what those of
# Windows-1252 do. In Latin-1 no English, German, Dutch or Spanish text has such bytes.
NO_LATIN1 = re.compile(rb"[\xc2\xc3][\x80-\xbf]|[\x80-\x9f]")


def malformed(path: Path, line: int, expected: str) -> DataError:
    """Return the error for line ``line`` (from 1) of ``path``, which is not as ``expected``."""
    expected = expected if len(expected) <= 400 else f"{expected[:400]}…"
    return DataError(f"{path}:{line}: {expected}; the file is damaged or of another format")


def read_text_lines(path: Path, *, or_latin1: bool = False) -> list[str]:
    """Return the lines of a text file; see `numbered_lines`.

    Args:
        path: the file.
        or_latin1: whether it may be in Latin-1 throughout, as CoNLL-2002 and 2003 were distributed.
    """
    encoding = "utf-8"
    if or_latin1 and path.is_file() and not NO_LATIN1.search(path.read_bytes()):
        encoding = "latin-1"
    return [line for _, line in numbered_lines(path, encoding)]


def numbered_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    r"""Yield the lines of a text file with their numbers, without their ends and byte order mark.

    Only ``\n`` and ``\r\n`` end a line: other separators of Unicode (U+2028, U+0085) occur within
    tokens.

    Raises:
        DataError: if the file cannot be read or has no text, or a line is not of the encoding;
            names the line.
    """
    empty = True
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    line = raw.decode(encoding)
                except UnicodeDecodeError as error:
                    expected = f"expected text in UTF-8: {error.reason}"
                    raise malformed(path, number, expected) from error
                line = line.removesuffix("\n").removesuffix("\r")
                empty = empty and not line.strip()
                yield number, line.removeprefix("\ufeff") if number == 1 else line
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): check the path") from error
    if empty:
        raise DataError(f"{path} is empty: put the whole file there")


def blocks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the runs of lines between empty ones, each with the number of its first line.

    Example:
        >>> list(blocks(["a", "b", "", "", "c"]))
        [(1, ['a', 'b']), (5, ['c'])]
    """
    start, lines = 0, [*lines, ""]
    while start < len(lines):
        end = lines.index("", start)  # at the speed of C
        if end > start:
            yield start + 1, lines[start:end]
        start = end + 1


def read_rows(path: Path, n_columns: int, separator: str | None = "\t") -> list[tuple[str, ...]]:
    r"""Return the rows of a table without a header, each with exactly ``n_columns`` cells.

    No quoting: a quotation mark is a quotation mark. The last cell takes the rest of the line, with
    whatever separators are in it.

    Args:
        path: a text file, one row a line: a dictionary, sentence pairs, word counts.
        n_columns: cells in a row.
        separator: between cells; ``None`` stands for any run of blanks and tabs.

    Raises:
        DataError: for the first row that has fewer cells, with its line number.
    """
    return list(rows_of(path, n_columns, separator))


def rows_of(
    path: Path, n_columns: int, separator: str | None = "\t", *, exact: bool = False
) -> Iterator[tuple[str, ...]]:
    """Yield the rows of `read_rows`: of a file too large to be held; ``exact``: no cell more."""
    for number, line in numbered_lines(path):
        if separator is None:
            cells = re.split(r"[ \t]+", line, maxsplit=n_columns - 1)
        else:
            cells = line.split(separator, -1 if exact else n_columns - 1)
        if len(cells) != n_columns:
            raise malformed(path, number, f"expected {n_columns} columns, found {len(cells)}")
        yield tuple(cells)
