"""The engine: runs trials on a Dask cluster, keeps every record, and goes on after a failure.

This process decides what runs next and holds the lock of every trial in flight, so that two runs
on one store share the work instead of doing it twice. A local worker writes its record itself
before it answers: what has finished is kept even if this process is killed.
"""

import contextlib
import errno
import io
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
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlrepro import artefacts, machine
from xlrepro.errors import DataError, SettingsError, XlreproError
from xlrepro.experiments import is_outdated, task
from xlrepro.machine import resolve, visible_gpus
from xlrepro.paths import supplied_dir
from xlrepro.store import RecordStore, write_atomically
from xlrepro.trials import Record, Trial, TrialContext, duration, make_record

if TYPE_CHECKING:
    from distributed import Client, Future
    from filelock import BaseFileLock

THREADS = 1  # one trial, one thread: the same numbers whatever else the machine does
POLL_SECONDS = 0.2
PROGRESS_SECONDS = 0.5  # between two messages of a trial
LINE_SECONDS = 60.0  # between two plain lines while no trial ends
CONNECT_SECONDS = 30
CLOSE_SECONDS = 30
FIRST_WORKER_SECONDS = 3600.0  # a queueing system may take its time
NO_WORKER_SECONDS = 900.0  # a dead worker is back in seconds, on a very busy machine in minutes
LOOPBACK = "127.0.0.1"
NO_DASHBOARD = {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
SILENT = 51  # above logging.CRITICAL: what goes wrong is said once, in our own words
LOST = (
    "the connection to the Dask scheduler is lost; finished trials are kept: start the scheduler "
    "again and repeat the command"
)
# Dask tells glibc to give back freed memory at once; a training step takes it again at once, and
# the page faults cost a third of the time.
ALLOCATOR_ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_MMAP_THRESHOLD_": str(2**28),
}
# One thread per trial, set before the process starts: libraries read it when they are loaded.
WORKER_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    **ALLOCATOR_ENVIRONMENT,
}
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # a dead worker's trial is tried once more
    "distributed.scheduler.worker-saturation": 1.0,  # no trial waits behind another in a worker
    "distributed.scheduler.worker-ttl": None,  # a trial may hold the interpreter for long
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.limit": "1h",
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
}


# ---- what a run would do


@dataclass(frozen=True)
class Plan:
    """Which trials would run, and which have a record.

    Attributes:
        pending: trials to run, in the order given, each once.
        reused: records of the others.
        outdated: keys of those pending trials that have a record which is outdated.
    """

    pending: tuple[Trial, ...]
    reused: tuple[Record, ...]
    outdated: frozenset[str]


def plan_trials(trials: Sequence[Trial], store: RecordStore, again: Collection[str] = ()) -> Plan:
    """Sort trials into those to run and those that have a current record.

    Trials whose keys are in ``again`` are run whatever there is.
    """
    pending, reused, outdated = [], [], set()
    for trial in {trial.key: trial for trial in trials}.values():
        record = store.get(trial)
        if record is not None and is_outdated(record):
            outdated.add(trial.key)
        if record is None or trial.key in outdated or trial.key in again:
            pending.append(trial)
        else:
            reused.append(record)
    return Plan(tuple(pending), tuple(reused), frozenset(outdated))


def check_supplied(trials: Sequence[Trial]) -> None:
    """Check that the files that the user supplies for trials are there.

    Raises:
        DataError: naming all that are missing, in one line.
    """
    missing: dict[str, None] = {}
    for key in dict.fromkeys((trial.task, trial.settings_json) for trial in trials):
        model = task(key[0]).model
        if hasattr(model, "supplied"):
            paths = model.model_validate_json(key[1]).supplied()
            missing |= {p: None for p in paths if not (supplied_dir() / p).exists()}
    if missing:
        raise DataError(
            f"{len(missing)} of the files that you supply are not in {supplied_dir()}: "
            f"{', '.join(missing)}; put them there, or set XLREPRO_SUPPLIED"
        )


