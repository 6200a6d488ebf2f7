"""How a cluster of this machine ends where its workers are late."""

import signal
import time
from multiprocessing import get_context

import pytest

from xlrepro.errors import StoreError
from xlrepro.trials.engine.cluster import WORKER_NAME, _closing, _interrupts_held


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_waits_until_the_cluster_is_whole(number):
    came = []
    before = signal.signal(number, lambda *_: came.append("interrupt"))
    try:
        with _interrupts_held() as let_through:
            signal.raise_signal(number)
            came.append("whole")
            with let_through():
                came.append("running")
            signal.raise_signal(number)
            came.append("closed")
    finally:
        signal.signal(number, before)
    assert came == ["whole", "interrupt", "running", "closed", "interrupt"]


@pytest.mark.parametrize(
    ("error", "seen"), [(RuntimeError, KeyboardInterrupt), (StoreError, StoreError)]
)
def test_what_was_held_hides_what_it_broke_and_no_error_of_ours(error, seen):
    def fail_after_an_interrupt():
        with _interrupts_held():
            signal.raise_signal(signal.SIGINT)
            raise error("Nanny failed to start")

    # what runs behind a shell's `&` is started deaf to SIGINT
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(seen):
            fail_after_an_interrupt()
    finally:
        signal.signal(signal.SIGINT, before)
