"""One process at a time in a folder of the build."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SettingsError(
            f"{folder} cannot be written ({error.strerror}): set XLREPRO_BUILD to a folder you can "
            "write in"
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another process {what} in {folder}: waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks: whoever shares it keeps order himself
        yield
    finally:
        with suppress(OSError):
            os.close(handle)
