"""One process at a time in a folder of the build."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from xlrepro.errors import SettingsError

NAME = ".lock"


@contextmanager
def only_one(folder: Path, what: str, report: Callable[[str], None]) -> Iterator[None]:
    """Hold ``folder`` for oneself; wait, with a line that says so, while another process does.

    The lock goes when its process ends, however it ends.

    Args:
        folder: is made if it is not there.
        what: the holder does, ``"runs notebooks"``.
        report: called with that line.

    Raises:
        SettingsError: if the folder cannot be written.
    """
    lock = FileLock(folder / NAME)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            report(f"another process {what} in {folder}: waiting for it")
            lock.acquire()
    except OSError as error:
        raise SettingsError(
            f"{folder} cannot be written ({error.strerror}): set XLREPRO_BUILD to a folder you can "
            "write in"
        ) from None
    try:
        yield
    finally:
        lock.release()
