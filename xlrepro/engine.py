"""The engine: runs trials on a Dask cluster, keeps every record, and goes on after a failure.

This process decides what runs next and holds the lock of every trial in flight, so that two runs
on one store share the work instead of doing it twice. It writes each record as a worker hands it
over: what was written is kept even if this process is killed.
"""

import io
import logging
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlrepro import artefacts, machine
from xlrepro.data import registry, supplied
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.experiments import files_of, is_outdated, task
from xlrepro.machine import resolve, visible_gpus
from xlrepro.paths import checkpoint_of
from xlrepro.store import RecordStore, write_atomically
from xlrepro.trials import Record, Trial, TrialContext, duration, make_record

if TYPE_CHECKING:
    from distributed import Client, Future
    from filelock import BaseFileLock

THREADS = 1  # one trial, one thread: the same numbers whatever else the machine does
PROGRESS_SECONDS = 0.5  # between two messages of a trial, and two looks at signals and workers
LINE_SECONDS = 60.0  # between two plain lines while no trial ends
CONNECT_SECONDS = 30
ANSWER_SECONDS = 10  # for a record to arrive; else it is asked for once more
START_SECONDS = 300  # for a worker, or a dead one's successor, to start on a busy machine
LOOPBACK = "127.0.0.1"
SILENT = 51  # above logging.CRITICAL: what goes wrong is said once, in our own words
LOST = "the Dask scheduler is lost; finished trials are kept: start it and repeat the command"
# Dask tells glibc to give back freed memory at once; a training step takes it again at once, and
# the page faults cost a third of the time.
ALLOCATOR_ENVIRONMENT = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**28)}
# Of workers and kernels, set before the process starts: libraries read it when they are loaded.
# One thread each: two at a time, and the same numbers everywhere.
WORKER_ENVIRONMENT = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
WORKER_ENVIRONMENT |= {"TOKENIZERS_PARALLELISM": "false", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
WORKER_ENVIRONMENT |= {"MPLBACKEND": "agg", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
WORKER_ENVIRONMENT |= {"TQDM_DISABLE": "1"} | ALLOCATOR_ENVIRONMENT
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # a dead worker's trial is tried once more
    "distributed.scheduler.worker-saturation": 1.0,  # no trial waits behind another in a worker
    "distributed.scheduler.worker-ttl": None,  # a trial may hold the interpreter for long
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.worker.profile.enabled": False,
    "distributed.comm.timeouts.connect": f"{START_SECONDS}s",
    "distributed.deploy.lost-worker-timeout": f"{START_SECONDS}s",  # else it gets no successor
}


# ---- a run


@dataclass
class RunSummary:
    """What a run did, or would do.

    Attributes:
        pending: trials that had no current record, in the order given, each once.
        outdated: keys of those of them that had an outdated one.
        reused: records that were there already, or that another run made meanwhile.
        done: records made by this run.
        failed: trials without a record and why, in a line, each with the log that tells more.
        seconds: wall time of the run.
    """

    pending: list[Trial] = field(default_factory=list)
    outdated: set[str] = field(default_factory=set)
    reused: list[Record] = field(default_factory=list)
    done: list[Record] = field(default_factory=list)
    failed: list[tuple[str, Path]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def line(self) -> str:
        """One line for people.

        Example:
            >>> RunSummary(seconds=3.0).line
            '0 trials run, 0 had a record, 0 failed, in 3.0 s'
        """
        return (
            f"{len(self.done)} trials run, {len(self.reused)} had a record, "
            f"{len(self.failed)} failed, in {duration(self.seconds)}"
        )


def check_call(device: str, jobs: int | None, scheduler: str | None, per_gpu: int) -> None:
    """Check where trials are to run; the values are those of `run_trials`.

    Raises:
        SettingsError: for an unknown device, a number below 1, or what is no address.
        DeviceError: if CUDA is asked for on this machine and there is none.
    """
    if scheduler is not None and "://" not in scheduler:
        raise SettingsError(f"--scheduler {scheduler!r}: give tcp://host:8786, or leave it out")
    if device not in machine.DEVICES or (device == "cuda" and scheduler is None):
        resolve(device)
    for name, value in (("jobs", jobs), ("per-gpu", per_gpu)):
        if value is not None and (type(value) is not int or value < 1):
            raise SettingsError(f"--{name} must be 1 or more, not {value!r}")


def check_supplied(trials: Sequence[Trial], *, texts: bool = True) -> None:
    """Check that the files that the user supplies for trials are there, whole and readable.

    Raises:
        DataError: naming all that are missing, or the first wrong line, in one line.
    """
    paths = files_of(trials, "supplied")
    supplied.files(paths)
    supplied.check(paths, texts=texts)


def run_trials(
    trials: Sequence[Trial],
    *,
    store: RecordStore | None = None,
    device: str = "auto",
    jobs: int | None = None,
    scheduler: str | None = None,
    per_gpu: int = 1,
    progress: bool = True,
    again: Collection[str] = (),
    dry_run: bool = False,
) -> RunSummary:
    """Run the trials that have no current record, and keep each record as soon as it is made.

    Workers are processes: a script that calls this needs ``if __name__ == "__main__":``.

    Args:
        trials: what to run; a trial given twice runs once.
        store: where records are kept; default: the project's.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        jobs: trials at a time on this machine; default: a trial per core, or ``per_gpu`` per GPU.
        scheduler: address of a running Dask cluster, ``"tcp://host:8786"``; default: workers are
            started on this machine and stopped afterwards.
        per_gpu: trials at a time on each GPU.
        progress: whether to show it.
        again: keys of trials to run once more, whatever record they have.
        dry_run: whether only to find out what would run.

    Returns:
        What was run, reused and failed. A failing trial does not stop the others.

    Raises:
        SettingsError: for an unknown device, a cluster that cannot be used, or a language that a
            corpus has no test set in.
        DeviceError: if CUDA is asked for and there is none.
        DataError: if files that the user supplies are missing, or a test set cannot be had.
        StoreError: if no record could be kept.
        KeyboardInterrupt: on Ctrl-C and SIGTERM; what had finished is kept.
    """
    began = time.monotonic()
    check_call(device, jobs, scheduler, per_gpu)
    store, summary = store or RecordStore(), RunSummary()
    for trial in dict.fromkeys(trials):
        record = store.get(trial)
        if record is not None and is_outdated(record):
            summary.outdated.add(trial.key)
        if record is None or trial.key in again or trial.key in summary.outdated:
            summary.pending.append(trial)
        else:
            summary.reused.append(record)
    tested = files_of(summary.pending, "registered")
    for name, file_id in tested:
        registry.dataset(name).file(file_id)
    if not scheduler:
        check_supplied(summary.pending)
    if not summary.pending or dry_run:
        return summary
    for name, file_id in () if scheduler else tested:
        registry.fetch(name, file_id)  # before training, not after
    store.check_writable()
    try:
        import distributed  # noqa: F401
    except ValueError as error:  # it reads the user's configuration, which is not for us
        raise SettingsError(str(error)) from None
    with _interrupts() as came, Progress(len(summary.pending), progress) as display:
        if summary.outdated:
            count = len(summary.outdated)
            display.say(f"{count} outdated records (code or data changed) run again")
        if reason := machine.git_state().reason:
            display.say(f"the records will name no commit: {reason}")
        try:
            with (
                remote_client(scheduler)
                if scheduler
                else local_client(device, jobs, per_gpu, len(summary.pending), store.scratch)
            ) as client:
                needs = device, summary.pending if scheduler else []
                _run_on(client, store, summary, display, needs, {*again, *summary.outdated}, came)
        except Exception:
            if not came:  # else it is what the interrupt has broken
                raise
        if came:
            how = "terminated" if came[0] == signal.SIGTERM else "interrupted"
            kept, total = len(summary.done) + len(summary.reused), len(dict.fromkeys(trials))
            there = f"{kept} of {total} trials have their record; the same command goes on"
            raise KeyboardInterrupt(f"{how}: {there}")
    summary.seconds = time.monotonic() - began
    return summary


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM while Dask starts and stops workers; a second SIGINT is raised."""
    came: list[int] = []

    def note(number: int, _: Any) -> None:
        came.append(number)
        if number == signal.SIGINT and len(came) > 1:  # `timeout` sends SIGTERM twice
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()  # where alone signals come
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in numbers if main}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_on(
    client: "Client",
    store: RecordStore,
    summary: RunSummary,
    display: "Progress",
    needs: tuple[str, list[Trial]],
    again: Collection[str],
    came: list[int],
) -> None:
    """Run the pending trials; return when each has its record or has failed, or a signal has come.

    Args:
        client: of the cluster.
        store: where records go, and where the lock of each trial in flight is held.
        summary: what is pending; gets what has ended.
        display: is told how far it is.
        needs: the device, and trials whose supplied files each worker must have.
        again: keys of trials whose earlier record does not count.
        came: signals that have come.
    """
    began = datetime.now(UTC).isoformat(timespec="milliseconds")
    code = {p: machine.code_version(p) for p in {t.task.split("/")[0] for t in summary.pending}}
    mixed = sorted({name for trial in summary.pending for name in _mixed(trial.settings)})
    topic, checked, ended = f"xlrepro-{uuid.uuid4().hex}", set[str](), threading.Event()
    # One seed of each row first: seeds of a row wait for the same language model or adaptation.
    waiting = deque(sorted(summary.pending, key=lambda trial: trial.seed))
    flying: dict[Future, tuple[Trial, BaseFileLock]] = {}
    client.subscribe_topic(topic, lambda each: display.part(each[1]["key"], each[1]["fraction"]))
    try:
        while (waiting or flying) and not came:
            before, slots = set(checked), _slots(client, checked, (code, mixed, *needs))
            for name in before - checked:
                display.say(f"worker {name} was lost; its trial is tried once more")
            if not slots:
                display.say("there is no worker; waiting for one", once=True)
            for _ in range(min(len(waiting), slots - len(flying))):
                trial = waiting.popleft()
                if (lock := store.lock(trial.key)) is None:
                    waiting.append(trial)  # another run holds it
                    continue
                record = store.get(trial)
                if record and not (trial.key in again and record.started < began):
                    lock.release()
                    summary.reused.append(record)
                    display.end(trial, "another run has made its record")
                    continue
                name = f"trial-{trial.key[:12]}-{uuid.uuid4().hex[:8]}"
                future = client.submit(run_trial, trial, needs[0], topic, key=name, pure=False)
                flying[future] = trial, lock
                future.add_done_callback(lambda _: ended.set())
            ended.wait(PROGRESS_SECONDS)
            ended.clear()
            for future in [each for each in flying if each.done()]:
                trial, _ = flying[future]
                if how := _keep(trial, future, store, summary):
                    display.end(trial, how)
                    flying.pop(future)[1].release()
            display.show()
        if not flying:  # a worker amid a trial may not answer
            with suppress(OSError, ValueError):  # nothing is lost where one has gone
                client.run(_forget, [record.key for record in summary.done])  # elsewhere, too
    finally:
        if flying and client.status == "running":
            client.cancel(list(flying), force=True)
        for _, lock in flying.values():
            lock.release()


def _keep(trial: Trial, future: "Future", store: RecordStore, summary: RunSummary) -> str:
    """Take in a trial that has ended, its worker's death included.

    Returns:
        How, for people; ``""`` if its worker has died with the record: it has not ended yet.

    Raises:
        StoreError: if its record cannot be kept.
        XlreproError: if the scheduler is gone.
    """
    from distributed import KilledWorker

    try:
        outcome = future.result(ANSWER_SECONDS)
    except TimeoutError:  # Dask may ask a dead worker for it, and is to find that it is lost
        return ""
    except KilledWorker as error:
        outcome = "its worker died twice (out of memory, or killed)", str(error)
    except CancelledError as error:
        raise XlreproError(LOST) from error
    except Exception as error:
        outcome = " ".join(f"{type(error).__name__}: {error}".split()), str(error)
    if isinstance(outcome, Record):
        store.put(outcome)
        _forget([trial.key])
        summary.done.append(outcome)
        return duration(outcome.wall_seconds)
    reason, output = outcome
    log = store.log_path(trial.key)
    write_atomically(log, f"{trial.label}\n\n{output}")
    summary.failed.append((f"{trial.label}: {reason}", log))
    return f"FAILED: {reason}"


def _forget(keys: Sequence[str]) -> None:
    """Remove the checkpoints of trials whose records are kept: `again` is to train anew."""
    for key in keys:
        checkpoint_of(key).unlink(missing_ok=True)


def _mixed(settings: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """Yield what to add so that no setting asks for mixed precision."""
    for name, value in settings.items():
        if value == "mixed":
            yield f"--set {at}{name}=single"
        elif isinstance(value, Mapping):
            yield from _mixed(value, f"{at}{name}.")


def _slots(client: "Client", checked: set[str], needs: tuple[Any, ...]) -> int:
    """Return how many trials the workers take at a time; refuse one that cannot run them all.

    Args:
        client: of the cluster.
        checked: workers that were there the last time; becomes those that are there.
        needs: what `_unfit` takes.

    Raises:
        SettingsError: naming the worker and why.
        XlreproError: if the scheduler is gone.
    """
    try:
        threads = client.nthreads()
        new = set(threads) - checked
        said = client.run(_unfit, *needs, workers=list(new)) if new else {}
    except ModuleNotFoundError as error:
        raise SettingsError(f"a worker lacks a package ({error}): install xlrepro there") from error
    except (ValueError, OSError) as error:
        if client.status != "running":
            raise XlreproError(LOST) from error
        return 0  # a worker has gone again
    for name, why in said.items():
        if why or threads[name] != THREADS:
            why = why or f"{threads[name]} threads: start it with --nthreads 1"
            raise SettingsError(f"worker {name}: {why}")
    checked |= new
    checked &= set(threads)
    return sum(threads.values())


# ---- clusters


def pins(device: str, jobs: int | None, per_gpu: int, n_trials: int) -> list[dict[str, str]]:
    """Return the environment of each worker to start: one entry per slot."""
    if device == "cuda":
        # GPU by GPU, so that few trials spread over all of them
        slots = [{"CUDA_VISIBLE_DEVICES": gpu} for _ in range(per_gpu) for gpu in visible_gpus()]
    else:  # no GPU is touched by a trial that was told to use the CPU
        from dask import system

        slots = [{"CUDA_VISIBLE_DEVICES": ""}] * (jobs or system.CPU_COUNT)
    return slots[: min(jobs or len(slots), n_trials)]


@contextmanager
def local_client(
    device: str, jobs: int | None, per_gpu: int, n_trials: int, scratch: Path
) -> "Iterator[Client]":
    """Start workers on this machine, reachable by this user only, and stop them afterwards.

    They come from a fork server that is deaf to the terminal's Ctrl-C: this process alone answers,
    and stops them.

    Raises:
        DeviceError: if there is no such device here.
        SettingsError: if this machine cannot start workers; names the cause.
    """
    slots = pins(resolve(device), jobs, per_gpu, n_trials)
    from distributed import Client, Nanny, Scheduler, Security, SpecCluster

    security = Security.temporary()  # TLS: nobody else on this machine may run code through it
    options: dict[str, Any] = {"host": LOOPBACK, "protocol": "tls", "security": security}
    options |= {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
    of_workers = {"nthreads": THREADS, "memory_limit": 0, "local_directory": str(scratch)}
    of_workers |= {"silence_logs": SILENT}
    workers = {
        index: {"cls": Nanny, "options": options | of_workers | {"env": WORKER_ENVIRONMENT | slot}}
        for index, slot in enumerate(slots)
    }
    for name in ("asyncio", "tornado"):  # tracebacks of what is said in a line
        logging.getLogger(name).setLevel(SILENT)
    with _own_settings():
        try:
            start_fork_server()
            cluster = SpecCluster(
                workers=workers,
                scheduler={"cls": Scheduler, "options": {**options, "port": 0}},
                security=security,
                silence_logs=SILENT,
                name="xlrepro",
            )
        except Exception as error:
            raise SettingsError(_why_no_workers(error)) from error
        try:
            with Client(cluster, set_as_default=False) as client:
                yield client
        finally:
            with suppress(TimeoutError):  # late workers end with this process
                cluster.close(timeout=30)


def start_fork_server(*modules: str) -> None:
    """Start the process that workers are forked from; SIGINT reaches neither it nor them.

    Args:
        modules: what it loads, so that no worker has to; one that runs already has loaded its own.
    """
    from distributed.utils import get_mp_context

    with _own_settings():
        get_mp_context().set_forkserver_preload(["distributed", "numpy", *modules])
        resource_tracker.ensure_running()  # it ends by letting SIGINT through
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # children inherit it
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)  # what has come meanwhile comes now


def _why_no_workers(error: BaseException) -> str:
    """Return a line on why Dask could not start its workers."""
    while inner := error.__cause__ or error.__context__:
        error = inner
    cause = " ".join(str(error).split()) or type(error).__name__
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return (
        f"the workers did not start ({cause}): they need memory, open files (ulimit -n is {files}) "
        f"and room in /dev/shm and {tempfile.gettempdir()}; mend that, or use fewer --jobs"
    )


@contextmanager
def _own_settings() -> Iterator[None]:
    """Give Dask and its workers our settings and no user's, for a while."""
    import dask

    environment, config = dict(os.environ), dict(dask.config.config)
    os.environ.update(WORKER_ENVIRONMENT)
    dask.config.refresh(paths=[], env={})
    try:
        with dask.config.set(SETTINGS):
            yield
    finally:
        dask.config.config.clear()
        dask.config.config.update(config)
        for name in set(os.environ) - set(environment):  # Dask sets some of its own, too
            del os.environ[name]
        os.environ.update(environment)


@contextmanager
def remote_client(address: str) -> "Iterator[Client]":
    """Connect to a running Dask cluster; it is left running afterwards.

    Raises:
        SettingsError: if nothing answers there, or TLS is asked for and not configured.
    """
    from distributed import Client
    from distributed.comm import get_address_host_port
    from distributed.utils import silence_logging_cmgr

    try:
        get_address_host_port(address, strict=True)  # a client that cannot be made ends badly
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # TypeError: no certificate for TLS
        tls = " and, in Dask's configuration, distributed.comm.tls" * address.startswith("tls:")
        said = f"no Dask scheduler answers at {address} ({error}): check --scheduler{tls}"
        raise SettingsError(said) from error
    with silence_logging_cmgr(SILENT), client:
        yield client


# ---- inside a worker


def _unfit(code: dict[str, str], mixed: list[str], device: str, trials: list[Trial]) -> str:
    """Return why this process cannot run a client's trials; ``""``: it can.

    Args:
        code: the client's, of each paper that trials are of.
        mixed: `_mixed` of all of them; that precision is slow without a GPU.
        device: which.
        trials: those whose supplied files must be here.
    """
    for paper, version in code.items():
        if (here := machine.code_version(paper)) != version:
            return f"it has other code ({here}) than this machine ({version}): install the same"
    try:
        if resolve(device) == "cpu" and mixed:
            return f"mixed precision needs a CUDA GPU: run it there, or add {' '.join(mixed)}"
        check_supplied(trials, texts=False)  # not by each of many workers
    except XlreproError as error:
        return str(error)
    return ""


def run_trial(trial: Trial, device: str, topic: str) -> Record | tuple[str, str]:
    """Run one trial inside a worker; never raises for what the trial does.

    Args:
        trial: what to run.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``, resolved on this machine.
        topic: Dask topic that progress is sent to; a fraction of 0 says that the trial has started.

    Returns:
        The record; of a failed trial one line on why, and its traceback and output.
    """
    from distributed import get_worker

    worker, last, output = get_worker(), -PROGRESS_SECONDS, io.StringIO()

    def send(fraction: float, text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS_SECONDS:
            last = time.monotonic()
            worker.log_event(topic, {"key": trial.key, "fraction": float(fraction)})

    send(0.0, "")
    try:
        with redirect_stdout(output), redirect_stderr(output):
            return measure_trial(trial, resolve(device), send)
    except Exception as error:
        said = str(error) if isinstance(error, XlreproError) else f"{type(error).__name__}: {error}"
        log = f"{traceback.format_exc()}\n--- output of the trial\n{output.getvalue()}"
        return " ".join(said.split()), log


def measure_trial(
    trial: Trial, device: str, progress: Callable[[float, str], None] = lambda fraction, text: None
) -> Record:
    """Run one trial here and now, on one thread, and return its record without keeping it.

    Raises:
        SettingsError: if there is no such task.
        StoreError: if its result does not make a record.
    """
    from threadpoolctl import threadpool_limits

    # Before the trial, not after: a commit may come meanwhile
    git, code = machine.git_state(), machine.code_version(trial.task.split("/")[0])
    function = task(trial.task).load()
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(THREADS)
        # Deterministic operations alone, but for a GPU, where some are not. As torch's
        # use_deterministic_algorithms, which also imports its compiler: seconds in every worker.
        torch.set_deterministic_debug_mode("error" if device == "cpu" else "default")
        torch.utils.deterministic.fill_uninitialized_memory = False  # slow
    machine.forget_peaks(device)
    started, clock = datetime.now(UTC), time.perf_counter()
    with threadpool_limits(THREADS):
        result = function(trial, TrialContext(device, progress))
    wall_seconds = time.perf_counter() - clock + result.earlier_seconds
    # What the process has used so far, for another trial perhaps
    result.artefacts = {**artefacts.used(), **result.artefacts}
    return make_record(
        trial,
        result,
        started=started.isoformat(timespec="milliseconds"),
        wall_seconds=round(wall_seconds, 3),
        **machine.peaks(device),
        device=machine.device_name(device),
        threads=THREADS,
        versions=machine.versions() | {"xlrepro": code},
        git=git,
        data=artefacts.data_read(),
    )


# ---- progress


class Progress:
    """How far a run is, on one changing line in a notebook and on a terminal, else in plain lines.

    Args:
        total: number of trials.
        wanted: ``False``: shows nothing.
    """

    def __init__(self, total: int, wanted: bool = True) -> None:
        self._total, self._wanted, self._began = total, wanted, time.monotonic()
        self._finished, self._last, self._said = 0, self._began, ""
        self._parts: dict[str, float] = {}  # how far trials in flight are
        ipython: Any = sys.modules.get("IPython")
        self._handle: Any = None
        if wanted and ipython is not None and hasattr(ipython.get_ipython(), "kernel"):
            self._handle = ipython.display.DisplayHandle()
            self._handle.display({"text/plain": f"0 of {total} trials"}, raw=True)

    def part(self, key: str, fraction: float) -> None:
        """Note how far a trial in flight is."""
        self._parts[key] = min(fraction, 1.0)

    def end(self, trial: Trial, how: str) -> None:
        """Note that a trial has ended."""
        self._parts.pop(trial.key, None)
        self._finished += 1
        self.say(f"{trial.label}: {how}")

    def say(self, text: str, once: bool = False) -> None:
        """Show what has happened; ``once``: not if it is what was said last."""
        if not (once and text == self._said):
            self._said = text
            self._print(text)

    def show(self) -> None:
        """Show how far it is, where a line changes; on others once a minute."""
        changing = self._handle is not None or sys.stderr.isatty()
        if changing or time.monotonic() - self._last >= LINE_SECONDS:
            self._print("" if not changing else self._said)

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        said = ", ".join(filter(None, [f"{self._finished} of {self._total}", self._left(), text]))
        if self._handle is not None:
            self._handle.update({"text/plain": said}, raw=True)
        elif self._wanted:
            start, end = ("\r\x1b[2K", "") if sys.stderr.isatty() else ("", "\n")
            print(f"{start}{said}", end=end, file=sys.stderr, flush=True)

    def _left(self) -> str:
        """Return ``"12 min left"``, or nothing where it is too early to say."""
        elapsed, work = self._last - self._began, self._finished + sum(self._parts.values())
        if not 0 < work < self._total or elapsed < 1:
            return ""
        return f"{duration(round(elapsed * self._total / work - elapsed))} left"

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        """End; a notebook's last line holds no time, so that it is the same in every run."""
        if self._handle is not None:
            last = f"{self._finished} of {self._total} trials"
            self._handle.update({"text/plain": last}, raw=True)
        elif self._wanted and sys.stderr.isatty():
            print(file=sys.stderr)
