import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from xlrepro.errors import DeviceError, SettingsError
from xlrepro.trials.engine.plan import plan_trials
from xlrepro.trials.engine.running import run_trials


def starts(path):
    """Return how often each seed has started."""
    return Counter(int(line.split()[0]) for line in path.read_text().splitlines())


@pytest.fixture
def run(store, scheduler):
    """Return a function that runs trials on the file's cluster and this test's store."""
    return lambda trials, **how: run_trials(
        trials, store=store, scheduler=scheduler, progress=False, **how
    )


def test_trials_run_on_a_remote_cluster_and_the_client_keeps_their_records(run, store, trial_of):
    trials = [trial_of(seed) for seed in range(3)]
    summary = run(trials)
    assert {r.key for r in summary.done} == {t.key for t in trials}
    assert {r.key for r in store.records()} == {t.key for t in trials}


def test_a_trial_with_a_record_is_not_run_again(run, trial_of, tmp_path):
    trials = [trial_of(seed, settings={"ran": str(tmp_path / "ran")}) for seed in range(2)]
    run(trials[:1])
    summary = run(trials)
    assert starts(tmp_path / "ran") == {0: 1, 1: 1}
    assert [r.seed for r in summary.reused] == [0]


def test_a_trial_given_twice_runs_once(run, trial_of, tmp_path):
    run([trial_of(settings={"ran": str(tmp_path / "ran")})] * 2)
    assert starts(tmp_path / "ran") == {0: 1}


def test_a_failing_trial_does_not_stop_the_others(run, trial_of):
    summary = run([trial_of(seed, settings={"fail": [0]}) for seed in range(3)])
    assert sorted(r.seed for r in summary.done) == [1, 2]
    assert [f.trial.seed for f in summary.failed] == [0]


def test_a_failure_has_its_reason_and_a_log_with_traceback_and_output(run, trial_of):
    [failure] = run([trial_of(settings={"fail": [0]})]).failed
    assert failure.reason == "ValueError: seed 0 was told to fail"
    log = failure.log.read_text()
    assert "Traceback" in log
    assert "the trial's own output" in log


def test_an_error_of_ours_is_reported_by_its_line_alone(run, trial_of):
    [failure] = run([trial_of(settings={"fail_clearly": [0]})]).failed
    assert failure.reason == "the corpus has no such file: fetch it"


def test_a_failed_trial_leaves_no_record_and_runs_again(run, store, trial_of, tmp_path):
    trial = trial_of(settings={"fail": [0], "ran": str(tmp_path / "ran")})
    run([trial])
    assert store.get(trial) is None
    run([trial])
    assert starts(tmp_path / "ran") == {0: 2}


def test_an_unknown_runner_is_a_failure_that_names_it(run, trial_of):
    [failure] = run([trial_of(task="fake_runner/walk")]).failed
    assert "fake_runner/walk" in failure.reason


def test_a_dying_worker_fails_its_trial_after_one_more_try_and_no_other(run, trial_of, tmp_path):
    settings = {"die": [0], "ran": str(tmp_path / "ran")}
    summary = run([trial_of(seed, settings=settings) for seed in range(3)])
    assert sorted(r.seed for r in summary.done) == [1, 2]
    assert "its worker died" in summary.failed[0].reason
    assert starts(tmp_path / "ran")[0] == 2


def test_the_same_seed_twice_gives_the_same_cells(run, store, trial_of, tmp_path):
    [first] = run([trial_of(5)]).done
    store.path(first.key).unlink()
    [again] = run([trial_of(5)]).done
    assert again.cells == first.cells


def test_another_seed_gives_other_cells(run, trial_of):
    one, other = run([trial_of(0), trial_of(1)]).done
    assert one.cells != other.cells


def test_workers_compute_with_one_thread(run, trial_of):
    assert run([trial_of()]).done[0].details["threads"] == "1"


def test_an_outdated_record_is_made_again(run, store, trial_of, record_of, monkeypatch):
    trial = trial_of()
    store.put(record_of())
    assert plan_trials([trial], store).pending == ()
    monkeypatch.setattr("xlrepro.experiments._version", lambda name: 2)
    plan = plan_trials([trial], store)
    assert (plan.pending, plan.outdated) == ((trial,), {trial.key})
    assert [r.key for r in run([trial]).done] == [trial.key]


