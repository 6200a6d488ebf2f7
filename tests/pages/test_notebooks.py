"""Batches of notebooks: checked before anything runs, run once, and nothing left behind."""

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from tests.toy_trials import wait_for
from xlrepro.errors import SettingsError
from xlrepro.pages import notebooks
from xlrepro.pages.notebooks import executed, fitted, plan, run_batch

from .conftest import outputs

DEVICE_AND_JOBS = 'profile = "smoke"\nseeds = [0]\ndevice = "auto"\njobs = 2\nper_gpu = 1'
SOCKETS = """
import sys
from ipykernel.kernelapp import IPKernelApp
print(IPKernelApp.instance().transport, len(IPKernelApp.instance().ip) < 90, sys.executable)
"""


def silent(line: str) -> None:
    del line


def batch(**options) -> notebooks.BatchSummary:
    return run_batch(plan(None, "smoke"), report=silent, **options)


def test_an_unknown_experiment_is_refused_a_paper_is_its_notebooks(project, write_notebook):
    write_notebook("fake/one", "print(1)")
    write_notebook("fake/two", "print(1)")
    write_notebook("other/one", "print(1)")
    with pytest.raises(SettingsError, match="no notebook for 'fake/three'; there are: fake/one"):
        plan(["fake/three"], "smoke")
    assert [job.experiment for job in plan(["fake"], "smoke")] == ["fake/one", "fake/two"]


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("seeds", ["0-2"], "seeds must be whole"),
        ("systems", ["word:NOPE"], "has no system"),
        ("systems", None, "has no system 'None'"),
        ("jobs", 0, "must be 1 or more"),
        ("jobs", "many", r"ipynb: jobs='many' must be like 1"),
        ("overrides", None, r"ipynb: overrides=None must be like \{\}"),
        ("profile", "open", "given by --profile"),
        ("nope", 1, r"table5\.ipynb has no parameter 'nope'; it has: profile, seeds"),
    ],
)
def test_a_value_that_no_notebook_runs_with_is_refused_in_a_line(name, value, wanted):
    with pytest.raises(SettingsError, match=wanted):
        plan(["word_order/table5"], "smoke", {name: value})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("seeds", "3,4", [3, 4]), ("seeds", 3, [3]), ("systems", "ORT", ["ORT"]), ("rate", 2, 2.0)],
)
def test_values_take_the_type_of_their_default(name, value, expected):
    got = fitted(value, name, {"seeds": [0], "systems": [], "rate": 0.5}, "a.ipynb")
    assert (got, type(got)) == (expected, type(expected))


@pytest.mark.parametrize("parameters", ["seeds = [", "seeds = list(range(3))"])
def test_parameters_that_are_no_plain_values_are_one_line(project, write_notebook, parameters):
    write_notebook("fake/one", "print(1)", parameters=parameters)
    with pytest.raises(SettingsError, match=r"fake/one\.ipynb is not a .* of plain values"):
        plan(None, "smoke")


@pytest.mark.parametrize("content", ["[]", '{"cells": [1]}', '{"cells": [{"metadata": []}]}'])
def test_a_file_that_is_no_notebook_is_one_line(project, write_notebook, content):
    write_notebook("fake/one", "print(1)")
    notebooks.find_notebooks(None)["fake/one"].write_text(content)
    with pytest.raises(SettingsError, match=r"fake/one\.ipynb is not a notebook"):
        plan(None, "smoke")


@pytest.fixture
def experiments(monkeypatch):
    """Return a function that names the profiles of experiments."""

    def name(**profiles):
        known = {
            f"fake/{key}": SimpleNamespace(
                profiles=given, trials=lambda *_, key=key: [
                    SimpleNamespace(key="shared"), SimpleNamespace(key=key)
                ],
            )
            for key, given in profiles.items()
        }  # fmt: skip
        monkeypatch.setattr(notebooks, "all_experiments", lambda: known)

    return name


