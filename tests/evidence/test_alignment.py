import math

import pytest

from xlrepro.evidence.alignment import (
    gain_against_p_at_1,
    gain_by_alignment_and_distance,
    gains,
    scores_against_p_at_1,
    where_ort_is_ahead,
)
from xlrepro.evidence.reproduced import ReproducedNumbers

KEY = "word_order/alignment_quality"
P_AT_1 = {"mapped": 3.0, "dictionary": 31.0, "noise 3": 8.0}


def made(numbers, ahead, seeds=(0, 1, 2), task="POS"):
    """Cells in which ORT is 2 points ahead at the levels ``ahead``, and 0 elsewhere."""
    values = {}
    for level, p in P_AT_1.items():
        column = f"{task}/{level}/avg"
        values["measured:P@1", column] = {0: p}
        values["word:TRS", column] = {s: 50.0 + 10 * s for s in seeds}
        gain = 2.0 if level in ahead else 0.0
        # The seeds move both by 10 points, the pairs by 0.1.
        values["word:ORT", column] = {s: 50.0 + 10 * s + gain + 0.1 * (s - 1) for s in seeds}
    return numbers(values, KEY)


def said(found):
    return where_ort_is_ahead(found, KEY, "open").sentences[0]


def test_levels_stand_by_their_measured_alignment(numbers):
    found = gains(made(numbers, []), KEY, "open", "POS")
    assert [(g.level, g.p_at_1) for g in found] == [
        ("dictionary", 31.0),
        ("noise 3", 8.0),
        ("mapped", 3.0),
    ]


def test_differences_are_paired_by_seed(numbers):
    (first, *_) = gains(made(numbers, ["dictionary"]), KEY, "open", "POS")
    half = 4.303 * 0.1 / math.sqrt(3)  # Student's t with two degrees of freedom
    assert (first.mean, first.low, first.sign) == (
        pytest.approx(2.0),
        pytest.approx(2.0 - half, abs=1e-3),
        "+",
    )


def test_the_advantage_begins_where_every_worse_level_has_it(numbers):
    sentence = said(made(numbers, ["noise 3", "mapped"]))
    assert "at P@1 8.0 (noise 3), P@1 3.0 (mapped) the 95 % interval" in sentence
    assert "begins at P@1 8.0 (noise 3)" in sentence


def test_an_advantage_that_worse_levels_lack_has_no_beginning(numbers):
    sentence = said(made(numbers, ["dictionary", "noise 3"]))
    assert "there is no alignment from which on ORT is ahead" in sentence


def test_no_advantage_is_said(numbers):
    assert said(made(numbers, [])).startswith("POS (open): at no level the 95 % interval")


def test_one_seed_has_no_interval_and_says_so(numbers):
    assert "one seed" in said(made(numbers, ["mapped"], seeds=(0,)))


def test_what_was_not_run_is_said(numbers):
    sentences = where_ort_is_ahead(made(numbers, []), KEY, "open").sentences
    assert sentences[1] == "SF (open): ORT, TRS and P@1 were not all run."


def test_figures_of_nothing_say_so():
    nothing = ReproducedNumbers([])
    for draw in (scores_against_p_at_1, gain_against_p_at_1, gain_by_alignment_and_distance):
        assert "not" in draw(nothing, KEY, "open").alt or "no" in draw(nothing, KEY, "open").alt


def test_the_figures_name_every_level(numbers):
    alt = gain_against_p_at_1(made(numbers, ["mapped"]), KEY, "open").alt
    assert all(f"P@1 {p:.1f}" in alt for p in P_AT_1.values())
    assert "POS, P@1 3.0: +2.00" in alt


@pytest.fixture
def artificial(numbers):
    values = {("measured:distance", f"distance/order{i}"): {0: 0.1 * i} for i in range(2)}
    for task in ("POS", "SF"):
        for level, p in (("right 100", 99.0), ("right 10", 12.0)):
            for i in range(2):
                column = f"{task}/{level}/order{i}"
                values["measured:P@1", column] = {0: p}
                values["artificial:TRS", column] = {0: 50.0, 1: 60.0, 2: 70.0}
                gain = 3.0 if (level, i) == ("right 10", 1) else 0.0
                values["artificial:ORT", column] = {0: 49.9 + gain, 1: 60.0 + gain, 2: 70.1 + gain}
    return numbers(values, KEY)


def test_the_heat_map_frames_the_cells_whose_interval_leaves_out_zero(artificial):
    figure = gain_by_alignment_and_distance(artificial, KEY, "open")
    frames = [
        [(p.get_x() + 0.48, p.get_y() + 0.48) for p in axis.patches] for axis in figure.drawing.axes
    ]
    assert frames == [[(1.0, 1.0)], [(1.0, 1.0)]]  # the far language, the worst alignment below


def test_the_artificial_places_are_counted(artificial):
    sentence = where_ort_is_ahead(artificial, KEY, "open").sentences[-1]
    assert "of 4 pairs of alignment and distance, the interval is above zero in 1" in sentence
