import pytest

from xlrepro.evidence.claims.comparisons import Comparison, told
from xlrepro.evidence.claims.expressions import parse


def made(text):
    found = []
    value = parse(text, "example").evaluate(made=found)
    return value, [(c.text, c.true) for c in found]


@pytest.mark.parametrize(
    ("text", "comparisons"),
    [
        ("3.14159 > 2.5 > 2.75", [("3.14 > 2.50 > 2.75", False)]),
        ("1.5 < 2 and 3 <= 2", [("1.50 < 2", True), ("3 ≤ 2", False)]),
        ("all(x > 1.5 for x in [1, 2])", [("1 > 1.50", False), ("2 > 1.50", True)]),
        ("sum(x > 1.5 for x in [1, 2, 3]) >= 2", [("2 ≥ 2", True)]),
        ("max([1.5, 2.5]) == 2.5", [("2.50 = 2.50", True)]),
        ("near(6.1, 6.12, 0.005)", [("6.10 = 6.12 ± 0.005", False)]),
        ("near(1 > 0, 1, 0.5) and 1 < 2", [("True = 1 ± 0.5", True), ("1 < 2", True)]),
        ("rising([1, 3, 2])", [("1 ≤ 3 ≤ 2", False)]),
        ("not 1 > 2", [("not 1 > 2", True)]),
        ('argmax([1, 2], ["es", "ar"]) == "es"', [("largest: ar, not es", False)]),
        ('argmin([1, 2], ["es", "ar"]) == "es"', [("smallest: es", True)]),
        (
            'same_set(highest(2, [1, 2, 3], ["a", "b", "c"]), ["b", "a"])',
            [("largest: c, b, not b, a", False)],
        ),
        (
            'all((1 > 2) == (l != "hi") for l in ["hi", "fr"])',
            [("not 1 > 2", True), ("1 > 2", False)],
        ),
        ("67.912 > 67.908", [("67.912 > 67.908", True)]),
        ("67.908 > 67.912 < 70", [("67.908 > 67.912 < 70", False)]),
        ("0.0031 < 0.1", [("0.0031 < 0.10", True)]),
    ],
)
def test_what_a_predicate_compares_is_written_down(text, comparisons):
    value, found = made(text)
    assert found == comparisons
    assert value == all(true for _, true in found)


def test_who_does_not_ask_gets_the_same_value():
    assert parse("2 > 1 and near(1, 2, 1)", "example").evaluate() is True


def test_of_many_comparisons_the_true_ones_are_counted():
    few = [Comparison("2 > 1", True), Comparison("1 > 3", False)]
    assert told(few) == "2 > 1, 1 > 3 ✗"
    assert told(few * 3) == "3 of 6 comparisons true"
    assert told([]) == ""