@dataclass(frozen=True)
class Failure:
    """A trial that failed: why, in one line, and the file with its traceback and output."""

    trial: Trial
    reason: str
    log: Path


@dataclass
class RunSummary:
    """What a run did.

    Attributes:
        done: records made by this run.
        reused: records that were there already, or that another run made meanwhile.
        failed: trials without a record.
        seconds: wall time of the run.
    """

    done: list[Record] = field(default_factory=list)
    reused: list[Record] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
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


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM (``number``) during a run; what had finished is kept."""

    def __init__(self, number: int, kept: int, total: int) -> None:
        super().__init__(
            f"interrupted: {kept} of {total} trials have their record; the same command goes on"
        )
        self.number = number


def check_call(device: str, jobs: int | None, scheduler: str | None, per_gpu: int) -> None:
    """Check where trials are to run; the values are those of `run_trials`.

    Raises:
        SettingsError: for an unknown device, a number below 1, or an empty address.
        DeviceError: if CUDA is asked for on this machine and there is none.
    """
    if scheduler is not None and not scheduler.strip():
        raise SettingsError(
            "--scheduler is empty: give the address of a Dask cluster, tcp://host:8786, or leave "
            "the option out"
        )
    if device not in machine.DEVICES or (device == "cuda" and scheduler is None):
        resolve(device)
    for name, value in (("jobs", jobs), ("per-gpu", per_gpu)):
        if value is not None and value < 1:
            raise SettingsError(f"--{name} must be 1 or more, not {value}")


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

    Returns:
        What was run, reused and failed. A failing trial does not stop the others.

    Raises:
        SettingsError: for an unknown device, or a cluster that cannot be used.
        DeviceError: if CUDA is asked for and there is none.
        StoreError: if no record could be kept.
        RunInterrupted: on Ctrl-C; what had finished is kept.
    """
    began = time.monotonic()
    check_call(device, jobs, scheduler, per_gpu)
    store = store or RecordStore()
    plan = plan_trials(trials, store, again)
    summary = RunSummary(reused=list(plan.reused))
    if plan.pending:
        store.check_writable()
        if not scheduler:
            check_supplied(plan.pending)
        with _interrupts() as came, Progress(len(plan.pending), progress) as display:
            try:
                with (
                    remote_client(scheduler)
                    if scheduler
                    else local_client(device, jobs, per_gpu, len(plan.pending), store.scratch)
                ) as client:
                    folder = None if scheduler else str(store.root.resolve())
                    made_again = {*again, *plan.outdated}
                    run = _Run(client, store, summary, display, device, folder, made_again, came)
                    run.all_of(plan.pending)
            except Exception:
                if not came:  # else it is what the interrupt has broken
                    raise
            if came:
                kept = len(summary.done) + len(summary.reused)
                raise RunInterrupted(came[0], kept, len(plan.pending) + len(plan.reused))
    summary.seconds = time.monotonic() - began
    return summary


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM while Dask starts and stops workers; a second one is raised."""
    came: list[int] = []

    def note(number: int, _: Any) -> None:
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()  # where alone signals come
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in numbers if main}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# ---- clusters


def pins(device: str, jobs: int | None, per_gpu: int, n_trials: int) -> list[dict[str, str]]:
    """Return the environment of each worker to start: one entry per slot."""
    if device == "cuda":
        # GPU by GPU, so that few trials spread over all of them
        slots = [{"CUDA_VISIBLE_DEVICES": gpu} for _ in range(per_gpu) for gpu in visible_gpus()]
    else:  # no GPU is touched by a trial that was told to use the CPU
        slots = [{"CUDA_VISIBLE_DEVICES": ""}] * (jobs or cpu_slots())
    return slots[: min(jobs or len(slots), n_trials)]


def cpu_slots() -> int:
    """Return how many trials fit on this machine's CPU: the cores this process may use."""
    from dask.system import CPU_COUNT

    return max(1, int(CPU_COUNT))


