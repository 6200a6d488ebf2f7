"""Texts and pairs of texts with a label, as they are supplied: inference, reviews.

A label that nobody knows is refused with its line, when the file is read.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from xlrepro.data.readers.text_files import malformed, numbered_lines, read_rows

# As MultiNLI has them; "-" is a pair whose annotators did not agree, and is left out.
INFERENCE = {name: name for name in ("entailment", "neutral", "contradiction")} | {"-": ""}
POLARITY = {name: name for name in ("negative", "positive")}


def read_pairs(path: Path) -> list[tuple[str, str, str]]:
    """Return premise, hypothesis and label of each pair that has one.

    Args:
        path: ``.jsonl`` as MultiNLI is released: ``sentence1``, ``sentence2``, ``gold_label``.

    Raises:
        DataError: for the first line that is not such a pair, with its number.
    """
    return [(p, h, label) for p, h, label in _labelled(path, _json_rows(path), 2, INFERENCE)]


def read_reviews(path: Path) -> list[tuple[str, str]]:
    """Return label and text of each review of a table: label, tab, text.

    Raises:
        DataError: for the first line that is not a review with a known label, with its number.
    """
    rows = read_rows(path, 2)
    return [(label, text) for label, text in _labelled(path, rows, 0, POLARITY)]


def _labelled(
    path: Path, rows: Iterable[Sequence[str]], place: int, labels: Mapping[str, str]
) -> Iterator[list[str]]:
    """Yield the cells of each line, the label (at ``place``) as it is called here."""
    for number, cells in enumerate(rows, start=1):
        row = list(cells)
        label = row[place].strip()
        if label not in labels:
            known = ", ".join(dict.fromkeys(name for name in labels.values() if name))
            raise malformed(path, number, f"unknown label {label!r}, expected one of {known}")
        if not all(map(str.strip, row)):
            raise malformed(path, number, "expected a text, found none")
        if name := labels[label]:
            row[place] = name
            yield row


def _json_rows(path: Path) -> Iterator[list[str]]:
    names = ("sentence1", "sentence2", "gold_label")
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise malformed(path, number, "expected one JSON object") from None
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in names):
            raise malformed(path, number, f"expected the texts {', '.join(names)}")
        yield [row[name] for name in names]
