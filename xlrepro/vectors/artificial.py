"""Word vectors of the artificial languages, by the code path of the open vectors.

The family knows the true translation of every word, so alignment can be checked against the truth.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xlrepro.artificial import Family
from xlrepro.errors import SettingsError
from xlrepro.precision import working_dtype
from xlrepro.vectors.counted import counted
from xlrepro.vectors.normalise import word_form
from xlrepro.vectors.open import lexicon
from xlrepro.vectors.open.skipgram import SkipGram, train
from xlrepro.vectors.open.vectors import mapped
from xlrepro.vectors.tables import VectorSet

SOURCE = "en"


def load(
    family: Family,
    codes: Sequence[str],
    dim: int = 50,
    name: str = "dictionary",
    *,
    sentences: int = 800,
) -> VectorSet:
    """Make vectors for artificial languages; seconds, so nothing is cached.

    Args:
        family: the languages' family.
        codes: the languages; English is always among them.
        dim: dimensions of the vectors.
        name: ``"dictionary"`` (weighted means of translations) or ``"mapped"`` (each language's
            own skip-gram, mapped by an orthogonal map from the dictionary).
        sentences: of plain text per trained language.

    Raises:
        SettingsError: for an unknown name.
    """
    if name not in ("dictionary", "mapped"):
        raise SettingsError(f"artificial languages have no {name!r}: use dictionary or mapped")
    # Text this small has few repeats: frequent words are thinned out less than in real text.
    settings = SkipGram(dim=dim, epochs=5, min_count=1, sample=1e-3, max_words=50_000)
    source_words, source_matrix = monolingual(family, SOURCE, sentences, settings)
    words, matrices = {SOURCE: source_words}, {SOURCE: source_matrix}
    rows = {word: row for row, word in enumerate(source_words)}
    for code in dict.fromkeys(codes):
        if code == SOURCE:
            continue
        pairs = dictionary(family, code)
        if name == "dictionary":
            table = lexicon.mix((pair for pair in pairs if pair[0] in rows), [], frozenset(rows))
            table |= lexicon.shared_strings([], table, source_words)
            words[code], matrices[code] = lexicon.dictionary_vectors(table, rows, source_matrix)
        else:
            words[code], matrix = monolingual(family, code, sentences, settings)
            own, source = (words[code], matrix), (source_words, source_matrix)
            matrices[code] = mapped(own, source, pairs)
    return VectorSet(name, words, matrices, source=SOURCE)


def monolingual(
    family: Family, code: str, sentences: int, settings: SkipGram
) -> tuple[list[str], np.ndarray]:
    """Train skip-gram on a language's plain text; in double precision count its neighbours.

    Returns:
        Its words, most frequent first; their vectors, centred and of length 1, ``(words, dim)``.
    """
    forms = [[word_form(w) for w in sentence] for sentence in family.text(code, sentences)]
    if working_dtype() == np.float64:  # which gensim does not have
        words, matrix = counted(forms, settings.dim, settings.window, settings.seed)
        return words, lexicon.centred_unit_rows(matrix)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("".join(" ".join(line) + "\n" for line in forms), encoding="utf-8")
        words, matrix = train(text, settings)
    return words, lexicon.centred_unit_rows(matrix)


def dictionary(family: Family, code: str) -> list[tuple[str, str]]:
    """Return the (English, foreign) pairs of the true dictionary, in stored form."""
    return [(word_form(e), word_form(f)) for e, f in family.dictionary(SOURCE, code)]
