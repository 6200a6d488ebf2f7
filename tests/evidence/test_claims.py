"""Predicates of claims, and the verdicts on them."""

import re

import numpy as np
import pytest
from scipy import stats

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence import claims
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import CONTRADICTS, INCONCLUSIVE, REPLICATES, Claim, Condition
from xlrepro.evidence.gathered import load_evidence
from xlrepro.evidence.intervals import ALPHA, half_width, t_interval, tail_of
from xlrepro.evidence.predicates import Truth, all_of, at_least, average, evaluate, spearman
from xlrepro.evidence.reproduced import ReproducedCell, View
from xlrepro.paths import project_root

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
        ('v("c") < min([v("a"), v("b")])', True),
        ('all(v(x) > v("c") for x in ["a", "b"])', True),
        ('at_least(2, [v(x) > v("b") for x in ["a", "b", "c"]])', False),
        ('v("a") < v("b") or v("b") > v("c")', True),
        ('smallest([v("a"), v("b"), v("c")], ["A", "B", "C"], "C", "B")', True),
        ('largest([v("a"), v("b"), v("c")], ["A", "B", "C"], "C", "B")', False),
        ('v("a") >= max(v(x) for x in ["a", "b", "c"])', True),
        ('v("a") > max(v(x) for x in ["a", "b", "c"])', False),
        ('any(v(x) > v("b") for x in ["a", "c"] if x != "a")', False),
        ('near(v("a") - v("b"), 1, 0.01)', True),
        ('mean(v(x) for x in ["a", "c"]) - v("b") >= 0', True),
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
        'at_least(2, [v(x) > 0 for x in ["a", "b", "c"]])',
        'smallest([v("a"), v("b"), v("c")], ["A", "B", "C"], "A", "B")',
        'spearman([1, 2, 3], [v("a"), v("b"), v("c")]) > 0',
    ):
        together = evaluate(text, "claim X", {"v": draws.__getitem__}, {}).values
        alone = [on_plain(text, **{n: d[i] for n, d in draws.items()}).values[0] for i in range(50)]
        assert together.tolist() == alone


def test_a_mean_is_of_what_is_there():
    assert average([np.array([1.0, np.nan]), np.array([3.0, 5.0])]).tolist() == [2.0, 5.0]


def test_spearman_is_scipys():
    first, second = [3.0, 1.0, 2.0, 2.0], [1.0, 4.0, 2.0, 3.0]
    assert spearman(first, second)[0] == pytest.approx(stats.spearmanr(first, second).statistic)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "v.__class__", "(lambda: 1)()", "[1][0] > 0", "9**9 > 1",
        "unknown > 1", "open('x')", "{1: 2}", "v('a', key=1) > 0", "not v('a') > 0", "v('a') == 1",
        "all(v('a') > 0 for x in [1] if v('a') > 0)", "v('a') >",
    ],
)  # fmt: skip
def test_what_the_language_lacks_is_one_line_that_names_the_claim(text):
    with pytest.raises(SettingsError, match=r"^claim X") as error:
        on_plain(text, a=1.0)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('v("a") > v("b")', ["2.00 > 1.00"]),
        ('v("a") > v("b") > v("b") - 0.001', ["2.000 > 1.000 > 0.999"]),
        ('largest([v("a"), v("b")], ["A", "B"], "B")', ["largest: A, not B"]),
        ('at_least(2, [v(x) > 1 for x in ["a", "b"]])', ["1 ≥ 2"]),
    ],
)
def test_comparisons_are_written_down(text, told):
    assert [each.text for each in on_plain(text, a=2.0, b=1.0).told] == told


def test_the_same_difference_counts_once():
    true = on_plain('all(v("a") > v("b") for x in [1, 2, 3])', a=2.0, b=1.0)
    assert len(true.leaves) == 1


