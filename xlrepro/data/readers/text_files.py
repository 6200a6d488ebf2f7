"""Text files as numbered lines, tables without a header, and what is wrong with one of their lines.

A file that cannot be read as what it should be is a DataError of one line that names file and line.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from xlrepro.errors import DataError

# What letters of Latin-1 look like in UTF-8 (Ã¼ for ü), and what dashes and quotes do. In Latin-1
# itself no English, German, Dutch or Spanish text has these bytes one after the other.
UTF8_IN_LATIN1 = re.compile(rb"[\xc2\xc3][\x80-\xbf]|\xe2[\x80-\xbf]{2}")
CONTROLS = re.compile(rb"[\x80-\x9f]")  # letters and marks of Windows-1252, but none of Latin-1


def malformed(path: Path, line: int, expected: str) -> DataError:
    """Return the error for line ``line`` (from 1) of ``path``, which is not as ``expected``."""
    expected = expected if len(expected) <= 400 else f"{expected[:400]}…"
    return DataError(f"{path}:{line}: {expected}; the file is damaged or of another format")


def read_text_lines(path: Path, *, or_latin1: bool = False) -> list[str]:
    r"""Return the lines of a text file in UTF-8 without their ends (``\n`` or ``\r\n``).

    Only these two end a line: other separators of Unicode (U+2028, U+0085) occur within tokens.

    Args:
        path: the file. A byte order mark is dropped.
        or_latin1: whether it may be in Latin-1 throughout, as CoNLL-2002 and 2003 were distributed.

    Raises:
        DataError: if the file cannot be read, or its text is in neither encoding; names the line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        place, encodings = error.start, "UTF-8"
        if or_latin1:
            encodings = "UTF-8, or in Latin-1 throughout"
            if not UTF8_IN_LATIN1.search(content):
                control = CONTROLS.search(content)
                if control is None:
                    return _lines(content.decode("latin-1"))
                place = control.start()
        line = content.count(b"\n", 0, place) + 1
        raise malformed(path, line, f"expected text in {encodings}: {error.reason}") from error
    return _lines(text.removeprefix("\ufeff"))


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file in UTF-8 with their numbers, one after the other.

    As `read_text_lines`, for a file that is too large to be held.

    Raises:
        DataError: if the file cannot be read, or a line is not UTF-8; names the line.
    """
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                try:
                    line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    expected = f"expected text in UTF-8: {error.reason}"
                    raise malformed(path, number, expected) from error
                yield number, line.removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> DataError:
    return DataError(f"{path} cannot be read ({error.strerror}): check the path")


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


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
    rows = []
    for number, line in enumerate(read_text_lines(path), start=1):
        if separator is None:
            cells = re.split(r"[ \t]+", line, maxsplit=n_columns - 1)
        else:
            cells = line.split(separator, n_columns - 1)
        if len(cells) != n_columns:
            raise malformed(path, number, f"expected {n_columns} columns, found {len(cells)}")
        rows.append(tuple(cells))
    return rows
