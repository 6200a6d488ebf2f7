"""Built things in the cache: each in a folder named by the hash of its recipe, made once.

A process notes what it has used of them (`used`), so that a trial's record can name the content of
each. What a builder uses of other artefacts is its own matter: their bytes are in its own.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from xlrepro.paths import cache_dir
from xlrepro.precision import single

KEPT = "content.json"  # the hash of an artefact's files, with their sizes and times

_used: dict[str, Path] = {}
_building: list[str] = []  # artefacts that this process is building now, the inmost last


def hash_of(recipe: Any) -> str:
    """Return the SHA-256 of a recipe's canonical JSON, 64 hex digits.

    Example:
        >>> hash_of({"b": 1, "a": 2}) == hash_of({"a": 2, "b": 1})
        True
    """
    text = json.dumps(recipe, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def say(line: str) -> None:
    """Print a line of progress to the standard error."""
    print(line, file=sys.stderr, flush=True)


def built(kind: str, language: str, recipe: Any, build: Callable[[Path], None]) -> Path:
    """Return the folder of an artefact, building it first if it is not in the cache.

    One process builds, others wait for it. What is half-built is never seen: the folder gets its
    name when it is whole.

    Args:
        kind: what it is, ``"monolingual"``.
        language: of which language.
        recipe: JSON-able; everything that decides the content.
        build: writes the content into the empty folder that it is given.
    """
    root = cache_dir() / "vectors"
    folder = root / f"{kind}-{language}-{hash_of(recipe)[:16]}"
    if not folder.is_dir():
        (root / "locks").mkdir(parents=True, exist_ok=True)
        with FileLock(root / "locks" / f"{folder.name}.lock"):
            if not folder.is_dir():
                _build(folder, f"{kind} {language}", recipe, build)
    if not _building:
        _used[folder.name] = folder
    return folder


def _build(folder: Path, what: str, recipe: Any, build: Callable[[Path], None]) -> None:
    say(f"vectors: building {what} …")
    started = time.monotonic()
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".part", dir=folder.parent))
    _building.append(folder.name)
    try:
        with single():  # whatever the precision of the trial that comes first
            build(unfinished)
        seconds = time.monotonic() - started
        about = {"recipe": recipe, "seconds": round(seconds, 1)}
        (unfinished / "recipe.json").write_text(
            json.dumps(about, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8"
        )
        os.replace(unfinished, folder)
    finally:
        _building.pop()
        shutil.rmtree(unfinished, ignore_errors=True)
    say(f"vectors: built {what} in {seconds:.0f} s")


def used() -> dict[str, str]:
    """Return folder name to content hash of each artefact that this process has used so far."""
    hashes = {name: content_hash(folder) for name, folder in sorted(_used.items())}
    return {name: digest for name, digest in hashes.items() if digest is not None}


def content_of(name: str) -> str | None:
    """Return the content hash of the artefact in the folder ``name``; ``None`` if it is not here.

    Builds nothing.
    """
    return content_hash(cache_dir() / "vectors" / name)


def content_hash(folder: Path) -> str | None:
    """Return the SHA-256 over the files of an artefact; ``None`` if the folder is not there.

    JSON files do not count: they tell how it was built, and how long that took. The hash is kept
    beside the files with their sizes and times, and used as long as these stay.
    """
    files = sorted(f for f in folder.glob("*") if f.suffix not in (".json", ".tmp"))
    if not files:
        return None
    states = [[f.name, f.stat().st_size, f.stat().st_mtime_ns] for f in files]
    beside = folder / KEPT
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(beside.read_text("utf-8"))
        if kept["files"] == states:
            return str(kept["sha256"])
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            inner = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{file.name} {inner}\n".encode())
    with suppress(OSError):
        unfinished = beside.with_name(f"{KEPT}.{os.getpid()}.tmp")
        unfinished.write_text(json.dumps({"files": states, "sha256": digest.hexdigest()}), "utf-8")
        unfinished.replace(beside)
    return digest.hexdigest()
