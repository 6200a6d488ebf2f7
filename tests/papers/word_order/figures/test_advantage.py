"""Where ORT is ahead, said from planted advantages on both halves, and from none."""

import random
import re

import pytest

from xlrepro.evidence.view import View
from xlrepro.papers.word_order.figures.advantage import (
    Gain,
    extent,
    gains,
    languages_of,
    scores_in_english,
    table_of_places,
    where_ort_is_ahead,
)
from xlrepro.papers.word_order.figures.order_effect import what_order_adds

KEY = "word_order/alignment_quality"
LEVELS = {
    "artificial": {"right 100": 99.0, "right 50": 60.0, "right 10": 12.0},
    "word": {"dictionary": 31.0, "noise 3": 8.0, "mapped": 3.0},
}
LANGUAGES = {"artificial": {"order0": 0.0, "order1": 0.2}, "word": {"hi": 0.4, "de": 0.14}}
PLACES = 6  # two languages at three levels


def planted(numbers, gain=lambda *place: 0.0, blocks=("artificial", "word"), seeds=(0, 1, 2)):
    """Scores in which ORT gains ``gain(block, task, level, language, other)`` points.

    The seeds move all encoders by 10 points, the pairs by 0.1.
    """
    values = {}
    if "artificial" in blocks:
        for code, far in LANGUAGES["artificial"].items():
            values["measured:distance", f"distance/{code}"] = {0: far}
    for block in blocks:
        for task in ("POS", "SF"):
            for level, p in LEVELS[block].items():
                for code in (*LANGUAGES[block], "avg"):
                    column = f"{task}/{level}/{code}"
                    values["measured:P@1", column] = {0: p}
                    values[f"{block}:ORT", column] = {s: 50 + 10 * s + 0.1 * (s % 3) for s in seeds}
                    for other in ("TRS", "BiLSTM", "RPT"):
                        lead = gain(block, task, level, code, other)
                        values[f"{block}:{other}", column] = {
                            s: 50.1 + 10 * s - lead for s in seeds
                        }
    return numbers(values, KEY)


def cell(found, place, other):
    """The table's entry of a place, ``"POS, order1"``, and another encoder."""
    table = table_of_places(View(KEY, "open", found))
    column = [h.text for h in table.headings].index(f"ORT above {other}")
    (row,) = [row for row in table.rows if row[0].text == place]
    return row[column].text, row[column].detail


def sentence(found, start):
    (one,) = [s for s in where_ort_is_ahead(View(KEY, "open", found)).sentences if start in s]
    return one


def test_levels_stand_by_their_measured_alignment(numbers):
    found = gains(View(KEY, "open", planted(numbers)), "POS")
    assert [(g.level, g.p_at_1) for g in found] == [
        ("dictionary", 31.0),
        ("noise 3", 8.0),
        ("mapped", 3.0),
    ]


def test_differences_are_paired_by_seed(numbers):
    found = planted(numbers, lambda *place: 2.0)
    (first, *_) = gains(View(KEY, "open", found), "POS")
    half = 4.303 * 0.1 / 3**0.5  # Student's t with two degrees of freedom
    assert (first.mean, first.low, first.sign) == (
        pytest.approx(2.0),
        pytest.approx(2.0 - half, abs=1e-3),
        "+",
    )


def test_a_planted_advantage_is_found_at_its_levels_and_nowhere_else(numbers):
    def gain(block, task, level, code, other):
        there = {
            ("artificial", "POS", "order1", "TRS"): ("right 50", "right 10"),
            ("artificial", "SF", "order0", "RPT"): ("right 100", "right 50"),
            ("word", "POS", "de", "BiLSTM"): ("mapped", "noise 3"),
            ("word", "SF", "avg", "TRS"): ("noise 3",),
        }
        return 2.0 * (level in there.get((block, task, code, other), ()))

    found = planted(numbers, gain)
    expected = {
        ("POS, order1", "TRS"): "from P@1 60 down",
        ("SF, order0", "RPT"): "from P@1 60 up",
        ("POS, de", "BiLSTM"): "from P@1 8 down",
    }
    table = table_of_places(View(KEY, "open", found))
    heads = [h.text.removeprefix("ORT above ") for h in table.headings]
    shown = {
        (row[0].text, heads[i]): row[i].text
        for row in table.rows
        for i in range(3, 6)
        if row[i].text != "nowhere"
    }
    assert shown == {**expected, ("SF, mean of languages", "TRS"): "only at P@1 8"}
    assert len(table.rows) == 12


def test_without_a_difference_every_place_says_nowhere(numbers):
    found = planted(numbers)
    table = table_of_places(View(KEY, "open", found))
    assert {e.text for row in table.rows for e in row[3:]} == {"nowhere"}
    assert {e.detail for row in table.rows for e in row[3:]} == {""}
    for said in where_ort_is_ahead(View(KEY, "open", found)).sentences:
        assert "ORT is not shown to differ from" in said
        assert "above zero nowhere, below zero nowhere" in said


