"""Checksums of cached files, remembered so that a verified file is not hashed at every call.

Beside ``x.conllu`` lies ``x.conllu.verified``: the SHA-256 that was found, with the size and
modification time of the file it was found in. A file that has changed since is hashed again.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Literal

Status = Literal["ok", "missing", "wrong"]

_CHUNK = 1 << 20


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 hex digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def sidecar(path: Path) -> Path:
    """Return where the verification of ``path`` is remembered."""
    return path.with_name(path.name + ".verified")


def remember(path: Path, sha256: str) -> None:
    """Note that ``path``, as it is now, has this SHA-256. Atomic."""
    status = path.stat()
    note = {"sha256": sha256, "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}
    part = path.with_name(f".{path.name}.verified.{os.getpid()}")
    try:
        part.write_text(json.dumps(note), encoding="utf-8")
        os.replace(part, sidecar(path))
    finally:
        part.unlink(missing_ok=True)


def forget(path: Path) -> None:
    """Remove the note about ``path``."""
    sidecar(path).unlink(missing_ok=True)


def is_remembered(path: Path, sha256: str) -> bool:
    """Whether ``path`` was found to have this SHA-256 and has not changed since."""
    try:
        note = json.loads(sidecar(path).read_text(encoding="utf-8"))
        status = path.stat()
    except (OSError, ValueError):
        return False
    now = {"sha256": sha256, "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}
    return bool(note == now)


def status(path: Path, sha256: str) -> Status:
    """Hash ``path`` again and say whether it is there and right."""
    if not path.is_file():
        return "missing"
    return "ok" if sha256_of(path) == sha256 else "wrong"
