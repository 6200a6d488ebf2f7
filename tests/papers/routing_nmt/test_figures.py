"""Figures and tables of the pages, on made-up records."""

from dataclasses import replace

import numpy as np
import pytest

from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers
from xlrepro.evidence.view import View
from xlrepro.papers.routing_nmt.blocks import FIGURE_TASKS
from xlrepro.papers.routing_nmt.figures import block_usage, translation
from xlrepro.papers.routing_nmt.scores import scored
from xlrepro.trials import Cell, Record

PLACES = [f"{s}/{t}/{b}" for s in ("same", "own") for t in FIGURE_TASKS for b in (1, 2, 3)]
GOLD = [[*f"abcdefg{n}"] for n in range(12)]
SYSTEMS = ("NMT", "MTL (Full)", "MTL (Routing)")


def view(experiment, cells):
    found = [
        ReproducedCell(
            experiment, "open", *address, "BLEU", "percent", (0, 1, 2), values, ("k",) * 3
        )
        for *address, values in cells
    ]
    return View(experiment, "open", ReproducedNumbers(found))


def record(system, seed, wrong):
    """A record whose test translations have so many wrong words at their ends."""
    guess = [s[: len(s) - wrong] + ["x"] * wrong for s in GOLD]
    scores = scored(guess, GOLD, [" ".join(s) for s in GOLD])
    usage = {task: [0.4, 0.35, 0.25] for task in FIGURE_TASKS}
    counts = {"found": 9, "train": 7, "dev": 2, "test": 2}
    return Record.model_construct(
        systems=(f"translation:{system}",),
        seed=seed,
        training_seconds=120.0,
        signatures=scores.signatures,
        cells=(
            Cell(f"translation:{system}", "en-vi/test/PPL", 10.0 * wrong, "PPL"),
            Cell(f"translation:{system}", "en-vi/test/BLEU", scores.bleu, "BLEU"),
        ),
        details={
            "settings": {"pair": "en-vi"},
            "parameters": 20,
            "parameters of translation": 10,
            "best_epoch": 1,
            "BLEU detokenised": {"test": scores.bleu_detokenised},
            "test_counts": scores.statistics[:, :6].tolist(),
            "data": {"translation": counts, "vocabulary": {"source": 3}},
            "usage": {"same": usage, "own": usage},
        },
    )


@pytest.fixture
def records():
    wrong = {"NMT": 3, "MTL (Full)": 2, "MTL (Routing)": 1}
    return [record(system, seed, wrong[system]) for system in reversed(SYSTEMS) for seed in (0, 1)]


def test_gains_are_told_pair_by_pair():
    cells = [
        (f"translation:{system}", f"{pair}/test/BLEU", tuple(base + i + np.arange(3) / 10))
        for i, system in enumerate(SYSTEMS)
        for pair, base in (("en-de-5k", 10), ("en-de-10k", 20))
    ]
    figure = translation.gain_over_plain(view("routing_nmt/table1", cells))
    assert "MTL (Full): en-de-5k +1.00, en-de-10k +1.00" in figure.alt
    assert "MTL (Routing): en-de-5k +2.00, en-de-10k +2.00" in figure.alt


def test_gains_without_a_baseline_say_so():
    empty = view("routing_nmt/table1", [("translation:NMT", "en-vi/test/BLEU", (1.0, 2.0, 3.0))])
    assert "were not both run" in translation.gain_over_plain(empty).alt


def test_gains_stand_against_training_pairs(records):
    figure = translation.gain_against_size(records, "open")
    assert "MTL (Full), vi: 7: +33.3; MTL (Routing), vi: 7: +66.7" in figure.alt
    assert "were not both run" in translation.gain_against_size([], "open").alt


def test_gains_against_size_have_intervals_over_seeds(records):
    first = next(r for r in records if r.systems[0].endswith("(Full)") and r.seed == 0)
    halved = [replace(c, value=c.value / 2) if c.column.endswith("PPL") else c for c in first.cells]
    others = [r for r in records if r is not first]
    figure = translation.gain_against_size(
        [*others, first.model_copy(update={"cells": tuple(halved)})], "open"
    )
    # gains of 66.7 and 33.3 %: a mean of 50.0, and half of t's interval 12.7 times 16.7
    assert "MTL (Full), vi: 7: +50.0 ± 211.8" in figure.alt


