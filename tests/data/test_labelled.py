"""Supplied labels: known names, left out, or one line with the file and the line."""

import json

import pytest

from xlrepro.data.readers.labelled import read_pairs, read_reviews
from xlrepro.errors import DataError

GOOD = {"sentence1": "A man sees.", "sentence2": "He sees.", "gold_label": "neutral"}


def jsonl(path, *rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_pairs_without_an_agreed_label_are_left_out_and_old_names_are_known(tmp_path):
    labels = ("entailment", "-", "contradictory", "neutral", "contradiction")
    rows = [{**GOOD, "gold_label": label} for label in labels]
    table = tmp_path / "train.tsv"
    table.write_text("".join(f"A man sees.\tHe sees.\t{label} \n" for label in labels), "utf-8")
    for path in (jsonl(tmp_path / "train.jsonl", *rows), table):
        found = [label for _, _, label in read_pairs(path)]
        assert found == ["entailment", "contradiction", "neutral", "contradiction"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", json.dumps({**GOOD, "gold_label": "hidden"}), "a.jsonl:2: unknown label"),
        ("a.jsonl", json.dumps(GOOD)[:30], "a.jsonl:2: expected one JSON object"),
        ("a.jsonl", '{"premise": "x"}', "a.jsonl:2: expected the texts sentence1"),
        ("a.tsv", "one\tneutral", "a.tsv:2: expected 3 columns, found 2"),
        ("a.tsv", "one\ttwo\tthree\tneutral", "a.tsv:2: unknown label .three"),
        ("a.tsv", "one\t \tneutral", "a.tsv:2: expected a text, found none"),
    ],
)
def test_what_is_no_pair_is_one_line_with_file_and_line(tmp_path, name, content, said):
    good = json.dumps(GOOD) if name.endswith("jsonl") else "one\ttwo\tneutral"
    path = tmp_path / name
    path.write_text(f"{good}\n{content}\n", "utf-8")
    with pytest.raises(DataError, match=said) as told:
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
