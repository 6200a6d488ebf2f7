"""Trials that need no corpus, a store of one's own, and one small cluster for a whole file."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from xlrepro.store import RecordStore
from xlrepro.trials import Record, Trial
from xlrepro.trials.engine.cluster import local_client
from xlrepro.trials.engine.worker import measure_trial

HERE = Path(__file__).parent
FIELDS: dict[str, Any] = {
    "experiment": "word_order/fake",
    "systems": ("word:ORT",),
    "columns": ("en", "de"),
    "profile": "open",
    "seed": 0,
    "settings": {},
    "task": "fake_runner/run",
}

# Workers and other Pythons started here must find fake_runner.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
)
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))


def make_trial(seed: int = 0, **changes: Any) -> Trial:
    """Return a trial of the fake runner; ``changes`` are fields of the trial."""
    return Trial.create(**{**FIELDS, "seed": seed, **changes})


@pytest.fixture(scope="session")
def trial_of() -> Callable[..., Trial]:
    return make_trial


@pytest.fixture(scope="session")
def record_of() -> Callable[..., Record]:
    """Return a function that makes a true record, without a cluster."""
    return lambda *args, **changes: measure_trial(make_trial(*args, **changes), "cpu")


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "records", tmp_path / "results")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a running cluster of two workers."""
    scratch = tmp_path_factory.mktemp("scratch")
    with local_client("cpu", jobs=2, per_gpu=1, n_trials=2, scratch=scratch) as client:
        yield client.scheduler.address


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