@contextmanager
def local_client(
    device: str, jobs: int | None, per_gpu: int, n_trials: int, scratch: Path
) -> "Iterator[Client]":
    """Start workers on this machine, reachable by this user only, and stop them afterwards.

    No Dask configuration of the user's is read.

    Raises:
        DeviceError: if there is no such device here.
        SettingsError: if this machine cannot start workers; names the cause.
    """
    slots = pins(resolve(device), jobs, per_gpu, n_trials)
    import dask
    from distributed import Client, Nanny, Scheduler, Security, SpecCluster

    security = Security.temporary()  # TLS: nobody else on this machine may run code through it
    options: dict[str, Any] = {
        "host": LOOPBACK,
        "protocol": "tls",
        "security": security,
        **NO_DASHBOARD,
    }
    of_workers = {
        "nthreads": THREADS,
        "memory_limit": 0,
        "local_directory": str(scratch),
        "silence_logs": SILENT,
    }
    workers = {
        index: {
            "cls": Nanny,
            "options": {**options, **of_workers, "env": {**WORKER_ENVIRONMENT, **slot}},
        }
        for index, slot in enumerate(slots)
    }
    with _environment(), _own_configuration(dask.config):
        resource_tracker.ensure_running()  # it would let SIGINT through in the thread it starts in
        # Dask's thread, and all workers that it starts, are deaf to the terminal's Ctrl-C: this
        # process alone answers, and stops them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            cluster = SpecCluster(
                workers=workers,
                scheduler={"cls": Scheduler, "options": {**options, "port": 0}},
                security=security,
                silence_logs=SILENT,
                name="xlrepro",
            )
        except Exception as error:
            raise SettingsError(_why_no_workers(error)) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        try:
            with Client(cluster, set_as_default=False) as client:
                yield client
        finally:
            with contextlib.suppress(TimeoutError):  # late workers end with this process
                cluster.close(timeout=CLOSE_SECONDS)


def _why_no_workers(error: BaseException) -> str:
    """Return a line on why Dask could not start its workers."""
    causes = [error]
    while (inner := causes[-1].__cause__ or causes[-1].__context__) and inner not in causes:
        causes.append(inner)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if any(getattr(e, "errno", None) in (errno.EMFILE, errno.ENFILE) for e in causes) or soft < 256:
        why = f"a process may open {soft} files only: raise it with ulimit -n 4096, or use --jobs 1"
    elif not os.access("/dev/shm", os.W_OK):
        why = "/dev/shm cannot be written, as processes need: mount it, or mend its rights"
    else:
        text = " ".join(str(causes[-1]).split()) or type(causes[-1]).__name__
        places = f"memory, processes, space in /dev/shm and {tempfile.gettempdir()}"
        why = f"{text}; see to {places}, or use --jobs 1"
    return f"the workers did not start: {why}"


@contextmanager
def _own_configuration(config: Any) -> Iterator[None]:
    """Replace the configuration of Dask by its defaults and our settings, for a while."""
    before = dict(config.config)
    config.refresh(paths=[], env={})
    try:
        with config.set(SETTINGS):
            yield
    finally:
        config.config.clear()
        config.config.update(before)


@contextmanager
def _environment() -> Iterator[None]:
    """Set the workers' environment, and put all back: Dask changes some of its own, too."""
    before = dict(os.environ)
    os.environ.update(WORKER_ENVIRONMENT)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def remote_client(address: str) -> "Iterator[Client]":
    """Connect to a running Dask cluster; it is left running afterwards.

    Raises:
        SettingsError: if nothing answers there.
    """
    from distributed import Client
    from distributed.comm import get_address_host_port
    from distributed.utils import silence_logging_cmgr

    try:
        get_address_host_port(address, strict=True)  # a client that cannot be made ends badly
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SettingsError(
            f"no Dask scheduler answers at {address} ({error}): check --scheduler"
        ) from error
    with silence_logging_cmgr(SILENT), client:
        yield client


# ---- a run


@dataclass
class _Flight:
    trial: Trial
    lock: "BaseFileLock"
    future: "Future"
    fraction: float = 0.0
    starts: int = 0


