"""Run many notebooks through papermill, and none twice for nothing.

First the trials that notebooks lack, all together by the engine; then the notebooks, a kernel of
this interpreter each, which find every record made. An executed notebook lies at
``build/notebooks/<profile>/<paper>/<experiment>.ipynb`` beside its log and ``.sha256``: the hash of
all that decides what it shows, taken before it began. While that is the same it is not run again.
"""

import ast
import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from xlrepro.engine import check_call, run_trials, start_fork_server
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.experiments import all_experiments
from xlrepro.paths import build_dir, data_dir, project_root
from xlrepro.store import write_atomically
from xlrepro.trials import Trial, check_profile
from xlrepro.values import parse_value

logger = logging.getLogger("xlrepro")

START_SECONDS = 300  # a kernel may take to answer: the machine may be busy
SHOWN_DATA = ("catalog.yaml", "reported", "claims", "deviations", "results")
# What notebooks do not call
NOT_COMPUTING = ("xlrepro/cli.py", "pages/book.py", "pages/overview.py", "pages/findings.py")
NOT_SHOWN = ("jobs", "scheduler", "per_gpu")  # parameters that change no number
RUN = ("device", *NOT_SHOWN)  # how trials run
ASKED = ("systems", "seeds", "overrides")  # beside the profile: which trials a notebook shows


@dataclass(frozen=True)
class Job:
    """One notebook to run: which, where its result goes, what is given in place of values of its
    ``parameters`` cell, and the trials that it asks for.
    """

    experiment: str
    source: Path
    target: Path
    parameters: Mapping[str, Any]
    trials: Sequence[Trial]

    def beside(self, suffix: str) -> Path:
        """Return ``.log``: what went wrong; ``.sha256``; ``.failed.ipynb``: one that stopped."""
        return self.target.with_suffix(suffix)


@dataclass
class BatchSummary:
    """What a batch did: experiments run, found up to date, and failed (with the log)."""

    done: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    failed: dict[str, Path] = field(default_factory=dict)


def executed(experiment: str, profile: str) -> Path:
    """Return where the executed notebook of an experiment lies."""
    return build_dir() / "notebooks" / profile / f"{experiment}.ipynb"


def find_notebooks(names: Sequence[str] | None = None) -> dict[str, Path]:
    """Return experiment to notebook, sorted, for experiments or whole papers named.

    Raises:
        SettingsError: for a name without a notebook.
    """
    root = project_root() / "notebooks"
    found = sorted(root.glob("*/*.ipynb"))
    known = {p.relative_to(root).with_suffix("").as_posix(): p for p in found}
    for name in names or ():
        if not any(name in (key, key.split("/")[0]) for key in known):
            raise SettingsError(f"no notebook for {name!r}; there are: {', '.join(known)}")
    return {k: p for k, p in known.items() if not names or {k, k.split("/")[0]} & {*names}}


def plan(
    names: Sequence[str] | None, profile: str, parameters: Mapping[str, Any] | None = None
) -> list[Job]:
    """Return the jobs of a batch, with every parameter checked before anything runs.

    What is not given is as the notebook has it; but its seeds are those of its own profile, and
    at another one the profile's own are run.
    Notebooks whose experiment does not have the profile are left out, and a warning names them.

    Args:
        names: experiments or papers; None: all.
        profile: goes into the notebooks' ``profile``.
        parameters: values for their other parameters.

    Raises:
        SettingsError: for an unknown profile, experiment, parameter, system or seed, or if no
            experiment has the profile.
        DeviceError: if CUDA is asked for on this machine and there is none.
    """
    check_profile(profile)
    if "profile" in (parameters or {}):
        raise SettingsError("the profile is given by --profile, not by -p")
    found, known = find_notebooks(names), all_experiments()
    lacking = [key for key in found if key in known and profile not in known[key].profiles]
    if lacking:
        line = f"these experiments have no profile {profile!r}: {', '.join(lacking)}"
        if len(lacking) == len(found):
            raise SettingsError(f"nothing to run, {line}")
        logger.warning("left out, %s", line)
    jobs = []
    for experiment in [key for key in found if key not in lacking]:
        source = found[experiment]
        where = source.relative_to(project_root()).as_posix()
        defaults = declared(source, where)
        own = profile == defaults.get("profile") or "seeds" not in defaults
        given = {"profile": profile, **({} if own else {"seeds": []}), **(parameters or {})}
        if experiment.endswith("/walkthrough"):  # no profile; parameters where it is named
            given = dict(parameters or {}) if experiment in (names or ()) else {}
        values = {name: fitted(v, name, defaults, where) for name, v in given.items()}
        asked: dict[str, Any] = {"device": "auto", "per_gpu": 1} | defaults | values
        check_call(asked["device"], asked.get("jobs"), asked.get("scheduler"), asked["per_gpu"])
        of = known.get(experiment)
        trials = of.trials(profile, *map(asked.get, ASKED)) if of else []
        jobs.append(Job(experiment, source, executed(experiment, profile), values, trials))
    return jobs


