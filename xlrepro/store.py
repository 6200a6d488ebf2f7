"""The store: one file per record; a kill at any moment leaves whole records or none."""

import logging
import os
import socket
import time
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from xlrepro.errors import StoreError
from xlrepro.paths import build_dir, check_folder, data_dir
from xlrepro.trials import PUBLISHED, Record, Trial

logger = logging.getLogger("xlrepro")

ELSEWHERE = "set XLREPRO_BUILD to a folder you can write in"
FORGOTTEN_SECONDS = 86_400.0  # a temporary file of another machine is removed after a day


@dataclass(frozen=True)
class PublishedFile:
    """What one call of `RecordStore.publish` did to one file.

    Attributes:
        path: ``data/results/<paper>/<experiment>.<profile>.jsonl``.
        added: records that were not there before.
        replaced: records that a newer one of the same key took the place of.
        kept: records that a newer one knew less than, and did not replace.
        total: records now in the file.
        dirty: those of them whose code differed from the commit they name.
    """

    path: Path
    added: int
    replaced: int
    kept: int
    total: int
    dirty: int


class RecordStore:
    """Records by the key of their trial: those made here, and those published with the project.

    Args:
        root: folder of this machine's records; default ``build/records``.
        published: folder of published records; default ``data/results``.

    Raises:
        SettingsError: if the place of the records is no folder, or cannot be reached.
    """

    def __init__(self, root: Path | None = None, published: Path | None = None) -> None:
        self.root = Path(root) if root is not None else build_dir() / "records"
        self.published = Path(published) if published is not None else data_dir() / "results"
        self._reported: set[str] = set()
        check_folder(self.root)
        _remove_leftovers(self.root)

    def path(self, key: str) -> Path:
        """Return the file of one record."""
        return self.root / f"{key}.json"

    def log_path(self, key: str) -> Path:
        """Return the file that a failing trial's traceback goes to."""
        return self.root.parent / "logs" / f"{key}.log"

    @property
    def scratch(self) -> Path:
        """The folder below which running trials have their own files."""
        return self.root.parent / "scratch"

    def get(self, trial: Trial | Record) -> Record | None:
        """Return a trial's record: the newest of those made here and published.

        Where there is none of its version, one of another version, which is outdated.

        A broken file is named in a warning and counts as no record.
        """
        published = self._lines(self.published_path(trial.experiment, trial.profile))
        return _newest([*published, *self._local(self.path(trial.key))]).get(_place(trial))

    def records(self, experiment: str | None = None, profile: str | None = None) -> list[Record]:
        """Return all records, outdated ones too, by (experiment, profile, systems, seed, key)."""
        files = sorted(self.published.glob(f"{experiment or '*/*'}.{profile or '*'}.jsonl"))
        found = [record for path in files for record in self._lines(path)]
        found += [
            record
            for path in sorted(self.root.glob("*.json"))
            for record in self._local(path)
            if experiment in (None, record.experiment) and profile in (None, record.profile)
        ]
        return sorted(_newest(found).values(), key=lambda r: (r.experiment, r.profile, *_order(r)))

    def check_writable(self) -> None:
        """Make the folders that a run writes into, before it trains anything.

        Raises:
            StoreError: if one of them cannot be made or written in.
        """
        for folder in (self.root, self.root / ".locks", self.log_path("").parent, self.scratch):
            _make_folder(folder)

    def put(self, record: Record) -> None:
        """Write one record: temporary file, fsync, rename, fsync of the folder.

        Raises:
            StoreError: if it cannot be written.
        """
        write_atomically(self.path(record.key), record.to_json() + "\n")

    def publish(
        self,
        experiments: Collection[str] | None = None,
        profiles: Collection[str] = PUBLISHED,
        keys: Collection[str] | None = None,
    ) -> list[PublishedFile]:
        """Gather finished records into ``data/results/<paper>/<experiment>.<profile>.jsonl``.

        What is published already stays; a newer record of the same key takes its place, unless it
        names no commit and the older one does.

        Args:
            experiments: their keys; ``None``: all that have records.
            profiles: which profiles.
            keys: only records of these trials; ``None``: all.

        Returns:
            One entry per file that these records belong to, changed or not.

        Raises:
            StoreError: if a published file is broken (nothing of it is overwritten) or cannot be
                written.
        """
        groups: dict[tuple[str, str], list[Record]] = {}
        for path in sorted(self.root.glob("*.json")):
            for record in self._local(path):
                wanted = experiments is None or record.experiment in experiments
                if wanted and record.profile in profiles and (keys is None or record.key in keys):
                    groups.setdefault((record.experiment, record.profile), []).append(record)
        return [
            _publish(self.published_path(*address), records)
            for address, records in sorted(groups.items())
        ]

    def withdraw(self, experiment: str, profile: str, keys: Collection[str]) -> int:
        """Take the records of trials out of a published file; git keeps them.

        Returns:
            How many were in it.

        Raises:
            StoreError: if the file is broken (nothing of it is changed) or cannot be written.
        """
        path = self.published_path(experiment, profile)
        with locked(path):
            known = _read_whole(path)
            kept = [record for record in known.values() if record.key not in keys]
            if len(kept) < len(known):
                _write(path, kept)
        return len(known) - len(kept)

    def published_keys(self, experiment: str, profile: str) -> set[str]:
        """Return the keys of an experiment's published records."""
        return {record.key for record in self._lines(self.published_path(experiment, profile))}

    def published_path(self, experiment: str, profile: str) -> Path:
        """Return ``<published>/<paper>/<experiment>.<profile>.jsonl``."""
        return self.published / f"{experiment}.{profile}.jsonl"

    def lock(self, key: str) -> BaseFileLock | None:
        """Take the lock of one trial without waiting.

        Returns:
            The lock, held until its ``release()`` or this process's end; ``None`` if another run
            holds it.
        """
        _make_folder(self.root / ".locks")
        held = FileLock(self.root / ".locks" / f"{key}.lock", thread_local=False)
        try:
            held.acquire(blocking=False)
        except Timeout:
            return None
        return held

    def _lines(self, path: Path) -> list[Record]:
        """Return the records of a published file; broken lines are reported and left out."""
        try:
            records, broken = _parsed(path)
        except StoreError as error:
            records, broken = [], [error]
        for problem in broken:
            self._report(problem)
        return records

    def _local(self, path: Path) -> list[Record]:
        """Return the record of a file of this machine; none if it is not there, or broken."""
        try:
            record = Record.from_json(_text(path), str(path))
            if record.key != path.stem:
                raise StoreError(f"{path} holds the record of another trial: remove it")
        except FileNotFoundError:
            return []
        except StoreError as error:
            self._report(error)
            return []
        return [record]

    def _report(self, problem: StoreError) -> None:
        """Warn of a broken file, once per store."""
        line = str(problem)
        if line not in self._reported:
            self._reported.add(line)
            logger.warning("warning: %s", line)


