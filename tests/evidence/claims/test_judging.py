"""Verdicts on reproduced numbers: draws, intervals, seeds, blocks, figures without numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from xlrepro.errors import SettingsError
from xlrepro.evidence.claims.files import Claim, load_claims
from xlrepro.evidence.claims.judging import Condition, Judge
from xlrepro.evidence.claims.table import verdict_entry
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.reproduced import t_interval
from xlrepro.evidence.view import View

ALL = load_claims()


def by_id(name):
    return next(c for c in ALL if c.id == name)


def claim(predicate, **more):
    fields = {"id": "T1", "kind": "text", "section": "s", "text": "t", "cells": "c"}
    return Claim(**{**fields, "paper": "word_order", "predicate": predicate, **more})


ABOVE = claim('value("table2", "word:ORT", "avg") > value("table2", "word:TRS", "avg")')
OPEN = Condition("open")


def on(numbers, first, second, predicate=ABOVE, condition=OPEN):
    found = numbers({("word:ORT", "avg"): first, ("word:TRS", "avg"): second})
    return Judge(found).judge(predicate, condition)


def test_reads_lists_every_cell_whatever_the_values():
    both = claim(
        'value("table2", "word:ORT", "avg") < 0 and value("table2", "word:TRS", "avg") < 0'
    )
    systems = [system for _, system, _ in Judge().reads(both)]
    assert systems == ["word:ORT", "word:TRS"]


@pytest.mark.parametrize(
    ("profile", "status"),
    [("smoke", "not evaluable"), ("open", "not evaluable"), ("paper", "holds")],
)
def test_a_magnitude_is_judged_at_paper_alone(numbers, profile, status):
    size = claim(ABOVE.predicate, magnitudes=True)
    cells = {("word:ORT", "avg"): {0: 2.0, 1: 2.1}, ("word:TRS", "avg"): {0: 1.0, 1: 1.1}}
    verdict = Judge(numbers(cells, profile=profile)).judge(size, Condition(profile))
    assert (verdict.status, verdict.note.startswith("not judged")) == (status, profile != "paper")


def test_a_clear_ordering_holds(numbers):
    verdict = on(numbers, {0: 60.0, 1: 61.0, 2: 62.0}, {0: 50.0, 1: 51.0, 2: 52.0})
    assert (verdict.status, verdict.share, verdict.n) == ("holds", 1.0, 3)


def test_the_opposite_fails(numbers):
    verdict = on(numbers, {0: 50.0, 1: 51.0, 2: 52.0}, {0: 60.0, 1: 61.0, 2: 62.0})
    assert (verdict.status, verdict.share) == ("fails", 0.0)


def test_a_mixed_ordering_is_undecided(numbers):
    verdict = on(numbers, {0: 60.0, 1: 50.0, 2: 60.0}, {0: 50.0, 1: 60.0, 2: 55.0})
    assert verdict.status == "undecided"


def test_a_verdict_says_what_is_compared_and_in_how_many_seeds_it_is_so(numbers):
    verdict = on(numbers, {0: 60.0, 1: 50.0, 2: 61.0}, {0: 50.0, 1: 60.0, 2: 55.0})
    assert [(c.text, c.true) for c in verdict.compared] == [("57.00 > 55.00", True)]
    assert (verdict.alone, verdict.n) == (2, 3)
    detail = verdict_entry(verdict).detail
    assert detail.startswith("57.00 > 55.00; ")
    assert detail.endswith("; in 2 of 3 seeds")


def test_printed_numbers_are_told_too():
    verdict = Judge().judge(ABOVE)
    assert [c.text for c in verdict.compared] == ["53.10 > 43.55"]
    assert (verdict.alone, verdict_entry(verdict).detail) == (None, "53.10 > 43.55")


def test_cells_of_different_seeds_have_no_seeds_in_common(numbers):
    verdict = on(numbers, {0: 60.0, 1: 50.0}, {0: 50.0, 1: 60.0, 2: 55.0})
    assert verdict.alone is None
    assert "n = 2" in verdict_entry(verdict).detail


def test_the_share_of_draws_is_that_of_students_t(numbers):
    # Differences 3 and 1: t = 2 / (1.414 / 1.414) = 2, one degree of freedom
    verdict = on(numbers, {0: 53.0, 1: 51.0}, {0: 50.0, 1: 50.0})
    assert verdict.share == pytest.approx(stats.t.cdf(2.0, 1), abs=0.01)


def test_systems_with_the_same_seeds_are_drawn_together(numbers):
    # Seeds shift both by 40 points; the pairs differ by 0.1. Only pairing can see it.
    verdict = on(numbers, {0: 10.1, 1: 50.1, 2: 90.1}, {0: 10.0, 1: 50.0, 2: 90.0})
    assert (verdict.status, verdict.share) == ("holds", 1.0)


def test_systems_with_other_seeds_are_drawn_apart(numbers):
    verdict = on(numbers, {0: 10.1, 1: 50.1, 2: 90.1}, {3: 10.0, 4: 50.0, 5: 90.0})
    assert verdict.status == "undecided"


def test_the_verdict_does_not_change_from_call_to_call(numbers):
    values = ({0: 60.0, 1: 50.0, 2: 60.0}, {0: 50.0, 1: 60.0, 2: 55.0})
    assert on(numbers, *values) == on(numbers, *values)


def test_one_seed_decides_nothing_and_says_so(numbers):
    verdict = on(numbers, {0: 60.0}, {0: 50.0})
    assert (verdict.status, verdict.share, verdict.note) == (
        "undecided",
        None,
        "one seed decides nothing",
    )
    assert [c.text for c in verdict.compared] == ["60.00 > 50.00"]


def test_a_lone_system_among_others_is_named(numbers):
    verdict = on(numbers, {0: 60.0, 1: 61.0}, {0: 50.0})
    assert (verdict.status, verdict.note) == ("undecided", "one seed decides nothing: word:TRS")


# Three seeds; differences around a mean of 1 whose t is `t`, two degrees of freedom
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("t", [2.5, 2.95, 3.5, 4.2, 4.4, 6.0])
def test_no_verdict_stands_against_an_interval_that_includes_zero(numbers, t, sign):
    step = math.sqrt(3) / t  # the standard error is 1 / t
    second = {0: 50.0, 1: 51.0, 2: 52.0}
    first = {s: v + sign * (1 + step * (s - 1)) for s, v in second.items()}
    found = numbers({("word:ORT", "avg"): first, ("word:TRS", "avg"): second})
    pairs = paired_differences(View("word_order/table2", "open", found), "word:ORT", "word:TRS")
    verdict = Judge(found).judge(ABOVE, OPEN)
    told = {"0": "undecided", "+": "holds", "-": "fails"}
    assert verdict.status == told[pairs["sign"].iloc[0]]


def test_a_share_that_an_interval_contradicts_says_so(numbers):
    # t = 3.5: the share is 0.96, but the interval of two degrees of freedom needs 4.30
    step = math.sqrt(3) / 3.5
    second = {0: 50.0, 1: 51.0, 2: 52.0}
    verdict = on(numbers, {s: v + 1 + step * (s - 1) for s, v in second.items()}, second)
    assert verdict.share > 0.95
    assert (verdict.status, verdict.note) == (
        "undecided",
        "an interval that it compares includes 0",
    )


def test_an_ordering_of_several_fails_by_one_of_its_differences(numbers):
    chain = claim(
        'value("table2", "word:ORT", "avg") > value("table2", "word:RPT", "avg") '
        '> value("table2", "word:TRS", "avg")'
    )
    cells = {"ORT": {0: 5.0, 1: 5.1}, "RPT": {0: 5.0, 1: 5.2}, "TRS": {0: 90.0, 1: 90.1}}
    found = numbers({(f"word:{name}", "avg"): values for name, values in cells.items()})
    assert Judge(found).judge(chain, OPEN).status == "fails"


@pytest.mark.parametrize(
    ("shift", "status"), [(0.0, "undecided"), (50.0, "undecided"), (-50.0, "fails")]
)
def test_a_claim_of_several_comparisons_fails_only_if_one_is_refuted_alone(numbers, shift, status):
    languages = ("es", "de", "fr", "fi", "ru", "hi")
    each = claim(
        f'all(value("table2", "word:ORT", l) > value("table2", "word:TRS", l) for l in {languages})'
    )
    noise = np.random.default_rng(0).normal(size=(len(languages), 2, 3))
    cells = {
        (f"word:{name}", language): dict(enumerate(50 + noise[i, j]))
        for i, language in enumerate(languages)
        for j, name in enumerate(("ORT", "TRS"))
    }
    cells["word:ORT", "es"] = {s: v + shift for s, v in cells["word:ORT", "es"].items()}
    verdict = Judge(numbers(cells)).judge(each, OPEN)
    assert verdict.share <= 0.05
    assert verdict.status == status
    assert ("none of its comparisons is refuted" in verdict.note) == (status == "undecided")


def test_a_verdict_says_what_these_seeds_could_have_decided(numbers):
    verdict = on(numbers, {0: 60.0, 1: 50.0, 2: 61.0}, {0: 50.0, 1: 60.0, 2: 55.0})
    half = t_interval([10.0, -10.0, 6.0]).high - 2.0
    assert verdict.decidable == pytest.approx(half)
    assert f"decidable from {half:.2f}" in verdict_entry(verdict).detail


def test_what_is_decidable_of_a_largest_of_several_comes_from_the_draws(numbers):
    best = claim(
        'value("table2", "word:ORT", "avg") '
        '> max(value("table2", s, "avg") for s in ["word:TRS", "word:RPT"])'
    )
    far = {0: 1.0, 1: 2.0, 2: 3.0}  # far below: TRS alone matters, and so does its interval
    cells = {"ORT": {0: 60.0, 1: 50.0, 2: 61.0}, "TRS": {0: 50.0, 1: 60.0, 2: 55.0}, "RPT": far}
    found = numbers({(f"word:{name}", "avg"): values for name, values in cells.items()})
    both = [Judge(found).judge(one, OPEN).decidable for one in (best, ABOVE)]
    assert both[0] == pytest.approx(both[1], rel=0.1)


def test_no_interval_is_asked_for_where_a_cell_is_compared_with_itself(numbers):
    worst = claim(
        'value("table2", "word:ORT", "avg") '
        '== min(value("table2", s, "avg") for s in ["word:ORT", "word:TRS"])'
    )
    verdict = on(numbers, {0: 1.0, 1: 1.1, 2: 1.2}, {0: 9.0, 1: 9.2, 2: 9.1}, worst)
    assert (verdict.status, verdict.decidable) == ("holds", None)
    assert "no single difference decides it" in verdict_entry(verdict).detail


def test_missing_cells_are_named(numbers):
    found = numbers({("word:ORT", "avg"): {0: 60.0}})
    verdict = Judge(found).judge(ABOVE, OPEN)
    assert (verdict.status, verdict.missing) == ("not run", ("table2 / word:TRS / avg",))


def test_another_profile_does_not_count(numbers):
    verdict = on(numbers, {0: 60.0}, {0: 50.0}, condition=Condition("paper"))
    assert verdict.status == "not run"


def test_a_block_of_ours_can_stand_for_the_papers(numbers):
    found = numbers(
        {("word-mapped:ORT", "avg"): {0: 1.0, 1: 1.0}, ("word-mapped:TRS", "avg"): {0: 2.0, 1: 2.0}}
    )
    verdict = Judge(found).judge(ABOVE, Condition("open", {"word": "word-mapped"}))
    assert verdict.status == "fails"


def test_a_block_of_ours_says_nothing_about_other_blocks():
    assert Judge().judge(by_id("O14"), Condition("open", {"word": "word-mapped"})) is None


LONG, SHORT = "long:MAN-MOE+CharCNN", "without:MAN-MOE+CharCNN"


def test_a_block_that_answers_at_a_profile_is_judged_there_by_the_mean_of_its_targets(numbers):
    plain = {system.replace("MAN-MOE+CharCNN", "BWE+CharCNN (3-to-1)") for system in (LONG, SHORT)}
    ours = {(LONG, t): {0: 5.0 + n, 1: 6.0 + n} for n, t in enumerate(("de", "es", "nl"))}
    theirs = {(s, t): {0: 1.0, 1: 2.1} for s in plain for t in ("de", "es", "nl", "avg")}
    worse = {(SHORT, "avg"): {0: 0.0, 1: 0.0}}
    found = numbers(ours | theirs | worse, "man_moe/table4")
    verdict = Judge(found).judge(by_id("M17o"), OPEN)
    assert (verdict.status, verdict.n, "judged on block long" in verdict.note) == ("holds", 2, True)
    assert verdict.compared[0].text.startswith("6.50 > ")  # the mean of 5.5, 6.5 and 7.5
    smoke = numbers(worse | theirs, "man_moe/table4", profile="smoke")
    at_smoke = Judge(smoke).judge(by_id("M17o"), Condition("smoke"))
    assert at_smoke.compared[0].text.startswith("0.00 > ")


def test_a_block_of_one_table_does_not_touch_claims_on_another_with_rows_of_that_name():
    """man_moe's tables 2 and 4 both have rows ``without:``; ``long`` is table 4's."""
    found = {
        i: Judge().judge(by_id(i), Condition("open", {"without": "long"})) for i in ("M01", "M17o")
    }
    assert found["M01"] is None
    assert found["M17o"].status == "not run"


def test_quoted_rows_keep_their_printed_value(numbers):
    ours = {("without:MAN-MoE", "de/avg"): {0: 99.0, 1: 99.0}}
    found = numbers(ours, "man_moe/table2", "paper", metric="F1")
    verdict = Judge(found).judge(by_id("M06"), Condition("paper"))
    assert verdict.status == "holds"
    assert "printed values for with:MT (test-on-trans.), with:MT (train-on-trans.)" in verdict.note


def test_a_distance_comes_from_the_profile_where_it_was_computed(numbers):
    gain = claim('distance("ja") < distance("no")')
    names = {
        ("distance:mean absolute difference", c): {0: v} for c, v in (("ja", 0.1), ("no", 0.2))
    }
    found = numbers(names, "word_order/distances", "smoke")
    statuses = {p: Judge(found).judge(gain, Condition(p)).status for p in ("reported", "smoke")}
    assert statuses == {"reported": "fails", "smoke": "holds"}


def test_a_comparison_that_no_seed_changes_stands_beside_one_that_seeds_do(numbers):
    both = claim(
        'distance("no") < distance("ja") and '
        'value("table2", "word:ORT", "de") > value("table2", "word:TRS", "de")'
    )
    found = numbers(
        {("word:ORT", "de"): {0: 5.0, 1: 6.0}, ("word:TRS", "de"): {0: 1.0, 1: 1.5}}
        | {("word:TRS", "no"): {0: 1.0, 1: 2.0}}
    )
    assert Judge(found).judge(both, OPEN).status in {"holds", "undecided"}


def test_stale_records_are_mentioned(numbers):
    cells = {("word:ORT", "avg"): {0: 2.0, 1: 2.0}, ("word:TRS", "avg"): {0: 1.0, 1: 1.0}}
    verdict = Judge(numbers(cells, stale=True)).judge(ABOVE, OPEN)
    assert verdict.note == "stale records"


def test_a_cell_that_the_paper_lacks_is_an_error():
    with pytest.raises(SettingsError, match="claim T1: no such cell: word_order/table2 / word:X"):
        Judge().judge(claim('value("table2", "word:X", "avg") > 1'))


def test_an_empty_cell_of_the_paper_cannot_be_evaluated():
    verdict = Judge().judge(claim('value("table2", "word:ORT", "ja") > 1'))
    assert (verdict.status, verdict.missing) == ("not evaluable", ("word:ORT / ja",))


def test_a_predicate_that_is_no_truth_value_is_an_error():
    with pytest.raises(SettingsError, match=r"claim T1: its predicate is 53\.1"):
        Judge().judge(claim('value("table2", "word:ORT", "avg")'))


def test_targets_leave_out_the_source_and_the_averages():
    size = claim(
        'len(targets("table2", "word:ORT")) == 28 and len(columns("table2", "word:ORT")) == 30'
    )
    assert Judge().judge(size).status == "holds"


def test_systems_can_be_listed_by_block():
    listed = claim('systems("table3") == systems("table3", "nlu") and len(systems("table3")) == 3')
    assert Judge().judge(listed).status == "holds"


# Figure 3 has no printed numbers; ORT falls with the kernel size.
FALLS = claim(
    'value("figure3", "word:ORT", "es/1") > value("figure3", "word:ORT", "es/10")',
    kind="figure",
    rule="F1 falls with the kernel size",
)


def test_a_figure_says_nothing_on_printed_numbers_though_it_has_a_predicate():
    verdict = Judge().judge(FALLS)
    assert (verdict.status, verdict.note) == (
        "not evaluable",
        "rests on a figure without printed numbers",
    )


@pytest.mark.parametrize(("last", "status"), [(40.0, "holds"), (60.0, "fails")])
def test_a_figures_predicate_decides_on_reproduced_numbers(numbers, last, status):
    found = numbers(
        {
            ("word:ORT", "es/1"): {0: 50.0, 1: 51.0},
            ("word:ORT", "es/10"): {0: last, 1: last + 1},
        },
        "word_order/figure3",
    )
    assert Judge(found).judge(FALLS, OPEN).status == status


def test_a_figure_half_run_is_not_run(numbers):
    found = numbers({("word:ORT", "es/1"): {0: 50.0}}, "word_order/figure3")
    verdict = Judge(found).judge(FALLS, OPEN)
    assert (verdict.status, verdict.missing) == ("not run", ("figure3 / word:ORT / es/10",))


def test_one_unprinted_cell_among_printed_ones_is_enough():
    mixed = claim('value("figure3", "word:ORT", "es/1") > value("table1", "word:ORT", "SF/es")')
    assert Judge().judge(mixed).status == "not evaluable"


def test_the_columns_of_an_unprinted_figure_must_be_named():
    # Its printed columns are none, and `all` of none would hold.
    vacuous = claim('all(c == "" for c in columns("figure3", "word:ORT"))')
    with pytest.raises(SettingsError, match="the paper prints nothing of figure3"):
        Judge().judge(vacuous)


def test_an_unknown_experiment_is_an_error():
    with pytest.raises(SettingsError, match="unknown experiment 'word_order/figure9'"):
        Judge().judge(claim('value("figure9", "word:ORT", "es") > 1'))


def test_a_verdict_is_reached_once_and_another_predicate_of_the_same_id_has_its_own():
    judge, claim = Judge(), load_claims("word_order")[0]
    opposite = claim.model_copy(update={"predicate": f"not ({claim.predicate})"})
    assert judge.judge(claim) is judge.judge(claim.model_copy())
    assert judge.judge(claim).status != judge.judge(opposite).status
