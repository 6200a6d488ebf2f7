"""A Dask cluster of somebody's: the guide's recipe, and many short trials.

``python -m benchmarks.clusters [PART …]`` runs trials of the toy paper on schedulers and workers
of its own, which listen on this machine alone:

- ``slurm``: the guide's recipe as it stands there, with an ``sbatch`` that starts its jobs here
  (needs dask-jobqueue);
- ``many``: a thousand trials that do nothing, then ten thousand, on 64 workers of one process:
  what a trial costs each process, and memory of the scheduler.

Exits 1 where a record is missing or a line is not said. Not in CI.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import psutil

from tests.toy_trials import make_trial, start
from xlrepro.engine import LOOPBACK, WORKER_ENVIRONMENT, run_trials
from xlrepro.store import RecordStore

GUIDE = Path(__file__).resolve().parents[1] / "book/guide/reproducing.md"
PATIENCE = 300  # seconds, for what takes one on an idle machine
WORKERS = """
import asyncio, sys
from distributed import Worker

async def serve():
    options = dict(nthreads=1, dashboard=False, memory_limit=0)
    each = [Worker(sys.argv[1], **options) for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*each)
    await asyncio.gather(*(worker.finished() for worker in each))

asyncio.run(serve())
"""
# Workers watch themselves many times a second, which 64 of one process pay for whether or not
# trials run.
UNWATCHED = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "10s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}


@contextmanager
def running(*call: str, heard: bool = False) -> Iterator[subprocess.Popen[str]]:
    """Run a process in a group of its own; kill it at the end."""
    process = subprocess.Popen(
        call,
        env=os.environ | WORKER_ENVIRONMENT | UNWATCHED,
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
def scheduling() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a scheduler; yield its process and its address."""
    call = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    with running(*call, "--host", LOOPBACK, "--port", "0", heard=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "Scheduler at:" in line)
        Thread(target=process.stderr.read, daemon=True).start()  # what else it says fills no pipe
        yield process, line.split()[-1]


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
    """Time many short trials, a tenth of them first: what one costs must not grow with them."""
    call = [sys.executable, "-c", WORKERS]
    with scheduling() as (scheduler, address), running(*call, address, str(workers)) as workers_:
        processes = {"here": psutil.Process(), "scheduler": psutil.Process(scheduler.pid)}
        processes["workers"] = psutil.Process(workers_.pid)

        def used() -> dict[str, float]:
            return {name: sum(p.cpu_times()[:2]) for name, p in processes.items()}

        timed(home / "warm", address, workers)
        for count in (trials // 10, trials):
            before, began = processes["scheduler"].memory_info().rss, used()
            seconds, done = timed(home / f"many{count}", address, count)
            assert done == count
            cpu = [f"{1e3 * (v - began[name]) / count:.1f} {name}" for name, v in used().items()]
            after = processes["scheduler"].memory_info().rss
            print(
                f"many: {count} trials on {workers} workers of one process: "
                f"{1e3 * seconds / count:.1f} ms a trial; ms of a core: {', '.join(cpu)}; "
                f"the scheduler from {before / 2**20:.0f} to {after / 2**20:.0f} MiB",
                flush=True,
            )


def timed(home: Path, address: str, count: int) -> tuple[float, int]:
    """Run trials of the toy; return the seconds it took, and how many records there are."""
    store = RecordStore(home / "records", home / "results")
    trials = map(make_trial, range(count))
    summary = run_trials(trials, store=store, device="cpu", scheduler=address, progress=False)
    return summary.seconds, len(summary.done)


PARTS = {"slurm": slurm, "many": many}


def main() -> int:
    """Run the parts; return 1 if anything failed."""
    for part in sys.argv[1:] or list(PARTS):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "data" / "reported").mkdir(parents=True)
            PARTS[part](Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
