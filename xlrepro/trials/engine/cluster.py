"""The Dask cluster that trials run on: one of our own on this machine, or one somewhere else."""

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from multiprocessing import active_children, resource_tracker, spawn
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from xlrepro.errors import SettingsError, XlreproError
from xlrepro.machine import resolve, visible_gpus

if TYPE_CHECKING:
    from distributed import Client, SpecCluster
    from tornado.ioloop import IOLoop

LOOPBACK = "127.0.0.1"
# Dask calls it critical that a process is gone which an interrupt has ended.
SILENT = logging.CRITICAL + 1
# Dask opens its web port even then, so it gets a free one that only this machine reaches.
NO_DASHBOARD = {"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
CONNECT_SECONDS = 30
WORKER_NAME = "Dask Worker"  # how Dask names the processes of workers
FIRST_WORKER_SECONDS = 3600  # a queueing system may take its time

# Dask tells glibc to give back freed memory at once; a training step takes it again at once, and
# the page faults cost a third of the time.
ALLOCATOR_ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_MMAP_THRESHOLD_": str(2**28),
}
# One thread per trial, set before the process starts: libraries read it when they are loaded.
WORKER_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    **ALLOCATOR_ENVIRONMENT,
}

SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # a dead worker's trial is tried once more
    "distributed.scheduler.worker-saturation": 1.0,  # no trial waits behind another in a worker
    "distributed.scheduler.worker-ttl": None,  # a trial may hold the interpreter for long
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.limit": "1h",
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
}


def cpu_slots() -> int:
    """Return how many trials fit on this machine's CPU: the cores this process may use."""
    from dask.system import CPU_COUNT

    return max(1, int(CPU_COUNT))


def pins(device: str, jobs: int | None, per_gpu: int, n_trials: int) -> list[dict[str, str]]:
    """Return the environment of each worker to start: one entry per slot.

    Raises:
        SettingsError: if ``jobs`` or ``per_gpu`` is not positive.
    """
    for name, value in (("jobs", jobs), ("per-gpu", per_gpu)):
        if value is not None and value < 1:
            raise SettingsError(f"--{name} must be 1 or more, not {value}")
    if device == "cuda":
        # GPU by GPU, so that few trials spread over all of them
        slots = [{"CUDA_VISIBLE_DEVICES": gpu} for _ in range(per_gpu) for gpu in visible_gpus()]
        return slots[: min(jobs or len(slots), n_trials)]
    # No GPU is touched by a trial that was told to use the CPU.
    return [{"CUDA_VISIBLE_DEVICES": ""}] * min(jobs or cpu_slots(), n_trials)


@contextmanager
def local_client(
    device: str, jobs: int | None, per_gpu: int, n_trials: int, scratch: Path
) -> "Iterator[Client]":
    """Start workers on this machine, reachable from this machine only, and stop them afterwards.

    Raises:
        DeviceError: if there is no such device here.
        SettingsError: if ``jobs`` or ``per_gpu`` is not positive.
    """
    device = resolve(device)
    slots = pins(device, jobs, per_gpu, n_trials)
    import dask
    from distributed import Client, Nanny, Scheduler, SpecCluster

    scratch.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {
        "nthreads": 1,
        "memory_limit": 0,
        "host": LOOPBACK,
        **NO_DASHBOARD,
        "local_directory": str(scratch),
        "silence_logs": SILENT,
    }
    workers = {
        index: {"cls": Nanny, "options": {**options, "env": {**WORKER_ENVIRONMENT, **slot}}}
        for index, slot in enumerate(slots)
    }
    scheduler = {"cls": Scheduler, "options": {"host": LOOPBACK, "port": 0, **NO_DASHBOARD}}
    with (
        _environment(WORKER_ENVIRONMENT),
        dask.config.set(SETTINGS),
        _workers_without_main(),
        _interrupts_held() as let_through,
        _loop_deaf_to_interrupts() as loop,
        _closing(
            SpecCluster(
                workers=workers,
                scheduler=scheduler,
                loop=loop,
                silence_logs=SILENT,
                name="xlrepro",
            )
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        let_through(),
    ):
        yield client


@contextmanager
def _closing(cluster: "SpecCluster") -> "Iterator[SpecCluster]":
    """Close a cluster of this machine at the end, and make sure that no worker is left.

    On a machine that is short of CPU the workers may not stop in the time that Dask gives them. By
    then the trials are over: what is late is killed, and the run has not failed.
    """
    with ExitStack() as stack:
        running = stack.enter_context(cluster)
        try:
            yield running
        finally:
            try:
                stack.close()
            except TimeoutError:
                cluster.shutdown_on_close = False  # else Dask waits for them again at exit
                for process in active_children():
                    if process.name.startswith(WORKER_NAME):
                        process.kill()


@contextmanager
def remote_client(address: str, device: str) -> "Iterator[Client]":
    """Connect to a running Dask cluster; it is left running afterwards.

    Raises:
        SettingsError: if nothing answers there, no worker comes, or a worker runs several threads.
        DeviceError: if a worker does not have the device.
    """
    from distributed import Client
    from distributed.comm import get_address_host_port
    from distributed.utils import silence_logging_cmgr

    try:
        get_address_host_port(address, strict=True)  # a client that cannot be made ends badly
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SettingsError(
            f"no Dask scheduler answers at {address} ({error}): check --scheduler"
        ) from error
    # What goes wrong is said once, in our own words.
    with silence_logging_cmgr(SILENT), client:
        _check_workers(client, address, device)
        yield client


def _check_workers(client: "Client", address: str, device: str) -> None:
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
    except TimeoutError as error:
        raise SettingsError(f"the cluster at {address} has no worker: start some") from error
    for name, worker in client.scheduler_info(n_workers=-1)["workers"].items():
        if worker["nthreads"] != 1:
            raise SettingsError(
                f"worker {name} of {address} runs {worker['nthreads']} threads, and trials need "
                "one each to be repeatable: start it with --nthreads 1 (and --nworkers N)"
            )
    try:
        client.run(resolve, device)
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"the workers of {address} lack a package ({error}): install xlrepro there"
        ) from error


