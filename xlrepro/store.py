"""The store: one file per record; a kill at any moment leaves whole records or none."""

import logging
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from xlrepro.errors import StoreError
from xlrepro.paths import build_dir, data_dir
from xlrepro.trials import Record, Trial

logger = logging.getLogger("xlrepro")


class RecordStore:
    """Records by the key of their trial: those made here, and those published with the project.

    Args:
        root: folder of this machine's records; default ``build/records``.
        published: folder of published records; default ``data/results``.
    """

    def __init__(self, root: Path | None = None, published: Path | None = None) -> None:
        self.root = Path(root) if root is not None else build_dir() / "records"
        self.published = Path(published) if published is not None else data_dir() / "results"

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

    def get(self, trial: Trial) -> Record | None:
        """Return a trial's record: the newest of those made here and published.

        Where there is none of its version, a published one of another, which is outdated.

        A broken file is named in a warning and counts as no record.
        """
        published = _lines(self.published_path(trial.experiment, trial.profile))
        return _newest([*published, *_lines(self.path(trial.key))]).get(trial.place)

    def records(self, experiment: str | None = None, profile: str | None = None) -> list[Record]:
        """Return all records, outdated ones too, by (experiment, profile, systems, seed, key)."""
        files = sorted(self.published.glob(f"{experiment or '*/*'}.{profile or '*'}.jsonl"))
        found = [record for path in files for record in _lines(path)]
        for (table, scale), own in _by_table(_listed(self.root)).items():
            found += own if experiment in (None, table) and profile in (None, scale) else ()
        return sorted(_newest(found).values(), key=lambda r: (r.experiment, r.profile, *_order(r)))

    def check_writable(self) -> None:
        """Make the folders that a run writes into, before it trains anything.

        A megabyte is written to each and deleted: a full disk still takes empty files.

        Raises:
            StoreError: if one of them cannot be made or written in.
        """
        for folder in (self.root / ".locks", self.log_path("").parent, self.scratch):
            try:
                write_atomically(folder / ".written", " " * 2**20)
                (folder / ".written").unlink(missing_ok=True)
            except StoreError as error:
                raise StoreError(f"{error}: make room, or set XLREPRO_BUILD elsewhere") from error

    def put(self, record: Record) -> None:
        """Write one record: temporary file, fsync, rename, fsync of the folder.

        Raises:
            StoreError: if it cannot be written.
        """
        write_atomically(self.path(record.key), record.to_json() + "\n")

    def publish(
        self, experiment: str, profile: str, records: Iterable[Record], withdraw: bool = False
    ) -> Counter[str]:
        """Put records into the published file of their experiment and profile.

        What is published already stays; a newer record of the same trial takes its place, unless
        it names no commit and the older one does.

        Args:
            experiment: its key.
            profile: which.
            records: what is to be published, whether or not it is.
            withdraw: whether records of other trials are taken out; git keeps them.

        Returns:
            How many were ``added``, ``replaced`` by a newer one, ``kept`` because the newer one
            knew less, and ``withdrawn``; how many are there now in ``total``, and of these
            ``dirty``: on code that differed from the commit they name.

        Raises:
            StoreError: if the published file is broken (nothing of it is overwritten) or cannot be
                written.
        """
        path = self.published_path(experiment, profile)
        wanted = {record.trial.place: record for record in records}
        with locked(path):
            before, broken = _parsed(path)
            if broken:
                raise broken[0]
            known = _newest(before)
            others = known.keys() - wanted.keys() if withdraw else ()
            for place in others:
                del known[place]
            counts = Counter(withdrawn=len(others))
            for place, record in wanted.items():
                old = known.get(place)
                if old is not None and _age(record) <= _age(old):
                    continue
                if old is not None and old.git.commit and not record.git.commit:
                    counts["kept"] += 1
                    continue
                counts["replaced" if old else "added"] += 1
                known[place] = record
            if counts["added"] or counts["replaced"] or others:
                lines = (f"{r.to_json()}\n" for r in sorted(known.values(), key=_order))
                write_atomically(path, "".join(lines))
        counts["total"] = len(known)
        counts["dirty"] = sum(record.git.dirty is not False for record in known.values())
        return counts

    def published_path(self, experiment: str, profile: str) -> Path:
        """Return ``<published>/<paper>/<experiment>.<profile>.jsonl``."""
        return self.published / f"{experiment}.{profile}.jsonl"

    def lock(self, key: str) -> BaseFileLock | None:
        """Take the lock of one trial without waiting.

        Returns:
            The lock, held until its ``release()`` or this process's end; ``None`` if another run
            holds it.
        """
        (self.root / ".locks").mkdir(parents=True, exist_ok=True)
        held = FileLock(self.root / ".locks" / f"{key}.lock", thread_local=False)
        try:
            held.acquire(blocking=False)
        except Timeout:
            return None
        return held


