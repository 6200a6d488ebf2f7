"""Builds the open word vectors of one language into a folder; `vectors` keeps and loads them.

A builder is called with the language, the empty folder, and what gives the folder of a language's
own vectors.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from xlrepro.vectors.mappings.seeded import map_with_seed
from xlrepro.vectors.open import lexicon as open_lexicon
from xlrepro.vectors.open.dictionary import (
    centred_unit_rows,
    dictionary_vectors,
    pair_rows,
    shared_strings,
)
from xlrepro.vectors.open.settings import open_settings
from xlrepro.vectors.open.skipgram import train
from xlrepro.vectors.open.text import write_text
from xlrepro.vectors.tables import load_language, save_language

FolderOf = Callable[[str], Path]  # of a language's own skip-gram vectors


def build_monolingual(language: str, folder: Path, own_vectors: FolderOf) -> None:
    """Train skip-gram vectors on a language's own text."""
    settings = open_settings()
    training = settings.english if language == settings.source else settings.others
    text = folder / "text.tmp"
    write_text(language, text)
    words, counts, matrix = train(text, training)
    text.unlink()
    save_language(folder, words, centred_unit_rows(matrix))
    np.save(folder / "counts.npy", counts)


def build_dictionary(language: str, folder: Path, own_vectors: FolderOf) -> None:
    """Give each foreign word the weighted mean of its English translations' vectors."""
    source_words, source_matrix = load_language(own_vectors(open_settings().source))
    table = open_lexicon.table(language, frozenset(source_words))
    frequent = open_lexicon.frequent_words(language)
    table.translations.update(shared_strings(frequent, table, source_words))
    rows = {word: row for row, word in enumerate(source_words)}
    words, matrix = dictionary_vectors(table, rows, np.asarray(source_matrix))
    order = _by_frequency(words, frequent)
    save_language(folder, [words[row] for row in order], matrix[order])


def build_mapped(language: str, folder: Path, own_vectors: FolderOf) -> None:
    """Map a language's own vectors into the English space, learnt from a seed dictionary."""
    settings = open_settings()
    source_words, source_matrix = load_language(own_vectors(settings.source))
    words, matrix = load_language(own_vectors(language))
    pairs = open_lexicon.seed_pairs(language, frozenset(source_words), words)
    seed = pair_rows(pairs, words, source_words)
    w = map_with_seed(
        np.asarray(matrix), np.asarray(source_matrix), seed, refinements=settings.refinements
    )
    save_language(folder, words, np.asarray(matrix) @ w)


BUILDERS: dict[str, Callable[[str, Path, FolderOf], None]] = {
    "monolingual": build_monolingual,
    "dictionary": build_dictionary,
    "mapped": build_mapped,
}


def _by_frequency(words: Sequence[str], frequent: Sequence[str]) -> list[int]:
    ranks = {word: rank for rank, word in enumerate(frequent)}
    return sorted(range(len(words)), key=lambda row: (ranks.get(words[row], len(ranks)), row))
