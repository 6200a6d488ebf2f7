"""What happens to one trial inside a worker process."""

import contextlib
import io
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from threadpoolctl import threadpool_limits

from xlrepro import artefacts, machine
from xlrepro.errors import XlreproError
from xlrepro.experiments import task
from xlrepro.machine import resolve
from xlrepro.store import RecordStore
from xlrepro.trials import Record, Trial, TrialContext, make_record

THREADS = 1  # one trial, one thread: the same numbers whatever else the machine does
PROGRESS_SECONDS = 0.5


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


def run_trial(trial: Trial, device: str, records_folder: str | None, topic: str) -> Outcome:
    """Run one trial inside a worker and keep its record; never raises for what the trial does.

    Args:
        trial: what to run.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``, resolved on this machine.
        records_folder: where to write the record before returning; ``None`` if this worker does
            not share a file system with the store.
        topic: Dask topic that progress is sent to.
    """
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            record = measure_trial(trial, resolve(device), _progress_sender(trial, topic))
            if records_folder is not None:
                RecordStore(Path(records_folder)).put(record)
    except Exception as error:
        reason = (
            str(error) if isinstance(error, XlreproError) else f"{type(error).__name__}: {error}"
        )
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
    """Return a function that sends (fraction, text) to the client, at most twice a second."""
    from distributed import get_worker

    worker, last = get_worker(), 0.0

    def send(fraction: float, text: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PROGRESS_SECONDS:
            last = now
            worker.log_event(topic, {"key": trial.key, "fraction": float(fraction), "text": text})

    return send
