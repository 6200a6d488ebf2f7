import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from xlrepro.errors import SettingsError
from xlrepro.evidence.claims.expressions import MAX_ITEMS, MAX_LENGTH, parse
from xlrepro.evidence.claims.functions import FUNCTIONS, argmax, highest, lowest, spearman

NAMES = {"L": ["de", "es", "zh"], "x": 2.5}
VALUES = {"de": 3.0, "es": 1.0, "zh": 2.0}


def run(text):
    return parse(text, "claim T1").evaluate(NAMES, {"value": VALUES.__getitem__})


@pytest.mark.parametrize(
    "text",
    [
        "1 + 2 * 3 - 4 / 8",
        "-(2 - 5) * 2 >= 6",
        "1 < 2 < 3 and not 3 < 2",
        "1 < 3 < 2 or 2 == 2.0 != 3",
        "'de' in ['de', 'es'] and 'fr' not in ('de',)",
        "[a + b for a in ['x', 'y'] for b in ('1', '2') if a + b != 'x2']",
        "[n * m for n, m in [(1, 2), (3, 4)]]",
        "sum(n > 1 for n in [1, 2, 3]) == 2",
        "max(3, 1, 2) == max([1, 3]) and min(n for n in [4, 5]) == 4",
        "all(n > 0 for n in [1, 2]) and any(n > 1 for n in [1, 2])",
        "len(sorted([3, 1, 2])) == 3 and sorted([3, 1, 2]) == [1, 2, 3]",
        "abs(-3) == 3",
    ],
)
def test_the_language_means_what_python_means(text):
    # The tests' own texts only: Python itself is the oracle here.
    assert run(text) == eval(text)


def test_names_and_functions_come_from_the_caller():
    assert run("[value(l) > x for l in L]") == [True, False, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean([1, 2, 6])", 3.0),
        ("median([1, 2, 6])", 2),
        ("near(1.0, 1.5, 0.5)", True),
        ("argmax([value(l) for l in L], L)", "de"),
        ("argmin([value(l) for l in L], L)", "es"),
        ("lowest(2, [value(l) for l in L], L)", ["es", "zh"]),
        ("highest(2, [value(l) for l in L], L)", ["de", "zh"]),
        ("rising([1, 1, 2])", True),
        ("rising([1, 3, 2])", False),
        ("same_set(['a', 'b'], ['b', 'a', 'a'])", True),
        ("spearman([1, 2, 3], [9, 5, 1])", -1.0),
    ],
)
def test_functions(text, expected):
    assert run(text) == expected


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_spearman_is_scipys_also_with_ties(pairs):
    first, second = zip(*pairs)
    if len(set(first)) < 2 or len(set(second)) < 2:
        assert spearman(first, second) != spearman(first, second)  # not a number
        return
    assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)


def test_the_first_of_equals_wins():
    assert argmax([2, 2, 1], ["a", "b", "c"]) == "a"


def test_lowest_and_highest_are_ordered():
    assert (lowest(2, [3, 1, 2], "abc"), highest(2, [3, 1, 2], "abc")) == (["b", "c"], ["a", "c"])


