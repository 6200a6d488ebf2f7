"""Rows that are not run here: which say so, and why."""

import pytest

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.compare import compare
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers, View
from xlrepro.experiments import all_experiments, experiment

NOTHING = ReproducedNumbers([])


def one(frame, system, column):
    rows = frame[(frame["system"] == system) & (frame["column"] == column)]
    assert len(rows) == 1
    return rows.iloc[0]


@pytest.mark.parametrize(
    ("key", "system", "column", "verdict"),
    [
        ("man_moe/table4", "with:Ni et al. (2017)", "de", "quoted"),
        ("man_moe/table4", "without:MAN-MoE", "de", "not run"),
        # The paper's own run, which needs a commercial translator.
        ("man_moe/table2", "with:MT (test-on-trans.)", "es/avg", "not run"),
    ],
)
def test_numbers_that_the_paper_quotes_are_not_called_not_run(key, system, column, verdict):
    row = one(compare(View(key, "open", NOTHING)), system, column)
    assert (row["verdict"], bool(row["note"])) == (verdict, system.startswith("with:"))


@pytest.mark.parametrize(("profile", "says"), [("open", True), ("smoke", False)])
def test_a_row_says_why_a_profile_does_not_run_it(profile, says):
    row = one(
        compare(View("man_moe/table4", profile, NOTHING)), "without:MAN-MOE+CharCNN+UMWE", "de"
    )
    assert row["verdict"] == "not run"
    assert ("such maps collapse" in row["note"]) == says


@pytest.mark.parametrize(
    "key", sorted(k for k, e in load_catalog().experiments.items() if e.not_run)
)
def test_a_reason_for_not_running_is_given_of_printed_rows_that_do_not_run_by_default(key):
    for profile, rows in load_catalog().experiment(key).not_run.items():
        assert set(rows) <= set(load_reported().systems(key))
        assert set(rows).isdisjoint(experiment(key).select(None, profile))


def test_a_printed_row_that_runs_by_name_alone_says_why():
    rows = {
        (key, profile, system.identifier)
        for key, each in all_experiments().items()
        for system in each.systems
        for profile in system.by_name_at
        if system.identifier in load_reported().systems(key)
    }
    assert rows
    reasons = {key: entry.not_run for key, entry in load_catalog().experiments.items()}
    assert [(k, p, row) for k, p, row in rows if row not in reasons[k].get(p, {})] == []


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
