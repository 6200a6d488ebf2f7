"""Trials that need no corpus, a store of one's own, and one small cluster for a whole file."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from xlrepro import experiments
from xlrepro.engine import NO_DASHBOARD, WORKER_ENVIRONMENT, measure_trial
from xlrepro.store import RecordStore
from xlrepro.trials import Record, Trial

HERE = Path(__file__).parent
FIELDS: dict[str, Any] = {
    "experiment": "toy/table",
    "systems": ("word:ORT",),
    "columns": ("en", "de"),
    "profile": "open",
    "seed": 0,
    "settings": {},
    "task": "toy/run",
}

# Workers and other Pythons started here must find toy.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
)
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))


def make_trial(seed: int = 0, **changes: Any) -> Trial:
    """Return a trial of the toy; ``changes`` are fields of the trial."""
    return Trial.create(**{**FIELDS, "seed": seed, **changes})


@pytest.fixture(scope="session")
def trial_of() -> Callable[..., Trial]:
    return make_trial


@pytest.fixture(scope="session")
def record_of() -> Callable[..., Record]:
    """Return a function that makes a true record, without a cluster."""
    return lambda *args, **changes: measure_trial(make_trial(*args, **changes), "cpu")


@pytest.fixture
def toy_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the toy be the one paper that there is."""
    monkeypatch.setattr(experiments, "ORDER", ("toy",))
    caches = (experiments.all_experiments, experiments._paper, experiments._runs)
    for cached in caches:
        cached.cache_clear()
    yield
    monkeypatch.undo()
    for cached in caches:
        cached.cache_clear()


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "records", tmp_path / "results")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of somebody's running cluster, of two workers."""
    with remote_cluster(tmp_path_factory.mktemp("scratch")) as address:
        yield address


@contextmanager
def remote_cluster(scratch: Path, threads: int = 1, **environment: str) -> Iterator[str]:
    import dask
    from distributed import LocalCluster

    dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with LocalCluster(
        n_workers=2,
        threads_per_worker=threads,
        dashboard_address=NO_DASHBOARD["dashboard_address"],
        local_directory=str(scratch),
        env={**WORKER_ENVIRONMENT, **environment},
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


@pytest.fixture(scope="session")
def group_members() -> Callable[[int], list[str]]:
    return living_in_group
