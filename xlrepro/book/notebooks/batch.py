"""Run many notebooks, each in its own process, and never twice for nothing.

First the trials of all notebooks that are out of date, by the engine: a trial with a record is not
run. Then the notebooks, which find every record made, so that nothing changes under a page that
reads other pages' records.

An executed notebook lies at ``build/notebooks/<profile>/<paper>/<experiment>.ipynb`` beside its
log and a small ``.state.json``: the digest of everything that decides what it shows, taken before
it began. While that digest stays the same the notebook is not run again, so a batch that was killed
goes on where it stopped and a second batch takes seconds. One batch at a time works in a folder.
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
from threading import Lock
from typing import Any

from xlrepro.book.lock import only_one
from xlrepro.book.notebooks.digest import Circumstances, notebook_digest
from xlrepro.book.notebooks.execute import failed_path, remove_orphans
from xlrepro.book.notebooks.parameters import check, declared
from xlrepro.engine import run_trials
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.experiments import all_experiments
from xlrepro.machine import resolve, visible_gpus
from xlrepro.paths import build_dir, project_root
from xlrepro.trials import PROFILES, Trial

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
        defaults: what stands in that cell.
    """

    experiment: str
    source: Path
    target: Path
    parameters: Mapping[str, Any]
    defaults: Mapping[str, Any]

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
    notebooks = {
        path.relative_to(root).with_suffix("").as_posix(): path
        for path in sorted(root.glob("*/*.ipynb"))
    }
    if not names:
        return notebooks
    chosen: dict[str, Path] = {}
    for name in names:
        hits = {key: path for key, path in notebooks.items() if name in (key, key.split("/")[0])}
        if not hits:
            raise SettingsError(
                f"there is no notebook for {name!r}; there are: {', '.join(notebooks) or 'none'}"
            )
        chosen.update(hits)
    return chosen


def plan(
    names: Sequence[str] | None,
    profile: str,
    parameters: Mapping[str, Any] | None = None,
) -> list[Job]:
    """Return the jobs of a batch, with every parameter checked before anything runs.

    Notebooks whose experiment does not have the profile are left out, and a warning names them.

    Args:
        names: experiments or papers; None: all.
        profile: goes into the notebooks' ``profile``.
        parameters: values for the notebooks' other parameters.

    Raises:
        SettingsError: for an unknown profile, experiment, parameter or system, a value that no
            notebook can be run with, or if no experiment has the profile.
        DeviceError: if CUDA is asked for on this machine and there is none.
    """
    check_profile(profile)
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
        target = executed_dir(profile) / f"{experiment}.ipynb"
        jobs.append(Job(experiment, source, target, values, known))
    return jobs


def _check_run(experiment: str, profile: str, values: Mapping[str, Any]) -> None:
    """Refuse a device, systems or seeds that cannot be had, before any run."""
    if values.get("device") == "cuda" and not (values.get("scheduler") or visible_gpus()):
        resolve("cuda")
    built = all_experiments().get(experiment)
    if built is not None and (values.get("systems") or values.get("seeds")):
        built.trials(profile, values.get("systems"), values.get("seeds"))


def check_profile(profile: str) -> None:
    """Raise a SettingsError for an unknown profile."""
    if profile not in PROFILES:
        raise SettingsError(f"there is no profile {profile!r}; there are: {', '.join(PROFILES)}")


