"""Curves along a setting: what they draw and say."""

import pytest
from scipy import stats

from xlrepro.evidence.figures.curves import gain_along, scores_along
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View

KEY = "word_order/figure3"
ORT = {0: 50.0, 1: 53.0, 2: 51.0}
TRS = {0: 49.0, 1: 50.0, 2: 50.5}
CELLS = {
    ("word:TRS", "es/10"): TRS,
    ("word:ORT", "es/10"): ORT,
    ("word:ORT", "es/1"): {0: 60.0, 1: 61.0},
    ("word:TRS", "es/1"): {0: 70.0, 1: 71.5},
    ("word:ORT", "th/1"): {0: 30.0},
    ("word:TRS", "th/1"): {5: 30.0},
}


@pytest.fixture(scope="module")
def found(numbers):
    return numbers(CELLS, KEY, metric="slot F1")


def drawn(figure, panel):
    """Return label to the means that its line goes through, in one panel."""
    axes = figure.drawing.axes[panel]
    handles, labels = axes.get_legend_handles_labels()
    return {name: list(h.lines[0].get_ydata()) for h, name in zip(handles, labels, strict=True)}


def test_each_target_has_a_panel_and_each_system_a_line_in_the_order_of_values(found):
    figure = scores_along(View(KEY, "open", found), along="width")
    titles = [axes.get_title() for axes in figure.drawing.axes]
    assert [title.split(": ")[1] for title in titles] == ["es (open)", "th (open)"]
    assert drawn(figure, 0) == {
        "ORT": [60.5, 51.333333333333336],
        "TRS": [70.75, 49.833333333333336],
    }
    assert drawn(figure, 1) == {"ORT": [30.0], "TRS": [30.0]}


def test_values_stand_at_their_distance_and_systems_apart(found):
    axes = scores_along(View(KEY, "open", found), along="width").drawing.axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "10"]
    places = [list(handle.lines[0].get_xdata()) for handle in axes.containers]
    assert [b - a for a, b in places] == pytest.approx([9, 9])
    assert 0 < places[1][0] - places[0][0] < 0.5


def test_the_intervals_are_those_over_seeds(found):
    axes = scores_along(View(KEY, "open", found), along="width").drawing.axes[0]
    (bars,) = axes.containers[0].lines[2]
    drawn_low, drawn_high = bars.get_segments()[1][:, 1]
    values = list(ORT.values())
    expected = stats.t.interval(0.95, 2, stats.tmean(values), stats.sem(values))
    assert (drawn_low, drawn_high) == pytest.approx(expected)


def test_the_text_says_where_each_curve_begins_and_ends(found):
    alt = scores_along(View(KEY, "open", found), along="width").alt
    assert "es, TRS: 70.75 at 1 to 49.83 at 10; th, ORT: 30.00 at 1; " in alt


def test_the_gain_is_paired_by_seed_and_leaves_out_what_shares_none(found):
    figure = gain_along(View(KEY, "open", found), along="width")
    (axes,) = figure.drawing.axes
    (line,) = axes.containers
    assert list(line.lines[0].get_ydata()) == pytest.approx([-10.25, 1.5])
    (bars,) = line.lines[2]
    test = stats.ttest_rel(list(ORT.values()), list(TRS.values())).confidence_interval(0.95)
    assert list(bars.get_segments()[1][:, 1]) == pytest.approx([test.low, test.high])


def test_the_gain_says_where_its_interval_leaves_out_zero(found):
    alt = gain_along(View(KEY, "open", found), along="width").alt
    assert "es: −10.25 (below 0) at 1, +1.50 at 10." in alt


def test_one_seed_has_a_point_and_no_interval(numbers):
    cells = {("word:ORT", "es/1"): {0: 60.0}, ("word:TRS", "es/1"): {0: 58.0}}
    figure = gain_along(View(KEY, "open", numbers(cells, KEY)), along="width")
    (bars,) = figure.drawing.axes[0].containers[0].lines[2]
    assert bars.get_segments()[0][:, 1].tolist() == [2.0, 2.0]
    assert "es: +2.00 at 1." in figure.alt


def test_other_systems_can_be_compared(found):
    figure = gain_along(
        View(KEY, "open", found), along="width", first="word:TRS", second="word:ORT"
    )
    assert "TRS − ORT" in figure.drawing.axes[0].get_ylabel()
    assert "+10.25 (above 0) at 1" in figure.alt


@pytest.mark.parametrize("draw", [scores_along, gain_along])
def test_without_numbers_there_is_nothing_to_draw(draw):
    alt = draw(View(KEY, "open", ReproducedNumbers([])), along="width").alt
    assert "nothing was run" in alt or "share no seed" in alt


@pytest.mark.parametrize("draw", [scores_along, gain_along])
def test_the_same_numbers_give_the_same_drawing(draw, found):
    first, second = (draw(View(KEY, "open", found), along="width").svg() for _ in range(2))
    assert first == second


def test_titles_of_neighbouring_panels_do_not_touch(numbers):
    cells = {("word:ORT", f"{t}/{v}"): {0: 1.0, 1: 2.0} for t in ("es", "th") for v in ("0", "0.1")}
    along = "share of the target's training utterances"
    drawing = scores_along(View(KEY, "open", numbers(cells, KEY)), along=along).drawing
    drawing.canvas.draw()
    left, right = (axes.title.get_window_extent() for axes in drawing.axes)
    assert left.x1 < right.x0
