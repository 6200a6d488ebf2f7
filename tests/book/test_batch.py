import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xlrepro.book.batch import executed_dir, failed_notebook, plan, run_batch
from xlrepro.errors import SettingsError

from .conftest import outputs


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


def test_notebooks_share_the_cores(project, write_notebook):
    write_notebook("fake/one", "print(jobs)", parameters='profile = "smoke"\njobs = 64')
    (job,) = plan(None, "smoke", workers=2)
    assert job.parameters["jobs"] == max(1, (os.cpu_count() or 1) // 2)


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


def test_failed_run_leaves_no_notebook_that_looks_finished(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    run_batch(plan(None, "smoke"), report=silent)
    write_notebook("fake/one", "1 / 0")
    run_batch(plan(None, "smoke"), report=silent)
    assert not (executed_dir("smoke") / "fake" / "one.ipynb").exists()


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
    wait_for(lambda: not running("fake/slow.request.json"))


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
