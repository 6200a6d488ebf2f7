import math
import re
from collections import Counter

import pytest
from scipy import stats

from xlrepro.errors import SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claim_files import Claim, load_claims
from xlrepro.evidence.claims import claims_of, claims_table, conditions_of, verdict_entry
from xlrepro.evidence.judging import Condition, Judge, judge_all, status_counts
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.reproduced import ReproducedNumbers, t_interval
from xlrepro.evidence.view import View
from xlrepro.experiments import all_experiments

# What was found by other code on the same numbers: 80 hold, 12 fail, 8 rest on figures.
FAIL = "M03s M10 M16s S10 S12s O05 O21 N04s A03 A05 A06 A12".split()  # noqa: SIM905
FIGURES = "M22 M23 O29 O30 O31 N05 N06 N07".split()  # noqa: SIM905
HOLD = (
    [f"M{i:02}" for i in range(1, 22) if i != 10] + ["M10w"]
    + [f"S{i:02}" for i in range(1, 14) if i != 10] + ["S10w"]
    + [f"O{i:02}" for i in range(1, 29) if i not in (5, 21)] + ["O05w"]
    + ["N01", "N02", "N03", "N04"]
    + ["A01", "A02", "A03w", "A04", "A05w"] + [f"A{i:02}" for i in (*range(7, 12), *range(13, 18))]
)  # fmt: skip
ALL = load_claims()
POINTS = r"[<>]=? (?!0( |$))[\d.]+|near\("  # it names points, not orderings or signs alone
THE_PAPERS = [c for c in ALL if c.kind != "ours"]


def by_id(name):
    return next(c for c in ALL if c.id == name)


def test_there_are_a_hundred_claims_of_the_papers():
    assert sorted(c.id for c in THE_PAPERS) == sorted(HOLD + FAIL + FIGURES)


def test_the_expected_verdicts_add_up():
    assert (len(HOLD), len(FAIL), len(FIGURES)) == (80, 12, 8)


@pytest.mark.parametrize("claim", THE_PAPERS, ids=lambda c: c.id)
def test_the_verdict_on_the_printed_numbers(claim):
    expected = {**dict.fromkeys(HOLD, "holds"), **dict.fromkeys(FAIL, "fails")}
    assert Judge().judge(claim).status == expected.get(claim.id, "not evaluable")


def test_ids_are_unique():
    assert [i for i, n in Counter(c.id for c in ALL).items() if n > 1] == []


def test_our_own_forms_name_the_claim_they_are_of():
    assert [c.id for c in ALL if c.kind in ("ours", "weak", "strict") and not c.variant_of] == []


COUNTS = {"M03", "O05w", "O30", "A10", "A14", "A14o", "A16"}  # of cells, or ratios: not by how much
VALUES = {"A15", "M12"}  # sizes that no pattern finds: equal to a value, twice as much
# What says that two things are alike has no form without a size; quoted rows are of one corpus.
ALIKE = {
    *("M06", "M07", "M15", "M19", "M21", "O04", "O11", "O11p", "O12", "O12p", "O17", "O17n"),
    *("O22", "O23"),
}


def test_claims_that_name_points_are_about_magnitudes():
    built = {key.partition("/")[0] for key in all_experiments()} | {"ramen", "sense_alignment"}
    claims = [c for c in ALL if c.paper in built and c.predicate]
    named = {c.id for c in claims if re.search(POINTS, " ".join(c.predicate.split()))}
    assert {c.id for c in claims if c.magnitudes} == (named - COUNTS) | VALUES


def test_a_claim_about_magnitudes_has_a_form_without_them():
    forms = {c.variant_of for c in ALL if c.kind in ("ours", "weak") and not c.magnitudes}
    sizes = [c.id for c in ALL if c.magnitudes and c.kind != "strict"]
    assert [i for i in sizes if i not in forms | ALIKE] == []


