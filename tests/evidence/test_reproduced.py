import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from xlrepro.evidence.gathered import load_evidence
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import View, gather, joined_cell, t_interval


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=8))
def test_the_interval_is_scipys(values):
    found = t_interval(values)
    spread = np.std(values, ddof=1)
    if spread == 0:
        assert found[0] == pytest.approx(found[1])
        return
    scale = spread / math.sqrt(len(values))
    low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=scale)
    assert found == pytest.approx((low, high), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("metric", "unit", "values", "ends"),
    [
        ("accuracy", "percent", (100.0, 66.7, 100.0), (None, 100.0)),
        ("F1", "fraction", (0.0, 0.1, 0.0), (0.0, None)),
        ("TER", "percent", (250.0, 60.0, 70.0), (0.0, None)),
        ("TER", "percent", (90.0, 99.0, 95.0), (None, None)),  # a rate of edits may exceed 100 %
        ("PPL", "perplexity", (2.0, 9.0, 4.0), (1.0, None)),
    ],
)
def test_an_interval_ends_where_its_metric_does_a_gap_s_not(numbers, metric, unit, values, ends):
    by_seed = dict(enumerate(values))
    found = numbers({("a:X", "de"): by_seed, ("a:Y", "de"): dict.fromkeys(by_seed, 0.0)},
                    metric=metric, unit=unit)  # fmt: skip
    view, whole = View("word_order/table2", "open", found), t_interval(values)
    cut = tuple(t if end is None else end for t, end in zip(whole, ends, strict=True))
    assert view.get("a:X", "de").interval == pytest.approx(cut)
    gap = view.difference("a:X", "a:Y", "de")
    assert gap.interval == pytest.approx(t_interval(values, gap.of_items))


def test_seeds_are_gathered_in_order_and_one_that_is_outdated_is_told(record, monkeypatch):
    monkeypatch.setattr("xlrepro.evidence.reproduced.is_outdated", lambda r: r.seed == 2)
    found = gather([record(seed=s, values={"de": v}) for s, v in ((2, 52.0), (0, 50.0))])
    cell = found.get("word_order/table2", "smoke", "word:ORT", "de")
    assert (cell.seeds, cell.values, cell.mean, cell.n) == ((0, 2), (50.0, 52.0), 51.0, 2)
    assert cell.stale


@pytest.mark.parametrize(
    ("outdated", "value", "stale"), [((), 2.0, False), ((2,), 1.0, False), ((1, 2), 2.0, True)]
)
def test_of_two_records_today_s_counts_or_the_later(record, monkeypatch, outdated, value, stale):
    monkeypatch.setattr(
        "xlrepro.evidence.reproduced.is_outdated", lambda r: r.settings["dim"] in outdated
    )
    late, early = (
        record(values={"de": dim}, settings={"dim": dim}, started=f"2026-01-0{dim}T00:00:00+00:00")
        for dim in (2, 1)
    )
    (cell,) = gather([late, early])
    assert (cell.values, cell.stale, "outdated" in cell.note) == ((value,), stale, stale)


@pytest.mark.parametrize(
    ("fr", "joined"),
    [({0: 30.0, 1: 60.0}, ((0, 1), (20.0, 40.0))), ({}, None), ({3: 10.0}, None)],
)
def test_an_average_over_columns_is_taken_over_the_seeds_that_all_have(numbers, fr, joined):
    de = {0: 10.0, 1: 20.0, 2: 5.0}
    view = View("word_order/table2", "open", numbers({("a:X", "de"): de, ("a:X", "fr"): fr}))
    cell = joined_cell([view.get("a:X", c) for c in ("de", "fr")], fmean, "a:X", "both")
    assert (cell and (cell.seeds, cell.values)) == joined


def test_a_joined_cell_names_the_records_of_all_its_parts_and_is_as_old(record, monkeypatch):
    monkeypatch.setattr("xlrepro.evidence.reproduced.is_outdated", lambda r: r.columns == ("fr",))
    made = [record(seed=s, values={c: 1.0}) for c in ("de", "fr") for s in (0, 1)]
    view = View(made[0].experiment, made[0].profile, gather(made))
    parts = [view.get(view.systems[0], c) for c in ("de", "fr")]
    average = joined_cell(parts, fmean, "a:X", "both")
    assert {*average.keys} == {each.key for each in made}
    assert average.stale


def test_the_average_of_a_row_of_ours_is_over_the_targets_of_the_paper_s_row(numbers):
    targets = {c.column for c in load_reported().cells("word_order/table2")} - {"avg"}
    found = numbers({("word-mapped:ORT", column): {0: 50.0} for column in targets})
    view = View("word_order/table2", "open", found)
    assert view.get("word-mapped:ORT", "avg").mean == 50.0


def test_a_difference_of_averages_counts_the_items_of_all_targets():
    view = View("ramen/table3", "open", load_evidence().numbers)
    rows = ("xnli:RAMEN-BASE + RoBERTa, vec", "xnli:RAMEN-BASE + RoBERTa, rnd")
    average, one = (view.difference(*rows, column) for column in ("avg", "fr"))
    assert 0 < average.of_items < one.of_items