@pytest.mark.parametrize(("times", "scale"), [(1, "linear"), (10, "symlog")])
def test_one_training_that_stands_still_leaves_the_others_room(records, times, scale):
    stuck = next(r for r in records if r.systems[0].endswith("(Full)") and r.seed == 0)
    cells = tuple(replace(c, value=times * c.value) for c in stuck.cells)
    others = [r for r in records if r.systems[0].endswith(("NMT", "(Full)")) and r.seed == 0]
    moved = [r if r is not stuck else r.model_copy(update={"cells": cells}) for r in others]
    (axis,) = translation.gain_against_size(moved, "open").drawing.axes
    assert axis.get_yscale() == scale


@pytest.mark.parametrize(("far", "scale"), [(9.0, "linear"), (900.0, "symlog")])
def test_so_do_the_differences_of_perplexity(far, scale):
    column = "en-vi/test/PPL"
    plain = ("translation:NMT", column, (5.0, 6.0, 7.0))
    shared = ("translation:MTL (Full)", column, (4.0, 6.0, far))
    cells = view("routing_nmt/table1", [plain, shared])
    (axis,) = translation.gain_over_plain(cells, metric="PPL").drawing.axes
    assert axis.get_xscale() == scale


def test_the_bootstrap_of_records_is_that_of_their_translations(records):
    table = translation.bootstrap_table(records, "open")
    told = [("MTL (Routing)", "NMT"), ("MTL (Routing)", "MTL (Full)"), ("MTL (Full)", "NMT")]
    assert [row[0].text for row in table.rows] == [f"{a} minus {b}, en-vi" for a, b in told]
    bleu = {r.systems[0].partition(":")[2]: r.cells[1].value for r in records}
    gains = [row[1].sort for row in table.rows]
    assert gains == [pytest.approx(bleu[a] - bleu[b]) for a, b in told]
    assert [row[3].text for row in table.rows] == ["2 of 2"] * 3


def test_translations_that_match_by_chance_alone_are_not_compared(records, monkeypatch):
    monkeypatch.setattr(translation, "LEAST_BLEU", 101)
    assert translation.bootstrap_table(records, "open").rows == ()


def test_one_size_is_not_called_a_comparison_of_sizes(records):
    assert translation.gain_against_size(records, "open").alt.startswith("Gain, one size")
    sizes = {"en-de-5k": 7, "en-de-10k": 14}
    both = [(r.model_copy(deep=True), pair) for r in records for pair in sizes]
    for each, pair in both:
        each.details["settings"]["pair"] = pair
        each.details["data"]["translation"]["train"] = sizes[pair]
    figure = translation.gain_against_size([each for each, _ in both], "open")
    assert figure.alt.startswith("Gain against size")
    assert "MTL (Full), de: 7: +33.3, 14: +33.3" in figure.alt


def test_sizes_stand_in_the_order_of_the_page(records):
    table = translation.sizes_table(records, "open")
    assert [row[0].text for row in table.rows] == [f"{name}, en-vi" for name in SYSTEMS]
    assert [row[4].text for row in table.rows] == ["2.0"] * 3  # minutes


def test_bleu_without_smoothing_stands_beside_the_smoothed_one(records):
    by_name = {row[0].text: row for row in translation.sizes_table(records, "open").rows}
    matching = by_name["MTL (Routing), en-vi"]
    assert matching[6].sort == pytest.approx(matching[5].sort)
    for each in records:
        each.details["test_counts"] = [[*row[:5], 0] for row in each.details["test_counts"]]
    assert [row[6].text for row in translation.sizes_table(records, "open").rows] == ["0.00"] * 3


def test_bleu_of_lines_is_empty_where_references_were_normalised(records):
    with_lines = [row[7].text for row in translation.sizes_table(records, "open").rows]
    records[0].signatures["BLEU detokenised"] = records[0].signatures["BLEU"]
    without = [row[7].text for row in translation.sizes_table(records, "open").rows]
    assert "" not in with_lines
    assert without == [*with_lines[:-1], ""]


def test_each_task_of_a_pair_is_counted_once(records):
    table = translation.left_out_table(records, "open")
    assert [row[0].text for row in table.rows] == ["translation, en-vi"]


