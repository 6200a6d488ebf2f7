"""Word vectors in the text format of fastText and MUSE (``.vec``).

Memory: 31 languages x 200,000 words x 300 dimensions x 4 bytes = 7.44 GB would just stay under
8 GB, without the words. So a file is converted once into a float32 array on disk and mapped into
memory; what is resident are the words, and the pages of vectors that are looked up.
"""

from collections.abc import Mapping
from pathlib import Path

from xlrepro.artefacts import built, file_hash
from xlrepro.data.readers.vec import read_vec
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
