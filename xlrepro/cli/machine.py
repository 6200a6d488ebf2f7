"""``xlrepro env``: what this machine is, for a bug report or before a long run."""

import os
import platform
import sys

import typer

from xlrepro.cli.printing import AsJson, print_json
from xlrepro.machine import PACKAGES, versions
from xlrepro.paths import build_dir, cache_dir, project_root


def _devices() -> list[str]:
    """Return the CPU and every GPU that torch sees, in words."""
    import psutil
    import torch

    memory = psutil.virtual_memory().total / 2**30
    cpu = f"cpu: {os.cpu_count()} cores, {memory:.0f} GiB, {torch.get_num_threads()} torch threads"
    gpus = []
    for index in range(torch.cuda.device_count()):
        gpu = torch.cuda.get_device_properties(index)
        gpus.append(f"cuda:{index}: {gpu.name}, {gpu.total_memory / 2**30:.0f} GiB")
    return [cpu, *gpus]


def describe_machine() -> dict[str, object]:
    """Return the facts about this machine that a number or a failure may depend on."""
    return {
        "executable": sys.executable,
        "platform": platform.platform(),
        **dict.fromkeys(PACKAGES, "missing"),
        **versions(),
        "devices": _devices(),
        "project": str(project_root()),
        "build": str(build_dir()),
        "cache": str(cache_dir()),
        "mirror": os.environ.get("XLREPRO_MIRROR", "none (XLREPRO_MIRROR is not set)"),
    }


def env(
    as_json: AsJson = False,
) -> None:
    """Show what this machine is: versions, devices, where data is looked for and kept."""
    facts = describe_machine()
    if as_json:
        print_json(facts)
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        lines = value if isinstance(value, list) else [value]
        for line in lines:
            typer.echo(f"{name:{width}} {line}")