def test_the_figure_names_the_heaviest_user_of_each_block():
    most = {"1": "translation", "2": "syntax", "3": "ner"}
    uses = {
        place: 60.0 if most[place[-1]] in place else 20.0
        for place in tuple(
            f"{s}/{t}/{b}" for s in ("same", "own") for t in FIGURE_TASKS for b in (1, 2, 3)
        )
    }
    cells = [
        ("translation:MTL (Routing)", f"en-vi/{place}", (use, use + 1, use + 2))
        for place, use in uses.items()
    ]
    figure = block_usage.block_usage(view("routing_nmt/figure2", cells))
    assert "block 1 by translation, block 2 by syntactic parsing, block 3 by named" in figure.alt


@pytest.mark.parametrize("source", ["same", "own"])
def test_bars_of_the_figure_have_ts_interval_over_seeds(source):
    means = {place: 5.0 + number for number, place in enumerate(PLACES)}
    cells = [
        ("translation:MTL (Routing)", f"en-vi/{place}", (0.9 * mean, mean, 1.1 * mean))
        for place, mean in means.items()
    ]
    figure = block_usage.block_usage(view("routing_nmt/figure2", cells), source)
    bars = [c for c in figure.drawing.axes[0].containers if hasattr(c, "patches")]
    for task, drawn in zip(FIGURE_TASKS, bars, strict=True):
        segments = drawn.errorbar.lines[2][0].get_segments()
        for block, (bar, segment) in enumerate(zip(drawn.patches, segments, strict=True), 1):
            mean = means[f"{source}/{task}/{block}"]
            half = 4.3027 * 0.1 * mean / 3**0.5  # t's quantile with two degrees of freedom
            assert bar.get_height() == pytest.approx(mean)
            assert segment[:, 1] == pytest.approx([mean - half, mean + half], rel=1e-4)


def test_claims_of_the_figure_stand_beside_chance_pair_by_pair(records):
    routed = [r for r in records if "Routing" in r.systems[0]]
    (alone,) = (r.model_copy(deep=True) for r in routed if r.seed == 0)
    alone.details["settings"]["pair"] = "en-de-10k"
    table = block_usage.chance_table([*routed, alone], "open")
    names = ("N05", "N06", "N07", "together")
    assert [row[0].text for row in table.rows] == [
        f"{name}, {pair}" for pair in ("en-vi", "en-de-10k") for name in names
    ]
    # all tasks alike: the first of equals is translation
    assert [entry.text for entry in table.rows[0][1:3]] == ["2 of 2", "true"]
    assert [entry.text for entry in table.rows[4][1:3]] == ["1 of 1", "true"]
    assert [entry.text for entry in table.rows[1][1:3]] == ["0 of 2", "false"]
    assert all(50 < float(entry.text) < 90 for entry in table.rows[0][3:])
    assert "not of their mean" not in table.caption


def test_a_claim_true_in_each_seed_and_not_of_the_mean_is_named(records):
    # translation leads one block by 0.1 in one seed, another in the other, and neither in their
    # mean; the tasks that both seeds have alike keep the blocks in their order
    fixed = {"semantics": [0.0, 0.4, 0.6], "syntax": [0.0, 0.4, 0.6], "ner": [0.4, 0.5, 0.1]}
    uses = ([0.5, 0.2, 0.3], [0.1, 0.6, 0.3])
    routed = [r for r in records if "Routing" in r.systems[0]]
    for each, use in zip(routed, uses, strict=True):
        each.details["usage"]["same"] = {"translation": use, **fixed}
    table = block_usage.chance_table(routed, "open")
    assert [entry.text for entry in table.rows[0][1:3]] == ["2 of 2", "false"]
    assert "not of their mean: N05 on en-vi" in table.caption


def test_translations_are_shown_with_their_system_and_pair(records):
    sample = {"source": "a b", "reference": "c", "translation": "d"}
    for each in records:
        each.details["samples"] = [sample] * 2
    table = translation.samples_table(records, "smoke")
    texts = [[entry.text for entry in row] for row in table.rows]
    assert texts[:2] == [["NMT, en-vi", "a b", "c", "d"]] * 2
    assert len(texts) == 2 * len(SYSTEMS)
