"""Run many notebooks, each in its own process, and never twice for nothing.

An executed notebook lies at ``build/notebooks/<profile>/<paper>/<experiment>.ipynb`` beside its
log and a small ``.state.json``: the digest of everything that decides what it shows. While that
digest stays the same the notebook is not run again, so a batch that was killed goes on where it
stopped and a second batch takes seconds. A page reads records of other experiments, too: one that
ran before these were made is run once more at the end of the batch, when nothing is left to train.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

from xlrepro.book.digest import notebook_digest, records_read
from xlrepro.book.execute import failed_path, remove_orphans
from xlrepro.book.parameters import check, declared
from xlrepro.errors import SettingsError
from xlrepro.experiments import all_experiments
from xlrepro.paths import build_dir, project_root
from xlrepro.trials.cluster import cpu_slots, gpu_shares
from xlrepro.trials.devices import resolve, visible_gpus
from xlrepro.trials.trial import PROFILES

logger = logging.getLogger("xlrepro")

# One thread per process: two notebooks at a time on two cores, and the same numbers everywhere.
CHILD_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "TQDM_DISABLE": "1",
}


@dataclass(frozen=True)
class Job:
    """One notebook to run.

    Attributes:
        experiment: ``"word_order/table2"``.
        source: the notebook as committed.
        target: where the executed one goes.
        parameters: checked values for its ``parameters`` cell.
    """

    experiment: str
    source: Path
    target: Path
    parameters: Mapping[str, Any]

    @property
    def log(self) -> Path:
        """What the process printed."""
        return self.target.with_suffix(".log")

    @property
    def state(self) -> Path:
        """The digest of the last whole run."""
        return self.target.with_suffix(".state.json")


@dataclass
class BatchSummary:
    """What a batch did.

    Attributes:
        done: experiments run now.
        reused: experiments whose notebook was up to date.
        failed: experiment to the log of its run.
        seconds: wall time.
    """

    done: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    failed: dict[str, Path] = field(default_factory=dict)
    seconds: float = 0.0


def notebooks_dir() -> Path:
    """Return the folder of the committed notebooks."""
    return project_root() / "notebooks"


def executed_dir(profile: str) -> Path:
    """Return the folder of the notebooks executed at ``profile``."""
    return build_dir() / "notebooks" / profile


def find_notebooks(names: Sequence[str] | None = None) -> dict[str, Path]:
    """Return experiment to notebook, sorted, for experiments or whole papers named.

    Raises:
        SettingsError: for a name without a notebook.
    """
    root = notebooks_dir()
    found = {
        path.relative_to(root).with_suffix("").as_posix(): path
        for path in sorted(root.glob("*/*.ipynb"))
    }
    if not names:
        return found
    chosen: dict[str, Path] = {}
    for name in names:
        hits = {key: path for key, path in found.items() if name in (key, key.split("/")[0])}
        if not hits:
            raise SettingsError(
                f"there is no notebook for {name!r}; there are: {', '.join(found) or 'none'}"
            )
        chosen.update(hits)
    return chosen


def plan(
    names: Sequence[str] | None,
    profile: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    workers: int = 1,
) -> list[Job]:
    """Return the jobs of a batch, with every parameter checked before anything runs.

    Notebooks whose experiment does not have the profile are left out, and a warning names them.

    Args:
        names: experiments or papers; None: all.
        profile: goes into the notebooks' ``profile``.
        parameters: values for the notebooks' other parameters.
        workers: how many will run at a time. A notebook that takes ``jobs`` and is not given it
            gets its share of the cores, or all of its share of the GPUs.

    Raises:
        SettingsError: for an unknown profile, experiment, parameter or system, a value that no
            notebook can be run with, or if no experiment has the profile.
        DeviceError: if CUDA is asked for on this machine and there is none.
    """
    given = _with_profile(profile, parameters or {})
    jobs = []
    for experiment, source in _at_profile(find_notebooks(names), profile).items():
        where = source.relative_to(project_root()).as_posix()
        try:
            notebook = json.loads(source.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise SettingsError(f"{where} is not a notebook: {error}") from None
        known = declared(notebook, where)
        values = check(given, known, where)
        _check_run(experiment, profile, {**known, **values})
        if workers > 1 and "jobs" in known and not _on_gpus({**known, **values}):
            values.setdefault("jobs", max(1, cpu_slots() // workers))
        target = executed_dir(profile) / f"{experiment}.ipynb"
        jobs.append(Job(experiment, source, target, values))
    return jobs


def _check_run(experiment: str, profile: str, values: Mapping[str, Any]) -> None:
    """Refuse a device that is not here and a system that the experiment lacks, before any run."""
    if values.get("device") == "cuda" and not (values.get("scheduler") or visible_gpus()):
        resolve("cuda")
    own = all_experiments().get(experiment)
    if own is not None and values.get("systems"):
        own.trials(profile, values["systems"], values.get("seeds"))


def _with_profile(profile: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if profile not in PROFILES:
        raise SettingsError(f"there is no profile {profile!r}; there are: {', '.join(PROFILES)}")
    if "profile" in parameters:
        raise SettingsError(
            "the profile also names the folder of the notebooks: give --profile "
            f"{parameters['profile']}, not -p profile={parameters['profile']}"
        )
    return {"profile": profile, **parameters}


def _at_profile(found: Mapping[str, Path], profile: str) -> dict[str, Path]:
    """Return the notebooks whose experiment has the profile; a warning names the others."""
    known = all_experiments()
    lacking = [key for key in found if key in known and profile not in known[key].profiles]
    if not lacking:
        return dict(found)
    line = f"no profile {profile!r}: {', '.join(lacking)}"
    if len(lacking) == len(found):
        raise SettingsError(f"nothing to run, these experiments have {line}")
    logger.warning("left out, these experiments have %s", line)
    return {key: path for key, path in found.items() if key not in lacking}


def _on_gpus(parameters: Mapping[str, Any]) -> bool:
    """Tell whether a notebook with these parameters trains on this machine's GPUs."""
    return parameters.get("device") in ("auto", "cuda") and bool(visible_gpus())


