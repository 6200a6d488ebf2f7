"""What trials rest on: data files by their content, and built things in the cache, each made once.

An artefact (vectors, a pretrained model) lies in a folder named by the hash of its recipe. Its
manifest, ``recipe.json``, states the SHA-256 of each file as it was when it was built; every use
compares. A process notes which data it has read (`note_data`) and which artefacts it has used, so
that a trial's record can name the content of each. What a builder uses of other artefacts is its
own matter: their bytes are in its own. What data it read stands in the manifest and is noted again
when the artefact is used.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock

from xlrepro.errors import DataError, SettingsError
from xlrepro.paths import cache_dir
from xlrepro.precision import computing
from xlrepro.values import hash_of

MANIFEST = "recipe.json"
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")  # of an artefact: a folder here, no path

_used: dict[str, str] = {}
_read: list[dict[str, str]] = [{}]  # by this process, then by the artefacts it is building


def say(line: str) -> None:
    """Print a line of progress to the standard error."""
    print(line, file=sys.stderr, flush=True)


def sha256_of(path: Path | str) -> str:
    """Return the SHA-256 of a file's content.

    Raises:
        OSError: if the file cannot be read.
    """
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def file_hash(path: Path) -> str:
    """Return `sha256_of` a file, kept in the cache by path, size and time of change."""
    status = path.stat()
    return _file_hash(cache_dir(), str(path.resolve()), status.st_size, status.st_mtime_ns)


@cache
def _file_hash(root: Path, path: str, size: int, mtime_ns: int) -> str:
    known = [path, size, mtime_ns]
    kept = root / "hashes" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"
    with suppress(OSError, ValueError, TypeError, KeyError):
        note = json.loads(kept.read_text("utf-8"))
        if note["file"] == known:
            return str(note["sha256"])
    digest = sha256_of(path)
    with suppress(OSError):  # a cache that cannot be written: hashed again next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_name(f".{kept.name}.{os.getpid()}")
        part.write_text(json.dumps({"file": known, "sha256": digest}), "utf-8")
        os.replace(part, kept)
    return digest


def note_data(name: str, sha256: str) -> None:
    """Note that data was read: a trial's record, or the artefact that is being built, names it.

    Args:
        name: ``ud-r2.2/en/train`` of the registry, ``supplied/conll-ner/de/test``, ``artificial``.
        sha256: of its content.
    """
    _read[-1][name] = sha256


def data_read() -> dict[str, str]:
    """Return name to content hash of all data that this process has read so far."""
    return dict(sorted(_read[0].items()))


def used() -> dict[str, str]:
    """Return folder name to content hash of each artefact that this process has used so far."""
    return dict(sorted(_used.items()))


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """Say in one line, as a DataError, that the cache cannot be written."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{what} cannot be kept in the cache {cache_dir()} ({error}): make "
            "room there, or set XLREPRO_DATA to a folder that has it and that you may write to"
        ) from error


def built(
    kind: str, language: str, recipe: Any, build: Callable[[Path], None], spent: Iterable[Path] = ()
) -> Path:
    """Return the folder of an artefact, building it first if it is not in the cache, or damaged.

    One process builds, others wait for it. What is half-built is never seen: the folder gets its
    name when it is whole and on the disk.

    Args:
        kind: what it is, ``"monolingual"``.
        language: of which language.
        recipe: JSON-able; everything that decides the content.
        build: writes the content into the empty folder that it is given.
        spent: checkpoints of the build, removed once the artefact is on the disk.

    Raises:
        SettingsError: if kind and language do not make a name of a folder.
        DataError: if the cache cannot be written.
    """
    folder = _folder(kind, language, recipe)
    manifest = _whole(folder)
    if manifest is None:
        with keeping(f"{kind} {language}"):
            (folder.parent / "locks").mkdir(parents=True, exist_ok=True)
            with FileLock(folder.parent / "locks" / f"{folder.name}.lock"):
                manifest = _whole(folder) or _build(folder, f"{kind} {language}", recipe, build)
                for checkpoint in spent:
                    checkpoint.unlink(missing_ok=True)
    for name, sha256 in manifest["data"].items():
        note_data(name, sha256)
    if len(_read) == 1:
        _used[folder.name] = manifest["sha256"]
    return folder


def is_built(kind: str, language: str, recipe: Any) -> bool:
    """Tell whether `built` would find an artefact in the cache."""
    return _whole(_folder(kind, language, recipe)) is not None


def _folder(kind: str, language: str, recipe: Any) -> Path:
    name = f"{kind}-{language}-{hash_of(recipe)[:16]}"
    if not NAME.fullmatch(name):
        raise SettingsError(f"an artefact is named by letters, digits and ._-: not {name!r}")
    return cache_dir() / "vectors" / name


def _build(folder: Path, what: str, recipe: Any, build: Callable[[Path], None]) -> dict[str, Any]:
    """Build an artefact and return its manifest."""
    if folder.exists():
        say(f"cache: {folder} is damaged: it is built again")
        shutil.rmtree(folder)
    for remains in folder.parent.glob(f"{folder.name}.*.part"):  # of a killed process
        shutil.rmtree(remains, ignore_errors=True)
    say(f"cache: building {what} …")
    started = time.monotonic()
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".part", dir=folder.parent))
    _read.append({})
    try:
        with computing("single"):  # whatever the precision of the trial that comes first
            build(unfinished)
        seconds = time.monotonic() - started
        files = sorted(file for file in unfinished.rglob("*") if file.is_file())
        hashes = {str(file.relative_to(unfinished)): _synced(file) for file in files}
        manifest = {"recipe": recipe, "seconds": round(seconds, 1), "data": _read[-1]}
        manifest |= {"files": hashes, "sha256": _content(hashes)}
        about = unfinished / MANIFEST
        about.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", "utf-8")
        _synced(about)
        os.replace(unfinished, folder)
    finally:
        _read.pop()
        shutil.rmtree(unfinished, ignore_errors=True)
    say(f"cache: built {what} in {seconds:.0f} s")
    return manifest


def _synced(file: Path) -> str:
    """Flush a file to the disk; return its SHA-256."""
    with file.open("rb") as stream:
        os.fsync(stream.fileno())
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _content(hashes: dict[str, str]) -> str:
    """Return the hash over all files but JSON, which tells how and in what time it was built."""
    lines = [f"{name} {sha256}\n" for name, sha256 in hashes.items() if not name.endswith(".json")]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _whole(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of an artefact that is as it was built; ``None``: it is not."""
    try:
        manifest = dict(json.loads((folder / MANIFEST).read_text("utf-8")))
        stated, _ = dict(manifest["files"]), dict(manifest["data"])
        whole = manifest["sha256"] == _content(stated) and all(
            file_hash(folder / name) == sha256 for name, sha256 in stated.items()
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return manifest if whole else None
