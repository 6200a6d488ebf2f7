"""Run the benchmarks and write their results where the book finds them.

    python -m benchmarks.run [--device cpu|cuda] [--threads 1 2] [--only GROUP …]

One file per device, ``data/results/benchmarks/<device>.json``; what ``--only`` leaves out keeps
its older numbers. The exit status is 1 where a target is missed.

The program starts itself once more with the allocator set as in a worker of the engine, so that
what is timed is what trials take.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks import (
    commands,
    crf,
    data_loading,
    encoders,
    man_moe,
    ramen,
    routing_nmt,
    sense_alignment,
    zero_shot,
)
from benchmarks.timing import Result
from xlrepro import machine
from xlrepro import machine as devices
from xlrepro.engine import ALLOCATOR_ENVIRONMENT
from xlrepro.errors import XlreproError
from xlrepro.paths import data_dir
from xlrepro.store import write_atomically

GROUPS: dict[str, Callable[[str, int], list[Result]]] = {
    "crf": crf.measure,
    "encoders": encoders.measure,
    "data": data_loading.measure,
    "zero-shot": zero_shot.measure,
    "man-moe": man_moe.measure,
    "ramen": ramen.measure,
    "routing-nmt": routing_nmt.measure,
    "sense-alignment": sense_alignment.measure,
    "commands": commands.measure,
}
# A loader has one thread; the zero-shot evaluation takes minutes, and trials have one thread too;
# a command computes with none.
ONCE = ("data", "zero-shot", "commands")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit status."""
    chosen = _parser().parse_args(arguments)
    _as_in_a_worker(sys.argv[1:] if arguments is None else arguments)
    try:
        device = devices.resolve(chosen.device)
    except XlreproError as error:
        print(error, file=sys.stderr)
        return 2
    path = chosen.output or data_dir() / "results" / "benchmarks" / f"{device}.json"
    report = _older(path)
    missed = 0
    for group in chosen.only:
        try:
            results = _measure(group, device, chosen.threads)
        except XlreproError as error:
            print(error, file=sys.stderr)
            return 2
        missed += sum(result.met is False for result in results)
        report["groups"][group] = _described(device, results)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    print(f"{path}: {missed} targets missed" if missed else f"{path}: every target met")
    return 1 if missed else 0


def _as_in_a_worker(arguments: Sequence[str]) -> None:
    """Start this program anew unless its memory allocator is set as a worker's is."""
    if all(os.environ.get(k) == v for k, v in ALLOCATOR_ENVIRONMENT.items()):
        return
    command = [sys.executable, "-m", "benchmarks.run", *arguments]
    os.execve(sys.executable, command, {**os.environ, **ALLOCATOR_ENVIRONMENT})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda or auto")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--output", type=Path, help="another file to write")
    return parser


def _measure(group: str, device: str, threads: Sequence[int]) -> list[Result]:
    results = []
    for count in threads[:1] if group in ONCE or device == "cuda" else threads:
        for result in GROUPS[group](device, count):
            results.append(result)
            print(_line(result), flush=True)
    return results


def _line(result: Result) -> str:
    parts = [
        f"{result.benchmark}, {result.case}, {result.device}, {result.threads} threads:",
        f"{result.value:.2f} {result.unit}",
    ]
    if result.peer_value is not None:
        parts.append(f"({result.peer}: {result.peer_value:.2f}, ratio {result.ratio:.2f})")
    if result.tokens_per_second is not None:
        parts.append(f"{result.tokens_per_second:,.0f} tokens/s")
    if result.target is not None:
        parts.append(f"[{result.target}: {'met' if result.met else 'MISSED'}]")
    return " ".join(parts)


def _described(device: str, results: Sequence[Result]) -> dict[str, Any]:
    """Return a group's results with the machine, versions and time they belong to."""
    return {
        "machine": machine.device_name(device),
        "cores": os.cpu_count(),
        "allocator": ALLOCATOR_ENVIRONMENT,
        "load_average": round(os.getloadavg()[0], 1),
        "versions": machine.versions() | {"pytorch-crf": version("pytorch-crf")},
        "torch_cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "results": [asdict(result) for result in results],
    }


def _older(path: Path) -> dict[str, Any]:
    if path.is_file():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    return {"schema": 1, "groups": {}}


if __name__ == "__main__":
    sys.exit(main())
