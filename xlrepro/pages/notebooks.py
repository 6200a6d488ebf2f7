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
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from xlrepro.engine import run_trials
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.experiments import all_experiments
from xlrepro.machine import DEVICES, resolve, visible_gpus
from xlrepro.paths import build_dir, data_dir, project_root
from xlrepro.trials import PROFILES, Trial
from xlrepro.yaml_files import parse_value

logger = logging.getLogger("xlrepro")

# Of kernels. One thread per process: two notebooks at a time, and the same numbers everywhere.
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    "MPLBACKEND": "agg",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "TQDM_DISABLE": "1",
}
START_SECONDS = 300  # a kernel may take to answer: the machine may be busy
LONGEST_SOCKET_FOLDER = 81  # characters: with its name, a socket's path may have 107
SHOWN_DATA = ("catalog.yaml", "reported", "claims", "deviations", "results")
NOT_COMPUTING = ("xlrepro/pages/book.py", "xlrepro/pages/overview.py", "xlrepro/pages/findings.py")
NOT_SHOWN = ("jobs", "scheduler")  # parameters that change no number


@dataclass(frozen=True)
class Job:
    """One notebook to run: which, where its result goes, and its ``parameters`` cell's values."""

    experiment: str
    source: Path
    target: Path
    parameters: Mapping[str, Any]
    defaults: Mapping[str, Any]

    @property
    def log(self) -> Path:
        """What went wrong, if anything did."""
        return self.target.with_suffix(".log")

    @property
    def stamp(self) -> Path:
        """The hash of the last whole run."""
        return self.target.with_suffix(".sha256")

    @property
    def failed(self) -> Path:
        """The half-run notebook of a run that failed."""
        return self.target.with_suffix(".failed.ipynb")


@dataclass
class BatchSummary:
    """What a batch did: experiments run, found up to date, and failed (with the log)."""

    done: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    failed: dict[str, Path] = field(default_factory=dict)
    seconds: float = 0.0


def executed(experiment: str, profile: str, failed: bool = False) -> Path:
    """Return where the executed notebook of an experiment lies, or the half-run one."""
    suffix = ".failed.ipynb" if failed else ".ipynb"
    return build_dir() / "notebooks" / profile / f"{experiment}{suffix}"


def find_notebooks(names: Sequence[str] | None = None) -> dict[str, Path]:
    """Return experiment to notebook, sorted, for experiments or whole papers named.

    Raises:
        SettingsError: for a name without a notebook.
    """
    root = project_root() / "notebooks"
    known = {p.relative_to(root).with_suffix("").as_posix(): p for p in root.glob("*/*.ipynb")}
    known = dict(sorted(known.items()))
    for name in names or ():
        if not any(name in (key, key.split("/")[0]) for key in known):
            raise SettingsError(f"no notebook for {name!r}; there are: {', '.join(known)}")
    return {k: p for k, p in known.items() if not names or {k, k.split("/")[0]} & {*names}}


