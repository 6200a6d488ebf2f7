"""Predicates of claims, and the verdicts on them."""

import numpy as np
import pytest
from scipy import stats

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.claims import (
    CONSISTENT,
    CONTRADICTS,
    INCONCLUSIVE,
    INCONSISTENT,
    NO_EFFECT,
    NOT_CHECKABLE,
    NOT_RUN,
    NOT_TESTABLE,
    REPLICATES,
    Claim,
    ClaimVerdict,
    Condition,
    GapTests,
    Judge,
    Places,
    decide,
    drawn_means,
    kept_at_five_percent,
    laid_out,
    load_claims,
    read_claims,
)
from xlrepro.evidence.predicates import _less, all_of, evaluate, parse, spearman
from xlrepro.evidence.reproduced import ReproducedCell, t_interval

OPEN = Condition("open")


def on_plain(text, **names):
    """Evaluate a predicate on plain numbers."""
    arrays = {name: np.array([value]) for name, value in names.items()}
    return evaluate(text, "claim X", {"v": lambda name: arrays[name]}, {})


# -- Predicates


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ('v("a") > v("b") > v("c")', True),
        ('v("a") > max(v("b"), v("c"))', True),
        ('v("b") > max(v("a"), v("c"))', False),
        ('v("b") < max(v("a"), v("c"))', True),
        ('v("c") < min([v("a"), v("b")])', True),
        ('all(v(x) > v("c") for x in ["a", "b"])', True),
        ('sum(v(x) > v("b") for x in ["a", "b", "c"]) >= 1', True),
        ('sum(v(x) > v("b") for x in ["a", "b", "c"]) > 1', False),
        ('not v("a") < v("b")', True),
        ('v("a") < v("b") or v("b") > v("c")', True),
        ('argmax([v("a"), v("b")], ["A", "B"]) == "A"', True),
        ('same_set(lowest(2, [v("a"), v("b"), v("c")], ["A", "B", "C"]), ["C", "B"])', True),
        ('same_set(highest(2, [v("a"), v("b"), v("c")], ["A", "B", "C"]), ["C", "B"])', False),
        ('v("a") == max(v(x) for x in ["a", "b", "c"])', True),
        ('all((v(x) > v("b")) == (x != "c") for x in ["a", "c"])', True),
        ('near(v("a") - v("b"), 1, 0.01)', True),
        ('near(v("a"), v("b"), 0.5)', False),
        ('rising([v("c"), v("b"), v("a")])', True),
        ('mean(v(x) for x in ["a", "c"]) - v("b") >= 0', True),
        ('-0.5 < v("a") - v("b") <= 1', True),
        ('all(v(x) > 0 for x, keep in (("a", True), ("c", False)) if keep)', True),
        ('spearman([1, 2, 3], [v("c"), v("b"), v("a")]) > 0.9', True),
    ],
)
def test_a_predicate_on_numbers(text, so):
    assert bool(on_plain(text, a=3.0, b=2.0, c=1.0).values[0]) is so


def test_draw_by_draw_a_predicate_is_what_it_is_on_each_draw_alone():
    rng = np.random.default_rng(0)
    draws = {name: rng.normal(size=50) for name in "abc"}
    for text in (
        'v("a") > max(v("b"), v("c"))',
        'sum(v(x) > 0 for x in ["a", "b", "c"]) >= 2',
        'same_set(lowest(2, [v("a"), v("b"), v("c")], ["A", "B", "C"]), ["A", "B"])',
        'spearman([1, 2, 3], [v("a"), v("b"), v("c")]) > 0',
    ):
        together = evaluate(text, "claim X", {"v": draws.__getitem__}, {}).values
        alone = [on_plain(text, **{n: d[i] for n, d in draws.items()}).values[0] for i in range(50)]
        assert together.tolist() == alone


def test_spearman_is_scipys():
    first, second = [3.0, 1.0, 2.0, 2.0], [1.0, 4.0, 2.0, 3.0]
    assert spearman(first, second)[0] == pytest.approx(stats.spearmanr(first, second).statistic)


def test_the_opposite_of_a_comparison_has_the_opposite_gap():
    less, opposite = (
        on_plain(text, a=1.0, b=3.0) for text in ('v("a") < v("b")', 'not v("a") < v("b")')
    )
    assert (less.values[0], opposite.values[0]) == (True, False)
    assert opposite.gap[0] == -less.gap[0] != 0


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "v.__class__", "(lambda: 1)()", "[1][0] > 0", "9**9 > 1",
        "unknown > 1", "open('x')", "{1: 2}", "v('a', key=1) > 0",
    ],
)  # fmt: skip
def test_what_the_language_lacks_is_one_line_that_names_the_claim(text):
    with pytest.raises(SettingsError, match=r"^claim X") as error:
        on_plain(text, a=1.0)
    assert "\n" not in str(error.value)


