"""Word vectors in the text format of fastText and MUSE (``.vec``).

Memory: 31 languages x 200,000 words x 300 dimensions x 4 bytes = 7.44 GB would just stay under
8 GB, without the words. So a file is converted once into a float32 array on disk and mapped into
memory; what is resident are the words, and the pages of vectors that are looked up.
"""

import codecs
import unicodedata
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from xlrepro.artefacts import built, file_hash
from xlrepro.data.readers.text_files import malformed
from xlrepro.data.registry import note_supplied
from xlrepro.vectors.tables import VectorSet, load_set, save_language

VERSION = 1  # raised when the code changes what is kept


def load_vec(paths: Mapping[str, Path], limit: int = 200_000) -> VectorSet:
    """Read aligned vectors of several languages, the ``limit`` most frequent words of each.

    A file is parsed once per content; then its vectors come memory-mapped from the cache.

    Args:
        paths: language to supplied ``.vec`` file; English among them.
        limit: words read per language; the files list the most frequent first.

    Raises:
        DataError: if a file is missing or malformed.
        SettingsError: if the languages differ in dimensions.
    """
    return load_set("vec", {code: _converted(code, path, limit) for code, path in paths.items()})


def _converted(language: str, path: Path, limit: int) -> Path:
    recipe = {"version": VERSION, "file": file_hash(note_supplied(path)), "limit": limit}
    # (words, dim): 200,000 x 300 x 4 bytes = 240 MB
    return built("vec", language, recipe, lambda to: save_language(to, *read_vec(path, limit)))


def read_vec(path: Path, limit: int = 200_000) -> tuple[list[str], np.ndarray]:
    """Return the words of a ``.vec`` file and their vectors, float32 ``(words, dim)``.

    Words are in Unicode's NFC, as all text is that is looked up. One that comes again, as a few do,
    is left out: the first is the more frequent.

    Raises:
        DataError: for the first wrong line, with its number: too few or too many values, one that
            is no finite number, another number of words than the first line states.
    """
    number, rows = 1, dict[str, np.ndarray]()
    try:
        with path.open("rb") as stream, np.errstate(over="ignore"):  # 1e39 becomes infinite
            header = stream.readline(100).removeprefix(codecs.BOM_UTF8)
            count, dim = (int(size) for size in header.split())
            wanted = max(0, min(count, limit))
            for number, line in enumerate(islice(stream, wanted), 2):  # noqa: B007
                word, *values = line.rstrip().decode().split(" ")
                row = np.array(values, dtype=np.float32)
                sound = word and dim and row.shape == (dim,) and np.isfinite(row).all()
                if not sound or line[-1:] != b"\n":
                    raise ValueError(f"expected a word and {dim} finite numbers, then a line end")
                rows.setdefault(unicodedata.normalize("NFC", word).replace("\r", " "), row)
            if not rows or number <= wanted or (count < limit and stream.read(1)):
                raise ValueError(f"expected the {count:,} words of line 1, and no more")
    except (OSError, ValueError) as error:
        raise malformed(path, number, " ".join(f"no word vectors ({error})".split())) from None
    return list(rows), np.array([*rows.values()])
