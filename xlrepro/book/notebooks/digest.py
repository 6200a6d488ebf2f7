"""Digests that tell whether something must be made again."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from xlrepro.evidence.claims.judging import Judge
from xlrepro.evidence.claims.table import claims_of
from xlrepro.experiments import all_experiments
from xlrepro.paths import build_dir, data_dir, project_root
from xlrepro.trials import canonical_json

# What a page shows beside the records: all of it is small text.
SHOWN_DATA = ("catalog.yaml", "reported", "claims", "deviations", "results")
# Code that cannot change what a notebook computes.
NOT_COMPUTING = ("xlrepro/cli/", "xlrepro/book/")
# Parameters that say how many processes run, and change nothing that is shown.
NOT_SHOWN = ("jobs",)


def files_digest(files: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 of the names (below ``root``) and contents of ``files``."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(file.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def code_files(computing_only: bool = True) -> list[Path]:
    """Return the package's source files; without those of the book and the command line."""
    root = project_root()
    files = [*(root / "xlrepro").rglob("*.py"), *(root / "xlrepro").rglob("*.yaml")]
    if not computing_only:
        return files
    return [f for f in files if not f.relative_to(root).as_posix().startswith(NOT_COMPUTING)]


def shown_data_files() -> list[Path]:
    """Return every file below ``data/`` that a page may show."""
    files: list[Path] = []
    for name in SHOWN_DATA:
        path = data_dir() / name
        files += [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
    return files


@cache
def experiments_read(experiment: str) -> tuple[str, ...]:
    """Return the experiments whose records can change the page of ``experiment``, itself first.

    They are those that it draws on, and, for its claims, those whose cells the predicates read
    with what these draw on. An experiment that is not built yet reads its own alone.
    """
    known = all_experiments()
    if experiment not in known:
        return (experiment,)
    judge = Judge()
    claims = [c for c in claims_of(experiment, judge) if c.expression is not None]
    cells = [address for claim in claims for address in judge.reads(claim)]
    pages = [key for key in (experiment, *(cell[0] for cell in cells)) if key in known]
    return tuple(dict.fromkeys(name for key in pages for name in known[key].trained_in))


def record_digests() -> dict[str, str]:
    """Return experiment to a digest of its records here.

    Published records are not among them: they are shown data.
    """
    digests: dict[str, list[list[str]]] = {}
    for file in sorted((build_dir() / "records").glob("*.json")):
        try:
            content = file.read_bytes()
            owner = str(json.loads(content)["experiment"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue  # removed meanwhile, or broken: no page shows it
        digests.setdefault(owner, []).append([file.name, hashlib.sha256(content).hexdigest()])
    return {
        name: hashlib.sha256(canonical_json(seen).encode()).hexdigest()
        for name, seen in digests.items()
    }


@dataclass(frozen=True)
class Circumstances:
    """What decides at some moment what notebooks show: code, data and records, as digests."""

    code: str
    data: str
    records: Mapping[str, str]

    @classmethod
    def now(cls) -> "Circumstances":
        """Return those of this moment."""
        root = project_root()
        code = files_digest(code_files(), root)
        return cls(code, files_digest(shown_data_files(), root), record_digests())


def notebook_digest(
    experiment: str, source: Path, parameters: Mapping[str, Any], now: Circumstances
) -> str:
    """Return a digest of everything that decides what the executed notebook shows.

    Args:
        experiment: whose page it is: of the records, those that it reads count.
        source: the committed notebook; its outputs do not count.
        parameters: the values it is run with; those that only make it faster do not count.
        now: code, data and records.
    """
    notebook = json.loads(source.read_text(encoding="utf-8"))
    cells = [
        [cell["cell_type"], "".join(cell["source"]), cell.get("metadata", {}).get("tags", [])]
        for cell in notebook["cells"]
    ]
    parts = {
        "cells": cells,
        "parameters": {k: v for k, v in parameters.items() if k not in NOT_SHOWN},
        "code": now.code,
        "data": now.data,
        "records": {name: now.records.get(name, "") for name in experiments_read(experiment)},
    }
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()
