"""English and French vectors as published (GloVe, spaCy), French mapped into the English space.

The nearest thing to the vectors of the word-order paper (fastText of Wikipedia, aligned by RCSLS)
that anyone may download: learnt from running text, no dictionary in them but that of the map.
French is reduced to the 100 dimensions of English by its principal components.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from xlrepro.artefacts import built
from xlrepro.data import registry
from xlrepro.data.readers.vec import read_vec
from xlrepro.errors import SettingsError
from xlrepro.vectors.open import lexicon, sources
from xlrepro.vectors.open.lexicon import centred_unit_rows, pair_rows, unit_rows
from xlrepro.vectors.tables import VectorSet, load_language, load_set, save_language

DISTRIBUTIONAL = "distributional"  # the vectors' name
DATASET = "word-vectors-en-fr"
SOURCE, TARGET = "en", "fr"
# Of RCSLS: the first pairs of the MUSE dictionary that have vectors; rate and epochs by P@1 on the
# pairs of 1,500 English words of these, left out: 44.8 %, after Procrustes alone 40.3 %.
PAIRS, RATE, EPOCHS = 20_000, 10.0, 10
FREQUENT = 20_000  # words of each side that neighbours come from


def load(languages: Sequence[str] = ()) -> VectorSet:
    """Return the vectors of both languages; they are fetched, and French is mapped, on first use.

    Args:
        languages: that will be looked up.

    Raises:
        SettingsError: for a language that has none.
        DataError: if a file they are made from cannot be had.
    """
    if unknown := ", ".join(sorted({*languages} - {SOURCE, TARGET})):
        raise SettingsError(
            f"vectors {DISTRIBUTIONAL!r} are of {SOURCE} and {TARGET}: not {unknown}"
        )
    return load_set(DISTRIBUTIONAL, {code: _folder(code) for code in (SOURCE, TARGET)})


def _folder(language: str) -> Path:
    recipe = {"version": 1, "file": registry.content_hash(DATASET, language)}
    if language == TARGET:
        dictionary = sources.registered_hash(str(sources.muse_path(TARGET)))
        recipe |= {"source": registry.content_hash(DATASET, SOURCE), "dictionary": dictionary}
        recipe |= {"rcsls": [PAIRS, RATE, EPOCHS, FREQUENT]}
    return built(DISTRIBUTIONAL, language, recipe, partial(_build, language))


def _build(language: str, folder: Path) -> None:
    words, vectors = read_vec(registry.fetch(DATASET, language))
    matrix = centred_unit_rows(vectors)
    if language == TARGET:
        source_words, source_matrix = load_language(_folder(SOURCE))
        seed = pair_rows(lexicon.muse_untested(TARGET), words, source_words)[:PAIRS]
        matrix = mapped(matrix, np.asarray(source_matrix), seed)
    save_language(folder, words, matrix)


def mapped(x: np.ndarray, y: np.ndarray, seed: np.ndarray) -> np.ndarray:
    """Reduce vectors to the dimensions of another language's, and map them into its space.

    Args:
        x: foreign vectors, centred rows of length 1, ``(n, more dimensions)``.
        y: source-language vectors, likewise, ``(m, dim)``.
        seed: (row of x, row of y), int64 ``(pairs, 2)``.

    Returns:
        Rows of length 1, ``(n, dim)``.
    """
    from xlrepro.vectors.mappings.csls import rcsls  # torch: only where something is trained

    _, axes = np.linalg.eigh(x.T @ x)  # ascending
    reduced = centred_unit_rows(x @ axes[:, : -y.shape[1] - 1 : -1])
    w = rcsls(reduced, y, seed, rate=RATE, epochs=EPOCHS, frequent=FREQUENT)
    return unit_rows(reduced @ w)
