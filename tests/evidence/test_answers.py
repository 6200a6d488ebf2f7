"""What a page answers, in sentences."""

import math

import pytest

from xlrepro.evidence.answers import Gap, answer, difference_sentence, gap_of, headline_of, main_gap
from xlrepro.evidence.catalog import Difference
from xlrepro.evidence.gathered import load_evidence
from xlrepro.evidence.reproduced import View

KEY = "word_order/table2"
MAIN = Difference(first="word:ORT", second="word:TRS", column="avg")


def view_of(numbers, ort, trs, column="avg", profile="open", key=KEY):
    values = {(f"word:{name}", column): dict(enumerate(of))
              for name, of in (("ORT", ort), ("TRS", trs))}  # fmt: skip
    return View(key, profile, numbers(values, profile=profile, experiment=key))


@pytest.mark.parametrize(
    ("ort", "trs", "headline"),
    [
        (
            [60.0, 60.1, 60.2],
            [50.0, 50.2, 50.1],
            "Significant as a single comparison (95 % CI), in",
        ),
        (
            [50.0, 50.1, 50.2],
            [60.0, 60.2, 60.1],
            "Significant as a single comparison (95 % CI), op",
        ),
        ([50.0, 58.0, 51.0], [52.0, 50.0, 55.0], "No significant difference"),
        ([50.0], [52.0], "One seed"),
    ],
)
def test_the_headline_is_the_direction_beside_the_paper_s(numbers, ort, trs, headline):
    assert headline_of(view_of(numbers, ort, trs), MAIN).startswith(headline)


def test_the_sentence_has_interval_seeds_and_the_paper_s_number(numbers):
    ours = "ORT − TRS (average, word vectors): +1.2 points (95 % CI −1.3 to +3.7, two seeds)"
    for profile, where in ("paper", "outside the interval"), ("open", "with other data or weights"):
        view = view_of(numbers, [60, 61], [59, 59.6], profile=profile)
        told = f"{ours}; the paper reports +9.55, {where}."
        assert difference_sentence(view, MAIN) == told


def test_a_pattern_is_the_mean_over_its_columns_and_names_the_ends(numbers):
    values = {
        (s, c): {0: v, 1: v + 0.1}
        for s, of in (("word:ORT", (60, 50, 41, 90)), ("word:TRS", (55, 50, 42, 80)))
        for c, v in zip(("de", "fr", "ar", "en"), of, strict=True)  # en is the source
    }
    view = View(KEY, "open", numbers(values))
    gap = main_gap(view, MAIN.model_copy(update={"column": "*"}))
    assert gap.columns == pytest.approx({"de": 5, "fr": 0, "ar": -1})
    assert (gap.mean, [*gap.columns]) == (pytest.approx((5 + 0 - 1) / 3), ["de", "fr", "ar"])


def test_a_difference_and_its_interval_are_in_the_paper_s_unit(numbers):
    key, rows = "sense_alignment/table2", ("wsd:SaELMo", "wsd:ELMo")
    of = {(rows[0], "SE2"): {0: 57.0, 1: 58.0}, (rows[1], "SE2"): {0: 58.0, 1: 60.0}}
    gap = gap_of(View(key, "open", numbers(of, key, metric="F1")), *rows, ["SE2"])
    assert (gap.mean, gap.reported) == pytest.approx((-0.015, 0.575 - 0.555))
    assert -0.1 < gap.low < gap.mean < gap.high < 0.1


def test_where_lower_is_better_the_ends_turn_round(numbers):
    key, main = "routing_nmt/table1", Difference(first="a:x", second="a:y", column="*/test/PPL")
    values = {(s, f"{p}/test/PPL"): {0: v, 1: v} for s, of in (("a:x", (8, 20)), ("a:y", (10, 10)))
              for p, v in zip(("en-vi", "en-fa"), of, strict=True)}  # fmt: skip
    of_paper = {"experiment": key, "metric": "PPL", "profile": "paper"}
    gap = main_gap(View(key, "paper", numbers(values, **of_paper)), main)
    assert [*gap.columns.values()] == [-2.0, 10.0]


def test_a_proxy_of_two_columns_counts_once_beside_the_mean_of_both(numbers):
    key, column = "routing_nmt/table1", "en-de-5k/test/BLEU"
    values = {("translation:" + s, column): {0: v} for s, v in (("MTL (Full)", 9), ("NMT", 6))}
    view = View(key, "open", numbers(values, experiment=key, metric="BLEU"))
    pairs = ["en-fa/test/BLEU", "en-vi/test/BLEU"]
    gap = gap_of(view, "translation:MTL (Full)", "translation:NMT", pairs)
    assert gap.columns == {column: 3.0}
    assert gap.reported == pytest.approx(((8.73 - 8.35) + (22.6 - 20.18)) / 2)


@pytest.mark.parametrize(
    ("low", "high", "n", "direction"),
    [(0.1, 0.3, 5, "higher"), (-2, -1, 3, "lower"), (-1, 1, 3, "same"), (0, 0, 3, "same"),
     (0, 0, 0, "missing")],
)  # fmt: skip
def test_the_interval_says_the_direction(low, high, n, direction):
    assert Gap((low + high) / 2, low, high, n, "points").direction == direction


def test_no_number_but_zero_reads_as_zero():
    told = "+0.01 points (95 % CI −0.02 to +0.05, n = 3)"
    assert str(Gap(0.012, -0.02, 0.05, 3, "points")) == told
    assert str(Gap(1.0, math.nan, math.nan, 1, "points")) == "+1.0 points (one seed)"


def test_a_smoke_number_is_no_answer(numbers):
    found = answer(view_of(numbers, [1.0], [2.0], profile="smoke"), [], [])
    assert found.headline.startswith("Nothing has been run on real data yet")
    assert found.sentences == ()


def test_no_headline_where_a_condition_fails(numbers, record):
    key = "man_moe/table5"
    main = Difference(first="without:MAN-MoE", second="without:BWE (3-to-1)", column="de/tweets")
    values = {(s, "de/tweets"): {0: v, 1: v + 1} for s, v in ((main.first, 49), (main.second, 60))}
    view = View(key, "open", numbers(values, experiment=key))
    assert headline_of(view, main).startswith(
        "Not testable here: accuracy is not significantly above chance"
    )


def test_without_a_difference_the_cells_or_the_main_claim_and_its_reason_answer():
    evidence, found = load_evidence(), {}
    for key in ("word_order/distances", "word_order/figure2"):
        judged = [(c, evidence.verdicts(key)[c.id]["open"]) for c in evidence.claims(key)]
        view = View(key, "open", evidence.numbers)
        found[key] = answer(view, [each for each in judged if each[1]], evidence.of(key))
    assert found["word_order/distances"].headline.startswith("Of ")
    ((text, verdict),) = [(c.text, v) for c, v in judged if c.id == "O30"]
    assert found[key].headline == f"{verdict.status.capitalize()}: {text}"
    assert found[key].sentences[0].lower() == f"{verdict.note.split('; ')[0]}.".lower()