@contextmanager
def _interrupts_held() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Keep Ctrl-C and SIGTERM until the cluster is whole, and again while it is closed.

    Dask, interrupted while it starts or stops workers, leaves some behind and prints tracebacks.

    Yields:
        a context in which they are let through, those that have come meanwhile at its start.
    """
    caught: list[tuple[Any, int, FrameType | None]] = []
    signals: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread():  # where signals never come
        yield nullcontext
        return

    def hold(number: int, frame: FrameType | None) -> None:
        caught.append((before[number], number, frame))

    def pass_on() -> None:
        for each in signals:
            signal.signal(each, before[each])
        for handler, number, frame in caught[:1]:
            caught.clear()
            if callable(handler):
                handler(number, frame)
            elif handler == signal.SIG_DFL:
                signal.raise_signal(number)

    @contextmanager
    def let_through() -> Iterator[None]:
        try:
            pass_on()
            yield
        finally:
            for number in signals:
                signal.signal(number, hold)

    before: dict[int, Any] = {number: signal.getsignal(number) for number in signals}
    for number in signals:
        signal.signal(number, hold)
    try:
        yield let_through
    except XlreproError:
        caught.clear()  # what ends the run already has a line of its own
        raise
    finally:
        pass_on()


@contextmanager
def _loop_deaf_to_interrupts() -> "Iterator[IOLoop]":
    """Run Dask's event loop in a thread that blocks SIGINT, as will all workers started from it.

    A terminal sends Ctrl-C to every process of the run. Only this one shall answer: it stops the
    workers in order, while they would each print a traceback.
    """
    from distributed.utils import LoopRunner

    resource_tracker.ensure_running()  # it would unblock the signal in the thread that starts it
    runner = LoopRunner()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        runner.start()  # the new thread inherits the mask
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield runner.loop
    finally:
        runner.stop()


@contextmanager
def _workers_without_main() -> Iterator[None]:
    """Start workers that do not run the caller's main script again.

    ``multiprocessing`` would do so in every new process, for the sake of functions defined there.
    A runner is always imported by its module's name; without the script workers start sooner, and
    a script without ``if __name__ == "__main__"`` works, too.
    """
    original = spawn.get_preparation_data

    def without_main(name: str) -> dict[str, Any]:
        settings = original(name)
        if name.startswith(WORKER_NAME):
            settings.pop("init_main_from_name", None)
            settings.pop("init_main_from_path", None)
        return settings

    spawn.get_preparation_data = without_main
    try:
        yield
    finally:
        spawn.get_preparation_data = original


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables, and put them all back: Dask changes some of its own, too."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