def test_experiments_without_the_profile_are_left_out(project, write_notebook, experiments, caplog):
    for key in ("fake/one", "fake/two"):
        write_notebook(key, "print(1)")
    experiments(one=("smoke", "paper"), two=("smoke",))
    assert [job.experiment for job in plan(None, "paper")] == ["fake/one"]
    assert caplog.messages[0].endswith("no profile 'paper': fake/two")
    with pytest.raises(SettingsError, match=r"nothing to run, .* no profile 'paper': fake/two"):
        plan(["fake/two"], "paper")


def test_trials_of_all_notebooks_run_before_them(project, write_notebook, experiments, monkeypatch):
    for key in ("fake/one", "fake/two"):  # of which only what has not failed already is executed
        write_notebook(key, "open('executed', 'a').write('x')", parameters=DEVICE_AND_JOBS)
    experiments(one=("smoke",), two=("smoke",))
    calls, lines, failed = [], [], [("seed 0: too bad", Path("logs/two.log"))]

    def run_trials(trials, **options):
        calls.append(([trial.key for trial in trials], options))
        return SimpleNamespace(line="3 run", failed=failed)

    monkeypatch.setattr(notebooks, "run_trials", run_trials)
    summary = run_batch(plan(None, "smoke", {"device": "cpu", "per_gpu": 3}), report=lines.append)
    said = {"device": "cpu", "per_gpu": 3, "jobs": 2}  # the last one by the cell
    assert calls == [(["shared", "one", "two"], said)]
    assert (summary.done, [*summary.failed]) == (["fake/one"], ["fake/two"])
    assert (project / "executed").read_text() == "x"
    told = ["trials: 3 run", "fake/two: FAILED: XlreproError: seed 0: too bad; see logs/two.log"]
    told += [f"fake/one: {executed('fake/one', 'smoke')}"]
    assert [sum(said in line for line in lines) for said in told] == [1, 1, 1]
    failed.clear()
    run_batch(plan(None, "smoke", {"device": "cpu"}), report=silent)
    run_batch(plan(None, "smoke", {"device": "cpu"}), report=silent)
    assert len(calls) == 2  # nothing is out of date


def test_a_batch_that_waits_for_another_says_so(tmp_path, caplog):
    with ThreadPoolExecutor(1) as pool, notebooks.only_one(tmp_path):
        waiting = pool.submit(lambda: notebooks.only_one(tmp_path).__enter__())
        wait_for(lambda: f"works in {tmp_path}" in caplog.text, "the line")
        assert not waiting.done()


def test_the_trials_run_before_a_notebook_are_those_it_shows_overrides_too(monkeypatch):
    ran, summary = [], SimpleNamespace(line="", failed=[])
    monkeypatch.setattr(notebooks, "run_trials", lambda trials, **_: ran.extend(trials) or summary)
    given = {"systems": ["word:ORT"], "seeds": [0], "overrides": {"epochs": 3}}
    notebooks.make_records(plan(["word_order/table2"], "smoke", given), silent)
    assert [trial.settings["epochs"] for trial in ran] == [3]
    with pytest.raises(SettingsError, match="there is no setting 'epoch'"):
        plan(["word_order/table2"], "smoke", given | {"overrides": {"epoch": 3}})


def test_what_is_not_given_is_asked_for_as_the_cell_of_the_notebook_has_it(write_notebook):
    cell = 'profile = "smoke"\nseeds = [0, 1]\nsystems = ["noisy:ORT"]\noverrides = {"epochs": 3}'
    write_notebook("word_order/table5", parameters=cell)

    def asked(profile, **given):
        (job,) = plan(None, profile, given)
        return [(trial.seed, trial.settings["epochs"]) for trial in job.trials]

    assert asked("smoke") == [(0, 3), (1, 3)]
    assert asked("smoke", seeds=[2], overrides={}) == [(2, 8)]
    assert asked("open") == [(seed, 3) for seed in range(5)]  # seeds of that profile
    assert plan(None, "open")[0].parameters == {"profile": "open", "seeds": []}
    write_notebook("word_order/table5", parameters=cell.replace("noisy:ORT", "noisy:X"))
    with pytest.raises(SettingsError, match="has no system 'noisy:X'"):
        plan(None, "smoke")


