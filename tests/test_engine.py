import errno
import os
import signal
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import dask
import psutil
import pytest
import torch
from distributed import Future

from tests.toy_trials import remote_cluster
from xlrepro.artefacts import note_data
from xlrepro.data.registry import ARTIFICIAL, artificial_hash
from xlrepro.engine import Progress, _slots, local_client, measure_trial, pins, run_trials
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.trials import GitState


def starts(path):
    """Return how often each seed has started."""
    return Counter(int(line.split()[0]) for line in path.read_text().splitlines())


@pytest.fixture
def run(store, scheduler):
    """Return a function that runs trials on the file's cluster and this test's store."""
    return lambda trials, **how: run_trials(
        trials, store=store, scheduler=scheduler, progress=False, **how
    )


def test_a_failure_has_its_reason_and_a_log_and_stops_no_other(run, store, trial_of):
    summary = run([trial_of(seed, settings={"fail": [0]}) for seed in range(3)])
    assert sorted(r.seed for r in summary.done) == sorted(r.seed for r in store.records()) == [1, 2]
    assert {r.details["threads"] for r in summary.done} == {"1"}
    [(what, path)] = summary.failed
    assert store.get(trial_of(0, settings={"fail": [0]})) is None
    assert what == "toy/table open word:ORT (en, de) seed 0: ValueError: seed 0 was told to fail"
    log = path.read_text()
    assert "Traceback" in log
    assert "the trial's own output" in log


def test_a_dying_worker_fails_its_trial_after_one_more_try_and_no_other(run, trial_of, tmp_path):
    settings = {"die": [0], "ran": str(tmp_path / "ran")}
    summary = run([trial_of(seed, settings=settings) for seed in range(3)])
    assert sorted(r.seed for r in summary.done) == [1, 2]
    assert "its worker died" in summary.failed[0][0]
    assert starts(tmp_path / "ran")[0] == 2


def test_a_record_that_does_not_arrive_is_asked_for_once_more(run, trial_of, monkeypatch):
    true, calls = Future.result, []

    def late(future, timeout):
        calls.append(future.key)
        if len(calls) < 3:
            raise TimeoutError
        return true(future, timeout)

    monkeypatch.setattr(Future, "result", late)
    summary = run([trial_of()])
    assert ([r.seed for r in summary.done], summary.failed, len(calls)) == ([0], [], 3)


def test_an_outdated_record_is_made_again(run, store, trial_of, record_of, monkeypatch):
    trial = trial_of()
    store.put(record_of())
    assert run([trial], dry_run=True).pending == []
    monkeypatch.setattr("xlrepro.engine.is_outdated", lambda record: True)
    plan = run([trial, trial], dry_run=True)
    assert (plan.pending, plan.outdated) == ([trial], {trial.key})
    assert [r.key for r in run([trial]).done] == [trial.key]


def test_a_trial_named_again_runs_once_more_and_no_other(run, store, trial_of, tmp_path):
    trials = [trial_of(seed, settings={"ran": str(tmp_path / "ran")}) for seed in range(2)]
    run(trials)
    first = store.get(trials[0])
    summary = run(trials, again={trials[0].key})
    assert starts(tmp_path / "ran") == {0: 2, 1: 1}
    assert [r.seed for r in summary.reused] == [1]
    assert store.get(trials[0]).started > first.started


@pytest.mark.parametrize("made", [True, False])
def test_a_trial_held_by_another_run_is_waited_for_or_run(run, store, trial_of, record_of, made):
    held, free = trial_of(0), trial_of(1)
    lock, over = store.lock(held.key), Event()

    def other_run():
        while not (store.path(free.key).exists() or over.wait(0.01)):
            pass
        if made:
            store.put(record_of(0))
        lock.release()

    with ThreadPoolExecutor() as pool:
        ended = pool.submit(other_run)
        try:
            summary = run([held, free])
        finally:
            over.set()
        ended.result()
    assert [r.seed for r in summary.reused] == ([0] if made else [])
    assert [r.seed for r in summary.done] == ([1] if made else [1, 0])


