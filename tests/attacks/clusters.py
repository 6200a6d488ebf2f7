"""A Dask cluster of somebody's, disturbed: workers killed, the scheduler stopped, other code.

``python -m tests.attacks.clusters [PART …]`` runs trials of the toy paper on schedulers and workers
of its own, which listen on this machine alone:

- ``killed``: a worker of other code is refused by its name; the run says that there is no worker;
  three come, one is killed amid a trial, which another does; the scheduler is stopped, and the
  command that is repeated goes on;
- ``slurm``: the guide's recipe as it stands there, with an ``sbatch`` that starts its jobs here
  (needs dask-jobqueue);
- ``many``: ten thousand trials that do nothing on 64 workers of one process: seconds a trial, and
  memory of the scheduler;
- ``two``: trials of five seconds on one worker, and on two.

Exits 1 where a record is missing or a line is not said. Not in CI.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from tests.attacks.kills import start
from tests.toy_trials import make_trial
from xlrepro.engine import LOOPBACK, WORKER_ENVIRONMENT, run_trials
from xlrepro.store import RecordStore

GUIDE = Path(__file__).resolve().parents[2] / "book/guide/reproducing.md"
PATIENCE = 300  # seconds, for what takes one on an idle machine
WORKERS = """
import asyncio, sys
from distributed import Worker

async def serve():
    each = [Worker(sys.argv[1], nthreads=1, dashboard=False) for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*each)
    await asyncio.gather(*(worker.finished() for worker in each))

asyncio.run(serve())
"""


class Said:
    """What a process says, line by line, as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.lines = process, list[str]()
        assert process.stderr is not None
        self._reader = threading.Thread(target=self.lines.extend, args=(process.stderr,))
        self._reader.start()

    def line(self, text: str) -> None:
        """Wait for a line with such a text."""
        until(lambda: any(text in line for line in self.lines), text)

    def status(self) -> int:
        """Wait for the end; return the exit status."""
        status = self.process.wait(PATIENCE)
        self._reader.join()
        return status


