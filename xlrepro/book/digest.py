"""Digests that tell whether something must be made again."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xlrepro.paths import build_dir, data_dir, project_root
from xlrepro.trials.trial import canonical_json

# What a page shows beside the records: all of it is small text.
SHOWN_DATA = ("catalog.yaml", "reported", "claims", "deviations", "results")
# Code that cannot change what a notebook computes.
NOT_COMPUTING = ("xlrepro/cli/", "xlrepro/book/")


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


def records_digest(experiment: str) -> str:
    """Return a digest of the experiment's own records, by name, size and time of writing."""
    folder = build_dir() / "records"
    seen = []
    for file in sorted(folder.rglob("*.json")) if folder.is_dir() else []:
        if _belongs(file, experiment):
            state = file.stat()
            seen.append([file.name, state.st_size, state.st_mtime_ns])
    return hashlib.sha256(canonical_json(seen).encode()).hexdigest()


def _belongs(file: Path, experiment: str) -> bool:
    """Tell whether a record file is one of ``experiment``; by its path where that says so."""
    if experiment in file.as_posix():
        return True
    try:
        return bool(json.loads(file.read_text(encoding="utf-8")).get("experiment") == experiment)
    except (json.JSONDecodeError, AttributeError):
        return False


def notebook_digest(source: Path, parameters: Mapping[str, Any], experiment: str | None) -> str:
    """Return a digest of everything that decides what the executed notebook shows.

    Args:
        source: the committed notebook; its outputs do not count.
        parameters: the values it is run with.
        experiment: whose records it reads; None leaves records out.
    """
    notebook = json.loads(source.read_text(encoding="utf-8"))
    cells = [
        [cell["cell_type"], "".join(cell["source"]), cell.get("metadata", {}).get("tags", [])]
        for cell in notebook["cells"]
    ]
    root = project_root()
    parts = {
        "cells": cells,
        "parameters": dict(parameters),
        "code": files_digest(code_files(), root),
        "data": files_digest(shown_data_files(), root),
        "records": records_digest(experiment) if experiment else None,
    }
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()