def declared(source: Path, where: str) -> dict[str, Any]:
    """Return the parameters of a notebook's ``parameters`` cell and their defaults.

    Raises:
        SettingsError: if it is no notebook, or has no cell of plain assignments with that tag.
    """
    try:
        cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
        (tagged,) = (c for c in cells if "parameters" in c["metadata"].get("tags", ()))
        statements = ast.parse("".join(tagged["source"])).body
        return {s.targets[0].id: ast.literal_eval(s.value) for s in statements
                if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}  # fmt: skip
    except (ValueError, LookupError, SyntaxError, TypeError, AttributeError) as error:
        raise SettingsError(
            f"{where} is not a notebook with one cell tagged 'parameters' of plain values "
            f"({error}): restore it from the repository"
        ) from None


def fitted(value: Any, name: str, defaults: Mapping[str, Any], where: str) -> Any:
    """Return a parameter's value as the notebook wants it; text with commas becomes a list.

    Raises:
        SettingsError: for a parameter that the notebook does not have, or a value of another type.

    Example:
        >>> fitted("0,1", "seeds", {"seeds": [0]}, "a.ipynb")
        [0, 1]
    """
    if name not in defaults:
        raise SettingsError(f"{where} has no parameter {name!r}; it has: {', '.join(defaults)}")
    default = {"jobs": 1, "scheduler": ""}.get(name, defaults[name])
    if isinstance(default, list):
        parts = value.split(",") if isinstance(value, str) else value
        given = parts if isinstance(parts, list) else [parts]
        read = str.strip if name == "systems" else parse_value
        value = [read(part) if isinstance(part, str) else part for part in given]
    elif isinstance(default, float) and type(value) is int:
        value = float(value)
    if default is not None and type(value) not in (type(default), type(defaults[name])):
        raise SettingsError(f"{where}: {name}={value!r} must be like {default!r}")
    return value


# -- Up to date or not -----------------------------------------------------------------------