def _order(record: Record) -> tuple[tuple[str, ...], int, str]:
    return record.systems, record.seed, record.key


def _newest(records: Iterable[Record]) -> dict[Trial, Record]:
    """Return the newest record of each trial, of its task's latest version."""
    by_trial: dict[Trial, Record] = {}
    for record in records:
        known = by_trial.get(_place(record))
        if known is None or _age(record) > _age(known):
            by_trial[_place(record)] = record
    return by_trial


def _place(trial: Trial | Record) -> Trial:
    """Return a trial without the version of its task: records of others are outdated, not more."""
    return replace(trial.trial if isinstance(trial, Record) else trial, version=0)


def _age(record: Record) -> tuple[int, str]:
    return record.version, record.started


def _publish(path: Path, records: Iterable[Record]) -> PublishedFile:
    with locked(path):
        known = _read_whole(path)
        added = replaced = kept = 0
        for record in records:
            old = known.get(_place(record))
            if old is not None and _age(record) <= _age(old):
                continue
            if old is not None and old.git.commit and not record.git.commit:
                kept += 1
                continue
            added, replaced = added + (old is None), replaced + (old is not None)
            known[_place(record)] = record
        if added or replaced:
            _write(path, known.values())
    dirty = sum(record.git.dirty is not False for record in known.values())
    return PublishedFile(path, added, replaced, kept, len(known), dirty)


def _write(path: Path, records: Iterable[Record]) -> None:
    lines = (record.to_json() + "\n" for record in sorted(records, key=_order))
    write_atomically(path, "".join(lines))


def _read_whole(path: Path) -> dict[Trial, Record]:
    """Return the records of a published file by trial; none if it is not there.

    Raises:
        StoreError: if it cannot be read or one of its lines is broken.
    """
    records, broken = _parsed(path)
    if broken:
        raise broken[0]
    return _newest(records)


def _parsed(path: Path) -> tuple[list[Record], list[StoreError]]:
    """Return records and broken lines of a published file as it is now; kept while it stays so."""
    try:
        status = path.stat()
        return _parse(path, status.st_mtime_ns, status.st_size, status.st_ino)
    except FileNotFoundError:
        return [], []


@lru_cache(maxsize=256)
def _parse(path: Path, *state: int) -> tuple[list[Record], list[StoreError]]:
    records, broken = [], []
    # not splitlines(): U+2028, U+2029 and U+0085 may stand inside a line of JSON
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            try:
                records.append(Record.from_json(line, f"{path}, line {number},"))
            except StoreError as error:
                broken.append(error)
    return records, broken


def _text(path: Path) -> str:
    """Return what a file says.

    Raises:
        FileNotFoundError: if it is not there.
        StoreError: if it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise
    except UnicodeDecodeError:
        raise StoreError(
            f"{path} is not text in UTF-8: remove it, or restore it from git"
        ) from None
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read ({error.strerror}): remove it or mend its rights"
        ) from error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file that several processes change.

    It lies beside the file, so that it is one lock whatever build folder each process has.

    Raises:
        StoreError: if it cannot be written there.
    """
    _make_folder(path.parent)
    _remove_leftovers(path.parent)
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire()
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        lock.release()


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers, and a kill at any moment, see the old or the new one whole.

    Raises:
        StoreError: if it cannot be written; nothing half-written stays.
    """
    name = f".{path.name[:80]}~{socket.gethostname()}~{os.getpid()}~{uuid.uuid4().hex}~.tmp"
    temporary = path.parent / name
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        raise StoreError(
            f"{path} cannot be written: a text in it holds {half}, half a character: correct the "
            "name that it comes from"
        ) from error
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of processes that were killed while writing."""
    for path in folder.glob(".*~.tmp"):
        try:
            import psutil  # a command that only reads seldom comes here

            _, host, pid, _, _ = path.name.split("~")
            here = host == socket.gethostname()
            old = time.time() - path.stat().st_mtime > FORGOTTEN_SECONDS
            if old or (here and not psutil.pid_exists(int(pid))):
                path.unlink(missing_ok=True)
        except (OSError, ValueError, OverflowError):
            continue  # renamed meanwhile, in a folder to read only, or not one of ours


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}; {ELSEWHERE}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(f"{folder} cannot be written in; {ELSEWHERE}")