def test_a_trial_named_again_runs_once_more_and_no_other(run, store, trial_of, tmp_path):
    trials = [trial_of(seed, settings={"ran": str(tmp_path / "ran")}) for seed in range(2)]
    run(trials)
    first = store.get(trials[0])
    summary = run(trials, again={trials[0].key})
    assert starts(tmp_path / "ran") == {0: 2, 1: 1}
    assert [r.seed for r in summary.reused] == [1]
    assert store.get(trials[0]).started > first.started


def test_a_trial_held_by_another_run_is_waited_for(run, store, trial_of, record_of):
    held, free = trial_of(0), trial_of(1)
    lock = store.lock(held.key)

    def other_run():
        while not store.path(free.key).exists():
            time.sleep(0.01)
        store.put(record_of(0))
        lock.release()

    with ThreadPoolExecutor() as pool:
        ended = pool.submit(other_run)
        summary = run([held, free])
        ended.result()
    assert [r.seed for r in summary.reused] == [0]
    assert [r.seed for r in summary.done] == [1]


def test_a_trial_given_up_by_another_run_is_run(run, store, trial_of):
    held, free = trial_of(0), trial_of(1)
    lock = store.lock(held.key)

    def other_run():
        while not store.path(free.key).exists():
            time.sleep(0.01)
        lock.release()

    with ThreadPoolExecutor() as pool:
        ended = pool.submit(other_run)
        summary = run([held, free])
        ended.result()
    assert sorted(r.seed for r in summary.done) == [0, 1]


def test_our_cluster_listens_on_this_machine_only(scheduler):
    here = psutil.Process()
    ports = {
        connection.laddr.ip
        for process in (here, *here.children(recursive=True))
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert ports == {"127.0.0.1"}


def test_nothing_to_run_starts_no_cluster(store, trial_of, record_of):
    store.put(record_of())
    summary = run_trials([trial_of()], store=store, scheduler="tcp://127.0.0.1:1", progress=False)
    assert len(summary.reused) == 1


def test_a_scheduler_that_does_not_answer_is_named(store, trial_of, monkeypatch):
    monkeypatch.setattr("xlrepro.trials.engine.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(SettingsError, match=r"tcp://127\.0\.0\.1:1 .*check --scheduler"):
        run_trials([trial_of()], store=store, scheduler="tcp://127.0.0.1:1", progress=False)


@pytest.mark.parametrize("address", ["nonsense://x", "127.0.0.1"])
def test_an_address_that_is_none_is_named(store, trial_of, monkeypatch, address):
    monkeypatch.setattr("xlrepro.trials.engine.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(SettingsError, match="check --scheduler"):
        run_trials([trial_of()], store=store, scheduler=address, progress=False)


def test_a_command_with_an_address_that_is_none_ends_in_one_line(tmp_path):
    arguments = ("run", "word_order/table2", "--systems", "word:TRS", "--scheduler", "nonsense")
    ended = subprocess.run(
        [sys.executable, "-m", "xlrepro", *arguments],
        env={**os.environ, "XLREPRO_BUILD": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "check --scheduler" in ended.stderr


def test_cuda_without_a_gpu_runs_nothing(store, trial_of, monkeypatch):
    monkeypatch.setattr("xlrepro.machine.gpu_count", lambda: 0)
    with pytest.raises(DeviceError):
        run_trials([trial_of()], store=store, device="cuda", progress=False)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"device": "tpu"}, "no device 'tpu'"),
        ({"jobs": 0}, "--jobs must be 1 or more"),
        ({"per_gpu": -3}, "--per-gpu must be 1 or more"),
        ({"scheduler": ""}, "--scheduler is empty"),
    ],
)
def test_a_wrong_call_is_an_error_even_with_nothing_to_run(store, how, message):
    with pytest.raises(SettingsError, match=message):
        run_trials([], store=store, **how)


def test_cuda_without_a_gpu_is_an_error_even_with_nothing_to_run(store, monkeypatch):
    monkeypatch.setattr("xlrepro.machine.gpu_count", lambda: 0)
    with pytest.raises(DeviceError):
        run_trials([], store=store, device="cuda")
