"""Figures of alignment quality: what they draw and say, with one half run, both or none."""

import re

import pytest

from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View
from xlrepro.papers.word_order.figures.alignment import (
    gain_against_p_at_1,
    gain_by_alignment_and_distance,
    scores_against_p_at_1,
    scores_on_artificial_languages,
)

KEY = "word_order/alignment_quality"
P_AT_1 = {"mapped": 3.0, "dictionary": 31.0, "noise 3": 8.0}
OFFSETS = {"ORT": 0.0, "TRS": -1.0, "BiLSTM": 4.0, "RPT": -2.0}
DRAWINGS = (
    scores_against_p_at_1,
    scores_on_artificial_languages,
    gain_against_p_at_1,
    gain_by_alignment_and_distance,
)


def real():
    """Cells in which ORT is 2 points more ahead of TRS at ``mapped``."""
    values = {}
    for level, p in P_AT_1.items():
        column = f"POS/{level}/avg"
        values["measured:P@1", column] = {0: p}
        for name, offset in OFFSETS.items():
            more = 2.0 if (name, level) == ("ORT", "mapped") else 0.0
            values[f"word:{name}", column] = {s: 50.0 + 10 * s + offset + more for s in range(3)}
    return values


def artificial():
    """Cells in which ORT is 3 points ahead of TRS, far away at the worst alignment alone."""
    values = {("measured:distance", f"distance/order{i}"): {0: 0.1 * i} for i in range(2)}
    for task in ("POS", "SF"):
        for level, p in (("right 100", 99.0), ("right 10", 12.0)):
            for i in range(2):
                column = f"{task}/{level}/order{i}"
                values["measured:P@1", column] = {0: p}
                gain = 3.0 if (level, i) == ("right 10", 1) else 0.0
                values["artificial:ORT", column] = {0: 49.9 + gain, 1: 60.0 + gain, 2: 70.1 + gain}
                values["artificial:TRS", column] = {0: 50.0, 1: 60.0, 2: 70.0}
                values["artificial:RPT", column] = values["artificial:ORT", column]
                values["artificial:BiLSTM", column] = {0: 55.0, 1: 65.0, 2: 75.0}
    return values


@pytest.mark.parametrize("draw", DRAWINGS)
def test_figures_of_nothing_say_so(draw):
    assert " run" in draw(View(KEY, "open", ReproducedNumbers([])))._repr_html_()


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_half_that_was_not_run_changes_no_figure_of_the_other(draw, numbers):
    nothing = draw(View(KEY, "open", ReproducedNumbers([])))._repr_html_()
    shown = [
        draw(View(KEY, "open", numbers(cells, KEY)))._repr_html_()
        for cells in (real(), artificial(), {**real(), **artificial()})
    ]
    if draw in (scores_on_artificial_languages, gain_by_alignment_and_distance):
        shown[:2] = shown[1::-1]
    assert shown[2] == shown[0] != nothing
    assert re.findall("data-sort|<circle", shown[1]) == []


def test_the_figures_name_every_level(numbers):
    alt = gain_against_p_at_1(View(KEY, "open", numbers(real(), KEY))).alt
    assert all(f"P@1 {p:.1f}" in alt for p in P_AT_1.values())
    assert "POS, ORT − TRS, P@1 3.0: +3.00" in alt
    assert "POS, ORT − BiLSTM, P@1 31.0: −4.00" in alt


def test_gains_are_a_line_per_alignment_with_a_mark_per_encoder(numbers):
    plot = gain_against_p_at_1(View(KEY, "open", numbers(real(), KEY)))
    assert [name for name, _ in plot.key] == ["ORT − TRS", "ORT − BiLSTM", "ORT − RPT"]
    assert {row.label: [round(m.value, 6) for m in row.marks] for row in plot.rows} == {
        "P@1 31.0: dictionary": [1.0, -4.0, 2.0],
        "P@1 8.0: noise 3": [1.0, -4.0, 2.0],
        "P@1 3.0: mapped": [3.0, -2.0, 4.0],
    }


def test_gains_whose_interval_leaves_out_zero_are_bold(numbers):
    table = gain_by_alignment_and_distance(View(KEY, "open", numbers(artificial(), KEY)))
    bold = {
        (row[0].text, row[1].text): [entry.strong for entry in row[2:]]
        for row in table.rows
        if row[0].text.startswith("POS")
    }
    assert bold == {
        ("POS, ORT − TRS", "99"): [False, False],
        ("POS, ORT − TRS", "12"): [False, True],  # far away, at the worst alignment
        ("POS, ORT − BiLSTM", "99"): [True, True],
        ("POS, ORT − BiLSTM", "12"): [True, True],
        ("POS, ORT − RPT", "99"): [False, False],
        ("POS, ORT − RPT", "12"): [False, False],
    }


def test_scores_are_drawn_for_the_nearest_and_the_farthest_order_alone(numbers):
    cells = artificial()
    between = {
        (system, column.replace("order1", "order2")): values
        for (system, column), values in cells.items()
        if "order1" in column
    }
    between["measured:distance", "distance/order2"] = {0: 0.05}
    figure = scores_on_artificial_languages(View(KEY, "open", numbers(cells | between, KEY)))
    assert [axis.get_title() for axis in figure.drawing.axes[:2]] == [
        "POS, distance 0.00",
        "POS, distance 0.10",
    ]


def test_all_encoders_are_drawn_over_alignment_a_panel_per_distance(numbers):
    figure = scores_on_artificial_languages(View(KEY, "open", numbers(artificial(), KEY)))
    panels = figure.drawing.axes
    assert [axis.get_title() for axis in panels] == [
        "POS, distance 0.00",
        "POS, distance 0.10",
        "SF, distance 0.00",
        "SF, distance 0.10",
    ]
    handles, names = panels[1].get_legend_handles_labels()
    lines = {n: list(h.lines[0].get_ydata()) for n, h in zip(names, handles, strict=True)}
    assert lines == {
        "BiLSTM": [65.0, 65.0],
        "TRS": [60.0, 60.0],
        "RPT": [63.0, 60.0],
        "ORT": [63.0, 60.0],
    }
    assert "POS, distance 0.10, P@1 12: highest BiLSTM with 65.0" in figure.alt


def test_an_encoder_has_the_same_colour_whatever_the_order_of_the_records(numbers):
    one, two = numbers(real(), KEY), numbers(dict(reversed(real().items())), KEY)
    drawn = [scores_against_p_at_1(View(KEY, "open", found)).svg() for found in (one, two)]
    assert drawn[0] == drawn[1]


def test_vectors_out_of_an_encoder_are_a_point_of_their_own(numbers):
    values = real()
    values["measured:P@1", "POS/encoder/avg"] = {0: 20.0}
    for name, score in (("ORT", 61.0), ("TRS", 60.5)):
        values[f"word-encoder:{name}", "POS/encoder/avg"] = {s: score + s for s in range(3)}
    view = View(KEY, "open", numbers(values, KEY))
    assert "POS, ORT − TRS, P@1 20.0: +0.50" in gain_against_p_at_1(view).alt
    assert "POS, word-encoder:ORT, best alignment: 62.0" in scores_against_p_at_1(view).alt