def plan(
    names: Sequence[str] | None, profile: str, parameters: Mapping[str, Any] | None = None
) -> list[Job]:
    """Return the jobs of a batch, with every parameter checked before anything runs.

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
        given = {"profile": profile, **(parameters or {})}
        if experiment.endswith("/walkthrough"):  # no profile; parameters where it is named
            given = dict(parameters or {}) if experiment in (names or ()) else {}
        values = {name: fitted(v, name, defaults, where) for name, v in given.items()}
        if values.get("device") == "cuda" and not (values.get("scheduler") or visible_gpus()):
            resolve("cuda")
        if experiment in known and (values.get("systems") or values.get("seeds")):
            known[experiment].trials(profile, values.get("systems"), values.get("seeds"))
        jobs.append(Job(experiment, source, executed(experiment, profile), values, defaults))
    return jobs


def check_profile(profile: str) -> None:
    """Raise a SettingsError for an unknown profile."""
    if profile not in PROFILES:
        raise SettingsError(f"there is no profile {profile!r}; there are: {', '.join(PROFILES)}")


def declared(source: Path, where: str) -> dict[str, Any]:
    """Return the parameters of a notebook's ``parameters`` cell and their defaults.

    Raises:
        SettingsError: if it is no notebook, or has no cell of plain assignments with that tag.
    """
    try:
        cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
        tagged = [
            "".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", ())
        ]
        (statements,) = (ast.parse(text).body for text in tagged)
        return {s.targets[0].id: ast.literal_eval(s.value) for s in statements
                if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError, SyntaxError, RecursionError,
            AttributeError) as error:  # fmt: skip
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
    default, as_told = defaults[name], value
    if isinstance(default, list) and isinstance(value, str):
        try:
            value = [parse_value(part) for part in value.split(",")]
        except ValueError:
            value = [value]
    elif isinstance(default, list) and not isinstance(value, list):
        value = [value]
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    fits = default is None or type(value) is type(default)
    if name == "seeds":
        fits = all(type(seed) is int and seed >= 0 for seed in value)
    elif name == "device":
        fits = value in DEVICES
    elif name == "jobs":
        fits = value is None or (type(value) is int and value > 0)
    if not fits:
        wanted = {"seeds": "whole numbers, seeds=0,1,2", "device": ", ".join(DEVICES),
                  "jobs": "a whole number from 1"}.get(name, f"like {default!r}")  # fmt: skip
        raise SettingsError(f"{where}: {name}={as_told!r} must be {wanted}")
    return value


# -- Up to date or not -----------------------------------------------------------------------


def files_digest(files: Iterator[Path] | Sequence[Path], root: Path) -> str:
    """Return the SHA-256 of the names (below ``root``) and contents of files."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def library_files() -> list[Path]:
    """Return the package's files that can change what a page shows."""
    root = project_root()
    found = [
        p for suffix in ("py", "yaml", "html") for p in (root / "xlrepro").rglob(f"*.{suffix}")
    ]
    return [p for p in found if not p.relative_to(root).as_posix().startswith("xlrepro/cli")]


def state_of_things() -> dict[str, str]:
    """Return hashes of the library and the shown data (``""``), and of each paper's records."""
    root, data = project_root(), data_dir()
    shown = [p for name in SHOWN_DATA for p in [data / name, *(data / name).rglob("*")]]
    library = [p for p in library_files() if not p.as_posix().endswith(NOT_COMPUTING)]
    hashes = {"": files_digest([*library, *(p for p in shown if p.is_file())], root)}
    records: dict[str, list[Path]] = {}
    for path in (build_dir() / "records").glob("*.json"):
        try:
            owner = json.loads(path.read_bytes())["experiment"]
        except (OSError, ValueError, LookupError, TypeError):
            continue  # removed meanwhile, or broken: no page shows it
        records.setdefault(str(owner).split("/")[0], []).append(path)
    return hashes | {k: files_digest(files, build_dir()) for k, files in records.items()}


@cache
def papers_read(experiment: str) -> list[str]:
    """Return the papers whose records can change the page of ``experiment``."""
    paper = experiment.split("/")[0]
    own = [e for key, e in all_experiments().items() if key.split("/")[0] == paper]
    return sorted({paper} | {name.split("/")[0] for each in own for name in each.trained_in})


