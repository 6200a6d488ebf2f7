"""The engine: runs trials on a Dask cluster, keeps every record, and goes on after a failure.

This process decides what runs next and holds the lock of every trial in flight, so that two runs
on one store share the work instead of doing it twice. A local worker writes its record itself
before it answers: what has finished is kept even if this process is killed.
"""

import queue
import time
import uuid
from collections import deque
from collections.abc import Collection, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import BaseFileLock

from xlrepro.errors import SettingsError, XlreproError
from xlrepro.machine import DEVICES, resolve
from xlrepro.store import RecordStore, write_atomically
from xlrepro.trials import Record, Trial, duration
from xlrepro.trials.engine.cluster import local_client, pins, remote_client
from xlrepro.trials.engine.plan import plan_trials
from xlrepro.trials.engine.progress import Progress, make_progress
from xlrepro.trials.engine.worker import Outcome, run_trial

if TYPE_CHECKING:
    from distributed import Client, Future

POLL_SECONDS = 0.25
LOST = (
    "the connection to the Dask scheduler is lost; finished trials are kept: start the scheduler "
    "again and repeat the command"
)
NO_WORKER_SECONDS = 900.0  # a dead worker is back in seconds, on a very busy machine in minutes
NO_WORKER = (
    f"there has been no worker for {NO_WORKER_SECONDS / 60:.0f} minutes; finished trials are kept: "
    "repeat the command"
)


