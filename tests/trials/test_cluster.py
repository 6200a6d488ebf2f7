"""How a cluster of this machine ends where its workers are late."""

import time
from multiprocessing import get_context

import pytest

from xlrepro.trials.cluster import WORKER_NAME, _closing


class Late:
    """Behaves as Dask's cluster whose workers do not stop in time."""

    shutdown_on_close = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        raise TimeoutError


@pytest.fixture
def worker():
    process = get_context("spawn").Process(
        target=time.sleep, args=(120,), name=f"{WORKER_NAME} process (late)"
    )
    process.start()
    yield process
    process.kill()


def test_workers_that_stop_too_late_are_killed_and_nothing_is_raised(worker):
    cluster = Late()
    with _closing(cluster) as running:
        assert running is cluster
        assert worker.is_alive()
    worker.join(30)
    assert not worker.is_alive()
    assert not cluster.shutdown_on_close


@pytest.mark.parametrize("error", [ValueError, TimeoutError])
def test_what_went_wrong_before_is_not_swallowed(error):
    with pytest.raises(error, match="the trial"), _closing(Late()):
        raise error("the trial")
