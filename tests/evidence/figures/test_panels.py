"""Figures with a panel per system: what they draw and say."""

from xlrepro.evidence.figures.panels import lines_over_values
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View

SWEEP = {
    ("sweep:k", "5"): {0: 50.0, 1: 52.0},
    ("sweep:k", "1"): {0: 40.0, 1: 42.0},
    ("sweep:k", "10"): {0: 30.0, 1: 30.0},
    ("sweep:lambda_1", "0"): {0: 20.0},
}


def test_values_stand_in_numerical_order(numbers):
    figure = lines_over_values(View("man_moe/table6", "open", numbers(SWEEP, "man_moe/table6")))
    labels = [[t.get_text() for t in axes.get_xticklabels()] for axes in figure.drawing.axes]
    assert labels == [["1", "5", "10"], ["0"]]
    assert list(figure.drawing.axes[0].lines[0].get_ydata()) == [41.0, 51.0, 30.0]


def test_the_sweep_says_its_ends(numbers):
    figure = lines_over_values(View("man_moe/table6", "open", numbers(SWEEP, "man_moe/table6")))
    assert "k: from 30.00 at 10 to 51.00 at 5; lambda_1: from 20.00 at 0 to 20.00" in figure.alt


def test_the_figure_is_named_by_its_title(numbers):
    figure = lines_over_values(View("man_moe/table6", "open", numbers(SWEEP, "man_moe/table6")))
    assert repr(figure) == "Figure: Scores over the values of a setting (open)"


def test_without_numbers_there_is_nothing_to_draw():
    figure = lines_over_values(View("man_moe/table6", "open", ReproducedNumbers([])))
    assert "nothing was run" in figure.alt
