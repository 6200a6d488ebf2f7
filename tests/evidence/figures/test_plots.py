"""What the dot plots of a page show of a comparison."""

import random

import pytest

from xlrepro.evidence.compare import compare
from xlrepro.evidence.figures import plots
from xlrepro.evidence.figures.plots import (
    PAPER,
    differences,
    forest_plot,
    reported_beside_reproduced,
    scores,
    short_names,
)
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import ReproducedNumbers
from xlrepro.evidence.view import View

KEY = "word_order/table2"


@pytest.fixture
def frame(numbers):
    draw = random.Random(0)
    cells = {
        (c.system, c.column): {s: c.value + 5 + draw.gauss(0, 1) for s in range(3)}
        for c in load_reported().cells(KEY)
        if c.system in ("word:ORT", "word:TRS") and c.column in ("en", "no", "zh", "hi", "avg")
    }
    return compare(View(KEY, "open", numbers(cells)))


@pytest.fixture
def empty():
    return compare(View(KEY, "open", ReproducedNumbers([])))


def marks(row):
    return ["paper" if mark.look == PAPER else "ours" for mark in row.marks]


def test_every_system_has_a_row_with_the_paper_beside_ours(frame):
    shown = reported_beside_reproduced(frame, "avg").rows
    rows = {row.label: row for row in shown if row.group == "word"}
    assert marks(rows["ORT"]) == ["ours", "paper"]
    assert marks(rows["RPT"]) == ["paper"]
    assert rows["RPT"].text.startswith("not run (")


def test_where_ours_say_nothing_the_paper_stands_alone_in_the_same_form(frame):
    found = reported_beside_reproduced(frame, "avg", printed_alone=True)
    assert {tuple(marks(row)) for row in found.rows} == {("paper",)}
    assert [name for name, _ in found.key] == ["the paper (in brackets)"]
    assert "as printed" in found.title


def test_of_many_systems_the_blocks_of_the_question_are_drawn(frame, monkeypatch):
    monkeypatch.setattr(plots, "MOST_ROWS", 11)
    assert {row.group for row in reported_beside_reproduced(frame, "avg").rows} > {"word"}
    (alone,) = {r.group for r in reported_beside_reproduced(frame, "avg", blocks=["word"]).rows}
    assert alone == ""


def test_nothing_run_and_nothing_printed_is_said(empty):
    assert "nothing was run" in reported_beside_reproduced(empty, "no such column").alt
    assert "nothing was run" in scores(empty).alt
    assert "no cell" in differences(empty)[0].alt


def test_the_larger_of_systems_and_columns_are_the_rows(frame):
    assert [row.label for row in scores(frame).rows] == ["en", "no", "zh", "hi", "avg"]
    assert [row.label for row in scores(frame, columns=["avg"]).rows] == ["TRS", "ORT"]


def test_differences_have_a_plot_per_block_and_a_line_per_language_by_distance(frame):
    (plot,) = differences(frame)
    assert [row.label for row in plot.rows] == ["en", "no", "zh", "hi", "avg"]
    assert {len(row.marks) for row in plot.rows} == {2}


def test_systems_are_the_lines_of_differences_where_they_outnumber_the_columns(frame):
    (plot,) = differences(frame[frame["column"] == "avg"])
    ran = frame[frame["difference"].notna() & (frame["column"] == "avg")]
    assert [row.label for row in plot.rows] == [*ran["name"]]
    assert [label for label, _ in plot.key] == ["avg"]


def test_the_text_of_differences_names_the_extremes(frame):
    ran = frame[frame["difference"].notna()]
    high = ran.loc[ran["difference"].idxmax()]
    assert f"({high['system']}, {high['column']})" in differences(frame)[0].alt


def test_a_forest_plot_has_a_row_per_pair_with_its_interval(numbers):
    found = numbers({("word:ORT", "avg"): {0: 3.0, 1: 4.0}, ("word:TRS", "avg"): {0: 1.0, 1: 3.0}})
    gap = View(KEY, "open", found).difference("word:ORT", "word:TRS", "avg")
    plot = forest_plot([("word:ORT", "word:TRS", gap)])
    (row,) = plot.rows
    assert (row.label, row.text) == ("ORT − TRS", "+1.5 (−4.9 to +7.9)")
    assert plot.unit == "points"


def test_blocks_are_named_only_where_they_differ():
    assert list(short_names(["word:ORT", "word:TRS"]).values()) == ["ORT", "TRS"]
    assert list(short_names(["word:ORT", "mbert:ORT"]).values()) == ["ORT (word)", "ORT (mbert)"]
