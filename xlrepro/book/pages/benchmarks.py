"""The benchmarks, from the files that ``python -m benchmarks.run`` writes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xlrepro.book.templating import escape_markdown
from xlrepro.errors import DataError
from xlrepro.evidence.tables.table import Entry, Table, headings, number
from xlrepro.paths import data_dir

GROUP_TITLES = {
    "crf": "Linear-chain CRF",
    "encoders": "Encoders",
    "data": "Data loading",
    "zero-shot": "Zero-shot evaluation",
    "man-moe": "MAN-MoE",
    "ramen": "RAMEN",
    "routing-nmt": "Routed units",
    "sense-alignment": "Sense-aware language models",
    "commands": "Everyday commands",
}
GPU = "cuda"  # name of the file of a GPU
NO_GPU = "No number on this page was measured on a GPU."
NUMERIC = ("threads", "ours", "peer's", "ratio", "tokens/s", "runs")
COLUMNS = ("benchmark", "case", "peer", "threads", "ours", "peer's", "ratio", "tokens/s",
           "target", "runs")  # fmt: skip


def benchmark_tables() -> str:
    """Return a section per device and group, as Markdown with HTML tables.

    Without a file of a GPU it says that nothing was measured on one.

    Raises:
        DataError: if a file is not what the harness writes.
    """
    files = sorted((data_dir() / "results" / "benchmarks").glob("*.json"))
    if not files:
        return "Nothing has been measured for this copy of the book."
    parts = [] if any(path.stem == GPU for path in files) else [NO_GPU]
    return "\n\n".join([*parts, *(_device_section(path) for path in files)])


def _device_section(path: Path) -> str:
    try:
        groups = json.loads(path.read_text(encoding="utf-8"))["groups"]
        parts = [_group_section(name, group, path.stem) for name, group in groups.items()]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is not a benchmark file ({error!r}): measure again with "
            "`python -m benchmarks.run`"
        ) from error
    return "\n\n".join(parts)


def _group_section(name: str, group: Mapping[str, Any], device: str) -> str:
    versions = group["versions"]
    shown = ", ".join(f"{package} {versions[package]}" for package in sorted(versions))
    title = f"{GROUP_TITLES.get(name, name)}, {'GPU' if device == GPU else device.upper()}"
    measured = (
        f"Measured {group['measured']} on {group['machine']} ({group['cores']} cores, load "
        f"{group['load_average']} when it ended"
        f"{', memory allocator set as in trials' if group.get('allocator') else ''}). "
        f"Versions: {shown}."
    )
    compared = any(result["ratio"] is not None for result in group["results"])
    table = Table(
        f"{title}: medians{'; a ratio above 1 means that ours is faster' * compared}.",
        headings(*COLUMNS, numeric=NUMERIC),
        tuple(_row(result) for result in group["results"]),
    ).dense()
    return f"## {escape_markdown(title)}\n\n{escape_markdown(measured)}\n\n{table.html}"


def _row(result: Mapping[str, Any]) -> tuple[Entry, ...]:
    unit = result["unit"]
    met = {True: "met", False: "missed", None: ""}[result["met"]]
    rate = result["tokens_per_second"]
    return (
        Entry(result["benchmark"]),
        Entry(result["case"]),
        Entry(result["peer"] or ""),
        Entry(str(result["threads"]), sort=result["threads"]),
        _quantity(result["value"], unit),
        _quantity(result["peer_value"], unit),
        Entry(number(result["ratio"]), sort=result["ratio"]),
        Entry(f"{rate:,.0f}" if rate else "", sort=rate),
        Entry(result["target"] or "", met),
        Entry(str(result["repetitions"]), sort=result["repetitions"]),
    )


def _quantity(value: float | None, unit: str) -> Entry:
    if value is None:
        return Entry("")
    decimals = 2 if value >= 0.1 else 4
    return Entry(f"{number(value, decimals)} {unit}", sort=value)