HOSTILE = [
    "__import__('os')",
    "().__class__",
    "value.__globals__",
    "[].append(1)",
    "'{}'.format(1)",
    "lambda: 1",
    "(lambda l: l)(1)",
    "9 ** 9",
    "9 ** 9 ** 9",
    "1 << 999",
    "7 % 2",
    "7 // 2",
    "[1, 2][0]",
    "'abc'[0]",
    "{'a': 1}",
    "{1, 2}",
    "{n for n in [1]}",
    "f'{x}'",
    "b'abc'",
    "None",
    "...",
    "1j",
    "1e400",
    "10000000000000000",
    "x if x else 1",
    "(y := 1)",
    "print(1)",
    "eval('1')",
    "exec('1')",
    "open('/etc/passwd')",
    "getattr(value, 'x')",
    "_hidden",
    "[_a for _a in [1]]",
    "sorted([1], key=value)",
    "max(*[1, 2])",
    "value(**{})",
    "await x",
    "yield",
    "not_a_name",
    "1 +",
    "",
    "import os",
    "x = 1",
    "'a' * 1000000000",
    "[0] * 1000000000",
    "'a' + 1",
    "1 / 0",
    "1 < 'a'",
    "[n for n in 5]",
    "[a for a, b in [(1, 2, 3)]]",
    "[a for a.b in [1]]",
    "[n async for n in [1]]",
    "x is x",
    "~1",
    "1 @ 2",
    "mean([])",
    "spearman([1], [2])",
    "sum([[1], [2]])",
    "sum(['a', 'b'])",
    "value('fr')",
    "value()",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_the_language_lacks_is_one_error_with_claim_and_place(text):
    with pytest.raises(SettingsError) as caught:
        run(text)
    assert str(caught.value).startswith("claim T1")
    assert "\n" not in str(caught.value)


BOMBS = [
    "[a for a in B for b in B for c in B for d in B]",
    "len([[a for a in B for b in B] for c in B])",
    "sum(sum(sum(1 for a in B) for b in B) for c in B)",
    "[sorted([a for a in B for b in S]) for c in B for d in S]",
    "[[[B for a in B] for b in B] == [[B for a in B] for b in B] for c in B]",
    "sum([[a for a in B] for b in B])",
    "[s + s for s in [s + s for s in [s + s for s in [s + s for s in T]]]]",
    "[m * m for m in [m * m for m in [m * m for m in [999999999 * 999999999]]]]",
]


@pytest.mark.parametrize("text", BOMBS)
def test_a_bomb_is_refused_within_seconds(text):
    names = {"B": list(range(MAX_ITEMS - 1)), "S": [1, 2], "T": ["x" * 400]}
    began = time.process_time()
    with pytest.raises(SettingsError, match="claim T1"):
        parse(text, "claim T1").evaluate(names)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("text", ["[" * 60 + "]" * 60, "-" * 400 + "1", "1+" * 400 + "1"])
def test_deep_nesting_is_refused(text):
    with pytest.raises(SettingsError, match="claim T1"):
        parse(text, "claim T1")


def test_long_texts_are_refused():
    with pytest.raises(SettingsError, match=f"the limit is {MAX_LENGTH}"):
        parse("1 " + "or 1 " * 1000, "claim T1")


def test_an_error_names_the_column():
    with pytest.raises(SettingsError, match="claim T1, column 9: unknown name 'nope'"):
        run("1 < 2 < nope")


def test_every_operand_is_looked_at():
    seen = []
    look = {"see": lambda n: seen.append(n) or n}
    parse("see(0) > 1 and see(1) > 1 or all(see(n) > 5 for n in [2, 3])", "t").evaluate({}, look)
    assert seen == [0, 1, 2, 3]


def test_evaluation_leaves_the_callers_names_alone():
    names = {"L": [1, 2]}
    parse("[l for l in L]", "t").evaluate(names)
    assert names == {"L": [1, 2]}


def test_no_function_of_the_language_takes_text_to_run():
    assert {"eval", "exec", "open", "getattr", "compile"} & set(FUNCTIONS) == set()


DRAWS = 60
DRAWN = {name: np.random.default_rng(i).normal(size=DRAWS) for i, name in enumerate("abcd")}
FOUR = "[v('a'), v('b'), v('c'), v('d')]"
NAMED = "['x', 'y', 'z', 'w']"


@pytest.mark.parametrize(
    "text",
    [
        "v('a') < v('b') < v('c')",
        "v('a') + 2 * v('b') - v('c') / 3 >= -v('d')",
        "not v('a') > v('b') or v('c') > 0 and v('d') < 1",
        f"sum(x > 0 for x in {FOUR}) >= 2",
        f"v('a') == min({FOUR}) or v('a') == max({FOUR})",
        "v('a') > max(v('b'), v('c'), 0.1)",
        f"mean({FOUR}) > median({FOUR})",
        f"all(x > -1 for x in {FOUR}) or any(x > 2 for x in {FOUR})",
        "near(v('a'), v('b'), 0.5)",
        f"rising({FOUR})",
        f"rising(sorted({FOUR}))",
        f"spearman([1, 2, 3, 4], {FOUR}) > 0",
        f"argmax({FOUR}, {NAMED}) == 'x'",
        f"argmin({FOUR}, {NAMED}) in ['x', 'y']",
        f"argmin({FOUR}, {NAMED}) not in ['x', 'y']",
        f"same_set(lowest(2, {FOUR}, {NAMED}), ['x', 'y'])",
        f"same_set(highest(2, {FOUR}, {NAMED}), lowest(2, {FOUR}, {NAMED}))",
        "all((v(a) > v(b)) == (a != 'd') for a, b in [('a', 'b'), ('d', 'c')])",
        "abs(v('a')) > 0.5",
        "1 - min(v('a'), v('b')) / 2 > 1",
    ],
)
def test_arrays_of_draws_give_what_each_draw_gives_alone(text):
    expression = parse(text, "claim T1")
    together = expression.evaluate({}, {"v": DRAWN.__getitem__})
    alone = [
        expression.evaluate({}, {"v": lambda name, i=i: float(DRAWN[name][i])})
        for i in range(DRAWS)
    ]
    assert list(np.broadcast_to(together, DRAWS)) == alone


def test_a_condition_of_a_list_cannot_depend_on_draws():
    expression = parse("len([x for x in [1, 2] if v('a') > 0]) == 2", "claim T1")
    with pytest.raises(SettingsError, match="what stands after `if` must not depend on cells"):
        expression.evaluate({}, {"v": DRAWN.__getitem__})


def test_comparisons_of_draws_note_by_how_much_measured_values_differ():
    made = []
    text = f"v('a') < v('b') and sum(x > 0 for x in {FOUR}) >= 2 and v('a') == min({FOUR})"
    parse(text, "claim T1").evaluate({}, {"v": DRAWN.__getitem__}, made)
    gaps = [gap for comparison in made for gap in comparison.gaps]  # no count, no equality
    assert len(gaps) == 1
    assert gaps[0] == pytest.approx(DRAWN["b"] - DRAWN["a"])
