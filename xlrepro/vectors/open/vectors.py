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

from xlrepro.artefacts import built, hash_of
from xlrepro.errors import SettingsError
from xlrepro.vectors.mappings.seeded import procrustes
from xlrepro.vectors.open import lexicon
from xlrepro.vectors.open.lexicon import (
    centred_unit_rows,
    dictionary_vectors,
    pair_rows,
    shared_strings,
)
from xlrepro.vectors.open.skipgram import SkipGram, train
from xlrepro.vectors.open.sources import (
    SOURCE,
    VERSION,
    language_sources,
    lexicon_recipe,
    open_settings,
    text_recipe,
    write_text,
)
from xlrepro.vectors.tables import VectorSet, load_language, load_set, save_language

NAMES = ("dictionary", "mapped")


@cache
def recipe_hash(name: str, *languages: str) -> str:
    """Return the hash of everything that decides a vector set; builds and downloads nothing.

    Args:
        name: ``"dictionary"`` or ``"mapped"``.
        languages: those that are read; they matter where they are none of the set's own.

    Raises:
        SettingsError: for another name, or a language without open vectors.
    """
    _check_name(name)
    codes = dict.fromkeys([*open_settings()["languages"], *languages])
    return hash_of({code: hash_of(_KINDS[name][0](code)) for code in codes})


def load(name: str, languages: Sequence[str] | None = None) -> VectorSet:
    """Return a vector set, building whichever of its languages are not in the cache.

    Args:
        name: ``"dictionary"`` or ``"mapped"``.
        languages: codes; all of the set if not given. English is always among them.

    Raises:
        SettingsError: for an unknown name or language, or a segmenter that is not installed.
        DataError: if a file it is built from cannot be had.
    """
    _check_name(name)
    codes = dict.fromkeys([SOURCE, *(languages or open_settings()["languages"])])
    return load_set(name, {code: _language_folder(name, code) for code in codes})


def _check_name(name: str) -> None:
    if name not in NAMES:
        raise SettingsError(f"no open vector set is called {name!r}: use one of {', '.join(NAMES)}")


def monolingual_folder(language: str) -> Path:
    """Return the folder of a language's own skip-gram vectors, centred and of length 1."""
    return _language_folder("monolingual", language)


def _language_folder(kind: str, language: str) -> Path:
    kind = "monolingual" if language == SOURCE else kind
    language_sources(language)  # says which languages there are
    recipe, build = _KINDS[kind]
    return built(kind, language, recipe(language), partial(build, language))


# ---- each kind: what decides a language's vectors, and how they are built


def _skip_gram(language: str) -> SkipGram:
    return SkipGram(**open_settings()["english" if language == SOURCE else "others"])


@cache
def monolingual_recipe(language: str) -> dict[str, Any]:
    """Return what decides a language's own skip-gram vectors."""
    return {
        "version": VERSION,
        "language": language,
        "training": vars(_skip_gram(language)).copy(),
        "text": text_recipe(language),
    }


def _build_monolingual(language: str, folder: Path) -> None:
    """Train skip-gram vectors on a language's own text."""
    text = folder / "text.tmp"
    write_text(language, text)
    words, counts, matrix = train(text, _skip_gram(language))
    text.unlink()
    save_language(folder, words, centred_unit_rows(matrix))
    np.save(folder / "counts.npy", counts)


@cache
def dictionary_recipe(language: str) -> dict[str, Any]:
    """Return what decides a language's dictionary vectors."""
    if language == SOURCE:
        return monolingual_recipe(language)
    return {
        "version": VERSION,
        "source": hash_of(monolingual_recipe(SOURCE)),
        "lexicon": lexicon_recipe(language),
    }


def _build_dictionary(language: str, folder: Path) -> None:
    """Give each foreign word the weighted mean of its English translations' vectors."""
    source_words, source_matrix = load_language(monolingual_folder(SOURCE))
    table = lexicon.table(language, frozenset(source_words))
    frequent = lexicon.frequent_words(language)
    table |= shared_strings(frequent, table, source_words)
    rows = {word: row for row, word in enumerate(source_words)}
    words, matrix = dictionary_vectors(table, rows, np.asarray(source_matrix))
    order = _by_frequency(words, frequent)
    save_language(folder, [words[row] for row in order], matrix[order])


@cache
def mapped_recipe(language: str) -> dict[str, Any]:
    """Return what decides a language's mapped vectors: more than its dictionary vectors."""
    if language == SOURCE:
        return monolingual_recipe(language)
    return {
        **dictionary_recipe(language),
        "monolingual": hash_of(monolingual_recipe(language)),
        "seed": {"seed_share": lexicon.SEED_SHARE, "seed_words": lexicon.SEED_WORDS},
        "refinements": 0,  # was a setting once
    }


def _build_mapped(language: str, folder: Path) -> None:
    """Map a language's own vectors into the English space, learnt from a seed dictionary."""
    source_words, source_matrix = load_language(monolingual_folder(SOURCE))
    words, matrix = load_language(monolingual_folder(language))
    pairs = lexicon.seed_pairs(language, frozenset(source_words), words)
    seed = pair_rows(pairs, words, source_words)
    w = procrustes(matrix[seed[:, 0]], source_matrix[seed[:, 1]])
    save_language(folder, words, np.asarray(matrix) @ w)


_KINDS: dict[str, tuple[Callable[[str], dict[str, Any]], Callable[[str, Path], None]]] = {
    "monolingual": (monolingual_recipe, _build_monolingual),
    "dictionary": (dictionary_recipe, _build_dictionary),
    "mapped": (mapped_recipe, _build_mapped),
}


def _by_frequency(words: Sequence[str], frequent: Sequence[str]) -> list[int]:
    ranks = {word: rank for rank, word in enumerate(frequent)}
    return sorted(range(len(words)), key=lambda row: (ranks.get(words[row], len(ranks)), row))
