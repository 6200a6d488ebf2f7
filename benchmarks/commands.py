"""Everyday commands: the CPU seconds that each takes, with the records that are there.

CPU time, not time on the clock: another process on the machine adds little to it. The commands are
run once before, so that what is compiled and kept for the next time is there.
"""

import resource
import statistics
import subprocess
import sys

from benchmarks.timing import Result
from xlrepro.errors import XlreproError

REPETITIONS = 3
# CPU seconds that a command may take.
TARGETS = {
    "--help": 0.3,
    "list": 1.0,
    "status": 2.0,
    "claims": 4.0,
    "run word_order/table2 --profile open --dry-run": 1.5,
}


def measure(device: str, threads: int) -> list[Result]:
    """Return the CPU seconds of each command.

    Raises:
        XlreproError: if a command fails.
    """
    return [_measured(command, device, threads) for command in TARGETS]


def _measured(command: str, device: str, threads: int) -> Result:
    seconds = statistics.median([_cpu_seconds(command) for _ in range(1 + REPETITIONS)][1:])
    target = TARGETS[command]
    return Result(
        benchmark="Everyday commands",
        case=f"xlrepro {command}",
        device=device,
        threads=threads,
        value=seconds,
        unit="s of CPU time",
        repetitions=REPETITIONS,
        target=f"at most {target:g} s",
        met=seconds <= target,
    )


def _cpu_seconds(command: str) -> float:
    """Run ``xlrepro COMMAND`` and return the CPU seconds that it took, the kernel's among them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, "-m", "xlrepro", *command.split()]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise XlreproError(f"xlrepro {command} failed: {done.stderr.strip()}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
