"""Word vectors of the artificial languages, by the code path of the open vectors.

The family knows the true translation of every word, so coverage and noise of the dictionary are
parameters instead of facts of life, and alignment can be checked against the truth.
"""

import random
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from xlrepro.artificial import Family
from xlrepro.errors import SettingsError
from xlrepro.precision import working_dtype
from xlrepro.vectors.counted import counted
from xlrepro.vectors.mappings.seeded import map_with_seed
from xlrepro.vectors.normalise import word_form
from xlrepro.vectors.open.lexicon import (
    centred_unit_rows,
    dictionary_vectors,
    mix,
    pair_rows,
    shared_strings,
)
from xlrepro.vectors.open.skipgram import SkipGram, train
from xlrepro.vectors.tables import VectorSet

NAMES = ("dictionary", "mapped")
SOURCE = "en"


def load(
    family: Family,
    codes: Sequence[str],
    dim: int = 50,
    name: str = "dictionary",
    *,
    sentences: int = 800,
    epochs: int = 5,
    coverage: float = 1.0,
    noise: float = 0.0,
    seed: int = 0,
) -> VectorSet:
    """Make vectors for artificial languages; seconds, so nothing is cached.

    Args:
        family: the languages' family.
        codes: the languages; English is always among them.
        dim: dimensions of the vectors.
        name: ``"dictionary"`` (weighted means of translations) or ``"mapped"`` (each language's
            own skip-gram, mapped by an orthogonal map from the dictionary).
        sentences: of plain text per trained language.
        epochs: of skip-gram over that text.
        coverage: share of the true dictionary that is used, 0 to 1.
        noise: share of its entries whose English side is replaced by a random word, 0 to 1.
        seed: of the text, the training, and the choice of entries.

    Raises:
        SettingsError: for an unknown name, or a share outside 0 to 1.
    """
    if name not in NAMES:
        raise SettingsError(
            f"no artificial vector set is called {name!r}: use one of {', '.join(NAMES)}"
        )
    for label, share in (("coverage", coverage), ("noise", noise)):
        if not 0.0 <= share <= 1.0:
            raise SettingsError(f"{label} of the artificial dictionary is {share}: give 0 to 1")
    # Text this small has few repeats: frequent words are thinned out less than in real text.
    settings = SkipGram(
        dim=dim, epochs=epochs, min_count=1, sample=1e-3, seed=seed + 1, max_words=50_000
    )
    source_words, source_matrix = monolingual(family, SOURCE, sentences, settings, seed)
    words, matrices = {SOURCE: source_words}, {SOURCE: source_matrix}
    for code in dict.fromkeys(codes):
        if code == SOURCE:
            continue
        pairs = dictionary(family, code, coverage, noise, seed)
        if name == "dictionary":
            words[code], matrices[code] = _dictionary(pairs, source_words, source_matrix)
        else:
            words[code], matrix = monolingual(family, code, sentences, settings, seed)
            matrices[code] = _mapped(pairs, words[code], matrix, words, matrices)
    return VectorSet(name, words, matrices, source=SOURCE)


def monolingual(
    family: Family, code: str, sentences: int, settings: SkipGram, seed: int = 0
) -> tuple[list[str], np.ndarray]:
    """Train skip-gram on a language's plain text; in double precision count its neighbours.

    Returns:
        Its words, most frequent first; their vectors, centred and of length 1, ``(words, dim)``.
    """
    forms = [[_form(w) for w in sentence] for sentence in family.text(code, sentences, seed=seed)]
    if working_dtype() == np.float64:  # which gensim does not have
        words, matrix = counted(forms, settings.dim, settings.window, settings.seed)
        return words, centred_unit_rows(matrix)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("".join(" ".join(line) + "\n" for line in forms), encoding="utf-8")
        words, _, matrix = train(text, settings)
    return words, centred_unit_rows(matrix)


def dictionary(
    family: Family, code: str, coverage: float = 1.0, noise: float = 0.0, seed: int = 0
) -> list[tuple[str, str]]:
    """Return (English, foreign) pairs of the true dictionary, thinned out and spoilt as asked."""
    rng = random.Random(f"{family.seed} {seed} dictionary {code}")
    true = family.dictionary(SOURCE, code)
    kept = [pair for pair in true if rng.random() < coverage] if coverage < 1 else true
    if noise > 0:
        vocabulary = sorted({english for english, _ in true})
        kept = [
            (rng.choice(vocabulary) if rng.random() < noise else english, foreign)
            for english, foreign in kept
        ]
    return [(_form(english), _form(foreign)) for english, foreign in kept]


@lru_cache(maxsize=200_000)
def _form(word: str) -> str:
    """Return the stored form; a family's languages and texts name the same words often."""
    return word_form(word)


def _dictionary(
    pairs: Iterable[tuple[str, str]], source_words: Sequence[str], source_matrix: np.ndarray
) -> tuple[list[str], np.ndarray]:
    known = frozenset(source_words)
    table = mix((pair for pair in pairs if pair[0] in known), [], known)
    table.translations.update(shared_strings([], table, source_words))
    rows = {word: row for row, word in enumerate(source_words)}
    return dictionary_vectors(table, rows, source_matrix)


def _mapped(
    pairs: Iterable[tuple[str, str]],
    foreign_words: Sequence[str],
    matrix: np.ndarray,
    words: dict[str, list[str]],
    matrices: dict[str, np.ndarray],
) -> np.ndarray:
    seed = pair_rows(pairs, foreign_words, words[SOURCE])
    return np.asarray(matrix @ map_with_seed(matrix, matrices[SOURCE], seed))