class _Run:
    """One run on one open client: what waits, what is in flight, what has ended.

    Args:
        records_folder: that the workers write their records into; ``None`` if they cannot reach it.
        again: keys of trials whose earlier record does not count.
        came: signals that have come.
    """

    def __init__(
        self,
        client: "Client",
        store: RecordStore,
        summary: RunSummary,
        display: "Progress",
        device: str,
        records_folder: str | None,
        again: Collection[str],
        came: list[int],
    ) -> None:
        self.client, self.store, self.summary, self.display = client, store, summary, display
        self.device, self.records_folder, self.again, self.came = (
            device,
            records_folder,
            again,
            came,
        )
        self._began = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._topic = f"xlrepro-{uuid.uuid4().hex}"
        self._flying: dict[str, _Flight] = {}
        self._finished = 0
        self._checked: set[str] = set()  # addresses of workers
        self._last_worker = time.monotonic()
        self._said_none = False

    def all_of(self, trials: Sequence[Trial]) -> None:
        """Run trials; return when each has its record or has failed, or a signal has come."""
        papers = {trial.task.split("/")[0] for trial in trials}
        self._code = {paper: machine.code_version(paper) for paper in papers}
        waiting = deque(trials)
        self.client.subscribe_topic(self._topic, self._on_event)
        try:
            while (waiting or self._flying) and not self.came:
                self._launch(waiting)
                time.sleep(POLL_SECONDS)
                for flight in [f for f in self._flying.values() if f.future.done()]:
                    self._land(flight)
                self._show("")
        finally:
            if self._flying and self.client.status == "running":
                self.client.cancel([f.future for f in self._flying.values()], force=True)
            for flight in self._flying.values():
                flight.lock.release()

    def _launch(self, waiting: deque[Trial]) -> None:
        """Fill the free slots; a trial that another run holds goes to the end of the queue."""
        free = self._slots() - len(self._flying)
        for _ in range(len(waiting)):
            if free <= 0:
                return
            trial = waiting.popleft()
            lock = self.store.lock(trial.key)
            if lock is None:
                waiting.append(trial)
                continue
            record = self.store.get(trial)
            if record and not (trial.key in self.again and record.started < self._began):
                lock.release()
                self.summary.reused.append(record)
                self._end(f"{trial.label}: another run has made its record")
                continue
            key = f"trial-{trial.key[:12]}-{uuid.uuid4().hex[:8]}"
            given = (trial, self.device, self.records_folder, self._topic, self._code)
            future = self.client.submit(run_trial, *given, key=key, pure=False)
            self._flying[trial.key] = _Flight(trial, lock, future)
            free -= 1

    def _land(self, flight: _Flight) -> None:
        """Take in a trial that has ended."""
        trial = flight.trial
        del self._flying[trial.key]
        try:
            outcome = _outcome(flight.future)
            if outcome.record is not None:
                if self.records_folder is None:
                    self.store.put(outcome.record)
                self.summary.done.append(outcome.record)
                self._end(f"{trial.label}: {duration(outcome.record.wall_seconds)}")
                return
            log = self.store.log_path(trial.key)
            write_atomically(log, outcome.log)
            self.summary.failed.append(Failure(trial, outcome.reason, log))
            self._end(f"{trial.label}: FAILED: {outcome.reason}")
        finally:
            flight.lock.release()

    def _end(self, text: str) -> None:
        self._finished += 1
        self._show(text)

    def _show(self, text: str) -> None:
        work = self._finished + sum(flight.fraction for flight in self._flying.values())
        self.display.update(self._finished, work, text)

    def _on_event(self, event: tuple[float, dict[str, Any]]) -> None:
        flight = self._flying.get(event[1]["key"])
        if flight is None:
            return
        flight.fraction = min(max(event[1]["fraction"], 0.0), 1.0)
        flight.starts += event[1]["fraction"] == 0.0
        if event[1]["fraction"] == 0.0 and flight.starts > 1:
            self._show(f"{flight.trial.label}: its worker was lost; it is tried once more")

    def _slots(self) -> int:
        """Return how many trials the workers take at a time; each worker is checked once."""
        try:
            threads = self.client.nthreads()
        except OSError as error:
            raise XlreproError(LOST) from error
        if new := set(threads) - self._checked:
            self._check(sorted(new), threads)
        if threads:
            self._last_worker, self._said_none = time.monotonic(), False
            return sum(threads.values())
        patience = NO_WORKER_SECONDS if self._checked else FIRST_WORKER_SECONDS
        if not self._said_none:
            self._said_none = True
            self._show(f"there is no worker; waiting {duration(int(patience))} for one")
        if time.monotonic() - self._last_worker > patience:
            raise XlreproError(
                f"there has been no worker for {duration(int(patience))}; finished trials are "
                "kept: start workers and repeat the command"
            )
        return 0

    def _check(self, workers: list[str], threads: dict[str, int]) -> None:
        """Refuse workers that would compute other numbers than this process, by their name."""
        for name in workers:
            if threads[name] != THREADS:
                raise SettingsError(
                    f"worker {name} runs {threads[name]} threads, and trials need one each to be "
                    "repeatable: start it with --nthreads 1 (and --nworkers N)"
                )
        try:
            said = self.client.run(_unfit, self.device, self._code, workers=workers)
        except ModuleNotFoundError as error:
            raise SettingsError(
                f"worker {workers[0]} lacks a package ({error}): install xlrepro there"
            ) from error
        except (OSError, ValueError):  # gone again
            return
        for name, why in said.items():
            if why:
                raise SettingsError(f"worker {name}: {why}")
        self._checked |= set(workers)


