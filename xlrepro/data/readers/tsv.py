"""Tables without a header: dictionaries, sentence pairs, word counts, labelled sentences."""

import re
from pathlib import Path

from xlrepro.data.readers.text_files import malformed, read_text_lines


def read_rows(
    path: Path,
    n_columns: int,
    separator: str | None = "\t",
    encoding: str = "utf-8",
) -> list[tuple[str, ...]]:
    r"""Return the rows of a table, each with exactly ``n_columns`` cells.

    No quoting: a quotation mark is a quotation mark. The last cell takes the rest of the line, with
    whatever separators are in it.

    Args:
        path: a plain text file, one row a line.
        n_columns: cells in a row.
        separator: between cells; ``None`` stands for any run of blanks and tabs.
        encoding: of the file.

    Raises:
        DataError: for the first row that has fewer cells, with its line number.
    """
    rows = []
    for number, line in enumerate(read_text_lines(path, encoding), start=1):
        if separator is None:
            cells = re.split(r"[ \t]+", line, maxsplit=n_columns - 1)
        else:
            cells = line.split(separator, n_columns - 1)
        if len(cells) != n_columns:
            raise malformed(path, number, f"expected {n_columns} columns, found {len(cells)}")
        rows.append(tuple(cells))
    return rows