def test_one_seed_of_each_row_comes_first(run, store, trial_of, monkeypatch):
    trials = [trial_of(seed, columns=(column,)) for column in ("en", "de") for seed in (0, 1)]
    seeds, taken, lock = {t.key: t.seed for t in trials}, [], store.lock

    def noted(key):
        taken.append(seeds[key])
        return lock(key)

    monkeypatch.setattr(store, "lock", noted)
    run(trials)
    assert taken == [0, 0, 1, 1]


def test_nothing_to_run_starts_no_cluster(store, trial_of, record_of):
    store.put(record_of())
    summary = run_trials([trial_of()], store=store, scheduler="tcp://127.0.0.1:1", progress=False)
    assert len(summary.reused) == 1


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "tls://127.0.0.1:1"])
def test_a_scheduler_that_does_not_answer_is_named(store, trial_of, monkeypatch, address):
    monkeypatch.setattr("xlrepro.engine.CONNECT_SECONDS", 0.5)
    advice = "distributed.comm.tls" if address.startswith("tls") else "check --scheduler$"
    with pytest.raises(SettingsError, match=f"{address} .*{advice}"):
        run_trials([trial_of()], store=store, scheduler=address, progress=False)


# ---- progress


def end(display, trial, how="3 s"):
    display.part(trial.key, 0.5)
    display.show()
    display.end(trial, how)


def test_a_log_has_a_line_per_finished_trial_and_none_between(capsys, trial_of):
    with Progress(2) as display:
        end(display, trial_of(0))
        end(display, trial_of(1))
    of = "of 2, toy/table open word:ORT (en, de) seed"
    assert capsys.readouterr().err.splitlines() == [f"1 {of} 0: 3 s", f"2 {of} 1: 3 s"]


def test_time_left_follows_from_the_share_done(monkeypatch, capsys):
    clock = iter([0.0, 30.0])  # of this module alone: the cluster's threads need the true one
    monkeypatch.setattr("xlrepro.engine.time", SimpleNamespace(monotonic=lambda: next(clock)))
    display = Progress(4)
    display.part("a", 1.0)
    display.say("so far")
    assert capsys.readouterr().err == "0 of 4, 2 min left, so far\n"


def test_a_terminal_gets_one_line_that_changes(monkeypatch, capsys, trial_of):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress(2) as display:
        end(display, trial_of())
    assert capsys.readouterr().err.count("\n") == 1


def test_a_notebooks_last_line_holds_no_time(monkeypatch, trial_of):
    shown = []

    class Handle:
        def display(self, content, raw):
            shown.append(content["text/plain"])

        update = display

    notebook = SimpleNamespace(
        get_ipython=lambda: SimpleNamespace(kernel=None),
        display=SimpleNamespace(DisplayHandle=Handle),
    )
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    with Progress(1) as display:
        end(display, trial_of())
    assert shown[-1] == "1 of 1 trials"


# ---- clusters and workers


def test_our_cluster_has_its_own_settings_speaks_tls_and_is_on_this_machine(tmp_path, monkeypatch):
    dask.config.set({"distributed.scheduler.allowed-failures": 7, "xlrepro-of-a-user": 1})
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "9")
    with local_client("cpu", jobs=1, per_gpu=1, n_trials=1, scratch=tmp_path) as client:
        assert client.scheduler.address.startswith("tls://127.0.0.1:")
        (config,) = client.run(lambda: dict(dask.config.config)).values()
        (ignored,) = client.run(lambda: dask.config.get("xlrepro-of-a-user", None)).values()
        here = psutil.Process()
        listening = {
            connection.laddr.ip
            for process in (here, *here.children(recursive=True))
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert config["distributed"]["scheduler"]["allowed-failures"] == 1
    assert ignored is None
    assert listening == {"127.0.0.1"}
    assert dask.config.get("distributed.scheduler.allowed-failures") == 7
    dask.config.refresh()


def test_workers_that_do_not_start_are_one_line_that_names_the_cause(store, trial_of, monkeypatch):
    def fail(**options):
        raise RuntimeError("Cluster failed to start") from OSError(errno.EMFILE, "Too many files")

    monkeypatch.setattr("distributed.SpecCluster", fail)
    with pytest.raises(SettingsError, match=r"the workers did not start.*ulimit -n.*$"):
        run_trials([trial_of()], store=store, device="cpu", progress=False)


def test_a_worker_with_other_code_is_refused_by_its_name(run, trial_of, monkeypatch):
    monkeypatch.setattr("xlrepro.machine.code_version", lambda paper: "0+other")
    with pytest.raises(SettingsError, match=r"worker tcp://127\.0\.0\.1:\d+: it has other code"):
        run([trial_of()])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": {"precision": "mixed"}}, r"a CUDA GPU: .* --set model\.precision=single$"),
        ({"supplies": ["a.txt"]}, r"no a\.txt below"),  # where the worker is
    ],
)
def test_a_worker_unfit_for_a_trial_is_refused_at_once(run, trial_of, tmp_path, settings, said):
    settings = settings | {"ran": str(tmp_path / "ran")}
    with pytest.raises(SettingsError, match=rf"^worker tcp://.*{said}"):
        run([trial_of(), trial_of(settings=settings)])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("error", [ValueError, OSError])