def test_ahead_of_one_and_behind_another_is_said(numbers):
    leads = {"TRS": 2.0, "BiLSTM": -4.0, "RPT": 0.0}
    found = planted(numbers, lambda *place: leads[place[-1]])
    for where in ("POS, artificial", "SF, artificial", "POS, the paper's", "SF, the paper's"):
        said = " ".join(
            s for s in where_ort_is_ahead(View(KEY, "open", found)).sentences if s.startswith(where)
        )
        assert "ORT is ahead of TRS: mean over 6 places +2.00" in said
        assert "ORT is behind BiLSTM: mean over 6 places −4.00" in said
        assert "ORT is not shown to differ from RPT: mean over 6 places 0.00" in said
        assert said.count("languages lies above zero at every level, below zero nowhere") == 1
        assert said.count("languages lies above zero nowhere, below zero at every level") == 1
    assert cell(found, "POS, hi", "TRS") == ("at every level", "")
    assert cell(found, "POS, hi", "BiLSTM") == ("nowhere", "below at every level")


@pytest.mark.parametrize(
    ("ran", "missing"), [("artificial", "the paper's languages"), ("word", "artificial languages")]
)
def test_a_missing_half_is_said_and_the_other_one_stands(numbers, ran, missing):
    found = planted(numbers, lambda *place: 2.0, blocks=(ran,))
    said = where_ort_is_ahead(View(KEY, "open", found)).sentences
    assert [s for s in said if missing in s] == [f"{t}, {missing} (open): not run." for t in TASKS]
    assert sum("ahead of" in s for s in said) == 6
    assert len(table_of_places(View(KEY, "open", found)).rows) == 6


TASKS = ("POS", "SF")


def test_an_encoder_that_was_not_run_is_said(numbers):
    whole = planted(numbers)
    part = type(whole)(c for c in whole if c.system != "artificial:RPT")
    assert sentence(part, "POS, artificial languages (open): ORT, RPT").endswith("not all run.")
    assert cell(part, "POS, order0", "RPT")[0] == "not run"
    assert cell(part, "POS, order0", "TRS")[0] == "nowhere"


def test_seeds_that_the_two_do_not_share_are_not_compared(numbers):
    ours, theirs = planted(numbers, seeds=(0, 1, 2)), planted(numbers, seeds=(3, 4, 5))
    mixed = type(ours)([*(c for c in ours if "TRS" not in c.system),
                        *(c for c in theirs if "TRS" in c.system)])  # fmt: skip
    assert sentence(mixed, "SF, the paper's languages (open): ORT, TRS").endswith("not all run.")


def test_one_seed_has_no_interval_and_says_so(numbers):
    found = planted(numbers, lambda *place: 2.0, seeds=(0,))
    assert all("one seed" in s for s in where_ort_is_ahead(View(KEY, "open", found)).sentences)
    assert cell(found, "POS, de", "TRS")[0] == "one seed"


def test_intervals_that_hold_one_by_one_may_not_hold_together(numbers):
    # Half an interval is 0.25 points, and 0.63 when widened for six: t(1 − 0.05 / 12, df 2) = 10.9.
    leads = {"right 100": 0.4, "right 50": 2.0}

    def gain(block, task, level, code, other):
        return leads.get(level, 0.0) if code == "order1" else 0.0

    said = sentence(planted(numbers, gain), "POS, artificial languages (open): ORT is ahead of TRS")
    assert f"Of the {PLACES} intervals of a language at a level, above zero: 2, below: 0" in said
    assert f"Widened for {PLACES} comparisons (Bonferroni), above zero: 1, below: 0" in said


def test_as_many_intervals_leave_out_zero_as_is_said_of_chance(numbers):
    draw = random.Random(7)
    values = {}
    for language in range(100):
        for level in range(4):
            column = f"POS/noise {level}/l{language}"
            values["measured:P@1", column] = {0: 20.0 - level}
            for system in ("ORT", "TRS"):
                values[f"word:{system}", column] = {s: draw.gauss(50, 2) for s in range(3)}
    said = sentence(numbers(values, KEY), "differ from TRS")
    found = re.search(
        r"above zero: (\d+), below: (\d+), by chance on each side: about (\S+)\.", said
    )
    above, below, chance = map(float, found.groups())
    assert chance == 10.0  # 2.5 % of 400
    assert abs(above - chance) < 3 * 9.75**0.5
    assert abs(below - chance) < 3 * 9.75**0.5
    assert "(Bonferroni), above zero: 0, below: 0" in said