def is_current(job: Job) -> bool:
    """Tell whether the executed notebook is there and nothing it depends on has changed."""
    if not (job.target.is_file() and job.state.is_file()):
        return False
    try:
        state = json.loads(job.state.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        return False
    today = notebook_digest(job.source, job.parameters, records_read(job.experiment))
    return bool(state.get("digest") == today)


def run_batch(
    jobs: Sequence[Job],
    *,
    workers: int = 2,
    force: bool = False,
    report: Callable[[str], None] = print,
) -> BatchSummary:
    """Run the jobs that are not up to date, ``workers`` at a time.

    A notebook that draws on others' trials starts after them. What is out of date at the end,
    since others have made records that it reads, is run once more.

    Args:
        jobs: from :func:`plan`.
        workers: processes at a time.
        force: run also what is up to date.
        report: called with one line per finished notebook.

    Returns:
        What was run, reused and failed. One failure does not stop the others.
    """
    if workers < 1:
        raise SettingsError(f"--jobs must be 1 or more, not {workers}")
    began = time.perf_counter()
    summary = BatchSummary()
    todo = []
    for job in jobs:
        if not force and is_current(job):
            summary.reused.append(job.experiment)
            report(f"{job.experiment}: up to date")
        else:
            todo.append(job)
    _run_all(sorted(todo, key=_draws_on_others), workers, summary, report)
    again = [job for job in jobs if job.experiment not in summary.failed and not is_current(job)]
    if again:
        names = [job.experiment for job in again]
        report(f"once more, with the records made since: {', '.join(names)}")
        summary.done = [e for e in summary.done if e not in names]
        summary.reused = [e for e in summary.reused if e not in names]
        _run_all(again, workers, summary, report)
    summary.seconds = time.perf_counter() - began
    return summary


def _draws_on_others(job: Job) -> bool:
    experiment = all_experiments().get(job.experiment)
    return experiment is not None and bool(experiment.draws_on)


def _run_all(
    todo: Sequence[Job], workers: int, summary: BatchSummary, report: Callable[[str], None]
) -> None:
    children = _Children()
    slots: SimpleQueue[dict[str, str]] = SimpleQueue()
    for share in gpu_shares(min(workers, len(todo))):
        slots.put(share)
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = {pool.submit(_run_one, job, children, slots): job for job in todo}
        try:
            for count, future in enumerate(as_completed(futures), start=1):
                job = futures[future]
                failure, seconds = future.result()
                where = f"[{count}/{len(todo)}] {job.experiment}"
                if failure is None:
                    summary.done.append(job.experiment)
                    report(f"{where}: done in {seconds:.0f} s")
                else:
                    summary.failed[job.experiment] = job.log
                    report(f"{where}: FAILED after {seconds:.0f} s: {failure} (log: {job.log})")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            children.stop()
            raise


def _run_one(
    job: Job, children: "_Children", slots: "SimpleQueue[dict[str, str]]"
) -> tuple[str | None, float]:
    """Run one job; return the last line of its log if it failed, and its wall time.

    The notebook of an earlier run stays where it is if this one fails; its state does not.
    """
    began = time.perf_counter()
    job.target.parent.mkdir(parents=True, exist_ok=True)
    job.state.unlink(missing_ok=True)
    remove_orphans(job.target)
    source_digest = notebook_digest(job.source, job.parameters)
    records = records_read(job.experiment)
    status = _execute(job, children, slots)
    seconds = time.perf_counter() - began
    if status != 0:
        if not children.stopped and not failed_path(job.target).is_file():
            # Killed from outside, it could not leave what it had done: its page must know.
            failed_path(job.target).write_bytes(job.source.read_bytes())
        lines = job.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return (lines[-1] if lines else f"exit status {status}"), seconds
    # A source that changed under the run must not count as run.
    if source_digest == notebook_digest(job.source, job.parameters):
        # Its own records it has made itself; others' that came meanwhile it may not have read.
        records[job.experiment] = records_read(job.experiment)[job.experiment]
        digest = notebook_digest(job.source, job.parameters, records)
        state = {"digest": digest, "seconds": round(seconds, 1)}
        partial = job.state.with_suffix(".partial")
        partial.write_text(json.dumps(state), encoding="utf-8")
        partial.replace(job.state)
    return None, seconds


def _execute(job: Job, children: "_Children", slots: "SimpleQueue[dict[str, str]]") -> int:
    """Run the notebook in a process with the environment of a free slot; return its status."""
    request = job.target.with_suffix(".request.json")
    request.write_text(
        json.dumps(
            {
                "source": str(job.source),
                "target": str(job.target),
                "parameters": dict(job.parameters),
                "cwd": str(project_root()),
                "parent": os.getpid(),
            }
        ),
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "xlrepro.book.execute", str(request)]
    slot = slots.get()
    try:
        with job.log.open("w", encoding="utf-8") as log:
            return children.run(command, log, slot)
    finally:
        slots.put(slot)
        request.unlink(missing_ok=True)


class _Children:
    """The processes of a batch, each the head of its own group, so that all can be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._stopped = False

    def run(self, command: Sequence[str], log: Any, environment: Mapping[str, str]) -> int:
        with self._lock:
            if self._stopped:
                return -signal.SIGTERM
            child = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **CHILD_ENVIRONMENT, **environment},
                start_new_session=True,
            )
            self._running.add(child)
        try:
            return child.wait()
        finally:
            with self._lock:
                self._running.discard(child)

    @property
    def stopped(self) -> bool:
        """Whether the batch has ended them itself."""
        return self._stopped

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for child in self._running:
                os.killpg(child.pid, signal.SIGTERM)


def failed_notebook(experiment: str, profile: str) -> Path | None:
    """Return the half-run notebook of the experiment's last, failed run, or None."""
    path = failed_path(executed_dir(profile) / f"{experiment}.ipynb")
    return path if path.is_file() else None
