"""Texts and pairs of texts with a label, as they are supplied: inference, reviews.

A label that nobody knows is refused with its line, when the file is read.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from xlrepro.data.readers.text_files import malformed, read_text_lines

# As MultiNLI and XNLI have them. XNLI's translated training sets say "contradictory"; "-" is a
# pair whose annotators did not agree, and is left out.
INFERENCE: Mapping[str, str | None] = {
    "entailment": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradictory": "contradiction",
    "-": None,
}
POLARITY: Mapping[str, str | None] = {"negative": "negative", "positive": "positive"}


def read_pairs(path: Path) -> list[tuple[str, str, str]]:
    """Return premise, hypothesis and label of each pair that has one.

    Args:
        path: ``.jsonl`` as MultiNLI is released (``sentence1``, ``sentence2``, ``gold_label``);
            else a table of premise, hypothesis and label with tabs between.

    Raises:
        DataError: for the first line that is not such a pair, with its number.
    """
    cells = _json_cells if path.suffix == ".jsonl" else _table_cells(3)
    return [(p, h, label) for p, h, label in _labelled(path, cells, 2, INFERENCE)]


def read_reviews(path: Path) -> list[tuple[str, str]]:
    """Return label and text of each review of a table: label, tab, text.

    Raises:
        DataError: for the first line that is not a review with a known label, with its number.
    """
    return [(label, text) for label, text in _labelled(path, _table_cells(2), 0, POLARITY)]


def _labelled(
    path: Path,
    cells: Callable[[Path, int, str], list[str]],
    place: int,
    labels: Mapping[str, str | None],
) -> Iterator[list[str]]:
    """Yield the cells of each line, the label (at ``place``) as it is called here."""
    for number, line in enumerate(read_text_lines(path), start=1):
        row = cells(path, number, line)
        label = row[place].strip()
        if label not in labels:
            known = ", ".join(dict.fromkeys(name for name in labels.values() if name))
            raise malformed(path, number, f"unknown label {label!r}, expected one of {known}")
        if not all(map(str.strip, row)):
            raise malformed(path, number, "expected a text, found none")
        if labels[label] is not None:
            row[place] = str(labels[label])
            yield row


def _table_cells(count: int) -> Callable[[Path, int, str], list[str]]:
    def cells(path: Path, number: int, line: str) -> list[str]:
        row = line.split("\t")
        if len(row) != count:
            raise malformed(path, number, f"expected {count} columns, found {len(row)}")
        return row

    return cells


def _json_cells(path: Path, number: int, line: str) -> list[str]:
    names = ("sentence1", "sentence2", "gold_label")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise malformed(path, number, "expected one JSON object") from None
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in names):
        raise malformed(path, number, f"expected the texts {', '.join(names)}")
    return [row[name] for name in names]
