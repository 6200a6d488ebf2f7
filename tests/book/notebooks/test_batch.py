import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from xlrepro.book.notebooks import batch, digest
from xlrepro.book.notebooks.batch import executed_dir, failed_notebook, plan, run_batch
from xlrepro.book.notebooks.execute import failed_path
from xlrepro.cli import book as command
from xlrepro.errors import DeviceError, SettingsError
from xlrepro.trials.experiment import Experiment, System

from ..conftest import outputs

DEVICE_AND_JOBS = 'profile = "smoke"\nseeds = [0]\ndevice = "auto"\njobs = None'


def silent(line: str) -> None:
    del line


def test_unknown_parameter_stops_the_batch_before_anything_runs(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    with pytest.raises(SettingsError, match=r"notebooks/fake/one\.ipynb has no parameter 'sedes'"):
        plan(None, "smoke", {"sedes": [0]})
    assert not executed_dir("smoke").exists()


def test_unknown_experiment_is_an_error_that_names_the_known_ones(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    with pytest.raises(SettingsError, match="no notebook for 'fake/two'; there are: fake/one"):
        plan(["fake/two"], "smoke")


def test_a_paper_stands_for_its_notebooks(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    write_notebook("fake/two", "print(1)")
    write_notebook("other/one", "print(1)")
    assert [job.experiment for job in plan(["fake"], "smoke")] == ["fake/one", "fake/two"]


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [("device", "tpu", "one of auto, cpu, cuda"), ("seeds", ["0-2"], "whole numbers")],
)
def test_value_that_cannot_run_stops_the_batch_before_anything_runs(
    project, write_notebook, name, value, allowed
):
    write_notebook("fake/one", "print(1)", parameters=DEVICE_AND_JOBS)
    with pytest.raises(SettingsError, match=f"'{name}' must be {allowed}"):
        plan(None, "smoke", {name: value})


@pytest.mark.parametrize(
    "content",
    [b"[]", b"\xff\xfe", b"{}", b"null", b'{"cells": [3]}', b"[" * 200_000, b'{"cells": [{}]}'],
)
def test_a_damaged_notebook_is_refused_in_one_line(project, write_notebook, content):
    write_notebook("fake/one", "print(1)").write_bytes(content)
    with pytest.raises(SettingsError, match=r"notebooks/fake/one\.ipynb is not a notebook"):
        plan(None, "smoke")


def test_parameters_that_are_not_python_are_refused(project, write_notebook):
    write_notebook("fake/one", "print(1)", parameters="seeds = [")
    with pytest.raises(SettingsError, match="the cell tagged 'parameters' is not Python"):
        plan(None, "smoke")


def test_a_device_that_is_not_here_stops_the_batch_before_anything_runs(
    project, write_notebook, monkeypatch
):
    monkeypatch.setattr("xlrepro.machine.gpu_count", lambda: 0)
    write_notebook("fake/one", "print(1)", parameters=DEVICE_AND_JOBS + "\nscheduler = None")
    with pytest.raises(DeviceError, match="no CUDA device"):
        plan(None, "smoke", {"device": "cuda"})
    assert plan(None, "smoke", {"device": "cuda", "scheduler": "tcp://far:8786"})


def test_systems_and_seeds_that_cannot_be_had_stop_the_batch_before_anything_runs(
    project, write_notebook, monkeypatch
):
    own = Experiment("fake/one", (System("word", "ORT"),), ("de",), lambda *_: [])
    monkeypatch.setattr(batch, "all_experiments", lambda: {"fake/one": own})
    write_notebook("fake/one", "print(1)", parameters=DEVICE_AND_JOBS + "\nsystems = []")
    with pytest.raises(SettingsError, match="no system 'nope'; it has: word:ORT"):
        plan(None, "smoke", {"systems": ["nope"]})
    write_notebook("fake/one", "print(1)", parameters=DEVICE_AND_JOBS + "\nseeds = [0]")
    with pytest.raises(SettingsError, match="seeds must be whole numbers from 0"):
        plan(None, "smoke", {"seeds": [2**32]})


@pytest.mark.parametrize("name", ["seeds", "systems", "device", "scheduler"])
def test_a_parameter_given_by_two_options_is_refused(name):
    with pytest.raises(SettingsError, match=f"{name} is given twice, by --{name} and by -p"):
        command.batch(["no/such"], parameters=[f"{name}=0"], **{name: "1"})


def test_profile_as_a_parameter_is_refused(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    with pytest.raises(SettingsError, match="give --profile open, not -p profile=open"):
        plan(None, "smoke", {"profile": "open"})


@pytest.fixture
def experiments(monkeypatch):
    """Return a function that names the profiles of experiments, and what each draws on."""

    def name(profiles, draws_on=None):
        drawn = draws_on or {}
        known = {
            key: SimpleNamespace(profiles=of_key, draws_on=drawn.get(key, ()), trials=lambda *_: [])
            for key, of_key in profiles.items()
        }
        monkeypatch.setattr(batch, "all_experiments", lambda: known)
        monkeypatch.setattr(digest, "experiments_read", lambda key: (key, *drawn.get(key, ())))

    return name


def test_experiments_without_the_profile_are_left_out_and_named(
    project, write_notebook, experiments, caplog
):
    for key in ("fake/one", "fake/two", "fake/three"):
        write_notebook(key, "print(1)")
    experiments({"fake/one": ("smoke", "paper"), "fake/two": ("smoke",), "fake/three": ("smoke",)})
    assert [job.experiment for job in plan(None, "paper")] == ["fake/one"]
    (line,) = caplog.messages
    assert line.endswith("no profile 'paper': fake/three, fake/two")
    with pytest.raises(SettingsError, match=r"nothing to run, .* no profile 'paper': fake/two"):
        plan(["fake/two"], "paper")


def test_another_number_of_jobs_runs_nothing_again(project, write_notebook):
    write_notebook("fake/one", "print(1)", parameters=DEVICE_AND_JOBS)
    run_batch(plan(None, "smoke", {"jobs": 1}), report=silent)
    assert run_batch(plan(None, "smoke", {"jobs": 3}), report=silent).reused == ["fake/one"]


def test_executed_notebook_holds_outputs_and_nothing_half_written_stays(project, write_notebook):
    write_notebook("fake/one", "print(profile, seeds)")
    summary = run_batch(plan(None, "smoke", {"seeds": [4, 5]}), report=silent)
    target = executed_dir("smoke") / "fake" / "one.ipynb"
    assert (summary.done, outputs(target)) == (["fake/one"], "smoke [4, 5]\n")
    left = {p.name for p in target.parent.iterdir()}
    assert left == {"one.ipynb", "one.log", "one.state.json"}


def test_leftovers_of_a_killed_run_are_removed(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = executed_dir("smoke") / "fake" / f".one.{dead.pid}.partial.ipynb"
    left.parent.mkdir(parents=True)
    left.write_text("half", encoding="utf-8")
    run_batch(plan(None, "smoke"), report=silent)
    assert not left.exists()


def test_second_batch_runs_only_what_changed(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    write_notebook("fake/two", "print(2)")
    run_batch(plan(None, "smoke"), report=silent)
    write_notebook("fake/two", "print(3)")
    summary = run_batch(plan(None, "smoke"), report=silent)
    assert (summary.done, summary.reused) == (["fake/two"], ["fake/one"])


def test_new_record_of_an_experiment_makes_its_notebook_run_again(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    write_notebook("fake/two", "print(2)")
    run_batch(plan(None, "smoke"), report=silent)
    record = project / "build" / "records" / "aa.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({"experiment": "fake/one"}), encoding="utf-8")
    summary = run_batch(plan(None, "smoke"), report=silent)
    assert (summary.done, summary.reused) == (["fake/one"], ["fake/two"])


def makes_record(name):
    """Return lines of a notebook that make a record of ``fake/one``."""
    return (
        "import pathlib",
        f"record = pathlib.Path('build/records/{name}.json')",
        "record.parent.mkdir(exist_ok=True)",
        'record.write_text(\'{"experiment": "fake/one"}\')',
    )


def test_a_page_is_not_current_with_a_record_that_came_while_it_ran(project, write_notebook):
    write_notebook("fake/one", "print(1)", *makes_record("aa"))
    assert run_batch(plan(None, "smoke"), report=silent).done == ["fake/one"]
    assert run_batch(plan(None, "smoke"), report=silent).done == ["fake/one"]
    assert run_batch(plan(None, "smoke"), report=silent).reused == ["fake/one"]


def test_trials_of_all_notebooks_are_run_together_before_them(
    project, write_notebook, experiments, monkeypatch
):
    write_notebook("fake/one", "print(1)", parameters=DEVICE_AND_JOBS)
    write_notebook("fake/two", "print(1)", parameters=DEVICE_AND_JOBS)
    experiments({"fake/one": ("smoke",), "fake/two": ("smoke",)})
    for key, experiment in batch.all_experiments().items():
        trials = [SimpleNamespace(key="shared"), SimpleNamespace(key=key)]
        experiment.trials = lambda profile, systems, seeds, own=trials: own
    calls = []

    def run_trials(trials, **options):
        calls.append(([trial.key for trial in trials], options))
        return SimpleNamespace(line="3 run")

    monkeypatch.setattr(batch, "run_trials", run_trials)
    lines = []
    run_batch(plan(None, "smoke", {"device": "cpu"}), report=lines.append)
    (keys, options), lines = calls[0], [line for line in lines if line.startswith("trials")]
    assert (len(calls), keys, lines) == (1, ["shared", "fake/one", "fake/two"], ["trials: 3 run"])
    assert options == {"device": "cpu", "scheduler": None, "jobs": None}
    run_batch(plan(None, "smoke", {"device": "cpu"}), report=silent)
    assert len(calls) == 1  # nothing is out of date


def test_a_failed_page_beside_a_good_notebook_goes(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    run_batch(plan(None, "smoke"), report=silent)
    left = failed_path(executed_dir("smoke") / "fake" / "one.ipynb")
    left.write_text("{}", encoding="utf-8")
    assert run_batch(plan(None, "smoke"), report=silent).reused == ["fake/one"]
    assert failed_notebook("fake/one", "smoke") is None


def test_three_forced_batches_at_once_wait_for_each_other(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    write_notebook("fake/two", "print(2)")
    command = [sys.executable, "-m", "xlrepro", "batch", "--force"]
    started = [
        subprocess.Popen(command, env=os.environ.copy(), stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = [child.communicate(timeout=300)[1] for child in started]
    assert [child.returncode for child in started] == [0, 0, 0], told
    assert sum("another process runs notebooks in" in text for text in told) == 2
    assert all("2 run, 0 up to date, 0 failed" in text for text in told)
    left = {p.name for p in (executed_dir("smoke") / "fake").iterdir()}
    assert not [name for name in left if "failed" in name or "partial" in name]


def test_a_folder_that_cannot_be_written_is_one_line(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    (project / "build").mkdir()
    (project / "build" / "notebooks").write_text("in the way", encoding="utf-8")
    jobs = plan(None, "smoke")
    with pytest.raises(
        SettingsError, match=r"build/notebooks cannot be written \(.*\): set XLREPRO"
    ):
        run_batch(jobs, report=silent)


def test_notebook_that_is_killed_leaves_a_page_that_says_so(project, write_notebook):
    write_notebook("fake/one", "import os, signal", "os.kill(os.getppid(), signal.SIGKILL)")
    (job,) = plan(["fake/one"], "smoke")
    summary = run_batch([job], report=silent)
    assert list(summary.failed) == ["fake/one"]
    assert failed_notebook("fake/one", "smoke")


def test_failing_notebook_does_not_stop_the_others_and_is_named_with_its_log(
    project, write_notebook
):
    write_notebook("fake/bad", "print('before')", "1 / 0")
    write_notebook("fake/good", "print(1)")
    summary = run_batch(plan(None, "smoke"), workers=1, report=silent)
    assert (summary.done, list(summary.failed)) == (["fake/good"], ["fake/bad"])
    assert "ZeroDivisionError" in summary.failed["fake/bad"].read_text(encoding="utf-8")
    half_run = failed_notebook("fake/bad", "smoke")
    assert half_run is not None
    assert outputs(half_run).startswith("before")


def test_failed_run_leaves_the_earlier_notebook_and_does_not_call_it_up_to_date(
    project, write_notebook
):
    write_notebook("fake/one", "print(1)")
    run_batch(plan(None, "smoke"), report=silent)
    write_notebook("fake/one", "1 / 0")
    assert list(run_batch(plan(None, "smoke"), report=silent).failed) == ["fake/one"]
    assert outputs(executed_dir("smoke") / "fake" / "one.ipynb") == "1\n"
    assert failed_notebook("fake/one", "smoke") is not None
    write_notebook("fake/one", "print(1)")
    assert run_batch(plan(None, "smoke"), report=silent).done == ["fake/one"]
    assert failed_notebook("fake/one", "smoke") is None


def test_killed_batch_goes_on_where_it_stopped(project, write_notebook):
    write_notebook("fake/fast", "print(1)")
    write_notebook("fake/slow", "import time, pathlib", "time.sleep(0 if factor > 1 else 600)")
    command = [sys.executable, "-m", "xlrepro", "batch", "--jobs", "1"]
    child = subprocess.Popen(command, env=os.environ.copy(), stderr=subprocess.DEVNULL)
    state = executed_dir("smoke") / "fake" / "fast.state.json"
    wait_for(state.is_file)
    child.send_signal(signal.SIGKILL)
    child.wait()
    summary = run_batch(plan(["fake/fast"], "smoke"), report=silent)
    assert summary.reused == ["fake/fast"]
    wait_for(lambda: not running("fake/slow.ipynb"))


def wait_for(condition, seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.2)


def running(text: str) -> bool:
    """Tell whether a process of ours has ``text`` in its command line."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text in entry.read_text(encoding="utf-8", errors="replace"):
                return True
        except OSError:
            continue
    return False