def until(happened: Callable[[], bool], what: str) -> None:
    """Wait until something has happened."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.1)


@contextmanager
def running(*call: str, path: str = "", heard: bool = False) -> Iterator[subprocess.Popen[str]]:
    """Run a process in a group of its own, with a path before Python's; kill it at the end."""
    paths = os.pathsep.join(filter(None, [path, os.environ["PYTHONPATH"]]))
    process = subprocess.Popen(
        call,
        env=os.environ | WORKER_ENVIRONMENT | {"PYTHONPATH": paths},
        text=True,
        process_group=0,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if heard else subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduling(port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a scheduler; yield its process and its address."""
    call = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    with running(*call, "--host", LOOPBACK, "--port", str(port), heard=True) as process:
        said = Said(process)
        said.line("Scheduler at:")
        yield process, re.findall(r"Scheduler at:\s+(\S+)", "".join(said.lines))[0]


def worker(address: str, folder: Path) -> list[str]:
    """Return the call of a worker with its nanny."""
    call = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
    return [*call, "--host", LOOPBACK, "--no-dashboard", "--local-directory", str(folder)]


def killed(home: Path) -> None:
    """Kill a worker amid a trial, then the scheduler amid the run; repeat the command."""
    store, ran = RecordStore(home / "build/records", home / "data/results"), home / "ran"
    run = ["run", "toy/table", "--profile=open", "--systems=ORT", "--seeds=0-11"]
    run += ["--device=cpu", "--set=sleep=4", f"--set=ran={ran}"]
    with ExitStack() as stack:
        scheduler, address = stack.enter_context(scheduling())
        shutil.copytree(GUIDE.parents[2] / "xlrepro", home / "other/xlrepro")
        with (home / "other/xlrepro/metrics.py").open("a") as file:
            file.write("# another line\n")
        with running(*worker(address, home), path=str(home / "other")):
            refused = Said(start(home, *run, f"--scheduler={address}"))
            refused.line("it has other code")
            assert refused.status() == 2
        first = Said(start(home, *run, f"--scheduler={address}"))
        first.line("there is no worker; waiting for one")
        workers = [stack.enter_context(running(*worker(address, home))) for _ in range(3)]
        until(lambda: len({pid for _, pid in started(ran)}) == 3, "three workers at work")
        seed, pid = started(ran)[-1]
        nanny = psutil.Process(pid).ppid()
        assert nanny in {each.pid for each in workers}
        os.killpg(nanny, signal.SIGKILL)  # the worker dies with its nanny: nobody starts it again
        first.line("was lost; its trial is tried once more")
        until(lambda: any(r.seed == seed for r in store.records()), "the lost trial's record")
        assert len({p for s, p in started(ran) if s == seed}) == 2
        scheduler.kill()
        assert first.status() == 2
        first.line("the connection to the Dask scheduler is lost; finished trials are kept")
    kept = len(store.records())
    with ExitStack() as stack:
        _, address = stack.enter_context(scheduling())
        for _ in range(2):
            stack.enter_context(running(*worker(address, home)))
        again = start(home, *run, f"--scheduler={address}")
        output, errors = again.communicate(timeout=PATIENCE)
        assert again.returncode == 0, errors
        assert f"{12 - kept} trials run, {kept} had a record, 0 failed" in output, output
    print(f"killed: seed {seed} was done by another worker; {kept} of 12 kept, then all")


def started(ran: Path) -> list[tuple[int, int]]:
    """Return seed and process of each start."""
    lines = ran.read_text().splitlines() if ran.exists() else []
    return [(int(seed), int(pid)) for seed, pid in map(str.split, lines)]


def slurm(home: Path) -> None:
    """Run the guide's recipe with a made-up Slurm; then let a worker come that has other code."""
    commands = home / "bin"
    commands.mkdir()
    for name, does in {
        "sbatch": 'cp "$1" "$0.$$"\nsetsid bash "$0.$$" >"$0.$$.log" 2>&1 &\n'
        'echo $! >>"$0.jobs"\necho Submitted batch job $!',
        "scancel": "exit 0",
    }.items():
        (commands / name).write_text(f"#!/bin/bash\n{does}\n")
        (commands / name).chmod(0o755)
    (home / ".venv").symlink_to(sys.prefix)
    recipe = GUIDE.read_text().partition("from dask_jobqueue")[2].partition("```")[0]
    recipe = recipe.replace("cores=1,", 'cores=1, interface="lo",', 1).replace("jobs=8", "jobs=3")
    recipe = recipe.replace("cluster.scheduler_address)", "cluster.scheduler_address, flush=True)")
    code = f"import time\nfrom dask_jobqueue{recipe}\ntime.sleep(3600)\n"
    environment = os.environ | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    call = [sys.executable, "-c", code]
    slurm = subprocess.Popen(
        call, cwd=home, env=environment, text=True, process_group=0, stdout=subprocess.PIPE
    )
    try:
        assert slurm.stdout is not None
        address = slurm.stdout.readline().strip()
        run = ["run", "toy/table", "--profile=open", "--systems=ORT", "--seeds=0-8"]
        run += ["--device=cpu", "--set=sleep=2", f"--set=ran={home / 'ran'}"]
        going = start(home, *run, f"--scheduler={address}")
        output, errors = going.communicate(timeout=PATIENCE)
        assert "9 trials run, 0 had a record, 0 failed" in output, errors
        by_worker = Counter(pid for _, pid in started(home / "ran"))
        assert len(by_worker) == 3, by_worker
        print(f"slurm: 9 trials, {sorted(by_worker.values())} on each of three workers")
    finally:
        os.killpg(slurm.pid, signal.SIGKILL)
        for job in (commands / "sbatch.jobs").read_text().split():
            with suppress(ProcessLookupError):
                os.killpg(int(job), signal.SIGKILL)


def many(home: Path, trials: int = 10_000, workers: int = 64) -> None:
    """Time many short trials, and weigh the scheduler."""
    with scheduling() as (scheduler, address):
        memory = psutil.Process(scheduler.pid).memory_info
        with running(sys.executable, "-c", WORKERS, address, str(workers)):
            before, (seconds, done) = memory().rss, timed(home / "many", address, trials)
        assert done == trials
        each, after = 1e3 * seconds / trials, memory().rss
        print(
            f"many: {trials} trials on {workers} workers of one process: {each:.1f} ms a trial; "
            f"the scheduler from {before / 2**20:.0f} to {after / 2**20:.0f} MiB"
        )


def two(home: Path, trials: int = 16, seconds: float = 5.0) -> None:
    """Compare two workers with one, on trials that take some seconds and no processor."""
    took = []
    for count in (1, 2):
        with ExitStack() as stack:
            _, address = stack.enter_context(scheduling())
            for _ in range(count):
                stack.enter_context(running(sys.executable, "-c", WORKERS, address, "1"))
            timed(home / f"warm{count}", address, 4)
            took.append(timed(home / f"of{count}", address, trials, sleep=seconds)[0])
    one, both = took
    print(
        f"two: {trials} trials of {seconds} s: {one:.1f} and {both:.1f} s, {one / both:.2f} times"
    )


def timed(home: Path, address: str, count: int, **settings: float) -> tuple[float, int]:
    """Run trials of the toy; return the seconds it took, and how many records there are."""
    store = RecordStore(home / "records", home / "results")
    trials = [make_trial(seed, settings=settings) for seed in range(count)]
    summary = run_trials(trials, store=store, device="cpu", scheduler=address, progress=False)
    return summary.seconds, len(summary.done)


PARTS = {"killed": killed, "slurm": slurm, "many": many, "two": two}


def main() -> int:
    """Attack; return 1 if anything failed."""
    for part in sys.argv[1:] or list(PARTS):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "data" / "reported").mkdir(parents=True)
            PARTS[part](Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