def files_digest(files: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 of the names (below ``root``) and contents of files."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def library_files() -> list[Path]:
    """Return the package's files that can change what a page shows."""
    found = (project_root() / "xlrepro").rglob("*.*")
    return [p for p in found if p.suffix in (".py", ".yaml", ".html")]


def state_of_things() -> str:
    """Return the hash of what decides what all pages show: code, data, records."""
    root, data = project_root(), data_dir()
    shown = [p for name in SHOWN_DATA for p in [data / name, *(data / name).rglob("*")]]
    library = [p for p in library_files() if not p.as_posix().endswith(NOT_COMPUTING)]
    code = files_digest([*library, *(p for p in shown if p.is_file())], root)
    return code + files_digest((build_dir() / "records").glob("*.json"), build_dir())


def digest(job: Job, state: str) -> str:
    """Return the hash of all that decides what a job's notebook shows; outputs do not count."""
    cells = json.loads(job.source.read_text(encoding="utf-8"))["cells"]
    sources = [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    parameters = {k: v for k, v in job.parameters.items() if k not in NOT_SHOWN}
    parts = json.dumps([sources, parameters, state], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()


def is_current(job: Job, state: str) -> bool:
    """Tell whether the executed notebook is there and nothing that decides it has changed."""
    stamp, wanted = job.beside(".sha256"), digest(job, state).encode()
    return job.target.is_file() and stamp.is_file() and stamp.read_bytes() == wanted


# -- Running ---------------------------------------------------------------------------------


def run_batch(
    jobs: Sequence[Job], *, workers: int = 2, force: bool = False, report: Callable[[str], None]
) -> BatchSummary:
    """Make the records that the jobs lack, then run those that are not up to date.

    Args:
        jobs: from :func:`plan`.
        workers: notebooks at a time.
        force: run also what is up to date.
        report: called with one line per finished notebook: where it lies, or why it failed.

    Returns:
        What was run, reused and failed. One failure does not stop the others.
    """
    summary = BatchSummary()
    with only_one(build_dir() / "notebooks"), chdir(project_root()):
        state = state_of_things()
        stale = [job for job in jobs if force or not is_current(job, state)]
        if stale:
            start_fork_server("xlrepro.pages.loaded")
        failing = make_records([job for job in stale if job.trials], report)
        state = state_of_things()
        todo = [job for job in jobs if force or not is_current(job, state)]
        todo.sort(key=lambda job: job.experiment in all_experiments())  # walkthroughs train: first
        summary.reused = [job.experiment for job in jobs if job not in todo]
        # In /tmp: the path of a socket may have 107 characters
        with (
            tempfile.TemporaryDirectory(prefix="xlrepro-", dir="/tmp") as folder,
            ThreadPoolExecutor(workers) as pool,
        ):
            running = {pool.submit(_run, job, state, Path(folder), failing): job for job in todo}
            try:
                for count, done in enumerate(as_completed(running), start=1):
                    job, failure = running[done], done.result()
                    said = f"FAILED: {failure} (log: {job.beside('.log')})" if failure else ""
                    report(f"[{count}/{len(todo)}] {job.experiment}: {said or job.target}")
                    if failure:
                        summary.failed[job.experiment] = job.beside(".log")
                    else:
                        summary.done.append(job.experiment)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                # One may be about to start; `wait` takes those cancelled for not done
                while wait([each for each in running if not each.cancelled()], 0.2).not_done:
                    for child in psutil.Process().children(recursive=True):
                        with suppress(psutil.NoSuchProcess):
                            child.terminate()
                raise
    return summary


def make_records(jobs: Sequence[Job], report: Callable[[str], None]) -> dict[str, str]:
    """Run the trials of some notebooks that have no record, all together.

    Returns:
        Experiment to a trial of it that failed, why, and its log.
    """
    if not jobs:
        return {}
    trials = {trial.key: trial for job in jobs for trial in job.trials}
    asked = {**declared(jobs[0].source, ""), **jobs[0].parameters}  # as the first says
    ran = run_trials([*trials.values()], **{name: asked[name] for name in asked.keys() & RUN})
    report(f"trials: {ran.line}")
    failed = {log.stem: f"{what}; see {log}" for what, log in ran.failed}
    return {j.experiment: failed[t.key] for j in jobs for t in j.trials if t.key in failed}


def _run(job: Job, state: str, folder: Path, failing: Mapping[str, str]) -> str:
    """Run one job in a kernel of this interpreter; return why it failed, in a line, or nothing.

    A run that fails leaves the executed notebook of an earlier one where it is. One whose trials
    have failed already (`make_records`) would only run them once more.
    """
    import papermill
    from traitlets.config import Config

    from xlrepro.pages.kernels import ThisInterpreter

    logging.getLogger("papermill").setLevel(logging.CRITICAL)  # a kernel's death is told below
    job.target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (".sha256", ".log", ".failed.ipynb"):
        job.beside(suffix).unlink(missing_ok=True)
    stamp = digest(job, state)
    name = job.experiment.replace("/", "-")
    partial = folder / f"{name}.ipynb"
    braced = [str(p).replace("{", "{{").replace("}", "}}") for p in (job.source, partial)]
    # Sockets, no ports: one that is chosen may be taken before the kernel listens on it.
    place = {"connection_file": str(folder / f"{name}.json"), "transport": "ipc",
             "ip": str(folder / str(abs(hash(name)) % 10**6))}  # fmt: skip
    try:
        if job.experiment in failing:
            raise XlreproError(failing[job.experiment])
        notebook = papermill.execute_notebook(
            *braced, parameters=dict(job.parameters), kernel_name="python3", progress_bar=False,
            start_timeout=START_SECONDS, config=Config(KernelManager=place),
            kernel_manager_class=ThisInterpreter, request_save_on_cell_execute=False,
            shutdown_kernel="immediate",  # all is told: asked to end, a kernel takes two seconds
        )  # fmt: skip
    except Exception as error:
        job.beside(".log").write_text(str(error), encoding="utf-8")
        shutil.copyfile(partial if partial.is_file() else job.source, job.beside(".failed.ipynb"))
        return f"{type(error).__name__}: {str(error).strip().rpartition(chr(10))[2]}"[:300]
    keep(job, notebook, stamp)
    return ""


def keep(job: Job, notebook: Any, stamp: str) -> None:
    """Let the book have an executed notebook, ``stamp`` being the :func:`digest` of its run."""
    for part in (notebook, *notebook.cells):  # timings and paths of this run
        for key in ("papermill", "execution"):
            part.metadata.pop(key, None)
    job.beside(".failed.ipynb").unlink(missing_ok=True)
    write_atomically(job.target, json.dumps(notebook, ensure_ascii=False, indent=1) + "\n")
    job.beside(".sha256").write_text(stamp, encoding="utf-8")


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold ``folder`` for oneself; wait, and say so, while another process does."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        held = lock.acquire(timeout=0)
    except Timeout:
        logger.warning("another xlrepro batch or book works in %s: waiting for its end", folder)
        held = lock.acquire()
    with held:
        yield