def test_what_is_no_expression_names_the_column():
    with pytest.raises(SettingsError, match="claim X, column"):
        parse("a >", "claim X")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('v("a") > v("b")', ["2.00 > 1.00"]),
        ('v("a") > v("b") > v("b") - 0.001', ["2.000 > 1.000 > 0.999"]),
        ('argmax([v("a"), v("b")], ["A", "B"]) == "B"', ["largest: A, not B"]),
        ('sum(v(x) > 1 for x in ["a", "b"]) >= 2', ["1 ≥ 2"]),
    ],
)
def test_comparisons_are_written_down(text, told):
    assert [each.text for each in on_plain(text, a=2.0, b=1.0).told] == told


def test_the_same_difference_counts_once():
    true = on_plain('all(v("a") > v("b") for x in [1, 2, 3])', a=2.0, b=1.0)
    assert len(true.leaves) == 1


# -- Draws and tests


def seeds_of(*columns, column="x"):
    """Return cells as they are read, of (seeds,) values each."""
    return {
        ("e", f"s{i}", column): ReproducedCell(
            "word_order/table2", "open", f"s{i}", column, "accuracy", "percent",
            tuple(range(len(values))), tuple(values), ("k",) * len(values),
        )
        for i, values in enumerate(columns)
    }  # fmt: skip


def verdict_of(text, *columns, reported=(), items=None):
    """Judge a predicate over v("s0"), v("s1"), … given as values by seed."""
    arrays, places, _ = laid_out(seeds_of(*columns), lambda a: items)
    true = evaluate(text, "claim X", {"v": lambda s: arrays["e", s, "x"]}, {})
    printed = {f"s{i}": np.array([v]) for i, v in enumerate(reported)}
    theirs = evaluate(text, "claim X", {"v": printed.__getitem__}, {}).leaves if printed else ()
    return decide(true, GapTests(places), theirs)


def test_a_draw_has_the_t_interval_and_keeps_the_correlation_of_seeds():
    values = np.array([[1.0, 2.0], [2.0, 3.1], [4.0, 4.9], [5.0, 6.2]])
    means = drawn_means(values, np.random.default_rng(0), 40_000)
    for column, drawn in zip(values.T, means.T, strict=True):
        low, high = np.quantile(drawn, (0.025, 0.975))
        exact = t_interval(list(column))
        assert (low, high) == pytest.approx((exact.low, exact.high), rel=0.05, abs=0.1)
    gap = np.quantile(means[:, 1] - means[:, 0], (0.025, 0.975))
    exact = t_interval(list(values[:, 1] - values[:, 0]))
    assert tuple(gap) == pytest.approx((exact.low, exact.high), rel=0.05, abs=0.1)


def test_a_comparison_is_a_paired_t_test():
    one, other = [1.0, 2.0, 4.0, 5.5], [0.5, 1.9, 3.0, 4.0]
    verdict = verdict_of('v("s0") > v("s1")', one, other)
    assert verdict.p[0] == pytest.approx(stats.ttest_rel(one, other, alternative="greater").pvalue)


def test_cells_pair_on_the_seeds_that_they_have_in_common():
    three, five = [10.0, 12.0, 11.0], [9.0, 11.0, 10.1, 30.0, -9.0]
    assert verdict_of('v("s0") > v("s1")', three, five).status == REPLICATES


def test_a_difference_is_decided_in_its_direction():
    high, low = [10.0, 10.1, 9.9], [1.0, 1.1, 0.9]
    assert verdict_of('v("s0") > v("s1")', high, low).status == REPLICATES
    assert verdict_of('v("s0") < v("s1")', high, low).status == CONTRADICTS
    assert verdict_of('v("s0") < v("s1")', [1.0, 9.0, 2.0], [3.0, 2.0, 8.0]).status == INCONCLUSIVE


def test_one_seed_decides_nothing():
    assert verdict_of('v("s0") > v("s1")', [10.0], [1.0]).status == INCONCLUSIVE


def test_no_effect_is_an_interval_within_a_quarter_of_the_reported_difference():
    first, second = [50.0, 50.2, 49.9], [50.1, 50.1, 50.0]
    for reported, status in ((9.6, NO_EFFECT), (0.4, INCONCLUSIVE)):
        told = (50 + reported, 50.0)
        assert verdict_of('v("s0") > v("s1")', first, second, reported=told).status == status


def test_test_items_widen_what_seeds_alone_would_decide():
    first, second = [52.0, 52.1, 52.05], [51.0, 51.05, 51.0]
    assert verdict_of('v("s0") > v("s1")', first, second).status == REPLICATES
    assert verdict_of('v("s0") > v("s1")', first, second, items=500).status == INCONCLUSIVE