def test_of_printed_differences_that_one_of_ours_stands_for_the_smallest_counts():
    text, ours = 'v("s0") > v("s1") and v("s0") > v("s2")', ([51.0, 51.2, 51.1], [50.0, 50.1, 50.2])
    of = [verdict_of(text, *ours, ours[1], reported=(60.0, 59.9, x)).power for x in (50.0, 59.9)]
    assert of[0] == of[1] < 0.9


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


def verdict_of(text, *columns, reported=(), items=0.0):
    """Judge a predicate over v("s0"), v("s1"), … given as values by seed."""
    arrays, places, _ = claims.laid_out(seeds_of(*columns), lambda a: items)
    true = evaluate(text, "claim X", {"v": lambda s: arrays["e", s, "x"]}, {})
    printed = {f"s{i}": np.array([v]) for i, v in enumerate(reported)}
    theirs = evaluate(text, "claim X", {"v": printed.__getitem__}, {}).every if printed else ()
    return claims.decide(true, places, theirs)


def test_a_draw_has_the_t_interval_and_keeps_the_correlation_of_seeds():
    values = np.array([[1.0, 2.0], [2.0, 3.1], [4.0, 4.9], [5.0, 6.2]])
    means = claims.drawn_means(values, np.random.default_rng(0), 40_000)
    for column, drawn in zip(values.T, means.T, strict=True):
        low, high = np.quantile(drawn, (0.025, 0.975))
        exact = t_interval(list(column))
        assert (low, high) == pytest.approx(exact, rel=0.05, abs=0.1)
    gap = np.quantile(means[:, 1] - means[:, 0], (0.025, 0.975))
    exact = t_interval(list(values[:, 1] - values[:, 0]))
    assert tuple(gap) == pytest.approx(exact, rel=0.05, abs=0.1)


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


def test_a_tie_in_every_seed_contradicts_nothing():
    same, less = [80.0] * 3, [79.0] * 3
    assert verdict_of('v("s0") > v("s1")', same, same).status == INCONCLUSIVE
    assert verdict_of('v("s0") >= v("s1")', same, same).status == REPLICATES
    assert verdict_of('v("s0") > v("s1")', less, same).status == CONTRADICTS


def test_one_seed_decides_nothing(numbers):
    assert verdict_of('v("s0") > v("s1")', [10.0], [1.0]).status == INCONCLUSIVE
    for ort in ({0: 90.0}, {0: 90.0, 1: 90.2, 2: 90.1}):  # 5,000 items
        ran = numbers({("word:ORT", "de"): ort, ("word:TRS", "de"): {0: 10.0}})
        assert claims.judge(claim(ABOVE), OPEN, ran).status == INCONCLUSIVE


def test_no_effect_is_an_interval_within_a_quarter_of_the_reported_difference():
    first, second = [50.0, 50.2, 49.9], [50.1, 50.1, 50.0]
    for reported, status in ((9.6, claims.NO_EFFECT), (0.4, INCONCLUSIVE)):
        told = (50 + reported, 50.0)
        assert verdict_of('v("s0") > v("s1")', first, second, reported=told).status == status
    wide = verdict_of('v("s0") > v("s1")', [42.0, 38.0, 46.0], second, reported=(59.6, 50.0))
    assert wide.status == INCONCLUSIVE  # one end alone is within


def test_test_items_widen_what_seeds_alone_would_decide():
    first, second = [52.0, 52.1, 52.05], [51.0, 51.05, 51.0]
    assert verdict_of('v("s0") > v("s1")', first, second).status == REPLICATES
    # The standard error of 52 % of 500 items.
    assert verdict_of('v("s0") > v("s1")', first, second, items=2.2).status == INCONCLUSIVE


def test_power_is_small_where_seeds_scatter_more_than_the_reported_difference():
    noisy, quiet = ([50.0, 54.0, 47.0], [51.0, 46.0, 53.0]), ([50.0, 50.1, 50.2],) * 2
    assert verdict_of('v("s0") > v("s1")', *noisy, reported=(51.0, 50.0)).power < 0.2
    assert verdict_of('v("s0") + 0 > v("s1")', *quiet, reported=(51.0, 50.0)).power > 0.9


