"""Built things in the cache: each in a folder named by the hash of its recipe, made once."""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filelock import FileLock

from xlrepro.paths import cache_dir
from xlrepro.precision import single


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
    if folder.is_dir():
        return folder
    (root / "locks").mkdir(parents=True, exist_ok=True)
    with FileLock(root / "locks" / f"{folder.name}.lock"):
        if folder.is_dir():
            return folder
        say(f"vectors: building {kind} {language} …")
        started = time.monotonic()
        unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".part", dir=root))
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
            shutil.rmtree(unfinished, ignore_errors=True)
        say(f"vectors: built {kind} {language} in {seconds:.0f} s")
    return folder
