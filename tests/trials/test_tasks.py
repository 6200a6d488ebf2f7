"""Names of tasks, and the published records that carry them."""

import json
import subprocess
from pathlib import Path

import pytest

from xlrepro.errors import SettingsError
from xlrepro.experiments import all_experiments
from xlrepro.paths import data_dir
from xlrepro.trials.store import RecordStore
from xlrepro.trials.tasks import function_name, load_task

ROOT = Path(__file__).resolve().parents[2]
BEFORE = "a1f068b7c60f"  # the last commit whose records named a module instead of a task


def test_every_task_of_every_trial_has_its_function():
    trials = [
        trial
        for experiment in all_experiments().values()
        for profile in experiment.profiles
        if profile != "paper"
        for trial in experiment.all_trials(profile, [0])
    ]
    assert all(callable(load_task(task)) for task in {trial.task for trial in trials})


def test_every_published_record_names_a_task_that_is_there():
    assert {function_name(r.task).partition(":")[2] for r in RecordStore().records()} > {"run"}


@pytest.mark.parametrize("task", ["word_order/walk", "no_such_paper/run", "word_order"])
def test_an_unknown_task_is_refused_by_name(task):
    with pytest.raises(SettingsError, match=f"no task '{task}'"):
        function_name(task)


def test_a_task_whose_function_has_gone_is_said(monkeypatch):
    monkeypatch.setattr("xlrepro.papers.word_order.TASKS", {"pos": "xlrepro.gone:run"})
    with pytest.raises(SettingsError, match=r"word_order/pos.*xlrepro\.gone:run cannot be found"):
        load_task("word_order/pos")


def test_no_number_has_changed_since_records_named_modules():
    """Rekeyed records say what they said; a trial that was run anew since is another record."""

    def said(record):
        who = record["experiment"], tuple(record["systems"]), record["seed"], record["started"]
        return who, json.dumps([record["settings"], record["cells"], record["details"]])

    names = [f"{p.parent.name}/{p.name}" for p in data_dir().glob("results/*/*.jsonl")]
    before: dict = {}
    for name in names:
        shown = subprocess.run(
            ["git", "-C", str(ROOT), "show", f"{BEFORE}:data/results/{name}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        before |= dict(said(json.loads(line)) for line in shown.stdout.split("\n") if line)
    if not before:
        pytest.skip(f"the history does not reach back to {BEFORE}")
    today = [said(json.loads(record.to_json())) for record in RecordStore().records()]
    assert [who for who, content in today if before.get(who, content) != content] == []
