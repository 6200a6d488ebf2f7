"""Word vectors in the text format of fastText and MUSE (``.vec``), read line by line.

Memory: 31 languages x 200,000 words x 300 dimensions x 4 bytes = 7.44 GB would just stay under
8 GB, without the words. So a file is converted once into a float32 array on disk and mapped into
memory; what is resident are the words, and the pages of vectors that are looked up. gensim's reader
does not serve: a few words of the published files hold a space, at which it stops.
"""

import lzma
import unicodedata
import zlib
from collections.abc import Iterator, Mapping
from gzip import open as open_gzip
from pathlib import Path
from typing import IO

import numpy as np

from xlrepro.artefacts import built, file_hash
from xlrepro.data.registry import note_supplied
from xlrepro.errors import DataError
from xlrepro.paths import supplied_dir
from xlrepro.vectors.tables import VectorSet, load_set, save_language

VERSION = 1  # raised when the code changes what is kept
MOST_DIGITS = 12
MOST_DIMENSIONS = 100_000


def load_vec(paths: Mapping[str, Path], limit: int = 200_000) -> VectorSet:
    """Read aligned vectors of several languages, the ``limit`` most frequent words of each.

    A file is parsed once per content; then its vectors come memory-mapped from the cache.

    Args:
        paths: language to ``.vec`` file, plain, ``.gz`` or ``.xz``; English among them.
        limit: words read per language; the files list the most frequent first.

    Raises:
        DataError: if a file is missing or a line is malformed, with file and line number.
        SettingsError: if the languages differ in dimensions or English is not among them.
    """
    return load_set("vec", {code: _converted(code, path, limit) for code, path in paths.items()})


def _converted(language: str, path: Path, limit: int) -> Path:
    try:
        content = file_hash(path)
    except OSError as error:
        raise DataError(f"no word vectors at {path}: {error.strerror}") from None
    if path.is_relative_to(supplied_dir()):
        note_supplied(path)

    def build(folder: Path) -> None:
        # (words, dim): 200,000 x 300 x 4 bytes = 240 MB
        rows = list(read_vec(path, limit))
        matrix = np.stack([vector for _, vector in rows])
        save_language(folder, [word.replace("\r", " ") for word, _ in rows], matrix)

    recipe = {"version": VERSION, "file": content, "limit": limit}
    return built("vec", language, recipe, build)


def read_vec(path: Path, limit: int = 200_000) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the words of a ``.vec`` file and their vectors, float32 ``(dim,)``, in its order.

    The first line holds the number of words and of dimensions. Words are in Unicode's NFC, as all
    text is that is looked up. One that comes again, as a few do, is left out: the first is the more
    frequent.

    Raises:
        DataError: for a malformed line or a value that is not finite, with file and line number;
            if there are fewer words than the first line says, or more.
    """
    count, dim, rows = _rows(path)
    seen: set[str] = set()
    number = 1
    for number, line in enumerate(rows, start=2):
        if len(seen) >= limit:
            return
        if number > count + 1:
            raise DataError(f"{path}:1: says {count} words but has more: get the file again")
        word, vector = _row(path, number, line, dim)
        if word not in seen:
            seen.add(word)
            yield word, vector
    if len(seen) < limit and number < count + 1:
        raise DataError(
            f"{path} ends after {number - 1} of the {count} words that its first line states: get "
            "the file again"
        )


def _rows(path: Path) -> tuple[int, int, Iterator[bytes]]:
    """Return the numbers of words and dimensions that a file states, and its other lines."""
    lines = _lines(path)
    count, dim = _header(path, next(lines, b""))
    return count, dim, lines


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, unpacked; whatever is wrong with the packing is a DataError."""
    try:
        with _opened(path) as stream:
            yield from stream
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path} cannot be read as word vectors: {error}") from None


def _opened(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return open_gzip(path, "rb")  # type: ignore[return-value]
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    return open(path, "rb")


def _header(path: Path, line: bytes) -> tuple[int, int]:
    fields = line.split()
    if len(fields) != 2 or not all(f.isdigit() and len(f) <= MOST_DIGITS for f in fields):
        raise DataError(f"{path}:1: expected the number of words and the number of dimensions")
    count, dim = int(fields[0]), int(fields[1])
    if not (count and 0 < dim <= MOST_DIMENSIONS):
        raise DataError(f"{path}:1: says {count} words of {dim} dimensions: get the file again")
    return count, dim


def _row(path: Path, number: int, line: bytes, dim: int) -> tuple[str, np.ndarray]:
    # From the right: a few words of the published files hold a space themselves.
    fields = line.rstrip().rsplit(b" ", dim)
    if len(fields) != dim + 1:
        raise DataError(f"{path}:{number}: expected a word and {dim} numbers")
    try:
        with np.errstate(over="ignore"):  # 1e39 becomes infinite, and is refused as such
            vector = np.array(fields[1:], dtype=np.float32)
        word = unicodedata.normalize("NFC", fields[0].decode("utf-8"))
    except ValueError:
        raise DataError(
            f"{path}:{number}: expected a word in UTF-8 and {dim} numbers separated by spaces"
        ) from None
    if not np.isfinite(vector).all():
        raise DataError(f"{path}:{number}: expected finite numbers: get the file again")
    return word, vector
