"""Supplied labels: known names, left out, or one line with the file and the line."""

import json

import pytest

from xlrepro.data.readers.labelled import read_pairs, read_reviews
from xlrepro.errors import DataError

GOOD = {"sentence1": "A man sees.", "sentence2": "He sees.", "gold_label": "neutral"}


def jsonl(path, *rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_pairs_without_an_agreed_label_are_left_out(tmp_path):
    rows = [{**GOOD, "gold_label": label} for label in ("entailment", "-", "contradiction")]
    found = read_pairs(jsonl(tmp_path / "train.jsonl", *rows))
    assert [label for _, _, label in found] == ["entailment", "contradiction"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (json.dumps({**GOOD, "gold_label": "hidden"}), "unknown label"),
        (json.dumps({**GOOD, "sentence2": " "}), "expected a text, found none"),
        (json.dumps(GOOD)[:30], "expected one JSON object"),
        ('{"premise": "x"}', "expected the texts sentence1"),
    ],
)
def test_what_is_no_pair_is_one_line_with_file_and_line(tmp_path, content, said):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{content}\n", "utf-8")
    with pytest.raises(DataError, match=rf"a\.jsonl:2: {said}") as told:
        read_pairs(path)
    assert "\n" not in str(told.value)


def test_reviews_have_one_of_two_labels(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("positive\tGood .\nnegative\tBad .\n", "utf-8")
    assert read_reviews(path) == [("positive", "Good ."), ("negative", "Bad .")]
    for line, said in (("5.0\tBad .", r"unknown label '5\.0'"), ("positive\t", "expected a text")):
        path.write_text(f"positive\tGood .\n{line}\n", "utf-8")
        with pytest.raises(DataError, match=rf"train\.tsv:2: {said}"):
            read_reviews(path)