def digest(job: Job, state: Mapping[str, str]) -> str:
    """Return the hash of all that decides what a job's notebook shows; outputs do not count."""
    cells = json.loads(job.source.read_text(encoding="utf-8"))["cells"]
    parts = [
        [[cell["cell_type"], "".join(cell["source"])] for cell in cells],
        {k: v for k, v in job.parameters.items() if k not in NOT_SHOWN},
        [state[""], *(state.get(paper, "") for paper in papers_read(job.experiment))],
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_current(job: Job, state: Mapping[str, str]) -> bool:
    """Tell whether the executed notebook is there and nothing that decides it has changed."""
    return (
        job.target.is_file()
        and job.stamp.is_file()
        and job.stamp.read_text(encoding="utf-8") == digest(job, state)
    )


# -- Running ---------------------------------------------------------------------------------


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
    began, summary = time.perf_counter(), BatchSummary()
    with only_one(build_dir() / "notebooks", "runs notebooks", report), chdir(project_root()):
        state = state_of_things()
        make_records([job for job in jobs if force or not is_current(job, state)], report)
        state = state_of_things()
        todo = [job for job in jobs if force or not is_current(job, state)]
        summary.reused = [job.experiment for job in jobs if job not in todo]
        with _kernels() as sockets, ThreadPoolExecutor(workers) as pool:
            running = {pool.submit(_run, job, state, sockets): job for job in todo}
            try:
                for count, done in enumerate(as_completed(running), start=1):
                    job, failure = running[done], done.result()
                    if failure:
                        summary.failed[job.experiment] = job.log
                    else:
                        summary.done.append(job.experiment)
                    said = f"FAILED: {failure} (log: {job.log})" if failure else "done"
                    report(f"[{count}/{len(todo)}] {job.experiment}: {said}")
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                end_children()
                raise
    summary.seconds = time.perf_counter() - began
    return summary


def make_records(jobs: Sequence[Job], report: Callable[[str], None]) -> None:
    """Run the trials of some notebooks that have no record, all together.

    What fails here is told by its notebook, which meets the same failure.
    """
    groups: dict[tuple[Any, ...], dict[str, Trial]] = {}
    known = all_experiments()
    for job in [job for job in jobs if job.experiment in known]:
        values = {**job.defaults, **job.parameters}
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


@contextmanager
def _kernels() -> Iterator[Path]:
    """Have kernels named ``python3`` run this interpreter; give the folder of their sockets."""
    long = len(tempfile.gettempdir()) > LONGEST_SOCKET_FOLDER - len("/xlrepro-12345678")
    folder = Path(tempfile.mkdtemp(prefix="xlrepro-", dir="/tmp" if long else None))
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        "env": ENVIRONMENT,
    }
    path = folder / "kernels" / "python3" / "kernel.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(spec), encoding="utf-8")
    kept = {name: os.environ.get(name) for name in ("JUPYTER_PATH", "JUPYTER_RUNTIME_DIR")}
    # Before the user's own kernels of that name
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (str(folder), kept["JUPYTER_PATH"])))
    os.environ["JUPYTER_RUNTIME_DIR"] = str(folder)
    try:
        yield folder
    finally:
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        shutil.rmtree(folder, ignore_errors=True)


def _run(job: Job, state: Mapping[str, str], sockets: Path) -> str:
    """Run one job; return why it failed, in a line, or nothing.

    A run that fails leaves the executed notebook of an earlier one where it is.
    """
    import papermill
    from traitlets.config import Config

    job.target.parent.mkdir(parents=True, exist_ok=True)
    for path in (job.stamp, job.log, job.failed):
        path.unlink(missing_ok=True)
    stamp = digest(job, state)
    name = job.experiment.replace("/", "-")
    partial = sockets / f"{name}.ipynb"
    braced = [str(p).replace("{", "{{").replace("}", "}}") for p in (job.source, partial)]
    # Sockets, no ports: one that is chosen may be taken before the kernel listens on it.
    transport = {"transport": "ipc", "ip": str(sockets / str(abs(hash(name)) % 10**6))}
    try:
        notebook = papermill.execute_notebook(
            *braced, parameters=dict(job.parameters), kernel_name="python3", progress_bar=False,
            start_timeout=START_SECONDS, config=Config(KernelManager=transport),
            request_save_on_cell_execute=False,
        )  # fmt: skip
    except Exception as error:
        job.log.write_text(str(error), encoding="utf-8")
        shutil.copyfile(partial if partial.is_file() else job.source, job.failed)
        return f"{type(error).__name__}: {str(error).strip().splitlines()[-1:] or ['']}"[:300]
    for part in (notebook, *notebook.cells):  # timings and paths of this run
        for key in ("papermill", "execution"):
            part.metadata.pop(key, None)
    half = job.target.with_suffix(".half")
    half.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    half.replace(job.target)
    job.stamp.write_text(stamp, encoding="utf-8")
    return ""


# -- Processes -------------------------------------------------------------------------------


def end_children() -> None:
    """End every process that this one has started, and those that they have."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        try:
            child.terminate()
        except psutil.NoSuchProcess:
            continue


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end this process as an exception does, its children with it."""

    def leave(number: int, frame: object) -> None:
        end_children()
        raise SystemExit(128 + number)

    kept = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


@contextmanager
def only_one(folder: Path, what: str, report: Callable[[str], None]) -> Iterator[None]:
    """Hold ``folder`` for oneself; wait, with a line that says so, while another process does.

    Raises:
        SettingsError: if the folder cannot be written.
    """
    lock = FileLock(folder / ".lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            report(f"another process {what} in {folder}: waiting for it")
            lock.acquire()
    except OSError as error:
        raise SettingsError(
            f"{folder} cannot be written ({error.strerror}): set XLREPRO_BUILD to a folder you can "
            "write in"
        ) from None
    try:
        with ended_by_signals():
            yield
    finally:
        lock.release()
