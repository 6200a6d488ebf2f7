"""Trials that need no corpus, a store and one small cluster for a whole file: a plugin."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from xlrepro import experiments
from xlrepro.engine import LOOPBACK, SETTINGS, WORKER_ENVIRONMENT, measure_trial
from xlrepro.store import RecordStore
from xlrepro.trials import Record, Trial

PATIENCE = 300.0  # seconds, for what takes two on an idle machine
HERE = Path(__file__).parent / "toy_paper"  # workers and other Pythons started here must find toy
FIELDS: dict[str, Any] = {
    "experiment": "toy/table",
    "systems": ("word:ORT",),
    "columns": ("en", "de"),
    "profile": "open",
    "seed": 0,
    "settings": {},
    "task": "toy/run",
}

inherited = filter(None, [os.environ.get("PYTHONPATH")])
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *inherited])
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))


def make_trial(seed: int = 0, **changes: Any) -> Trial:
    """Return a trial of the toy; ``changes`` are fields of the trial."""
    return Trial.create(**{**FIELDS, "seed": seed, **changes})


def make_true_record(*args: Any, **changes: Any) -> Record:
    """Return a true record, made without a cluster."""
    return measure_trial(make_trial(*args, **changes), "cpu")


@pytest.fixture(scope="session")
def trial_of() -> Callable[..., Trial]:
    return make_trial


@pytest.fixture(scope="session")
def record_of() -> Callable[..., Record]:
    return make_true_record


def forget_papers() -> None:
    """Let the YAML of papers be read again."""
    for cached in (experiments.all_experiments, experiments._paper, experiments._made):
        cached.cache_clear()


@contextmanager
def other_papers(name: str, value: Any) -> Iterator[None]:
    """Let ``ORDER``, or the folder ``PAPERS``, be another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, name, value)
        forget_papers()
        yield
    forget_papers()


@pytest.fixture
def toy_alone() -> Iterator[None]:
    """Let the toy be the one paper that there is."""
    with other_papers("ORDER", ("toy",)):
        yield


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "records", tmp_path / "results")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of somebody's running cluster, of two workers."""
    with remote_cluster(tmp_path_factory.mktemp("scratch")) as address:
        yield address


@contextmanager
def remote_cluster(scratch: Path, threads: int = 1) -> Iterator[str]:
    import dask
    from distributed import LocalCluster

    dask.config.set(SETTINGS)
    with LocalCluster(
        n_workers=2,
        threads_per_worker=threads,
        dashboard_address=f"{LOOPBACK}:0",
        local_directory=str(scratch),
        env=WORKER_ENVIRONMENT,
        silence_logs=51,
    ) as cluster:
        yield cluster.scheduler_address


def living_in_group(group: int) -> list[str]:
    """Return the command lines of the living processes of one process group."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command line on the toy paper in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "toy", *arguments],
        env=os.environ | {"XLREPRO_HOME": str(home), "XLREPRO_BUILD": str(home / "build")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        # a test run in the background ignores Ctrl-C, and its children would inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until something is so: it takes two seconds, or many where a machine is very busy."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