def _with_profile(profile: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if "profile" in parameters:
        raise SettingsError(
            "the profile also names the folder of the notebooks: give --profile "
            f"{parameters['profile']}, not -p profile={parameters['profile']}"
        )
    return {"profile": profile, **parameters}


def _at_profile(notebooks: Mapping[str, Path], profile: str) -> dict[str, Path]:
    """Return the notebooks whose experiment has the profile; a warning names the others."""
    known = all_experiments()
    lacking = [key for key in notebooks if key in known and profile not in known[key].profiles]
    if not lacking:
        return dict(notebooks)
    line = f"no profile {profile!r}: {', '.join(lacking)}"
    if len(lacking) == len(notebooks):
        raise SettingsError(f"nothing to run, these experiments have {line}")
    logger.warning("left out, these experiments have %s", line)
    return {key: path for key, path in notebooks.items() if key not in lacking}


def is_current(job: Job, now: Circumstances) -> bool:
    """Tell whether the executed notebook is there and nothing it depends on has changed."""
    if not (job.target.is_file() and job.state.is_file()):
        return False
    try:
        state = json.loads(job.state.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(state, dict) and state.get("digest") == _digest(job, now)


def _digest(job: Job, now: Circumstances) -> str:
    return notebook_digest(job.experiment, job.source, job.parameters, now)


def run_batch(
    jobs: Sequence[Job],
    *,
    workers: int = 2,
    force: bool = False,
    report: Callable[[str], None] = print,
) -> BatchSummary:
    """Make the records that the jobs lack, then run those that are not up to date.

    Args:
        jobs: from :func:`plan`.
        workers: notebooks at a time.
        force: run also what is up to date.
        report: called with one line per finished notebook.

    Returns:
        What was run, reused and failed. One failure does not stop the others.

    Raises:
        SettingsError: if the folder of the notebooks cannot be written.
    """
    if workers < 1:
        raise SettingsError(f"--jobs must be 1 or more, not {workers}")
    began = time.perf_counter()
    summary = BatchSummary()
    with only_one(build_dir() / "notebooks", "runs notebooks", report):
        now = Circumstances.now()
        make_records([job for job in jobs if not is_current(job, now)], report)
        now = Circumstances.now()
        todo = [job for job in jobs if force or not is_current(job, now)]
        for job in jobs:
            if job not in todo:
                failed_path(job.target).unlink(missing_ok=True)  # of a run before it was good
                summary.reused.append(job.experiment)
                report(f"{job.experiment}: up to date")
        _run_all(todo, now, workers, summary, report)
    summary.seconds = time.perf_counter() - began
    return summary


def make_records(jobs: Sequence[Job], report: Callable[[str], None]) -> None:
    """Run the trials of some notebooks that have no record, all together.

    What fails here is told by its notebook, which meets the same failure.
    """
    groups: dict[tuple[str, str | None, int | None], dict[str, Trial]] = {}
    known = all_experiments()
    for job in jobs:
        values = {**job.defaults, **job.parameters}
        if job.experiment not in known:
            continue
        try:
            wanted = known[job.experiment].trials(
                values["profile"], values.get("systems"), values.get("seeds")
            )
        except XlreproError as error:
            report(f"{job.experiment}: {error}")
            continue
        where = (values.get("device", "auto"), values.get("scheduler"), values.get("jobs"))
        groups.setdefault(where, {}).update({trial.key: trial for trial in wanted})
    for (device, scheduler, slots), trials in groups.items():
        made = run_trials([*trials.values()], device=device, scheduler=scheduler, jobs=slots)
        report(f"trials: {made.line}")


def _run_all(
    todo: Sequence[Job],
    now: Circumstances,
    workers: int,
    summary: BatchSummary,
    report: Callable[[str], None],
) -> None:
    children = _Children()
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = {pool.submit(_run_one, job, now, children): job for job in todo}
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


def _run_one(job: Job, now: Circumstances, children: "_Children") -> tuple[str | None, float]:
    """Run one job; return the last line of its log if it failed, and its wall time.

    The notebook of an earlier run stays where it is if this one fails; its state does not. The
    digest is that of before the run: what changes under it makes it run again.
    """
    began = time.perf_counter()
    job.target.parent.mkdir(parents=True, exist_ok=True)
    job.state.unlink(missing_ok=True)
    remove_orphans(job.target)
    state = json.dumps({"digest": _digest(job, now)})
    with job.log.open("w", encoding="utf-8") as log:
        status = children.run(_command(job), log)
    seconds = time.perf_counter() - began
    if status == 0:
        partial = job.state.with_suffix(".partial")
        partial.write_text(state, encoding="utf-8")
        partial.replace(job.state)
        return None, seconds
    if not children.stopped and not failed_path(job.target).is_file():
        # Killed from outside, it could not leave what it had done: its page must know.
        failed_path(job.target).write_bytes(job.source.read_bytes())
    lines = job.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return (lines[-1] if lines else f"exit status {status}"), seconds


def _command(job: Job) -> list[str]:
    request = {
        "source": str(job.source),
        "target": str(job.target),
        "parameters": dict(job.parameters),
        "cwd": str(project_root()),
        "parent": os.getpid(),
    }
    return [sys.executable, "-m", "xlrepro.book.notebooks.execute", json.dumps(request)]


class _Children:
    """The processes of a batch, each the head of its own group, so that all can be ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._stopped = False

    def run(self, command: Sequence[str], log: Any) -> int:
        with self._lock:
            if self._stopped:
                return -signal.SIGTERM
            child = subprocess.Popen(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **CHILD_ENVIRONMENT},
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
