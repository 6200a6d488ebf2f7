"""The store: one file per record; a kill at any moment leaves whole records or none."""

import logging
import os
import socket
import time
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from xlrepro.errors import StoreError
from xlrepro.paths import build_dir, check_folder, data_dir
from xlrepro.trials.published import PublishedLines, lines_of
from xlrepro.trials.record import Record
from xlrepro.trials.trial import PUBLISHED

logger = logging.getLogger("xlrepro")

ELSEWHERE = "set XLREPRO_BUILD to a folder you can write in"
SETTLED_NS = 1_000_000_000  # of a folder's time: coarser than any clock of a file system
FORGOTTEN_SECONDS = 86_400.0  # a temporary file of another machine is removed after a day


@dataclass(frozen=True)
class PublishedFile:
    """What one call of `RecordStore.publish` did to one file.

    Attributes:
        path: ``data/results/<paper>/<experiment>.<profile>.jsonl``.
        added: records that were not there before.
        replaced: records that a newer one of the same key took the place of.
        total: records now in the file.
        dirty: those of them whose sources differed from the commit they name.
    """

    path: Path
    added: int
    replaced: int
    total: int
    dirty: int


class RecordStore:
    """Records by the key of their trial: those made here, and those published with the project.

    Args:
        root: folder of this machine's records; default ``build/records``.
        published: folder of published records; default ``data/results``.

    Raises:
        SettingsError: if the place of the records is no folder, or cannot be reached.

    Example:
        >>> store = RecordStore(Path("build/records"), Path("data/results"))  # doctest: +SKIP
        >>> store.get("0" * 64) is None  # doctest: +SKIP
        True
    """

    def __init__(self, root: Path | None = None, published: Path | None = None) -> None:
        self.root = Path(root) if root is not None else build_dir() / "records"
        self.published = Path(published) if published is not None else data_dir() / "results"
        self._reported: set[str] = set()
        self._listed: tuple[int, dict[str, Record]] | None = None
        check_folder(self.root)
        self._remove_leftovers()

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

    def get(self, key: str) -> Record | None:
        """Return the record of ``key``: the newer of the one made here and the published one.

        A broken file is named in a warning and counts as no record.
        """
        published = (lines.get(key, self._report) for lines in self._published_lines())
        copies = (self._read_local(self.path(key)), next(filter(None, published), None))
        return max(filter(None, copies), key=lambda record: record.started, default=None)

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

    def records(self, experiment: str | None = None, profile: str | None = None) -> list[Record]:
        """Return all records, stale ones too, by (experiment, profile, systems, seed, key)."""
        files = self._published_lines(f"{experiment or '*/*'}.{profile or '*'}.jsonl")
        by_key = {record.key: record for lines in files for record in lines.records(self._report)}
        for key, record in self._local_records().items():
            by_key[key] = max(record, by_key.get(key, record), key=lambda r: r.started)
        chosen = [
            record
            for record in by_key.values()
            if experiment in (None, record.experiment) and profile in (None, record.profile)
        ]
        return sorted(chosen, key=lambda r: (r.experiment, r.profile, r.systems, r.seed, r.key))

    def publish(
        self,
        experiments: Collection[str] | None = None,
        profiles: Collection[str] = PUBLISHED,
        keys: Collection[str] | None = None,
    ) -> list[PublishedFile]:
        """Gather finished records into ``data/results/<paper>/<experiment>.<profile>.jsonl``.

        What is published already stays; a newer record of the same key takes its place.

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
        for key, record in self._local_records().items():
            wanted = experiments is None or record.experiment in experiments
            if wanted and record.profile in profiles and (keys is None or key in keys):
                groups.setdefault((record.experiment, record.profile), []).append(record)
        return [
            self._publish_one(self.published_path(*address), records)
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
            known = _read_whole(path) if path.exists() else {}
            kept = [record for key, record in known.items() if key not in keys]
            if len(kept) < len(known):
                write_atomically(path, "".join(record.to_json() + "\n" for record in kept))
        return len(known) - len(kept)

    def published_keys(self, experiment: str, profile: str) -> set[str]:
        """Return the keys of an experiment's published records."""
        files = self._published_lines(f"{experiment}.{profile}.jsonl")
        return {record.key for lines in files for record in lines.records(self._report)}

    def published_path(self, experiment: str, profile: str) -> Path:
        """Return ``<published>/<paper>/<experiment>.<profile>.jsonl``."""
        return self.published / f"{experiment}.{profile}.jsonl"

    def lock(self, key: str) -> BaseFileLock | None:
        """Take the lock of one trial without waiting.

        Returns:
            The lock, held until its ``release()`` or this process's end; ``None`` if another run
            holds it.
        """
        held = FileLock(self._lock_path(key), thread_local=False)
        try:
            held.acquire(blocking=False)
        except Timeout:
            return None
        return held

    def _lock_path(self, name: str) -> Path:
        folder = self.root / ".locks"
        _make_folder(folder)
        return folder / f"{name}.lock"

    def _publish_one(self, path: Path, records: Iterable[Record]) -> PublishedFile:
        with locked(path):
            known = _read_whole(path) if path.exists() else {}
            added = replaced = 0
            for record in records:
                old = known.get(record.key)
                if old is None:
                    added += 1
                elif record.started > old.started:
                    replaced += 1
                else:
                    continue
                known[record.key] = record
            ordered = sorted(known.values(), key=lambda r: (r.systems, r.seed, r.key))
            if added or replaced:
                write_atomically(path, "".join(record.to_json() + "\n" for record in ordered))
        dirty = sum(record.git.dirty is not False for record in ordered)
        return PublishedFile(path, added, replaced, len(ordered), dirty)

    def _published_lines(self, pattern: str = "*/*.jsonl") -> Iterator[PublishedLines]:
        for path in sorted(self.published.glob(pattern)):
            try:
                yield lines_of(path)
            except (OSError, UnicodeDecodeError) as error:
                self._report(_unreadable(path, error))

    def _local_records(self) -> dict[str, Record]:
        """Return the records made here by key; the folder is read again once it has changed.

        Records come and go by renaming alone, which moves the folder's time. A folder that changed
        a moment ago may change again within one tick of its clock, and is not remembered.
        """
        try:
            changed = self.root.stat().st_mtime_ns
        except FileNotFoundError:
            return {}
        if self._listed is None or self._listed[0] != changed:
            read = {path.stem: self._read_local(path) for path in sorted(self.root.glob("*.json"))}
            records = {key: record for key, record in read.items() if record is not None}
            settled = time.time_ns() - changed > SETTLED_NS
            self._listed = (changed if settled else -1, records)
        return self._listed[1]

    def _read_local(self, path: Path) -> Record | None:
        try:
            record = Record.from_json(path.read_text(encoding="utf-8"), str(path))
            if record.key != path.stem:
                raise StoreError(f"{path} holds the record of another trial: remove it")
        except FileNotFoundError:
            return None
        except (StoreError, OSError, UnicodeDecodeError) as error:
            self._report(error if isinstance(error, StoreError) else _unreadable(path, error))
            return None
        return record

    def _report(self, problem: StoreError) -> None:
        """Warn of a broken file, once per store."""
        line = str(problem)
        if line not in self._reported:
            self._reported.add(line)
            logger.warning("warning: %s", line)

    def _remove_leftovers(self) -> None:
        """Remove temporary files of processes that were killed while writing."""
        for path in self.root.glob(".*.tmp"):
            host, pid = path.name.split("~")[1:3] if path.name.count("~") == 4 else ("", "0")
            try:
                import psutil  # a command that only reads seldom comes here

                here = host == socket.gethostname()
                old = time.time() - path.stat().st_mtime > FORGOTTEN_SECONDS
                if old or (here and not psutil.pid_exists(int(pid))):
                    path.unlink(missing_ok=True)
            except (OSError, ValueError, OverflowError):
                continue  # renamed meanwhile, in a folder to read only, or not one of ours


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file that several processes change.

    It lies beside the file, so that it is one lock whatever build folder each process has.

    Raises:
        StoreError: if it cannot be written there.
    """
    _make_folder(path.parent)
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
        _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}; {ELSEWHERE}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(f"{folder} cannot be written in; {ELSEWHERE}")


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> StoreError:
    if isinstance(error, UnicodeDecodeError):
        return StoreError(f"{path} is not text in UTF-8: remove it, or restore it from git")
    return StoreError(f"{path} cannot be read ({error.strerror}): remove it or mend its rights")


def _read_whole(path: Path) -> dict[str, Record]:
    """Return the records of a published file by key.

    Raises:
        StoreError: if it cannot be read or one of its lines is broken.
    """
    broken: list[StoreError] = []
    try:
        records = {record.key: record for record in lines_of(path).records(broken.append)}
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    if broken:
        raise broken[0]
    return records
