"""Text files as numbered lines, and the one line that says what is wrong with one of them."""

from pathlib import Path

from xlrepro.errors import DataError


def malformed(path: Path, line: int, expected: str) -> DataError:
    """Return the error for line ``line`` (from 1) of ``path``, which is not as ``expected``."""
    return DataError(f"{path}:{line}: {expected}; the file is damaged or of another format")


def read_text_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    r"""Return the lines of a text file without their ends (``\n`` or ``\r\n``).

    Only these two end a line: other separators of Unicode (U+2028, U+0085) occur within tokens.

    Args:
        path: the file.
        encoding: its encoding, such as ``"latin-1"``. A byte order mark of UTF-8 is dropped.

    Raises:
        DataError: if the file cannot be read, or is not text of this encoding.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): check the path") from error
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise malformed(path, line, f"expected text in {encoding}: {error.reason}") from error
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines
