import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from xlrepro.errors import SettingsError
from xlrepro.evidence.compare import (
    VERDICTS,
    compare,
    verdict,
    verdict_counts,
)
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers, View, paired_differences
from xlrepro.experiments import System
from xlrepro.paths import project_root

NOTHING = ReproducedNumbers([])


@pytest.mark.parametrize(
    ("reported", "low", "high", "expected"),
    [
        (53.1, 52.0, 54.0, "within"),  # inside the interval itself
        (53.1, 54.1, 55.0, "within"),  # exactly at the tolerance of 1
        (53.1, 54.1001, 55.0, "above"),  # just beyond it
        (53.1, 50.0, 52.1, "within"),
        (53.1, 50.0, 52.0999, "below"),
        (53.1, 90.0, 91.0, "above"),  # too good is as suspicious as too bad
        (0.3, 1.3, 1.3, "within"),  # 1.3 - 1 is not 0.3 in binary
    ],
)
def test_the_verdict_is_two_sided_and_its_ends_are_within(reported, low, high, expected):
    assert verdict(reported, (low + high) / 2, low, high, allowed=1.0) == expected


def test_a_cell_nobody_ran_is_not_run_even_if_not_reported():
    assert verdict(None, None, 0.0, 0.0, 1.0) == "not run"


def test_a_cell_that_is_not_printed_has_no_verdict_against_the_paper():
    assert verdict(None, 50.0, 50.0, 50.0, 1.0) == "not reported"


def one(frame, system, column):
    rows = frame[(frame["system"] == system) & (frame["column"] == column)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_every_reported_cell_of_a_system_is_there_once():
    frame = compare(View("word_order/table2", "open", NOTHING))
    printed_word, printed_mbert = 6 * 30, 6 * 32  # la and ja have no word-level number
    assert (len(frame), set(frame["verdict"])) == (printed_word + printed_mbert, {"not run"})


def test_a_cell_shows_reported_reproduced_interval_and_difference(numbers):
    found = numbers({("word:ORT", "de"): {0: 50.0, 1: 52.0, 2: 54.0}})
    row = one(compare(View("word_order/table2", "open", found)), "word:ORT", "de")
    half = stats.t.ppf(0.975, 2) * 2 / math.sqrt(3)
    assert (row["reported"], row["reproduced"], row["n"], row["verdict"]) == (
        50.59, 52.0, 3, "within",
    )  # fmt: skip
    assert row["low"] == pytest.approx(52 - half)
    assert row["difference"] == pytest.approx(52 - 50.59)
    assert row["allowed"] == pytest.approx(
        1.0 + 0.005
    )  # tolerance and half a unit of the last digit


def test_one_seed_is_compared_as_a_point_and_says_so(numbers):
    found = numbers({("word:ORT", "de"): {0: 51.5}})
    row = one(compare(View("word_order/table2", "open", found)), "word:ORT", "de")
    assert (row["verdict"], row["note"], math.isnan(row["low"])) == (
        "within",
        "one seed: no interval",
        True,
    )


def test_a_row_of_ours_stands_beside_the_papers_row(numbers):
    found = numbers({("word-mapped:ORT", "de"): {0: 50.0}})
    row = one(compare(View("word_order/table2", "open", found)), "word-mapped:ORT", "de")
    assert (row["printed"], row["difference"]) == ("50.59", pytest.approx(-0.59))


def test_a_share_is_compared_in_the_papers_unit(numbers):
    found = numbers(
        {("wsd:SaELMo", "SE2"): {0: 57.0, 1: 58.0}}, "sense_alignment/table2", metric="F1"
    )
    row = one(compare(View("sense_alignment/table2", "open", found)), "wsd:SaELMo", "SE2")
    assert (row["unit"], row["reproduced"]) == ("fraction", pytest.approx(0.575))


def test_an_exact_number_must_be_exact_to_the_last_printed_digit(numbers):
    values = {"hi": 0.404, "ja": 0.4951, "ko": 0.3251}
    cells = {("distance:mean absolute difference", c): {0: v} for c, v in values.items()}
    found = numbers(cells, "word_order/distances", metric="word-order distance", unit="")
    frame = compare(View("word_order/distances", "open", found))
    frame = frame[frame["column"].isin(values)]
    assert dict(zip(frame["column"], frame["verdict"])) == {
        "hi": "within", "ja": "above", "ko": "within",
    }  # fmt: skip


def test_a_computed_number_is_no_lone_seed(numbers):
    found = numbers({("distance:mean absolute difference", "hi"): {0: 0.4}}, "word_order/distances")
    frame = compare(View("word_order/distances", "open", found))
    row = one(frame, "distance:mean absolute difference", "hi")
    assert row["note"] == "no seed: computed"


def test_an_average_that_no_trial_filled_is_computed_from_the_targets(numbers):
    printed = load_reported().cells("word_order/distances")
    cells = {(c.system, c.column): {0: c.value} for c in printed if c.column != "avg"}
    found = numbers(cells, "word_order/distances", metric="word-order distance", unit="")
    row = one(
        compare(View("word_order/distances", "open", found)),
        "distance:mean absolute difference",
        "avg",
    )
    assert (round(row["reproduced"], 4), row["verdict"]) == (0.1733, "within")


def test_no_average_is_computed_of_some_targets_only(numbers):
    found = numbers({("word:ORT", "de"): {0: 50.0}})
    frame = compare(View("word_order/table2", "open", found))
    assert one(frame, "word:ORT", "avg")["verdict"] == "not run"


def test_each_profile_has_its_own_cells(numbers):
    found = numbers({("word:ORT", "de"): {0: 50.0}}, profile="smoke")
    frames = [compare(View("word_order/table2", p, found)) for p in ("smoke", "open")]
    verdicts = [one(frame, "word:ORT", "de")["verdict"] for frame in frames]
    assert verdicts == ["other data", "not run"]


def test_an_experiment_of_ours_shows_what_was_run(numbers):
    found = numbers({("word:ORT", "1.0e-03"): {0: 95.0}}, "word_order/learning_rates")
    frame = compare(View("word_order/learning_rates", "open", found))
    assert list(frame["verdict"]) == ["not reported"]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("man_moe/table4", "quoted by the paper from elsewhere"),
        ("man_moe/table2", "the paper's own runs; they need a commercial translator"),
    ],
)
def test_rows_that_are_only_shown_say_why(key, why):
    frame = compare(View(key, "open", NOTHING))
    assert set(frame[frame["block"] == "with"]["note"]) == {why}
    assert why not in set(frame[frame["system"] == "without:MAN-MoE"]["note"])


def named_entities(numbers, profile):
    cells = {("without:MAN-MoE", c): {0: 99.0, 1: 99.1} for c in ("de", "es", "nl", "avg")}
    return numbers(cells, "man_moe/table4", profile, metric="F1")


@pytest.mark.parametrize(
    ("profile", "expected"), [("paper", "above"), ("open", "other data"), ("smoke", "other data")]
)
def test_numbers_of_two_corpora_get_a_difference_but_no_verdict(numbers, profile, expected):
    frame = compare(View("man_moe/table4", profile, named_entities(numbers, profile)))
    row = one(frame, "without:MAN-MoE", "de")
    assert row["verdict"] == expected
    assert row["difference"] == pytest.approx(99.05 - row["reported"])


@pytest.mark.parametrize(
    ("profile", "system", "verdict"),
    [
        ("open", "mbert:ORT", "other data"),
        ("open", "word:ORT", "above"),
        ("paper", "mbert:ORT", "above"),
    ],
)
def test_rows_on_other_weights_have_no_verdict(numbers, profile, system, verdict):
    found = numbers({(system, "de"): {0: 99.0, 1: 99.1}}, "word_order/table2", profile)
    frame = compare(View("word_order/table2", profile, found))
    assert one(frame, system, "de")["verdict"] == verdict


def test_a_row_on_other_weights_that_nobody_ran_is_not_run(numbers):
    frame = compare(View("word_order/table2", "open", numbers({}, "word_order/table2")))
    assert one(frame, "mbert:ORT", "de")["verdict"] == "not run"


@pytest.mark.parametrize(
    ("column", "verdict"),
    [("NER/es", "other data"), ("SF/en", "other data"), ("SF/es", "above")],
)
def test_a_stand_in_for_some_columns_leaves_the_others_their_verdict(numbers, column, verdict):
    found = numbers({("word:ORT", column): {0: 99.0, 1: 99.1}}, "word_order/table1", metric="F1")
    frame = compare(View("word_order/table1", "open", found))
    assert one(frame, "word:ORT", column)["verdict"] == verdict


def test_cells_on_other_data_are_counted_apart(numbers):
    frame = compare(View("man_moe/table4", "open", named_entities(numbers, "open")))
    counts = verdict_counts(frame["verdict"])
    assert (counts["other data"], counts["above"], counts["within"]) == (4, 0, 0)


@pytest.mark.parametrize(
    ("profile", "column", "verdict", "note"),
    [
        ("open", "de/avg", "not here", "en/avg stands in"),
        ("open", "es/Files", "not here", "es/alarm stands in"),
        ("open", "es/avg", "not run", ""),
        ("smoke", "de/avg", "not run", ""),
        ("paper", "de/avg", "not run", ""),
    ],
)
def test_a_column_that_the_stand_in_lacks_is_not_called_not_run(profile, column, verdict, note):
    frame = compare(View("man_moe/table2", profile, NOTHING))
    row = one(frame, "without:MAN-MoE", column)
    assert (row["verdict"], row["note"]) == (verdict, note)


def test_the_guide_explains_every_verdict():
    guide = project_root() / "book" / "guide" / "reading.md"
    text = guide.read_text(encoding="utf-8")
    legend = text.split("## The verdict of a cell")[1].split("\n## ")[0]
    assert [v for v in VERDICTS if v not in legend] == []


RATES = ("5.0e-04", "1.0e-03")


def announcing(*trials, key="word_order/learning_rates", profiles=("open",)):
    """Return an experiment whose trials announce these lists of cells."""
    columns = tuple(dict.fromkeys(column for cells in trials for _, column in cells))
    systems = tuple(dict.fromkeys(system for cells in trials for system, _ in cells))
    return SimpleNamespace(
        key=key,
        systems=tuple(map(System, systems)),
        columns=columns,
        profiles=profiles,
        announced=lambda profile: [list(cells) for cells in trials],
    )


def of_system(system):
    return [(system, rate) for rate in RATES]


def test_where_nothing_is_printed_the_trials_nobody_ran_are_shown_as_not_run(numbers):
    experiment = announcing(of_system("word:TRS"), of_system("word:ORT"))
    found = numbers({("word:ORT", r): {0: 95.0} for r in RATES}, "word_order/learning_rates")
    frame = compare(View("word_order/learning_rates", "open", found), experiment=experiment)
    assert list(zip(frame["system"], frame["column"], frame["verdict"])) == [
        ("word:TRS", "5.0e-04", "not run"),
        ("word:TRS", "1.0e-03", "not run"),
        ("word:ORT", "5.0e-04", "not reported"),
        ("word:ORT", "1.0e-03", "not reported"),
    ]


def test_what_a_finished_trial_left_out_does_not_exist(numbers):
    experiment = announcing(of_system("word:ORT"))
    found = numbers({("word:ORT", RATES[1]): {0: 95.0}}, "word_order/learning_rates")
    frame = compare(View("word_order/learning_rates", "open", found), experiment=experiment)
    assert list(frame["column"]) == [RATES[1]]


def test_without_printed_numbers_the_experiment_orders_rows_and_columns(numbers):
    experiment = announcing(of_system("word:TRS"), of_system("word:ORT"))
    values = {("word:ORT", r): {0: 1.0} for r in reversed(RATES)}
    values |= {("word:TRS", r): {0: 1.0} for r in (*reversed(RATES), "more")}
    found = numbers(values, "word_order/learning_rates")
    frame = compare(View("word_order/learning_rates", "open", found), experiment=experiment)
    assert list(dict.fromkeys(frame["system"])) == ["word:TRS", "word:ORT"]
    assert list(dict.fromkeys(frame["column"])) == [*RATES, "more"]