def test_a_notebook_runs_in_this_interpreter_always(project, write_notebook, monkeypatch, tmp_path):
    """Also in a folder with braces; it does not call its own end an error."""
    broken = tmp_path / "share" / "kernels" / "python3" / "kernel.json"
    broken.parent.mkdir(parents=True)
    spec = {"argv": ["/no/such/python"], "display_name": "x", "language": "python"}
    broken.write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "share"))
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path / "{x}"))
    write_notebook("fake/one", SOCKETS, "print(IPKernelApp.instance().log_level)")
    summary = batch()
    assert summary.done == ["fake/one"], summary.failed["fake/one"].read_text()
    assert outputs(executed("fake/one", "smoke")) == f"ipc True {sys.executable}\n50\n"
    left = {path.name for path in executed("fake/one", "smoke").parent.iterdir()}
    assert left == {"one.ipynb", "one.sha256"}


def test_a_second_batch_runs_only_what_changed(project, write_notebook):
    write_notebook("fake/one", "print(1)", parameters=DEVICE_AND_JOBS)
    write_notebook("other/two", "print(2)", parameters=DEVICE_AND_JOBS)
    assert sorted(batch().done) == ["fake/one", "other/two"]
    write_notebook("other/two", "print(3)", parameters=DEVICE_AND_JOBS)
    summary = run_batch(plan(None, "smoke", {"jobs": 3}), report=silent)
    assert (summary.done, summary.reused) == (["other/two"], ["fake/one"])
    record = project / "build" / "records" / "aa.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}", encoding="utf-8")
    assert sorted(batch().done) == ["fake/one", "other/two"]


def test_a_failing_notebook_is_named_and_stops_no_other(project, write_notebook):
    write_notebook("fake/bad", "print('before')")
    batch()
    write_notebook("fake/bad", "print('half')", "1 / 0")
    write_notebook("fake/good", "print(1)")
    summary = batch(workers=1)
    assert (summary.done, list(summary.failed)) == (["fake/good"], ["fake/bad"])
    assert "ZeroDivisionError" in summary.failed["fake/bad"].read_text(encoding="utf-8")
    assert outputs(executed("fake/bad", "smoke").with_suffix(".failed.ipynb")).startswith("half")
    assert outputs(executed("fake/bad", "smoke")) == "before\n"  # of the earlier run
    write_notebook("fake/bad", "print(2)")
    assert batch().done == ["fake/bad"]
    assert not executed("fake/bad", "smoke").with_suffix(".failed.ipynb").exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_an_ended_batch_leaves_no_kernel_and_no_folder_of_sockets(project, write_notebook, how):
    tell = "import os\nfrom ipykernel.kernelapp import IPKernelApp as app\n"
    tell += "open('began', 'w').write(f'{os.getpid()} {app.instance().connection_file}')"
    for name in ("fake/slow", "fake/waits", "fake/waits_too"):  # more than run at a time
        write_notebook(name, tell, "import time", "time.sleep(600)")
    child = subprocess.Popen([sys.executable, "-m", "xlrepro", "batch"], stderr=subprocess.DEVNULL)
    began = project / "began"
    wait_for(lambda: began.is_file() and began.read_text(), "the kernel")
    kernel, file = began.read_text().split()
    child.send_signal(how)
    assert child.wait(30) == (-how if how == signal.SIGKILL else 128 + how)
    wait_for(lambda: not psutil.pid_exists(int(kernel)), "its end")
    assert how == signal.SIGKILL or not Path(file).parent.exists()
