"""Files of published records: a line is parsed when it is asked for, and once per process."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from xlrepro.errors import StoreError
from xlrepro.trials.record import Record

KEY = re.compile(r'"key": "([0-9a-f]{64})"')

OnError = Callable[[StoreError], None]


class PublishedLines:
    """The lines of one file, by the key of their record.

    Args:
        path: of the file.
        lines: its text, line by line.
    """

    def __init__(self, path: Path, lines: list[str]) -> None:
        self._path = path
        self._lines = lines
        matches = {number: KEY.search(line) for number, line in enumerate(lines)}
        self._numbers = {match[1]: number for number, match in matches.items() if match}

    def get(self, key: str, on_error: OnError) -> Record | None:
        """Return the record of a key; a broken line goes to ``on_error`` and counts as none."""
        number = self._numbers.get(key)
        record = None if number is None else self._read(number, on_error)
        return record if record is not None and record.key == key else None

    def records(self, on_error: OnError) -> Iterator[Record]:
        """Return all records; each broken line goes to ``on_error``."""
        numbers = (number for number, line in enumerate(self._lines) if line.strip())
        return filter(None, (self._read(number, on_error) for number in numbers))

    def _read(self, number: int, on_error: OnError) -> Record | None:
        try:
            return Record.from_json(self._lines[number], f"{self._path}, line {number + 1},")
        except StoreError as error:
            on_error(error)
            return None


def lines_of(path: Path) -> PublishedLines:
    """Return the lines of a file as it is now.

    Raises:
        OSError, UnicodeDecodeError: if it cannot be read.
    """
    status = path.stat()
    return _lines(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=256)
def _lines(path: Path, mtime_ns: int, size: int, inode: int) -> PublishedLines:
    # not splitlines(): U+2028, U+2029 and U+0085 may stand inside a line of JSON
    return PublishedLines(path, path.read_text(encoding="utf-8").split("\n"))
