"""Score against cost: which point is drawn where, and which runs are marked as collapsed."""

import pytest

from xlrepro.evidence.view import View
from xlrepro.papers.man_moe.figures.tradeoffs import score_against_seconds

KEY = "man_moe/mappings"
CELLS = {
    ("mapping:MUSE", "de/P@1"): {0: 0.0, 1: 2.0},
    ("mapping:MUSE", "de/seconds"): {0: 30.0, 1: 50.0},
    ("mapping:MUSE", "de/collapsed"): {0: 100.0, 1: 0.0},
    ("mapping:MUSE", "es/P@1"): {0: 20.0, 1: 20.0},
    ("mapping:MUSE", "es/seconds"): {0: 30.0, 1: 30.0},
    ("mapping:MUSE", "es/collapsed"): {0: 0.0, 1: 0.0},
    ("mapping:RCSLS", "de/P@1"): {0: 9.0},
    ("mapping:RCSLS", "de/seconds"): {0: 5.0},
}


@pytest.fixture
def figure(numbers):
    return score_against_seconds(View(KEY, "open", numbers(CELLS, KEY)))


def test_a_point_stands_at_the_means_over_seeds(figure):
    lines = figure.drawing.axes[0].lines
    places = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]
    assert places == [(40.0, 1.0), (30.0, 20.0), (5.0, 9.0)]


def test_only_points_of_collapsed_runs_are_hollow(figure):
    hollow = [line.get_markerfacecolor() == "none" for line in figure.drawing.axes[0].lines]
    assert hollow == [True, False, False]


def test_the_sentence_names_what_collapsed(figure):
    assert "MUSE: at best 20.00 (es), collapsed in de; RCSLS: at best 9.00 (de)." in figure.alt


def test_nothing_run_is_said(numbers):
    assert "nothing was run" in score_against_seconds(View(KEY, "open", numbers({}, KEY))).alt