def _outcome(future: "Future") -> "Outcome":
    """Return how the trial ended, a dead worker included.

    Raises:
        XlreproError: if the scheduler is gone.
    """
    from distributed import KilledWorker

    try:
        return future.result()  # type: ignore[no-any-return]
    except KilledWorker as error:
        reason = "its worker died twice (out of memory, or killed)"
        return Outcome(None, reason, f"{reason}\n{error}\n")
    except CancelledError as error:
        raise XlreproError(LOST) from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".strip(": ")
        return Outcome(None, " ".join(reason.split()), f"{reason}\n")


# ---- inside a worker


@dataclass(frozen=True)
class Outcome:
    """How a trial ended, in a form that always travels.

    Attributes:
        record: the record; ``None`` if the trial failed.
        reason: one line on why it failed.
        log: traceback and output of a failed trial.
    """

    record: Record | None
    reason: str = ""
    log: str = ""


def _unfit(device: str, code: dict[str, str]) -> str:
    """Return why this process cannot run trials of a client that has this code; ``""``: it can."""
    for paper, version in code.items():
        if (here := machine.code_version(paper)) != version:
            return f"it has other code ({here}) than this machine ({version}): install the same"
    try:
        resolve(device)
    except XlreproError as error:
        return str(error)
    return ""


def run_trial(
    trial: Trial, device: str, records_folder: str | None, topic: str, code: dict[str, str]
) -> Outcome:
    """Run one trial inside a worker and keep its record; never raises for what the trial does.

    Args:
        trial: what to run.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``, resolved on this machine.
        records_folder: where to write the record before returning; ``None`` if this worker does
            not share a file system with the store.
        topic: Dask topic that progress is sent to.
        code: paper to `code_version` of the client; a worker that joined late may have another.
    """
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            if why := _unfit(device, code):
                raise SettingsError(f"its worker cannot run it: {why}")
            record = measure_trial(trial, resolve(device), _progress_sender(trial, topic))
            if records_folder is not None:
                RecordStore(Path(records_folder)).put(record)
    except Exception as error:
        known = isinstance(error, XlreproError)
        reason = str(error) if known else f"{type(error).__name__}: {error}"
        log = f"{trial.label}\n\n{traceback.format_exc()}\n--- output of the trial\n"
        return Outcome(None, " ".join(reason.split()), log + output.getvalue())
    return Outcome(record)


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
    memory = machine.PeakMemory(device)
    started = datetime.now(UTC)
    clock = time.perf_counter()
    with threadpool_limits(THREADS):
        result = function(trial, TrialContext(device, progress))
    wall_seconds = time.perf_counter() - clock
    # What the process has used so far, for another trial perhaps
    result.artefacts = {**artefacts.used(), **result.artefacts}
    return make_record(
        trial,
        result,
        started=started.isoformat(timespec="milliseconds"),
        wall_seconds=round(wall_seconds, 3),
        peak_memory_bytes=memory.host_bytes(),
        peak_gpu_memory_bytes=memory.gpu_bytes(),
        device=machine.device_name(device),
        threads=THREADS,
        versions=machine.versions() | {"xlrepro": code},
        git=git,
        data=artefacts.data_read(),
    )


