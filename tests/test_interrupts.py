"""Runs of the real command line in processes of their own, killed and interrupted half-way."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.toy_trials import PATIENCE, living_in_group, make_trial, start, wait_for
from xlrepro.engine import run_trials, start_fork_server
from xlrepro.errors import XlreproError
from xlrepro.store import RecordStore
from xlrepro.trials import Record


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "data" / "reported").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def store(home: Path) -> RecordStore:
    return RecordStore(home / "build" / "records", home / "data" / "results")


@pytest.fixture
def run(home: Path):
    """Return a function that starts ``xlrepro run toy/table``.

    Each trial writes a line to ``home/ran`` when it starts.
    """
    started = []

    def run(*arguments: str) -> subprocess.Popen[str]:
        started.append(start(home, "run", "toy/table", "--set", f"ran={home / 'ran'}", *arguments))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def records(store: RecordStore) -> list[Path]:
    return list(store.root.glob("*.json"))


def trials_of(home: Path, count: int, **settings):
    chosen = {"ran": str(home / "ran"), **settings}
    return [make_trial(seed, profile="smoke", settings=chosen) for seed in range(count)]


def test_a_killed_run_keeps_what_had_finished_and_the_next_goes_on(run, home, store, scheduler):
    trials = trials_of(home, 6, sleep=0.3)
    process = run("--systems=ORT", "--seeds=0-5", "--set=sleep=0.3", "--jobs=2")
    wait_for(lambda: len(records(store)) >= 2, "two records")
    process.kill()
    process.wait()
    wait_for(lambda: not living_in_group(process.pid), "the killed run's workers to end")
    kept = [Record.from_json(path.read_text(), str(path)).key for path in records(store)]
    summary = run_trials(trials, store=store, scheduler=scheduler, progress=False)
    assert sorted(r.key for r in summary.reused) == sorted(kept)
    assert len(summary.done) == 6 - len(kept)


def twice(process, number):
    os.kill(process, number)
    time.sleep(0.2)
    os.kill(process, number)


@pytest.mark.parametrize(
    ("number", "send", "finished"),  # SIGINT as a terminal sends it, SIGTERM as `timeout` does
    [(signal.SIGINT, os.killpg, 2), (signal.SIGINT, os.killpg, 0), (signal.SIGTERM, twice, 0)],
)
def test_an_interrupt_keeps_records_and_leaves_no_process(run, store, number, send, finished):
    seconds = 0.4 if finished else 60
    process = run("--systems=ORT", "--seeds=0-9", f"--set=sleep={seconds}", "--jobs=2")
    if finished:
        wait_for(lambda: len(records(store)) >= finished, "records")
    else:
        wait_for(lambda: len(living_in_group(process.pid)) >= 3, "the first worker's process")
    send(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert [line for line in errors.splitlines() if "Traceback" in line or "Error" in line] == []
    assert "of 10 trials have their record; the same command goes on" in errors
    assert len(store.records()) == len(records(store)) >= finished
    wait_for(lambda: not living_in_group(process.pid), "the last process to end")


def test_an_interrupt_is_heard_while_the_fork_server_starts(monkeypatch):
    interrupt = partial(os.kill, os.getpid(), signal.SIGINT)
    monkeypatch.setattr("xlrepro.engine.forkserver.ensure_running", interrupt)
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        start_fork_server()
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [signal.SIGINT]


def test_a_broken_configuration_of_dask_is_one_line(run, home, monkeypatch):
    (home / "dask.yaml").write_text("a: [")
    monkeypatch.setenv("DASK_CONFIG", str(home / "dask.yaml"))
    process = run("--systems=ORT", "--seeds=0")
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, len(errors.splitlines())) == (2, 1)
    assert f"A dask config file at '{home / 'dask.yaml'}' is malformed" in errors


def test_a_lost_scheduler_ends_the_run_with_one_line_and_keeps_what_had_finished(home, store):
    code = """
import time
from distributed import LocalCluster
options = dict(processes=False, protocol="tcp", dashboard_address=":0")
cluster = LocalCluster(1, threads_per_worker=1, **options)
print(cluster.scheduler_address, flush=True)
time.sleep(1000)
"""
    cluster = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert cluster.stdout is not None
    address = cluster.stdout.readline().strip()

    def kill_after_the_first_record() -> None:
        wait_for(lambda: records(store), "a record")
        cluster.kill()
        cluster.wait()

    trials = trials_of(home, 9, sleep=0.5)
    with ThreadPoolExecutor() as pool:
        killed = pool.submit(kill_after_the_first_record)
        with pytest.raises(XlreproError, match="the Dask scheduler is lost"):
            run_trials(trials, store=store, scheduler=address, progress=False)
        killed.result()
    assert records(store)
