"""Word vectors in the text format of fastText and MUSE (``.vec``)."""

import codecs
import unicodedata
from itertools import islice
from pathlib import Path

import numpy as np

from xlrepro.data.readers.text_files import malformed


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