def _lines(path: Path) -> list[Record]:
    """Return the records of a file; broken lines are reported and left out."""
    records, broken = _parsed(path)
    for problem in broken:
        _report(str(problem))
    return records


def _listed(folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    """Return the files of the records in a folder, each with what changes when it does."""
    found = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # gone meanwhile
                now = entry.stat()
                found.append((entry.path, now.st_mtime_ns, now.st_size, now.st_ino))
    return tuple(sorted(file for file in found if file[0].endswith(".json")))


@lru_cache(maxsize=8)
def _by_table(files: tuple[tuple[str, int, int, int], ...]) -> dict[tuple[str, str], list[Record]]:
    tables = defaultdict[tuple[str, str], list[Record]](list)
    for path, *_ in files:
        for record in _lines(Path(path)):
            tables[record.experiment, record.profile].append(record)
    return tables


@lru_cache
def _report(problem: str) -> None:
    """Warn of a broken file, once."""
    logger.warning("warning: %s", problem)


def _order(record: Record) -> tuple[tuple[str, ...], int, str]:
    return record.systems, record.seed, record.key


def _newest(records: Iterable[Record]) -> dict[Trial, Record]:
    """Return the newest record of each trial, of its task's latest version."""
    by_trial: dict[Trial, Record] = {}
    for record in records:
        known = by_trial.get(record.trial.place)
        if known is None or _age(record) > _age(known):
            by_trial[record.trial.place] = record
    return by_trial


def _age(record: Record) -> tuple[int, str]:
    return record.version, record.started


def _parsed(path: Path) -> tuple[list[Record], list[StoreError]]:
    """Return records and broken lines of a file as it is now; kept while it stays so."""
    try:
        status = path.stat()
        return _parse(path, status.st_mtime_ns, status.st_size, status.st_ino)
    except FileNotFoundError:
        return [], []
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "no text in UTF-8"
        return [], [StoreError(f"{path} cannot be read ({why}): remove it or restore it")]


@lru_cache(maxsize=2**16)  # fewer than the files, and every pass would read them all again
def _parse(path: Path, *state: int) -> tuple[list[Record], list[StoreError]]:
    records, broken = [], []
    # not splitlines(): U+2028, U+2029 and U+0085 may stand inside a line of JSON
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.strip():
            try:
                records.append(Record.from_json(line, f"{path}, line {number},"))
            except StoreError as error:
                broken.append(error)
    if not (records or broken):
        broken.append(StoreError(f"{path} is empty: remove it or restore it"))
    return records, broken


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file that several processes change.

    It lies beside the file, so that it is one lock whatever build folder each process has.

    Raises:
        StoreError: if it cannot be written there.
    """
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
    try:
        for left in path.parent.glob(f".{path.name}.*.tmp"):  # by a process that was killed
            left.unlink(missing_ok=True)
        yield
    finally:
        lock.release()


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers, and a kill at any moment, see the old or the new one whole.

    Raises:
        StoreError: if it cannot be written; nothing half-written stays.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except (OSError, UnicodeError) as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"{path} cannot be written: {why}") from error