FORMS = {  # of a claim on k differences, and the k differences of k + 1 systems
    "all": (all_of, lambda systems: systems[..., 1:]),
    "most": (lambda parts: at_least(most_of(len(parts)), parts), lambda systems: systems[..., 1:]),
    "largest": (all_of, lambda systems: systems[..., :1] - systems[..., 1:]),
    "falling": (all_of, lambda systems: -np.diff(systems)),
}


def most_of(k):
    return max(1, round(0.85 * k))


def share_of_errors(form, wrong, n, k, runs=500):
    """Return how often made-up experiments get the verdict ``wrong``, of which the truth is not."""
    join, differences = FORMS[form]
    gaps = differences(np.random.default_rng(100 * n + k).normal(size=(runs, n, k + 1)))
    enough, far = (most_of(k) if form == "most" else k), 100.0
    # The claim just holds: as few differences as it needs are 0, the others reversed. It just does
    # not: all but one of those that it needs are large, that one and the others are 0.
    just = np.where(np.arange(k) < enough, 0.0, -far)
    just_not = np.where(np.arange(k) < enough - 1, far, 0.0)
    gaps = gaps + (just if wrong == CONTRADICTS else just_not)
    p = stats.ttest_1samp(gaps, 0.0, axis=1, alternative="greater").pvalue  # shape: (runs, k)
    leaves = [Truth(np.array([True]), gap=np.array([float(i)])) for i in range(k)]
    claim, errors = join(leaves), 0

    def of_leaf(values):
        return lambda leaf: values[int(leaf.gap[0])]

    for both, is_so in zip(np.stack([p, 1 - p], axis=2), gaps.mean(axis=1) > 0, strict=True):
        side, true = claim.judged(of_leaf(both)), claim.counted(of_leaf(is_so))
        errors += bool(true) == (wrong == REPLICATES) and side[int(wrong == CONTRADICTS)] <= ALPHA
    return errors / runs


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("k", [1, 3, 9, 28])
def test_verdicts_are_wrong_in_at_most_five_percent(n, k):
    """Simulated for conjunctions, counts and rankings; draws can only make "replicates" rarer.

    Variances are not shared over the rows of a table (empirical Bayes, Smyth 2004): simulated at
    three seeds with one row in five five times as noisy as the others (our tables are like that:
    median 0.6 points, a twentieth of the cells above 2.4), 5 % becomes 16 % in the noisiest of
    twelve rows, and 14 % for any of the twelve by Holm; with equal variances it keeps 5 %.
    """
    for form in FORMS:
        for wrong in (CONTRADICTS, REPLICATES):
            assert share_of_errors(form, wrong, n, k) <= 0.05, (form, wrong)


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("items", [0.25, 1.0, 4.0])
def test_an_interval_over_seeds_and_items_covers_the_mean(n, items):
    """Simulated: no true difference, an error of items in units of that of the mean over seeds."""
    rng, runs = np.random.default_rng(0), 20_000
    seeds = rng.normal(size=(runs, n)) * np.sqrt(n)
    mean = np.abs(seeds.mean(axis=1) + items * rng.normal(size=runs))
    of_seeds = seeds.std(axis=1, ddof=1) / np.sqrt(n)
    assert np.mean(mean > half_width(of_seeds, items, n)) <= 0.05
    gap = float(half_width(of_seeds[0], items, n))
    assert tail_of(gap, of_seeds[0], items, n) == pytest.approx(ALPHA)


