"""The benchmark harness: turns, files, targets; the measured numbers are no test's business."""

import json
import re
from dataclasses import asdict

import pytest
from markupsafe import escape

from benchmarks import hours, ramen, run
from benchmarks.timing import Result, beside_peer
from xlrepro.engine import ALLOCATOR_ENVIRONMENT
from xlrepro.experiments import all_experiments, experiment, files_of
from xlrepro.pages.overview import benchmarks
from xlrepro.papers.ramen.settings import EvaluationSettings
from xlrepro.paths import data_dir, project_root


@pytest.fixture(autouse=True)
def allocator(monkeypatch):
    """Set the allocator as it must be, so that no test starts the program anew."""
    for name, value in ALLOCATOR_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def result(met=True, **changes):
    values = {
        "benchmark": "invented layer", "case": "2 tokens", "device": "cpu", "threads": 1,
        "value": 1.5, "unit": "ms", "repetitions": 3, "peer": "peer 1.0", "peer_value": 3.0,
        "ratio": 2.0, "target": "at least 2 times as fast", "met": met,
    }  # fmt: skip
    return Result(**(values | changes))


@pytest.mark.parametrize(("met", "status"), [(True, 0), (None, 0), (False, 1)])
def test_exit_status_says_whether_targets_are_met(tmp_path, monkeypatch, met, status):
    monkeypatch.setitem(run.GROUPS, "crf", lambda device, threads: [result(met)])
    assert run.main(["--only", "crf", "--output", str(tmp_path / "cpu.json")]) == status


def test_groups_not_measured_again_keep_their_numbers(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "cpu.json"
    monkeypatch.setitem(run.GROUPS, "crf", lambda device, threads: [result(threads=threads)])
    monkeypatch.setitem(run.GROUPS, "data", lambda device, threads: [result(value=9.0)])
    run.main(["--only", "crf", "--threads", "1", "2", "--output", str(path)])
    run.main(["--only", "data", "--output", str(path)])
    groups = json.loads(path.read_text(encoding="utf-8"))["groups"]
    assert [r["threads"] for r in groups["crf"]["results"]] == [1, 2]
    assert [r["value"] for r in groups["data"]["results"]] == [9.0]
    assert groups["crf"]["versions"]["torch"]


def test_every_group_has_published_numbers_as_the_harness_writes_them_and_the_book_shows_them():
    path = data_dir() / "results" / "benchmarks" / "cpu.json"
    groups = json.loads(path.read_text(encoding="utf-8"))["groups"]
    assert set(groups) == set(run.GROUPS)
    shown = benchmarks()
    for line in (line for group in groups.values() for line in group["results"]):
        assert line.keys() == asdict(result()).keys()
        assert escape(line["benchmark"]) in shown


def medians_of_one_run(functions, *_, **__):
    """Return 1 s for the first and 2 s for the second function, each of which has run."""
    for function in functions.values():
        function()
    return dict(zip(functions, (1.0, 2.0), strict=True))


def test_the_parsers_peer_computes_the_same_loss(monkeypatch):
    monkeypatch.setattr(ramen, "interleaved_medians", medians_of_one_run)
    (found,) = ramen._parsing("cpu", 1)  # which refuses losses that differ
    assert (found.ratio, found.met) == (2.0, True)


def test_a_peer_that_takes_twice_as_long_makes_ours_twice_as_fast():
    medians = {"ours": 0.5, "loop": 1.0}
    at_least = [
        beside_peer("step", "a", medians, ("loop", "a loop"), ("cpu", 1, 3), least=least, tokens=10)
        for least in (2.0, 3.0, None)
    ]
    assert [line.met for line in at_least] == [True, False, None]
    line = at_least[0]
    assert (line.value, line.peer_value, line.ratio) == (500, 1000, 2)
    assert (line.tokens_per_second, line.target) == (20, "at least 2 times as fast")


def test_the_guide_s_hours_are_those_of_the_estimate():
    guide = (project_root() / "book" / "guide" / "paper.md").read_text(encoding="utf-8")
    assert hours.table() in guide
    told = dict(re.findall(r"^\| `(\w+/\w+)` \|(?:[^|]*\|){3} ([\d]+|under 1) \|", guide, re.M))
    for key, value in hours.of_experiments().items():
        assert told[key] == (f"{value:.0f}" if value >= 1 else "under 1"), key


def test_an_adaptation_counts_once_and_a_large_one_takes_two_and_a_half_as_long():
    large, base = (
        hours.adaptation_hours(_adaptation(row))
        for row in ("large:RAMEN-LARGE + BERT (mono)", "base:RAMEN-BASE + BERT (mono)")
    )
    assert 2.2 < large / base < 2.8  # 46 hours and 20 in the paper
    models = [label for _, label, _ in hours.estimate() if "bilingual" in label]
    assert len(models) == 54


def _adaptation(row):
    trial, *_ = experiment("ramen/table1").trials("paper", [row], [0])
    return trial.typed(EvaluationSettings).adaptation


def test_the_guide_names_the_trials_and_the_supplied_files_of_each_experiment():
    guide = (project_root() / "book" / "guide" / "paper.md").read_text(encoding="utf-8")
    rows = {
        line.split("`")[1]: line.split("|")[2:4] for line in guide.splitlines() if line[:3] == "| `"
    }
    known = {key: each for key, each in all_experiments().items() if "paper" in each.profiles}
    assert len(known) == 25
    for key, each in known.items():
        trials, (sets, number) = each.trials("paper"), rows[key]
        wanted = {str(path).partition("/")[0] for path in files_of(trials, "supplied")}
        wanted = {"encoders" if "bert" in name else name for name in wanted}
        assert set(re.findall(r"`([\w.-]+)`", sets)) == wanted, key
        assert int(re.findall(r"\d+", number)[0]) == len(trials), key
