"""Reported beside reproduced: verdicts of cells, and which cells are shown."""

import math
from types import SimpleNamespace

import pytest
from scipy import stats

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.compare import VERDICTS, compare, verdict
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers, View
from xlrepro.experiments import System, all_experiments, experiment
from xlrepro.paths import project_root

NOTHING = ReproducedNumbers([])
T2, RATES_KEY = "word_order/table2", "word_order/learning_rates"
DISTANCE = "distance:mean absolute difference"


@pytest.mark.parametrize(
    ("reported", "low", "high", "expected"),
    [
        (53.1, 52.0, 54.0, "within"),  # inside the interval itself
        (53.1, 54.1, 55.0, "within"),  # exactly at the tolerance of 1
        (53.1, 54.1001, 55.0, "above"),  # just beyond it
        (53.1, 50.0, 52.0999, "below"),
        (53.1, 90.0, 91.0, "above"),  # too good is as suspicious as too bad
        (0.3, 1.3, 1.3, "within"),  # 1.3 - 1 is not 0.3 in binary
        (None, 50.0, 50.0, "not reported"),
    ],
)
def test_the_verdict_is_two_sided_and_its_ends_are_within(reported, low, high, expected):
    assert verdict(reported, (low + high) / 2, low, high, allowed=1.0) == expected


def one(frame, system, column):
    (row,) = frame[(frame["system"] == system) & (frame["column"] == column)].to_dict("records")
    return row


def row_of(numbers, system, column, by_seed, key=T2, profile="open", **more):
    """Return the row of a cell where it alone was run."""
    found = numbers({(system, column): by_seed}, key, profile, **more)
    return one(compare(View(key, profile, found)), system, column)


def test_every_reported_cell_of_a_system_is_there_once():
    frame = compare(View(T2, "open", NOTHING))
    printed_word, printed_mbert = 6 * 30, 6 * 32  # la and ja have no word-level number
    assert (len(frame), set(frame["verdict"])) == (printed_word + printed_mbert, {"not run"})


def test_a_cell_shows_reported_reproduced_interval_and_difference(numbers):
    row = row_of(numbers, "word:ORT", "de", {0: 50.0, 1: 52.0, 2: 54.0}, T2, "paper", stale=True)
    half = stats.t.ppf(0.975, 2) * 2 / math.sqrt(3)
    assert (row["reported"], row["reproduced"], row["n"], row["verdict"], row["stale"]) == (
        50.59, 52.0, 3, "within", True,
    )  # fmt: skip
    assert (row["low"], row["difference"]) == pytest.approx((52 - half, 52 - 50.59))


@pytest.mark.parametrize(
    ("key", "system", "column", "note"),
    [
        (T2, "word:ORT", "de", "one seed: no interval"),
        ("word_order/distances", DISTANCE, "hi", "no seed: computed"),
    ],
)
def test_one_seed_is_compared_as_a_point_and_says_so(numbers, key, system, column, note):
    row = row_of(numbers, system, column, {0: 51.5}, key)
    assert (row["note"], math.isnan(row["low"])) == (note, True)


def test_a_row_of_ours_stands_beside_the_papers_row_where_it_was_run(numbers):
    frame = compare(View(T2, "open", numbers({("word-mapped:ORT", "de"): {0: 50.0}})))
    row = one(frame, "word-mapped:ORT", "de")
    assert (row["printed"], row["difference"]) == ("50.59", pytest.approx(-0.59))
    assert [*frame[frame["system"] == "word-mapped:ORT"]["column"]] == ["de"]


def test_a_share_is_compared_in_the_papers_unit(numbers):
    row = row_of(numbers, "wsd:SaELMo", "SE2", {0: 57.0, 1: 58.0}, "sense_alignment/table2")
    assert (row["unit"], row["reproduced"]) == ("fraction", pytest.approx(0.575))


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [("hi", 0.404, "within"), ("ja", 0.4951, "above"), ("ko", 0.3251, "within")],
)
def test_an_exact_number_must_be_exact_to_the_last_printed_digit(numbers, column, value, expected):
    exact = {"metric": "word-order distance", "unit": ""}
    row = row_of(numbers, DISTANCE, column, {0: value}, "word_order/distances", **exact)
    assert row["verdict"] == expected


def test_an_average_that_no_trial_filled_is_computed_from_all_targets(numbers):
    key = "word_order/distances"
    printed = load_reported().cells(key)
    cells = {(c.system, c.column): {0: c.value} for c in printed if c.column != "avg"}
    found = numbers(cells, key, metric="word-order distance", unit="")
    row = one(compare(View(key, "open", found)), DISTANCE, "avg")
    assert (round(row["reproduced"], 4), row["verdict"]) == (0.1733, "within")
    some = numbers({("word:ORT", "de"): {0: 50.0}})
    assert one(compare(View(T2, "open", some)), "word:ORT", "avg")["verdict"] == "not run"


def test_a_printed_difference_of_two_rows_is_made_of_them(numbers):
    key, row = "ramen/table3", "xnli:difference vec - rnd"
    first, second = load_catalog().experiment(key).differences[row]
    languages = [c.column for c in load_reported().cells(key) if c.system == first]
    cells = {(first, language): {0: 60.0, 1: 62.0} for language in languages}
    cells |= {(second, language): {0: 50.0, 1: 49.0, 2: 1.0} for language in languages}
    frame = compare(View(key, "open", numbers(cells, experiment=key)))
    made = one(frame, row, "avg")  # of the seeds that both have
    assert (made["reproduced"], made["n"], made["verdict"]) == (11.5, 2, "other data")
    assert one(frame, "ud:difference vec - rnd", "avg")["verdict"] == "not run"