def test_a_page_s_interval_of_a_difference_is_the_one_that_its_verdict_tests(numbers):
    ort, trs = ("word:ORT", "cs"), ("word:TRS", "cs")
    found = numbers({ort: {0: 60.0, 1: 61.0, 2: 60.4}, trs: {0: 59.0, 1: 59.9, 2: 59.6}})
    view = View("word_order/table2", "open", found)
    drawn, places, _ = claims.laid_out({(view.experiment, *at): view.get(*at) for at in (ort, trs)},
                                found.noise)  # fmt: skip
    first, second = drawn.values()
    _, *ends = claims.tested(Truth(first > second, gap=first - second), places)
    gap = view.difference("word:ORT", "word:TRS", "cs")
    assert [*gap.interval] == pytest.approx(ends)
    assert gap.interval[0] < t_interval(gap.values)[0] - 0.04


def test_a_cell_that_is_read_for_several_of_the_paper_s_is_compared_once():
    pair = zip(("word:ORT", "word:TRS"), seeds_of([50.1, 50.9], [49.0, 50.7]).values(), strict=True)
    read = {("word_order/table2", s, c): cell for s, cell in pair for c in ("de", "es")}
    arrays, _, _ = claims.laid_out(read, lambda cell: 0.5)
    text = 'all(v("word:ORT", c) > v("word:TRS", c) for c in ["de", "es"])'
    true = evaluate(text, "X", {"v": lambda *at: arrays["word_order/table2", *at]}, {})
    known = (claims.load_claims("word_order")[0], "open", {*arrays}, arrays)
    said = [claims._named(*known, leaf, (-2.0, 3.0)) for leaf in true.leaves]
    assert said == ["ORT − TRS, German: +0.65 points (−2.00 to +3.00), where above 0 is claimed"]


def test_a_difference_of_columns_is_named_by_the_fields_that_differ():
    key, columns = "man_moe/table5", ("fr/avg", "ar/avg")
    arrays = {(key, "without:MAN", c): np.array([v]) for c, v in zip(columns, (50.0, 49.0))}
    text = 'v("fr/avg") > v("ar/avg")'
    true = evaluate(text, "X", {"v": lambda c: arrays[key, "without:MAN", c]}, {})
    said = claims._named(
        claims.load_claims("man_moe")[0], "open", {*arrays}, arrays, true, (0.0, 2.0)
    )
    assert said.startswith("French − Arabic, MAN, average: +1.00 points")


def test_a_rank_correlation_is_told_beside_the_middle_of_its_draws():
    told = r"Spearman.*median (\S+), 95 % from (\S+) to ([^)]+)\), where"
    verdicts = [
        v for of in load_evidence().verdicts("word_order").values() for v in of.values() if v
    ]
    found = [
        [float(n.replace("−", "-")) for n in of]
        for v in verdicts
        for of in re.findall(told, v.note)
    ]
    assert found
    assert all(low < middle < high for middle, low, high in found)


def test_what_too_few_draws_agree_with_does_not_replicate():
    """Four independent differences, each of them significant: all are so in fewer draws."""
    shapes = np.linalg.svd(np.eye(5) - 1 / 5)[0][:, :4].T  # orthogonal, of mean 0
    columns = [side for shape in shapes for side in (51 + 1.5 * shape, np.full(5, 50.0))]
    text = " and ".join(f'v("s{i}") > v("s{i + 1}")' for i in range(0, 8, 2))
    found = verdict_of(text, *columns)
    assert (found.p[0] < ALPHA, found.status) == (True, INCONCLUSIVE)


def test_a_count_is_contradicted_only_where_enough_differences_are_reversed():
    rng = np.random.default_rng(1)
    base = [list(rng.normal(50, 0.1, 5)) for _ in range(9)]
    text = 'at_least(8, [v("s" + i) > 50.5 for i in I])'

    def judged(high):
        columns = [[x + 1 for x in c] if i < high else c for i, c in enumerate(base)]
        arrays, places, _ = claims.laid_out(seeds_of(*columns), lambda cell: 0.0)
        names = {"I": [str(i) for i in range(9)]}
        true = evaluate(text, "X", {"v": lambda s: arrays["e", s, "x"]}, names)
        return claims.decide(true, places).status

    assert [judged(9), judged(8), judged(3)] == [REPLICATES, REPLICATES, CONTRADICTS]