@dataclass(frozen=True)
class Failure:
    """A trial that failed.

    Attributes:
        trial: the trial.
        label: its line for people.
        reason: one line.
        log: the file with the traceback and the trial's output.
    """

    trial: Trial
    label: str
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
            '0 trials run, 0 had a record, 0 failed, in 3 s'
        """
        return (
            f"{len(self.done)} trials run, {len(self.reused)} had a record, "
            f"{len(self.failed)} failed, in {duration(self.seconds)}"
        )


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C during a run; ``summary`` says what had finished, all of which is kept.

    Args:
        summary: what had finished.
        total: trials of the run.
        again: whether the run repeats all trials, those with a record too.
    """

    def __init__(self, summary: RunSummary, total: int, again: bool = False) -> None:
        kept = len(summary.done) + len(summary.reused)
        goes_on = "begins from the first" if again else "goes on from there"
        super().__init__(
            f"interrupted: {kept} of {total} trials have their record; the same command {goes_on}"
        )
        self.summary = summary


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
    if device not in DEVICES or (device == "cuda" and scheduler is None):
        resolve(device)
    pins("cpu", 1 if jobs is None else jobs, per_gpu, n_trials=0)


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
    """Run the trials that have no record yet, and keep each record as soon as it is made.

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
    total = len(plan.pending) + len(plan.reused)
    try:
        if plan.pending:
            store.check_writable()
            with make_progress(len(plan.pending), progress) as display:
                connection = (
                    remote_client(scheduler, device)
                    if scheduler
                    else local_client(device, jobs, per_gpu, len(plan.pending), store.scratch)
                )
                with connection as client:
                    keys = {*again, *plan.outdated}
                    folder = None if scheduler else str(store.root.resolve())
                    waiting = deque(plan.pending)
                    _Run(client, store, summary, display, device, folder, keys, waiting).run_all()
    except KeyboardInterrupt as interrupt:
        summary.seconds = time.monotonic() - began
        raise RunInterrupted(summary, total, again=len(again) >= total) from interrupt
    summary.seconds = time.monotonic() - began
    return summary


@dataclass
class _InFlight:
    trial: Trial
    lock: BaseFileLock
    future: "Future"
    fraction: float = 0.0


@dataclass
class _Run:
    """One run on one open client: what waits, what is in flight, what has ended.

    Attributes:
        records_folder: that the workers write their records into; ``None`` if they cannot reach it.
        again: keys of trials whose earlier record does not count.
    """

    client: "Client"
    store: RecordStore
    summary: RunSummary
    display: Progress
    device: str
    records_folder: str | None
    again: Collection[str]
    waiting: deque[Trial]

    def __post_init__(self) -> None:
        self._began = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._flying: dict[str, _InFlight] = {}
        self._landed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._total = len(self.waiting)
        self._finished = 0
        self._last_worker = time.monotonic()
        self._topic = f"xlrepro-{uuid.uuid4().hex}"

    def run_all(self) -> None:
        """Run what waits; return when each trial has its record or has failed."""
        self.client.subscribe_topic(self._topic, self._on_progress)
        try:
            while self.waiting or self._flying:
                self._launch()
                self._wait()
        finally:
            self._stop()

    def _launch(self) -> None:
        """Fill the free slots; a trial that another run holds goes to the end of the queue."""
        free = self._slots() - len(self._flying)
        for _ in range(len(self.waiting)):
            if free <= 0:
                return
            trial = self.waiting.popleft()
            lock = self.store.lock(trial.key)
            if lock is None:
                self.waiting.append(trial)
                continue
            record = self._made_meanwhile(trial)
            if record is not None:
                lock.release()
                self.summary.reused.append(record)
                self._end(f"{trial.label}: another run has made its record")
                continue
            self._submit(trial, lock)
            free -= 1

    def _made_meanwhile(self, trial: Trial) -> Record | None:
        record = self.store.get(trial)
        if record is None or (trial.key in self.again and record.started < self._began):
            return None
        return record

    def _submit(self, trial: Trial, lock: BaseFileLock) -> None:
        future = self.client.submit(
            run_trial,
            trial,
            self.device,
            self.records_folder,
            self._topic,
            key=f"trial-{trial.key[:12]}-{uuid.uuid4().hex[:8]}",
            pure=False,
        )
        self._flying[trial.key] = _InFlight(trial, lock, future)
        future.add_done_callback(lambda _, key=trial.key: self._landed.put(key))

    def _wait(self) -> None:
        """Wait a moment for a trial to end, and take it in."""
        try:
            key = self._landed.get(timeout=POLL_SECONDS)
        except queue.Empty:
            self._show("")
            return
        flight = self._flying.pop(key)
        try:
            self._take(flight.trial, _outcome(flight.future))
        finally:
            flight.lock.release()

    def _take(self, trial: Trial, outcome: Outcome) -> None:
        if outcome.record is not None:
            if self.records_folder is None:
                self.store.put(outcome.record)
            self.summary.done.append(outcome.record)
            self._end(f"{trial.label}: {duration(outcome.record.wall_seconds)}")
            return
        log = self.store.log_path(trial.key)
        write_atomically(log, outcome.log)
        self.summary.failed.append(Failure(trial, trial.label, outcome.reason, log))
        self._end(f"{trial.label}: FAILED: {outcome.reason}")

    def _end(self, text: str) -> None:
        self._finished += 1
        self._show(text)

    def _show(self, text: str) -> None:
        work = self._finished + sum(flight.fraction for flight in self._flying.values())
        self.display.update(self._finished, work / max(self._total, 1), text)

    def _on_progress(self, event: tuple[float, dict[str, Any]]) -> None:
        flight = self._flying.get(event[1]["key"])
        if flight is not None:
            flight.fraction = min(max(event[1]["fraction"], 0.0), 1.0)

    def _slots(self) -> int:
        try:
            slots = sum(self.client.nthreads().values())
        except OSError as error:
            raise XlreproError(LOST) from error
        now = time.monotonic()
        if slots:
            self._last_worker = now
        elif now - self._last_worker > NO_WORKER_SECONDS:
            raise XlreproError(NO_WORKER)
        return slots

    def _stop(self) -> None:
        """Cancel what is in flight and free its locks."""
        flights, self._flying = list(self._flying.values()), {}
        if flights and self.client.status == "running":
            self.client.cancel([flight.future for flight in flights], force=True)
        for flight in flights:
            flight.lock.release()


def _outcome(future: "Future") -> Outcome:
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