def test_rows_and_columns_of_ours_follow_the_printed_ones_in_the_experiment_s_order(numbers):
    new = [(system, column) for system in ("ours:A", "ours:B") for column in ("second", "first")]
    experiment = announcing(new, [("word:ORT", "es")], key="word_order/table2")
    found = numbers({cell: {0: 1.0} for cell in reversed(new)})
    printed = compare(View("word_order/table2", "open", NOTHING))
    frame = compare(View("word_order/table2", "open", found), experiment=experiment)
    assert list(zip(frame["system"], frame["column"])) == [
        *zip(printed["system"], printed["column"]), *new,
    ]  # fmt: skip


def test_a_printed_table_keeps_its_own_rows_and_columns(numbers):
    experiment = announcing([("word:NEW", "de")], key="word_order/table2")
    without = compare(View("word_order/table2", "open", NOTHING))
    frame = compare(View("word_order/table2", "open", NOTHING), experiment=experiment)
    assert frame.equals(without)


def test_a_profile_that_the_experiment_lacks_has_no_cells():
    experiment = announcing(of_system("word:ORT"), profiles=("smoke",))
    assert compare(View("word_order/learning_rates", "paper", NOTHING), experiment=experiment).empty


def test_stale_cells_are_marked(numbers):
    found = numbers({("word:ORT", "de"): {0: 50.0}}, stale=True)
    assert one(compare(View("word_order/table2", "open", found)), "word:ORT", "de")["stale"]


def test_verdicts_are_counted(numbers):
    found = numbers({("word:ORT", "de"): {0: 50.0}, ("word:TRS", "de"): {0: 90.0}})
    frame = compare(View("word_order/table2", "open", found))
    assert verdict_counts(frame["verdict"][frame["column"] == "de"]) == {
        "within": 1, "above": 1, "below": 0, "other data": 0, "not run": 10,
        "not here": 0, "quoted": 0, "not reported": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "profile", "message"),
    [
        ("word_order/table9", "open", "unknown experiment 'word_order/table9'"),
        ("word_order/table2", "huge", "unknown profile 'huge'; known: smoke, open, paper"),
    ],
)
def test_unknown_names_are_errors(key, profile, message):
    with pytest.raises(SettingsError, match=message):
        compare(View(key, profile, NOTHING))


A, B = {0: 60.0, 1: 62.0, 2: 65.0}, {0: 58.0, 1: 61.0, 2: 61.0}


def test_paired_differences_are_those_of_a_paired_t_test(numbers):
    found = numbers({("word:ORT", "avg"): A, ("word:TRS", "avg"): B})
    (row,) = paired_differences(
        View("word_order/table2", "open", found), "word:ORT", "word:TRS"
    ).to_dict("records")
    expected = stats.ttest_rel(list(A.values()), list(B.values())).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["mean"] == pytest.approx(np.mean(list(A.values())) - np.mean(list(B.values())))


def test_only_shared_seeds_are_paired(numbers):
    found = numbers({("word:ORT", "avg"): A, ("word:TRS", "avg"): {1: 61.0, 7: 0.0}})
    (row,) = paired_differences(
        View("word_order/table2", "open", found), "word:ORT", "word:TRS"
    ).to_dict("records")
    assert (row["seeds"], row["values"]) == ((1,), (1.0,))


@pytest.mark.parametrize(
    ("second", "sign"),
    [
        ({0: 50.0, 1: 52.1, 2: 54.9}, "+"),
        ({0: 70.0, 1: 72.1, 2: 74.9}, "-"),
        ({0: 50.0, 1: 72.0, 2: 65.0}, "0"),
    ],
)
def test_the_sign_is_named_where_the_interval_leaves_out_zero(numbers, second, sign):
    found = numbers({("word:ORT", "avg"): A, ("word:TRS", "avg"): second})
    frame = paired_differences(View("word_order/table2", "open", found), "word:ORT", "word:TRS")
    assert list(frame["sign"]) == [sign]


def test_systems_without_a_shared_seed_cannot_be_paired(numbers):
    found = numbers({("word:ORT", "avg"): {0: 1.0}, ("word:TRS", "avg"): {1: 1.0}})
    view = View("word_order/table2", "open", found)
    with pytest.raises(SettingsError, match="share no seed in column avg; run both"):
        paired_differences(view, "word:ORT", "word:TRS", ["avg"])
    assert paired_differences(view, "word:ORT", "word:TRS").empty
