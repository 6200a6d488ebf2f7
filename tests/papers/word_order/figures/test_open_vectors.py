"""Means over languages of what open vectors cover and align."""

from xlrepro.evidence.view import View
from xlrepro.papers.word_order.figures.open_vectors import over_languages

CELLS = {
    ("vectors:dictionary", "de/P@1"): {0: 40.0},
    ("vectors:dictionary", "es/P@1"): {0: 60.0},
    ("vectors:mapped", "de/P@1"): {0: 10.0},
    ("vectors:mapped", "es/P@1"): {0: 30.0},
    ("vectors:mapped", "zh/P@1"): {0: 2.0},
    ("vectors:mapped", "zh/coverage"): {0: 90.0},
}


def test_a_mean_is_over_the_languages_that_all_sets_have(numbers):
    found = numbers(CELLS, "word_order/open_vectors", metric="P@1")
    plot = over_languages(View("word_order/open_vectors", "open", found))
    shown = {row.label: [mark.value for mark in row.marks] for row in plot.rows}
    assert shown == {"P@1 (2)": [50.0, 20.0], "coverage (1)": [90.0]}
    assert "P@1, mapped: 20.0" in plot.alt
