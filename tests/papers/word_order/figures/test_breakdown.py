import pytest

from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View
from xlrepro.papers.word_order.figures.breakdown import gains_by_tag

KEY = "word_order/figure1"
BASE = {"no/NOUN": 50.0, "no/VERB": 40.0, "hi/NOUN": 30.0, "hi/VERB": 20.0, "en/NOUN": 90.0,
        "en/VERB": 90.0, "avg/NOUN": 40.0, "avg/VERB": 30.0}  # fmt: skip
GAINS = {"NOUN": 1.0, "VERB": 3.0}


@pytest.fixture
def drawn(numbers):
    values = {}
    for column, base in BASE.items():
        gain = GAINS[column.split("/")[1]]
        values["word:TRS", column] = {0: base, 1: base + 10}
        # The seeds move both systems by 10 points; the pairs by 0.2 alone.
        values["word:ORT", column] = {0: base + gain - 0.1, 1: base + 10 + gain + 0.1}
    return gains_by_tag(View(KEY, "open", numbers(values, KEY)))


def test_the_sentence_says_the_mean_gain_on_each_tag(drawn):
    assert (
        "word:ORT − word:TRS in 2 languages: mean gain +1.00 on NOUN and +3.00 on VERB" in drawn.alt
    )


def test_languages_stand_by_distance_without_source_and_average(drawn):
    labels = [t.get_text().strip() for t in drawn.drawing.axes[-1].get_xticklabels()]
    assert labels == ["no", "hi"]  # on two lines, in turns


def test_intervals_are_those_of_the_paired_differences(drawn):
    # Two differences 0.2 apart: half width 12.706 * 0.1414 / sqrt(2) = 1.27.
    (bars,) = drawn.drawing.axes[0].containers[0].lines[2]
    low, high = bars.get_segments()[0][:, 1]
    assert (low, high) == (pytest.approx(1 - 1.27, abs=0.01), pytest.approx(1 + 1.27, abs=0.01))


def test_a_language_without_a_drawn_tag_is_left_out(numbers):
    values = {
        (s, c): {0: 1.0, 1: 2.0}
        for s in ("word:TRS", "word:ORT")
        for c in BASE
        if (s, c) != ("word:ORT", "no/VERB")
    }
    figure = gains_by_tag(View(KEY, "open", numbers(values, KEY)))
    assert [t.get_text() for t in figure.drawing.axes[-1].get_xticklabels()] == ["hi"]


def test_a_block_that_lacks_a_language_takes_it_from_no_other(numbers):
    values = {
        (f"{block}:{name}", column): {0: base + (name == "ORT"), 1: base + 2 * (name == "ORT")}
        for block in ("mbert", "word")
        for name in ("TRS", "ORT")
        for column, base in BASE.items()
        if (block, column.partition("/")[0]) != ("word", "no")
    }
    figure = gains_by_tag(View(KEY, "open", numbers(values, KEY)))
    assert "mbert:ORT − mbert:TRS in 2 languages" in figure.alt
    assert "word:ORT − word:TRS in 1 languages" in figure.alt
    places = [axis.containers[0].lines[0].get_xdata() for axis in figure.drawing.axes]
    # no, hi: the word block's one language stands where it stands in the other panel.
    assert [list(x.round()) for x in places] == [[0.0, 1.0], [1.0]]


def test_nothing_run_is_said_in_words():
    figure = gains_by_tag(View(KEY, "open", ReproducedNumbers([])))
    assert "not both run" in figure.alt
