"""Scorers against hand-worked cases, seqeval, and missing input."""

import numpy as np
import pytest

from xlrepro.errors import DataError
from xlrepro.metrics import accuracy, span_f1

TAGS = ["O", "B-a", "I-a", "B-b", "I-b"]

# gold, predicted, F1 by conlleval
HAND_WORKED = [
    ("B-a I-a O B-b", "B-a I-a O O", 200 / 3),  # one of two spans found, nothing wrong: R 1/2
    ("B-a I-a O O", "B-b I-b O O", 0.0),  # right place, wrong label: nothing counts
    ("B-a I-a O B-b", "B-a O O B-b", 50.0),  # a span cut short is no span of gold
    ("B-a I-a O B-b", "I-a I-a O B-b", 100.0),  # I- without B-: conlleval begins a span there
    ("B-a O", "B-a I-b", 200 / 3),  # the label changes within I-: a|b, and a is right
    ("B-a B-a", "B-a B-a", 100.0),  # B- after B- of one label: two spans
    ("B-a B-a", "B-a I-a", 0.0),  # I- joins what gold keeps apart: neither is right
]


@pytest.mark.parametrize(("gold", "predicted", "f1"), HAND_WORKED)
def test_span_f1_by_hand(gold, predicted, f1):
    assert span_f1([gold.split()], [predicted.split()]) == pytest.approx(f1)


def test_span_f1_counts_over_all_sentences():
    gold = [["B-a"] * 9, ["B-b"]]
    predicted = [["B-a"] * 9, ["O"]]
    assert span_f1(gold, predicted) == pytest.approx(200 * 0.9 / 1.9)  # P 1, R 9/10


def test_accuracy_by_hand():
    assert accuracy(["a", "b", "a", "c"], ["a", "b", "b", "c"]) == 75.0
    assert accuracy([1, 2], [2, 1]) == 0.0
    assert accuracy(np.array([1, 2]), np.array([1, 2])) == 100.0


@pytest.mark.parametrize(
    ("scorer", "gold", "predicted", "message"),
    [
        (accuracy, [], [], "no tokens to score"),
        (accuracy, ["a", "b"], ["a"], "2 gold tokens against 1"),
        (accuracy, [["a"], ["b"]], [["a"], ["b"]], "one tag per token"),
        (span_f1, [], [], "no tokens to score"),
        (span_f1, [["B-a"]], [], "1 gold sentences against 0"),
        (span_f1, [["O"], ["B-a"]], [["O"], ["B-a", "O"]], "sentence 2: 1 gold tags against 2"),
        (span_f1, [["O"]], [["B-a"]], "hold no span"),
        (span_f1, [["B-a"]], [["PER"]], "'PER' is no BIO tag"),
    ],
)
def test_missing_input_is_refused(scorer, gold, predicted, message):
    with pytest.raises(DataError, match=message):
        scorer(gold, predicted)