def _progress_sender(trial: Trial, topic: str) -> Callable[[float, str], None]:
    """Return a function that sends (fraction, text) to the client, at most twice a second.

    A fraction of 0 is sent here, once: it says that the trial has started.
    """
    from distributed import get_worker

    worker, last = get_worker(), 0.0
    worker.log_event(topic, {"key": trial.key, "fraction": 0.0})

    def send(fraction: float, text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if fraction > 0 and now - last >= PROGRESS_SECONDS:
            last = now
            worker.log_event(topic, {"key": trial.key, "fraction": float(fraction)})

    return send


# ---- progress


class Progress:
    """How far a run is: a bar on a terminal, one changing line in a notebook, else plain lines.

    Args:
        total: number of trials.
        wanted: ``False``: shows nothing.
    """

    def __init__(self, total: int, wanted: bool = True) -> None:
        self._total, self._began = total, time.monotonic()
        self._last, self._finished = self._began, 0
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
        self._kind = "nothing"
        if wanted:
            self._kind = "bar" if sys.stderr.isatty() else "lines"
            self._kind = "notebook" if hasattr(shell, "kernel") else self._kind

    def __enter__(self) -> "Progress":
        """Begin."""
        if self._kind == "bar":
            from tqdm import tqdm

            bar = "{n:.0f}/{total} trials |{bar}| {percentage:3.0f} %, {remaining} left{postfix}"
            self._bar = tqdm(total=self._total, bar_format=bar, file=sys.stderr, dynamic_ncols=True)
        elif self._kind == "notebook":
            from IPython.display import DisplayHandle

            self._handle: Any = DisplayHandle()
            self._handle.display({"text/plain": f"0 of {self._total} trials"}, raw=True)
        return self

    def update(self, finished: int, work: float, text: str) -> None:
        """Show how many trials are finished, the work done in trials, and what has happened."""
        if self._kind == "bar":
            self._bar.n = work
            self._bar.set_postfix_str(text or str(self._bar.postfix or ""))
        elif self._kind == "notebook":
            parts = [f"{finished} of {self._total} trials", self._left(work), text]
            self._handle.update({"text/plain": ", ".join(filter(None, parts))}, raw=True)
        elif self._kind == "lines" and (text or time.monotonic() - self._last >= LINE_SECONDS):
            self._last = time.monotonic()
            parts = [f"[{finished}/{self._total}]", text, self._left(work)]
            print("  ".join(filter(None, parts)), file=sys.stderr, flush=True)
        self._finished = finished

    def _left(self, work: float) -> str:
        """Return ``"12 min left"``, or nothing where it is too early to say."""
        elapsed = time.monotonic() - self._began
        if not 0 < work < self._total or elapsed < 1:
            return ""
        return f"{duration(round(elapsed * self._total / work - elapsed))} left"

    def __exit__(self, *_: object) -> None:
        """End; a notebook's last line holds no time, so that it is the same in every run."""
        if self._kind == "bar":
            self._bar.close()
        elif self._kind == "notebook":
            last = f"{self._finished} of {self._total} trials"
            self._handle.update({"text/plain": last}, raw=True)
