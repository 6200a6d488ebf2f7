"""Figures with a panel per system: what they draw and say."""

import pytest

from xlrepro.evidence.figures.panels import lines_over_values, map_of_weights
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View

SWEEP = {
    ("sweep:k", "5"): {0: 50.0, 1: 52.0},
    ("sweep:k", "1"): {0: 40.0, 1: 42.0},
    ("sweep:k", "10"): {0: 30.0, 1: 30.0},
    ("sweep:lambda_1", "0"): {0: 20.0},
}
GATES = {
    ("gates:NER", "de/en"): {0: 0.2, 1: 0.4},
    ("gates:NER", "de/nl"): {0: 0.8, 1: 0.6},
    ("gates:NER", "nl/de"): {0: 0.9, 1: 0.9},
    ("gates:NER", "nl/en"): {0: 0.1, 1: 0.1},
}


def test_values_stand_in_numerical_order(numbers):
    figure = lines_over_values(View("man_moe/table6", "open", numbers(SWEEP, "man_moe/table6")))
    labels = [[t.get_text() for t in axes.get_xticklabels()] for axes in figure.drawing.axes]
    assert labels == [["1", "5", "10"], ["0"]]
    assert list(figure.drawing.axes[0].lines[0].get_ydata()) == [41.0, 51.0, 30.0]


def test_the_sweep_says_its_ends(numbers):
    figure = lines_over_values(View("man_moe/table6", "open", numbers(SWEEP, "man_moe/table6")))
    assert "k: from 30.00 at 10 to 51.00 at 5; lambda_1: from 20.00 at 0 to 20.00" in figure.alt


@pytest.mark.parametrize(
    ("draw", "cells", "title"),
    [
        (lines_over_values, SWEEP, "Figure: Scores over the values of a setting (open)"),
        (map_of_weights, GATES, "Figure: Average weight of each source's expert (open)"),
    ],
)
def test_a_figure_of_several_panels_is_named_by_its_title(numbers, draw, cells, title):
    assert repr(draw(View("man_moe/table6", "open", numbers(cells, "man_moe/table6")))) == title


def test_the_map_has_targets_as_rows_and_leaves_a_target_out_of_its_own_sources(numbers):
    found = numbers(GATES, "man_moe/figure4", metric="gate weight")
    figure = map_of_weights(View("man_moe/figure4", "open", found))
    (axes,) = figure.drawing.axes
    shown = [t.get_text() for t in axes.texts]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["de", "nl"]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["de", "en", "nl"]
    assert shown == ["0.30", "0.70", "0.90", "0.10"]
    assert "NER, de: most nl (0.70); NER, nl: most de (0.90)" in figure.alt


@pytest.mark.parametrize("draw", [lines_over_values, map_of_weights])
def test_without_numbers_there_is_nothing_to_draw(draw):
    assert "nothing was run" in draw(View("man_moe/table6", "open", ReproducedNumbers([]))).alt
