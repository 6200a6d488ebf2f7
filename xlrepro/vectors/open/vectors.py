"""Cross-lingual word vectors built from registered open data, on first use.

``dictionary``: the vector of a foreign word is the weighted mean of its English translations'
vectors. ``mapped``: skip-gram vectors of each language's own text, mapped into the English space by
an orthogonal map learnt from a seed dictionary. Settings are in ``open_vectors.yaml``.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes

from xlrepro.artefacts import built
from xlrepro.precision import working_dtype
from xlrepro.values import hash_of
from xlrepro.vectors.normalise import simplified
from xlrepro.vectors.open import lexicon, sources
from xlrepro.vectors.open.skipgram import SkipGram, train
from xlrepro.vectors.open.sources import SOURCE
from xlrepro.vectors.tables import VectorSet, load_language, load_set, save_language

MONOLINGUAL = "monolingual"


@cache
def recipe_hash(name: str, *languages: str) -> str:
    """Return the hash of everything that decides a vector set; builds and downloads nothing.

    Args:
        name: ``"dictionary"`` or ``"mapped"``.
        languages: those that are read; they matter where they are none of the set's own.

    Raises:
        SettingsError: for a language without open vectors.
    """
    codes = dict.fromkeys([*sources.open_settings()["languages"], *languages])
    return hash_of({code: hash_of(recipe(name, code)) for code in codes})


def load(name: str, languages: Sequence[str] | None = None) -> VectorSet:
    """Return a vector set, building whichever of its languages are not in the cache.

    Args:
        name: ``"dictionary"`` or ``"mapped"``.
        languages: codes; all of the set if not given. English is always among them.

    Raises:
        SettingsError: for an unknown language, or a segmenter that is not installed.
        DataError: if a file it is built from cannot be had.
    """
    codes = dict.fromkeys([SOURCE, *(languages or sources.open_settings()["languages"])])
    return load_set(name, {code: _language_folder(name, code) for code in codes})


def _language_folder(kind: str, language: str) -> Path:
    kind = MONOLINGUAL if language == SOURCE else kind
    sources.language_sources(language)  # says which languages there are
    simplified("的", language)  # asks for OpenCC now, not when a test set is looked up
    return built(kind, language, recipe(kind, language), partial(_BUILDERS[kind], language))


@cache
def recipe(kind: str, language: str) -> dict[str, Any]:
    """Return what decides a language's vectors; nothing maps or mixes those of English.

    Args:
        kind: ``"dictionary"``, ``"mapped"``, or ``"monolingual"``: the language's own skip-gram.
        language: its code.
    """
    if kind == MONOLINGUAL or language == SOURCE:
        training = vars(_skip_gram(language)).copy()
        own = {"version": sources.VERSION, "language": language, "training": training}
        files = sources.text_files(language)
        return own | {"text": [[f.path, sources.registered_hash(f.path), f.repeat] for f in files]}
    english = hash_of(recipe(MONOLINGUAL, SOURCE))
    parts: dict[str, Any] = {"version": sources.VERSION, "source": english}
    parts["lexicon"] = sources.lexicon_recipe(language)
    if kind == "mapped":
        parts["monolingual"] = hash_of(recipe(MONOLINGUAL, language))
        parts["seed"] = {"seed_share": lexicon.SEED_SHARE, "seed_words": lexicon.SEED_WORDS}
        parts["refinements"] = 0  # was a setting once
    return parts


def _skip_gram(language: str) -> SkipGram:
    return SkipGram(**sources.open_settings()["english" if language == SOURCE else "others"])


def _build_monolingual(language: str, folder: Path) -> None:
    """Train skip-gram vectors on a language's own text; centred and of length 1."""
    text = folder / "text.tmp"
    sources.write_text(language, text)
    words, matrix = train(text, _skip_gram(language))
    text.unlink()
    save_language(folder, words, lexicon.centred_unit_rows(matrix))


def _build_dictionary(language: str, folder: Path) -> None:
    """Give each foreign word the weighted mean of its English translations' vectors."""
    source_words, source_matrix = load_language(_language_folder(MONOLINGUAL, SOURCE))
    table = lexicon.table(language, frozenset(source_words))
    frequent = lexicon.frequent_words(language)
    table |= lexicon.shared_strings(frequent, table, source_words)
    rows = {word: row for row, word in enumerate(source_words)}
    words, matrix = lexicon.dictionary_vectors(table, rows, np.asarray(source_matrix))
    ranks = {word: rank for rank, word in enumerate(frequent)}
    order = sorted(range(len(words)), key=lambda row: (ranks.get(words[row], len(ranks)), row))
    save_language(folder, [words[row] for row in order], matrix[order])


def _build_mapped(language: str, folder: Path) -> None:
    """Map a language's own vectors into the English space, learnt from a seed dictionary."""
    source_words, source_matrix = load_language(_language_folder(MONOLINGUAL, SOURCE))
    words, matrix = load_language(_language_folder(MONOLINGUAL, language))
    pairs = lexicon.seed_pairs(language, frozenset(source_words), words)
    save_language(folder, words, mapped((words, matrix), (source_words, source_matrix), pairs))


def mapped(
    foreign: tuple[Sequence[str], np.ndarray],
    source: tuple[Sequence[str], np.ndarray],
    pairs: Sequence[tuple[str, str]],
) -> np.ndarray:
    """Return foreign vectors in the source's space, ``(words, dim)``.

    Args:
        foreign: words and vectors, ``(words, dim)``.
        source: likewise.
        pairs: (source word, foreign word) that the orthogonal map is learnt from.
    """
    seed = lexicon.pair_rows(pairs, foreign[0], source[0])
    known = (foreign[1][seed[:, 0]], source[1][seed[:, 1]])
    w, _ = orthogonal_procrustes(*(side.astype(np.float64) for side in known))
    return np.asarray(foreign[1] @ w.astype(working_dtype()))


_BUILDERS: dict[str, Callable[[str, Path], None]] = {
    MONOLINGUAL: _build_monolingual,
    "dictionary": _build_dictionary,
    "mapped": _build_mapped,
}