@pytest.mark.parametrize(
    ("profile", "status"),
    [("smoke", "not evaluable"), ("open", "not evaluable"), ("paper", "holds")],
)
def test_a_magnitude_is_judged_at_paper_alone(numbers, profile, status):
    size = claim(ABOVE.predicate, magnitudes=True)
    cells = {("word:ORT", "avg"): {0: 2.0, 1: 2.1}, ("word:TRS", "avg"): {0: 1.0, 1: 1.1}}
    verdict = Judge(numbers(cells, profile=profile)).judge(size, Condition(profile))
    assert (verdict.status, verdict.note.startswith("not judged")) == (status, profile != "paper")


def test_our_own_forms_hold_on_the_printed_numbers_where_their_claim_does():
    judge = Judge()
    ours = [
        c for c in ALL if c.kind == "ours" and judge.judge(by_id(c.variant_of)).status == "holds"
    ]
    assert len(ours) > 10
    assert [c.id for c in ours if judge.judge(c).status != "holds"] == []


def test_an_unknown_paper_is_an_error():
    with pytest.raises(SettingsError, match="unknown paper 'x'"):
        load_claims("x")


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


def test_a_block_of_one_table_does_not_touch_claims_on_another_with_rows_of_that_name():
    """man_moe's tables 2 and 4 both have rows ``without:``; ``more-text`` is table 4's."""
    found = {
        i: Judge().judge(by_id(i), Condition("open", {"without": "more-text"}))
        for i in ("M01", "M17o")
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


def test_claims_of_an_experiment_are_those_that_read_it():
    ids = [c.id for c in claims_of("word_order/table2", Judge())]
    assert ("O01" in ids, "O03" in ids, "O19" in ids) == (True, False, True)


def test_claims_of_a_figure_are_those_that_rest_on_it():
    assert [c.id for c in claims_of("word_order/figure3", Judge())] == ["O29", "O29s"]


def test_a_block_of_ours_has_a_column_only_where_it_was_run(numbers):
    found = numbers({("word-mapped:ORT", "avg"): {0: 1.0}})
    labels = [
        [c.label for c in conditions_of("word_order", ["open"], n, load_catalog())]
        for n in (found, ReproducedNumbers([]))
    ]
    assert labels == [["reported", "open", "open, word-mapped"], ["reported", "open"]]


def test_statuses_are_counted():
    verdicts = judge_all(ALL, [Condition("reported")], Judge())
    counts = status_counts([verdicts[c.id]["reported"] for c in THE_PAPERS])
    assert counts == {"holds": 80, "fails": 12, "undecided": 0, "not run": 0, "not evaluable": 8}


def test_the_table_shows_each_claim_with_a_verdict_per_condition(numbers):
    found = numbers(
        {("word:ORT", "avg"): {0: 60.0, 1: 60.0}, ("word:TRS", "avg"): {0: 50.0, 1: 50.0}}
    )
    table = claims_table("word_order/table2", ["open"], found)
    row = next(r for r in table.rows if r[0].text == "O01w")
    assert [e.text for e in row[2:]] == ["✓ holds", "✓ holds"]


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


@pytest.mark.parametrize("claim", [c for c in ALL if c.expression], ids=lambda c: c.id)
def test_what_a_claim_reads_of_an_unprinted_figure_can_be_run(claim):
    for key, system, column in Judge().reads(claim):
        built = all_experiments().get(key)
        if built is None or load_catalog().experiment(key).reported:
            continue
        blocks = {s.block for s in built.systems}  # a block that is not built yet is "not run"
        assert system in [s.identifier for s in built.systems] or system.split(":")[0] not in blocks
        assert column in built.columns


def test_a_page_has_no_column_for_a_block_that_only_other_tables_ran(numbers):
    found = numbers({("word-mapped:ORT", "avg"): {0: 1.0}, ("word-mapped:TRS", "avg"): {0: 2.0}})

    def columns(key: str) -> list[str]:
        return [h.text for h in claims_table(key, ["open"], found).headings[2:]]

    assert columns("word_order/table2") == ["reported", "open", "open, word-mapped"]
    assert columns("word_order/table1") == ["reported", "open"]