@pytest.mark.parametrize(
    ("gaps", "said", "status"),
    [((2, 2, 2), REPLICATES, REPLICATES), ((-2, -2, -2), CONTRADICTS, CONTRADICTS),
     ((2, 2, 2), CONTRADICTS, INCONCLUSIVE), ((0, 0, 0), REPLICATES, INCONCLUSIVE),
     ((6, -2, 1), REPLICATES, INCONCLUSIVE)],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_three_languages_agree_where_their_differences_are_alike_and_not_none(gaps, said, status):
    cells, languages = {}, ["de", "es", "fr"]
    for language, gap in zip(languages, gaps, strict=True):
        cells |= seeds_of([50.0 + gap] * 3, [50.0] * 3, column=language)
    arrays, places, _ = claims.laid_out(cells, lambda cell: 0.0)
    text = 'mean([v("s0", l) for l in L]) > mean([v("s1", l) for l in L])'
    columns = {"v": lambda s, column: arrays["e", s, column]}
    true = evaluate(text, "X", columns, {"L": languages})
    assert claims.held_back(said, "the heads", true, places)[0] == status


def test_how_many_stay_at_a_false_discovery_rate_of_five_percent():
    p = [0.0001, 0.004, 0.012, 0.02, 0.4, 0.45]
    verdicts = [claims.ClaimVerdict(INCONCLUSIVE, p=(each, 1 - each)) for each in p]
    kept = sum(stats.false_discovery_control([2 * each for each in p]) <= 0.05)
    assert claims.kept_at_five_percent([*verdicts, None]) == kept == 3


# -- The judge


def claim(predicate, **more):
    return Claim(
        id="X1", kind="text", section="s", text="t", cells="c", predicate=predicate,
        **{"paper": "word_order"} | more,
    )  # fmt: skip


ABOVE = 'value("table2", "word:ORT", "de") > value("table2", "word:TRS", "de")'


def test_printed_numbers_are_consistent_or_not():
    assert claims.judge(claim(ABOVE)).status == claims.CONSISTENT
    assert claims.judge(claim(ABOVE.replace(">", "<"))).status == claims.INCONSISTENT
    figure = claim('value("figure2", "word:ORT", "es/0") > 0')
    assert claims.judge(figure).status == claims.NOT_CHECKABLE


def test_a_cell_that_the_paper_lacks_is_an_error():
    said = "^claim X1: no such cell: word_order/table2 / word:ORT / xx$"
    with pytest.raises(SettingsError, match=said):
        claims.judge(claim('value("table2", "word:ORT", "xx") > 0'))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("id: N02", "id: N01", r"claim N0\d.*: \S+ stands 2 times"),
        ("signs: N0", "signs: X0", r"claim N0\d.*: \S+ stands 0 times"),
        ("paper: routing_nmt", "paper: ramen", "it is of ramen, and the file's name says routing"),
    ],
)
def test_a_claim_named_twice_or_not_at_all_or_of_another_paper_is_refused(tmp_path, old, new, said):
    text = (project_root() / "data/claims/routing_nmt.yaml").read_text("utf-8")
    (tmp_path / "routing_nmt.yaml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(DataError, match=said):
        claims.read_claims(tmp_path / "routing_nmt.yaml")


def test_a_claim_over_cells_that_nobody_ran_is_not_run(numbers):
    ran = numbers({("word:ORT", "de"): {0: 1.0, 1: 2.0}})
    verdict = claims.judge(claim(ABOVE), OPEN, ran)
    assert verdict.status == claims.NOT_RUN
    assert verdict.missing == ("word_order/table2 / word:TRS / de",)


def test_a_claim_is_judged_on_reproduced_numbers(numbers):
    values = {"word:ORT": [60.0, 60.1, 60.2], "word:TRS": [50.0, 50.2, 50.1]}
    ran = numbers({(s, "de"): dict(enumerate(v)) for s, v in values.items()})
    verdict = claims.judge(claim(ABOVE), OPEN, ran)
    assert (verdict.status, verdict.n, verdict.alone) == (REPLICATES, 3, 3)
    assert verdict.compared == (("60.10 > 50.10", True),)


def test_low_power_is_noted(numbers):
    values = {"word:ORT": [50.0, 64.0, 37.0], "word:TRS": [61.0, 36.0, 53.0]}
    ran = numbers({(s, "de"): dict(enumerate(v)) for s, v in values.items()})
    verdict = claims.judge(claim(ABOVE), OPEN, ran)
    assert f"power {100 * verdict.power:.0f} %" in verdict.note


def test_a_claim_on_a_size_is_not_testable_at_open(numbers):
    ran = numbers({("distance:mean absolute difference", "hi"): {0: 0.4}}, "word_order/distances")
    sized = claim('distance("hi") > 0.1', magnitudes=True)
    assert claims.judge(sized, OPEN, ran).status == claims.NOT_TESTABLE


def test_ours_on_proxies_is_not_compared_with_a_number_that_the_paper_quotes(numbers):
    ran = numbers({("without:MAN-MoE", "de"): {0: 90.0, 1: 90.1, 2: 90.2}}, "man_moe/table4")
    quoted = 'value("table4", "with:Ni et al. (2017)", "de")'
    beaten = claim(f'value("table4", "without:MAN-MoE", "de") > {quoted}', paper="man_moe")
    assert claims.judge(beaten, OPEN, ran).status == claims.NOT_TESTABLE


def test_where_a_condition_fails_nothing_is_tested(numbers):
    key, rows = "man_moe/table5", ("without:MAN-MoE", "without:BWE (3-to-1)")
    ran = numbers({(s, "de/tweets"): {0: v, 1: v + 1} for s, v in zip(rows, (49, 60))}, key)
    above = " > ".join(f'value("table5", "{row}", "de/books")' for row in rows)
    verdict = claims.judge(claim(above, paper="man_moe"), OPEN, ran)
    assert verdict.status == claims.NOT_TESTABLE
    assert verdict.note.startswith("accuracy is not significantly above chance")


def test_seeds_of_heads_alone_do_not_contradict(numbers):
    vec, rnd = (f"xnli:RAMEN-BASE + RoBERTa, {start}" for start in ("vec", "rnd"))
    ran = {(vec, "fr"): {0: 50.0, 1: 50.2, 2: 50.1}, (rnd, "fr"): {0: 60.0, 1: 60.2, 2: 60.1}}
    above = f'value("table3", "{vec}", "fr") > value("table3", "{rnd}", "fr")'
    verdict = claims.judge(claim(above, paper="ramen"), OPEN, numbers(ran, "ramen/table3"))
    assert verdict.status == INCONCLUSIVE
    assert "by the heads alone contradicts" in verdict.note


def test_claims_on_projection_are_judged_by_both_readings_of_w():
    verdicts = load_evidence().verdicts("sense_alignment")
    first, other = (verdicts["S06d"][on].told for on in ("open", "open, +Proj (orthogonal W)"))
    assert first != other
    assert verdicts["S12"]["open, +Proj (orthogonal W)"].missing == ()
    assert verdicts["S01"]["open, +Proj (orthogonal W)"] is None


def test_sign_only_forms_are_ours_and_claims_on_figures_have_a_rule():
    for paper in load_catalog().papers:
        listed = claims.load_claims(paper)
        for each in listed:
            signs = [c for c in listed if c.id == each.signs]
            assert all(c.variant_of == each.id and c.kind == "ours" for c in signs), each.id
            assert not any(c.magnitudes for c in signs), each.id
            assert bool(each.rule) == (each.kind == "figure"), each.id
