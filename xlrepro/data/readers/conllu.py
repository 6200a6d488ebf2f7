"""CoNLL-U, the format of Universal Dependencies (https://universaldependencies.org/format.html).

The tokens of a sentence are its syntactic words: the lines of multiword tokens (``1-2``) and of
empty nodes (``1.1``) are dropped, as UD's own evaluation does. The reader takes the columns that a
``Sentence`` has and checks them; it is some five times as fast as the ``conllu`` package, against
which the tests compare it.
"""

import re
from pathlib import Path

from xlrepro.data.readers.text_files import malformed, read_text_lines
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError

_FIELDS = 10
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(.*?)\s*$")
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)$")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)$")


def read_conllu(path: Path) -> list[Sentence]:
    """Return the sentences of a CoNLL-U file with tokens, UPOS, heads, relations and ``sent_id``.

    A layer that is ``_`` on every word of a sentence is ``None`` there.

    Args:
        path: a plain text file in UTF-8.

    Raises:
        DataError: for the first line that breaks the format, with its number and what was expected.
    """
    lines = read_text_lines(path)
    if lines and lines[-1] != "":
        lines.append("")
    sentences = []
    start = 0
    # index finds the next blank line at the speed of C; the blank line after the last sentence
    # is guaranteed above.
    while start < len(lines):
        end = lines.index("", start)
        if end > start:  # blank lines in a row separate as one does
            sentences.append(_sentence(path, start, lines[start:end]))
        start = end + 1
    return sentences


def _sentence(path: Path, start: int, block: list[str]) -> Sentence:
    """Read one sentence; ``start`` is the number of lines before it."""
    identifier, n_comments = _comments(block)
    words: list[list[str]] = []
    for offset, line in enumerate(block[n_comments:], start=n_comments):
        fields = line.split("\t")
        if len(fields) != _FIELDS:
            expected = f"expected {_FIELDS} columns separated by tabs, found {len(fields)}"
            raise malformed(path, start + offset + 1, expected)
        if fields[0] == str(len(words) + 1):
            words.append(fields)
        else:
            problem = _not_a_word(fields[0], len(words))
            if problem:
                raise malformed(path, start + offset + 1, problem)
    if not words:
        raise malformed(path, start + len(block) + 1, "expected a sentence of at least one word")
    columns = list(zip(*words))
    if "" in columns[1] or "" in columns[3] or "" in columns[7]:
        raise _bad_cell(path, start, block)
    return Sentence(
        tokens=columns[1],
        upos=_layer(path, start, block, columns[3]),
        heads=_heads(path, start, block, columns[6]),
        deprels=_layer(path, start, block, columns[7]),
        identifier=identifier,
    )


def _comments(block: list[str]) -> tuple[str | None, int]:
    """Return the ``sent_id`` and the number of comment lines before the first word."""
    identifier = None
    for count, line in enumerate(block):
        if not line.startswith("#"):
            return identifier, count
        match = _SENT_ID.match(line)
        if match:
            identifier = match.group(1)
    return identifier, len(block)


def _not_a_word(identifier: str, n_words: int) -> str | None:
    """Say what is wrong with an ID that is not the next word's; ``None`` if it may be dropped."""
    expected = f"expected ID {n_words + 1}, found {identifier!r}"
    match = _RANGE.match(identifier)
    if match:
        first, last = int(match.group(1)), int(match.group(2))
        return None if first == n_words + 1 and last >= first else expected
    match = _EMPTY_NODE.match(identifier)
    if match:
        return None if int(match.group(1)) == n_words else expected
    return expected


def _layer(
    path: Path, start: int, block: list[str], values: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Return one column, ``None`` if it is not annotated."""
    if "_" not in values:
        return values
    if all(value == "_" for value in values):
        return None
    raise _bad_cell(path, start, block)


def _heads(
    path: Path, start: int, block: list[str], values: tuple[str, ...]
) -> tuple[int, ...] | None:
    """Return the HEAD column as numbers, ``None`` if it is not annotated."""
    if all(value == "_" for value in values):
        return None
    try:
        heads = tuple(map(int, values))
    except ValueError:
        raise _bad_cell(path, start, block) from None
    if min(heads) < 0 or max(heads) > len(heads) or not all(map(str.isdecimal, values)):
        raise _bad_cell(path, start, block)
    return heads


def _bad_cell(path: Path, start: int, block: list[str]) -> DataError:
    """Find the cell that made a column unusable; only called when there is one."""
    words = [
        (number, fields)
        for number, line in enumerate(block, start=start + 1)
        if (fields := line.split("\t"))[0].isdecimal()
    ]
    for number, fields in words:
        for name, column in (("FORM", 1), ("UPOS", 3), ("DEPREL", 7)):
            if not fields[column]:
                return malformed(path, number, f"expected a {name}, found an empty column")
        head = fields[6]
        if head != "_" and not (head.isdecimal() and int(head) <= len(words)):
            return malformed(
                path, number, f"expected a HEAD from 0 to {len(words)}, found {head!r}"
            )
    for name, column in (("UPOS", 3), ("HEAD", 6), ("DEPREL", 7)):
        unknown = [number for number, fields in words if fields[column] == "_"]
        if 0 < len(unknown) < len(words):
            expected = f"expected a {name} as on the sentence's other words, found '_'"
            return malformed(path, unknown[0], expected)
    return malformed(path, start + 1, "expected a well-formed sentence")