@pytest.mark.parametrize(
    ("signs", "said"),
    [
        ("000", "nowhere"),
        ("---", "nowhere"),
        ("+++", "at every level"),
        ("++0", "from P@1 60 up"),
        ("0++", "from P@1 60 down"),
        ("+0+", "only at P@1 90, 30"),
        ("0+0", "only at P@1 60"),
        ("+00", "only at P@1 90"),
        ("00+", "only at P@1 30"),
        ("+", "only at P@1 90"),
    ],
)
def test_a_stretch_is_named_by_its_end_and_single_levels_one_by_one(signs, said):
    levels = [
        Gain(f"level {p}", p, {}, 0.0, 0.0, 0.0, s) for p, s in zip((90.0, 60.0, 30.0), signs)
    ]
    assert extent(levels, "+") == said


def test_languages_stand_by_their_distance_those_without_one_last(numbers):
    found = numbers(
        {("word:ORT", f"POS/dictionary/{c}"): {0: 1.0} for c in ("hi", "th", "fr", "avg")}, KEY
    )
    far = languages_of(View(KEY, "open", found), "POS", "word")
    assert list(far) == ["fr", "hi", "th"]
    assert (far["fr"], far["hi"]) == (0.09, 0.4)  # as printed in Table 2


def english(numbers, **scores):
    spread = (-0.1, 0.0, 0.1)
    return numbers(
        {
            (f"artificial:{name}", "POS/en"): {s: mean + spread[s - i] for s in range(3)}
            for i, (name, mean) in enumerate(scores.items())
        },
        KEY,
    )


def test_english_scores_below_bilstms_are_said(numbers):
    found = english(numbers, BiLSTM=97.9, TRS=92.9, RPT=97.9, ORT=94.9)
    (said,) = scores_in_english(View(KEY, "open", found)).sentences
    assert "BiLSTM 97.9, TRS 92.9 (−5.0; " in said
    assert "RPT 97.9 (0.0; " in said
    assert "Already in English the interval lies below zero for TRS, ORT:" in said


def test_equal_english_scores_are_no_reason_to_doubt(numbers):
    found = english(numbers, BiLSTM=90.0, TRS=90.0, RPT=90.0, ORT=95.0)
    (said,) = scores_in_english(View(KEY, "open", found)).sentences
    assert "Already" not in said


def test_a_row_gives_the_measured_or_the_printed_distance(numbers):
    table = table_of_places(View(KEY, "open", planted(numbers)))
    far = {row[0].text: row[2].text for row in table.rows if row[0].text.startswith("POS")}
    assert far == {
        "POS, order0": "0.00",
        "POS, order1": "0.20",
        "POS, de": "0.14",
        "POS, hi": "0.40",
        "POS, mean of languages": "",
    }


def test_nothing_run_gives_no_rows_and_says_so(numbers):
    nothing = numbers({}, KEY)
    assert table_of_places(View(KEY, "open", nothing)).rows == ()
    assert all(
        s.endswith("not run.") for s in where_ort_is_ahead(View(KEY, "open", nothing)).sentences
    )
    assert scores_in_english(View(KEY, "open", nothing)).sentences == ()


def test_as_text_a_statement_has_no_measured_number(numbers):
    text = repr(where_ort_is_ahead(View(KEY, "open", planted(numbers))))
    assert text == "Where ORT is ahead of TRS, BiLSTM, RPT: 12 sentences computed from records"


def order_sentences(found):
    return what_order_adds(View(KEY, "open", found)).sentences


def test_what_the_farthest_language_gains_more_is_what_order_adds(numbers):
    lead = {("order1", "TRS"): 3.0, ("order0", "TRS"): 1.0, ("order1", "RPT"): -2.0}
    found = planted(numbers, lambda block, task, level, code, other: lead.get((code, other), 0.0))
    trs, bilstm, rpt, *_ = order_sentences(found)
    assert trs.startswith("POS (open), ORT − TRS from distance 0.00 to 0.20: ")
    # every seed has the same lead at a language, and 0.1, 0 or -0.1 beside it in both
    assert "+1.00 becomes +3.00, mean of 3 levels" in trs
    assert "The farther language gains more: +2.00 (95 % interval +2.00 to +2.00)." in trs
    assert "is not shown to change the gain: 0.00" in bilstm
    assert "The farther language gains less: −2.00" in rpt


def test_a_gain_that_is_the_same_at_every_distance_is_not_from_order(numbers):
    found = planted(numbers, lambda *place: 5.0)
    assert ["not shown to change" in s for s in order_sentences(found)[:6]] == [True] * 6


def test_how_many_intervals_chance_would_put_there_is_said(numbers):
    last = order_sentences(planted(numbers))[-1]
    assert last.startswith("By chance alone about 0.15 of these 6 intervals")


def test_one_seed_has_no_interval_of_what_order_adds(numbers):
    found = order_sentences(planted(numbers, seeds=(0,)))
    assert ["one seed, so no interval" in sentence for sentence in found] == [True] * 6


def test_without_artificial_languages_nothing_is_said_of_order(numbers):
    assert order_sentences(planted(numbers, blocks=("word",))) == ()