def test_a_worker_that_goes_while_it_is_asked_is_no_lost_scheduler(error):
    def run(*_, **__):
        raise error("Address removed.")

    client = SimpleNamespace(nthreads=lambda: {"tcp://a": 1}, run=run, status="running")
    assert _slots(client, set(), ("cpu", {}, [])) == 0
    client.status = "closed"
    with pytest.raises(XlreproError, match="the Dask scheduler is lost"):
        _slots(client, set(), ("cpu", {}, []))


def test_a_worker_of_several_threads_is_refused(store, trial_of, tmp_path):
    with (
        remote_cluster(tmp_path, threads=2) as address,
        pytest.raises(SettingsError, match="2 threads: start it with"),
    ):
        run_trials([trial_of()], store=store, scheduler=address, progress=False)


def test_a_killed_workers_trial_is_done_by_another(store, scheduler, trial_of, capsys, tmp_path):
    ran, settings = tmp_path / "ran", {"ran": str(tmp_path / "ran"), "sleep": 2.0}
    with ThreadPoolExecutor(1) as pool:
        trials = [trial_of(settings=settings)]
        going = pool.submit(run_trials, trials, store=store, scheduler=scheduler)
        while not going.done() and (not ran.exists() or not ran.read_text().endswith("\n")):
            time.sleep(0.05)
        os.kill(int(ran.read_text().split()[1]), signal.SIGKILL)
        assert [r.key for r in going.result().done] == [r.key for r in store.records()]
    assert starts(ran)[0] == 2
    assert "was lost; its trial is tried once more" in capsys.readouterr().err


def test_a_record_knows_its_data_and_the_commit_before_the_trial(trial_of, tmp_path, monkeypatch):
    ran = tmp_path / "ran"

    def no_commit():
        return GitState(commit=None, dirty=None, reason="too late" if ran.exists() else "no git")

    monkeypatch.setattr("xlrepro.machine.git_state", no_commit)
    note_data(ARTIFICIAL, artificial_hash())
    record = measure_trial(trial_of(settings={"ran": str(ran)}), "cpu")
    assert (record.data[ARTIFICIAL], record.git.reason) == (artificial_hash(), "no git")
    assert ran.exists()


def test_operations_are_deterministic_on_a_cpu_whatever_ran_before(trial_of):
    torch.set_deterministic_debug_mode("default")
    measure_trial(trial_of(), "cpu")
    assert torch.get_deterministic_debug_mode() == 2  # an error where one has no such form


@pytest.mark.parametrize(
    ("visible", "per_gpu", "trials", "expected"),
    [
        (None, 2, 3, ["0", "1", "0"]),  # spread over all, no more of them than trials
        ("3,GPU-abc", 1, 9, ["3", "GPU-abc"]),
    ],
)
def test_gpu_workers_are_pinned_and_spread(monkeypatch, visible, per_gpu, trials, expected):
    monkeypatch.setattr("xlrepro.machine.gpu_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    slots = pins("cuda", jobs=None, per_gpu=per_gpu, n_trials=trials)
    assert [slot["CUDA_VISIBLE_DEVICES"] for slot in slots] == expected


def test_there_are_no_more_workers_than_trials_or_cores(monkeypatch):
    monkeypatch.setattr("dask.system.CPU_COUNT", 2)
    workers = [len(pins("cpu", jobs=None, per_gpu=1, n_trials=trials)) for trials in (1, 3)]
    assert workers == [1, 2]