# -- Other data, other weights, rows that are not run


@pytest.mark.parametrize(
    ("key", "profile", "system", "column", "expected"),
    [
        ("man_moe/table4", "paper", "without:MAN-MoE", "de", "above"),
        ("man_moe/table4", "open", "without:MAN-MoE", "de", "other data"),
        (T2, "open", "word:ORT", "de", "other data"),  # other word vectors
        (T2, "open", "mbert:ORT", "de", "other data"),  # other weights
        ("word_order/table1", "open", "word:ORT", "SF/en", "other data"),
        (RATES_KEY, "open", "word:ORT", "1.0e-03", "not reported"),
    ],
)
def test_on_other_data_or_weights_is_no_verdict(numbers, key, profile, system, column, expected):
    row = row_of(numbers, system, column, {0: 99.0, 1: 99.1}, key, profile)
    assert row["verdict"] == expected
    assert expected == "not reported" or row["difference"] == pytest.approx(99.05 - row["reported"])
    other = {"open": "smoke", "smoke": "open", "paper": "open"}[profile]
    elsewhere = numbers({(system, column): {0: 99.0}}, key, other)
    assert set(compare(View(key, profile, elsewhere))["n"]) <= {0}  # profiles are kept apart


@pytest.mark.parametrize(
    ("key", "profile", "system", "column", "expected", "note"),
    [
        ("man_moe/table4", "open", "without:MAN-MoE", "de", "not run", ""),
        ("man_moe/table4", "open", "with:Ni et al. (2017)", "de", "quoted", "from elsewhere"),
        ("man_moe/table2", "open", "with:MT (test-on-trans.)", "es/avg", "not run", "translator"),
        ("man_moe/table2", "open", "without:MAN-MoE", "de/avg", "not here", "en/avg stands in"),
        ("man_moe/table2", "smoke", "without:MAN-MoE", "de/avg", "not run", ""),
    ],
)
def test_a_cell_without_a_number_of_ours_says_why(key, profile, system, column, expected, note):
    row = one(compare(View(key, profile, NOTHING)), system, column)
    assert (row["verdict"], bool(row["note"])) == (expected, bool(note))
    assert note in row["note"]


def test_reasons_for_not_running_are_given_of_the_printed_rows_that_do_not_run_by_default():
    for key, entry in load_catalog().experiments.items():
        for profile, rows in entry.not_run.items():
            assert set(rows) <= set(load_reported().systems(key))
            assert set(rows).isdisjoint(experiment(key).select(None, profile))
    silent = [
        (key, profile, system.identifier)
        for key, each in all_experiments().items()
        for system in each.systems
        for profile in system.named_at
        if system.identifier in load_reported().systems(key)
        if system.identifier not in load_catalog().experiment(key).not_run.get(profile, {})
    ]
    assert silent == []


def test_the_guide_explains_every_verdict():
    guide = project_root() / "book" / "guide" / "reading.md"
    text = guide.read_text(encoding="utf-8")
    legend = text.split("## The verdict of a cell")[1].split("\n## ")[0]
    assert [v for v in VERDICTS if v not in legend] == []


# -- Rows and columns of an experiment as it is built

RATES = ("5.0e-04", "1.0e-03")


def announcing(*trials, profiles=("open",)):
    """Return an experiment whose trials announce these lists of cells."""
    names = dict.fromkeys(system for cells in trials for system, _ in cells)
    return SimpleNamespace(
        systems=tuple(System(identifier=name) for name in names),
        columns=tuple(dict.fromkeys(column for cells in trials for _, column in cells)),
        profiles=profiles,
        announced=lambda profile: [list(cells) for cells in trials],
    )


def of_system(system):
    return [(system, rate) for rate in RATES]


def places(frame):
    return list(zip(frame["system"], frame["column"]))


def test_where_nothing_is_printed_the_trials_nobody_ran_are_shown_as_not_run(numbers):
    built = announcing(of_system("word:TRS"), of_system("word:ORT"))
    found = numbers({("word:ORT", r): {0: 95.0} for r in reversed(RATES)}, RATES_KEY)
    frame = compare(View(RATES_KEY, "open", found), built)
    # Rows and columns have the experiment's order.
    assert list(zip(places(frame), frame["verdict"])) == [
        *((place, "not run") for place in of_system("word:TRS")),
        *((place, "not reported") for place in of_system("word:ORT")),
    ]
    only_smoke = announcing(of_system("word:ORT"), profiles=("smoke",))
    assert compare(View(RATES_KEY, "paper", NOTHING), only_smoke).empty
    left_out = numbers({("word:ORT", RATES[1]): {0: 95.0}}, RATES_KEY)
    frame = compare(View(RATES_KEY, "open", left_out), announcing(of_system("word:ORT")))
    assert places(frame) == [("word:ORT", RATES[1])]  # what a trial did not fill does not exist


def test_rows_and_columns_of_ours_follow_the_printed_ones_in_the_experiment_s_order(numbers):
    new = [(system, column) for system in ("ours:A", "ours:B") for column in ("second", "first")]
    built = announcing(new, [("word:ORT", "es")])
    printed = places(compare(View(T2, "open", NOTHING)))
    found = numbers({cell: {0: 1.0} for cell in reversed(new)})
    assert places(compare(View(T2, "open", found), built)) == [*printed, *new]
    assert places(compare(View(T2, "open", NOTHING), built)) == printed