def test_power_is_small_where_seeds_scatter_more_than_the_reported_difference():
    noisy, quiet = ([50.0, 54.0, 47.0], [51.0, 46.0, 53.0]), ([50.0, 50.1, 50.2],) * 2
    assert verdict_of('v("s0") > v("s1")', *noisy, reported=(51.0, 50.0)).power < 0.2
    assert verdict_of('v("s0") + 0 > v("s1")', *quiet, reported=(51.0, 50.0)).power > 0.9


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("k", [1, 3, 9, 28])
def test_verdicts_are_wrong_in_at_most_five_percent(n, k):
    """Where no difference is there "contradicts" is wrong; at the edge of the claim, "replicates".

    400 made-up experiments of each kind.
    """
    rng, runs = np.random.default_rng(100 * n + k), 400
    wrong = {CONTRADICTS: 0, REPLICATES: 0}
    places = Places(n, draws=200, items=2)
    for kind, shift in ((CONTRADICTS, 0.0), (REPLICATES, 100.0)):
        for _ in range(runs):
            gaps = rng.normal(size=(n, k))
            gaps[:, 1:] += shift  # "replicates": all but one difference are large, that one is 0
            means = gaps.mean(0)
            draws = drawn_means(gaps, rng, 200)
            arrays = np.vstack([means, draws, gaps, means, means])
            true = all_of(_less(0.0, arrays[:, i]) for i in range(k))
            wrong[kind] += decide(true, GapTests(places)).status == kind
    assert max(wrong.values()) / runs <= 0.05


def test_a_count_is_contradicted_only_where_enough_differences_are_reversed():
    rng = np.random.default_rng(1)
    base = [list(rng.normal(50, 0.1, 5)) for _ in range(9)]
    text = 'sum(v("s" + i) > 50.5 for i in I) >= 8'

    def judged(high):
        columns = [[x + 1 for x in c] if i < high else c for i, c in enumerate(base)]
        arrays, places, _ = laid_out(seeds_of(*columns), lambda a: None)
        names = {"I": [str(i) for i in range(9)]}
        true = evaluate(text, "X", {"v": lambda s: arrays["e", s, "x"]}, names)
        return decide(true, GapTests(places)).status

    assert [judged(9), judged(8), judged(3)] == [REPLICATES, REPLICATES, CONTRADICTS]


def test_how_many_stay_at_a_false_discovery_rate_of_five_percent():
    p = [0.0001, 0.004, 0.012, 0.02, 0.4, 0.45]
    verdicts = [ClaimVerdict(INCONCLUSIVE, p=(each, 1 - each)) for each in p]
    kept = sum(stats.false_discovery_control([2 * each for each in p]) <= 0.05)
    assert kept_at_five_percent([*verdicts, None]) == kept == 3


# -- The judge


def claim(predicate, **more):
    return Claim(
        id="X1", kind="text", section="s", text="t", cells="c", paper="word_order",
        predicate=predicate, **more,
    )  # fmt: skip


ABOVE = 'value("table2", "word:ORT", "de") > value("table2", "word:TRS", "de")'


def test_printed_numbers_are_consistent_or_not():
    judge = Judge()
    assert judge.judge(claim(ABOVE)).status == CONSISTENT
    assert judge.judge(claim(ABOVE.replace(">", "<"))).status == INCONSISTENT
    figure = claim('value("figure2", "word:ORT", "es/0") > 0')
    assert judge.judge(figure).status == NOT_CHECKABLE


def test_a_cell_that_the_paper_lacks_is_an_error():
    with pytest.raises(SettingsError, match="no such cell: word_order/table2 / word:ORT / xx"):
        Judge().judge(claim('value("table2", "word:ORT", "xx") > 0'))


def test_a_claim_over_cells_that_nobody_ran_is_not_run(numbers):
    ran = numbers({("word:ORT", "de"): {0: 1.0, 1: 2.0}})
    verdict = Judge(ran).judge(claim(ABOVE), OPEN)
    assert (verdict.status, verdict.missing) == (NOT_RUN, ("table2 / word:TRS / de",))


def test_a_claim_is_judged_on_reproduced_numbers(numbers):
    values = {"word:ORT": [60.0, 60.1, 60.2], "word:TRS": [50.0, 50.2, 50.1]}
    ran = numbers({(s, "de"): dict(enumerate(v)) for s, v in values.items()})
    verdict = Judge(ran).judge(claim(ABOVE), OPEN)
    assert (verdict.status, verdict.n, verdict.alone) == (REPLICATES, 3, 3)
    assert verdict.compared == (("60.10 > 50.10", True),)


def test_sizes_are_not_testable_on_other_data_but_their_sign_only_form_is():
    (size,) = [c for c in load_claims("man_moe") if c.id == "M11"]
    verdict = Judge().judge(size, Condition("smoke"))
    assert verdict.status in (NOT_RUN, NOT_TESTABLE)


def test_every_claim_of_the_papers_is_evaluated():
    judge = Judge()
    statuses = [judge.judge(c).status for c in load_claims()]
    counts = [statuses.count(s) for s in (CONSISTENT, INCONSISTENT, NOT_CHECKABLE)]
    assert counts == [137, 14, 15]


FILE = "paper: word_order\nclaims:\n"
ONE = '  - {id: X1, kind: text, section: s, text: t, cells: c, predicate: "1 > 0"}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE + ONE, "X1 stands there twice"),
        (ONE.replace("text,", "figure,"), "needs a rule"),
        (ONE.replace(', predicate: "1 > 0"', ""), "needs a predicate"),
        (ONE.replace("kind: text", "kind: ours, variant_of: Z9"), "variant of no claim"),
        (ONE.replace("X1", "<b>"), "id"),
    ],
)
def test_a_malformed_claim_names_file_and_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "claims.yaml"
    path.write_text(FILE + text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_claims(path)
