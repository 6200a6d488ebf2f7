"""The text without labels: what tokenizers, language models and initialisations read.

None of it is a sentence of a test set: lines that are a premise or hypothesis of XNLI, or a
sentence of a test treebank, are left out, and :func:`leaks` counts them for a test.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from xlrepro.artificial import Family, Typology, parameters
from xlrepro.data import registry
from xlrepro.papers.ramen.settings import AdaptationSettings
from xlrepro.vectors.tables import VectorSet

FAMILY_SEED = 0
SOURCE = "en"
SUPPLIED = "supplied"  # the corpus that a user puts in a folder
# Registered test sets whose sentences must not be trained on, per language.
TREEBANKS = ("test", "dev")


@lru_cache(maxsize=1)
def family() -> Family:
    """Return the artificial languages; Vietnamese's stand-in is made from the Thai one's order."""
    vietnamese = _changed(parameters("th"), code="vi", branch="vietic", script="latin")
    return Family(FAMILY_SEED, [vietnamese])


def _changed(typology: Typology, **changes: Any) -> Typology:
    from dataclasses import replace

    return replace(typology, **changes)


def words(settings: AdaptationSettings, language: str) -> list[list[str]]:
    """Return lines of a language's text as words, up to the settings' number of words.

    Raises:
        DataError: if a file cannot be had.
    """
    return _words(settings.corpus, language, settings.words, settings.seed)


@lru_cache(maxsize=4)
def _words(corpus: str, language: str, most: int, seed: int) -> list[list[str]]:
    lines: list[list[str]] = []
    count = 0
    for line in _lines(corpus, language, most, seed):
        lines.append(line)
        count += len(line)
        if count >= most:
            break
    return lines


def _lines(corpus: str, language: str, most: int, seed: int) -> Iterator[list[str]]:
    if corpus == "artificial":
        for tokens in family().text(language, most // 3):
            yield list(tokens)
        return
    if corpus == SUPPLIED:
        yield from _supplied_lines(language)
        return
    banned = test_sentences(language, corpus)
    for line in _open_lines(language, most + most // 10, seed):
        if fold(line) not in banned:
            yield [word.lower() for word in line]


def _supplied_lines(language: str) -> Iterator[list[str]]:
    """Yield the lines of supplied text, case kept, without those of a test set."""
    from xlrepro.papers.ramen.data import supplied_data
    from xlrepro.vectors.open.tokenise import tokenise

    banned = test_sentences(language, SUPPLIED)
    for line in supplied_data.text(language):
        tokens = tokenise(line, language)
        if fold(tokens) not in banned:
            yield tokens


def _open_lines(language: str, most: int, seed: int) -> list[list[str]]:
    """Return registered lines of a language as words, in random order, each once."""
    from xlrepro.pretraining.settings import preset
    from xlrepro.pretraining.text import lines

    changes = {"words": {"en": most, "others": most}, "held_out": 0, "seed": seed}
    return lines(language, preset("cpu").model_copy(update=changes))[0]


def fold(line: Iterable[str]) -> str:
    """Return a line without case, blanks and marks: equal for equal sentences.

    Example:
        >>> fold(["He", "'s", "here", "."]) == fold(["he's", "here"])
        True
    """
    return "".join(c for word in line for c in word.casefold() if c.isalnum())


@lru_cache(maxsize=16)
def test_sentences(language: str, corpus: str) -> frozenset[str]:
    """Return what must not be trained on, folded: XNLI's sentences, and those of test treebanks."""
    from xlrepro.data.loading import load, load_rows

    sentences = set()
    for part in ("dev", "test"):
        if f"{language}/{part}" in registry.dataset("xnli").files:
            for row in load_rows("xnli", f"{language}/{part}", progress=False):
                sentences |= {_as_read(text, language) for text in row[:2]}
    if corpus == SUPPLIED:
        from xlrepro.papers.ramen.data import supplied_data

        trees = [s for part in TREEBANKS for s in supplied_data.trees(language, part)]
        return frozenset(
            (sentences | {_as_read("".join(s.tokens), language) for s in trees}) - {""}
        )
    for file_id, file in registry.dataset("ud-r2.2").files.items():
        if file.language == language and file.split in TREEBANKS:
            trees = load("ud-r2.2", file_id, progress=False)
            sentences |= {_as_read("".join(s.tokens), language) for s in trees}
    return frozenset(sentences - {""})


def _as_read(text: str, language: str) -> str:
    """Return a sentence folded, in the spelling that `tokenise` gives: simplified, composed."""
    from xlrepro.pretraining.text import plain_word

    return fold([plain_word(text, language)])


def leaks(settings: AdaptationSettings, language: str) -> int:
    """Return how many lines of a language's text are sentences of a test set: 0."""
    banned = test_sentences(language, settings.corpus)
    return sum(fold(line) in banned for line in words(settings, language))


def pairs(settings: AdaptationSettings) -> list[tuple[list[str], list[str]]]:
    """Return sentence pairs (English words, foreign words) of parallel text; XNLI is not in it."""
    target = settings.target
    if settings.corpus == "artificial":
        parallel = family().parallel(SOURCE, target, settings.pairs)
        return [(list(english.tokens), list(foreign.tokens)) for english, foreign in parallel]
    from xlrepro.data.readers.tsv import read_rows
    from xlrepro.vectors.open.registered import local_path
    from xlrepro.vectors.open.tokenise import tokenise

    if settings.corpus == SUPPLIED:
        return _supplied_pairs(target, settings.pairs)
    lines: list[tuple[list[str], list[str]]] = []
    for path in parallel_paths(target):
        for english, foreign in read_rows(local_path(path), 2):
            pair = (tokenise(english.lower(), SOURCE), tokenise(foreign.lower(), target))
            if not _of_a_test_set(pair, target, settings.corpus):
                lines.append(pair)
    random.Random(settings.seed).shuffle(lines)
    return lines[: settings.pairs]


def _supplied_pairs(target: str, most: int) -> list[tuple[list[str], list[str]]]:
    """Return the first supplied sentence pairs without those of a test set, case kept."""
    from xlrepro.papers.ramen.data import supplied_data
    from xlrepro.vectors.open.tokenise import tokenise

    split = (
        (tokenise(english, SOURCE), tokenise(foreign, target))
        for english, foreign in supplied_data.pairs(target)
    )
    kept = (pair for pair in split if not _of_a_test_set(pair, target, SUPPLIED))
    return list(islice(kept, most))


def _of_a_test_set(pair: tuple[list[str], list[str]], target: str, corpus: str) -> bool:
    """Return whether a side of a pair (English words, foreign words) must not be trained on."""
    english, foreign = map(fold, pair)
    return english in test_sentences(SOURCE, corpus) or foreign in test_sentences(target, corpus)


ISO3 = {"fr": "fra", "ru": "rus", "ar": "ara", "hi": "hin", "vi": "vie", "zh": "zho"}


def parallel_paths(target: str) -> list[str]:
    """Return the registered parallel text of a language: Tatoeba and, where there is, TICO-19."""
    from xlrepro.vectors.open.registered import registered_paths

    every = registered_paths("parallel/tatoeba/") + registered_paths("parallel/tico19/")
    return [path for path in every if path.endswith(f"/eng-{ISO3[target]}.tsv.xz")]


def vectors(settings: AdaptationSettings) -> VectorSet:
    """Return aligned word vectors of English and the target."""
    name = settings.initialisation.vectors
    if settings.corpus == "artificial":
        return _artificial_vectors(name)
    if settings.corpus == SUPPLIED:
        from xlrepro.data import supplied
        from xlrepro.vectors import vec_files

        return vec_files.load_vec(supplied.aligned_vectors([SOURCE, settings.target]))
    from xlrepro.vectors.open import vectors as open_vectors

    return open_vectors.load(name, [settings.target])


@lru_cache(maxsize=2)
def _artificial_vectors(name: str) -> VectorSet:
    from xlrepro.vectors import artificial

    return artificial.load(family(), tuple(ISO3), dim=30, name=name, sentences=400)


def recipe_of_text(settings: AdaptationSettings, language: str) -> dict[str, Any]:
    """Return what decides a language's text: content hashes of its files, or the family's seed."""
    if settings.corpus == "artificial":
        return {"artificial": f"family {FAMILY_SEED}"}
    if settings.corpus == SUPPLIED:
        from xlrepro.papers.ramen.data import supplied_data

        path = supplied_data.text_path(language)
        return {path: supplied_data.size(path)}
    from xlrepro.vectors.open.recipes import text_files
    from xlrepro.vectors.open.registered import file_hash, registered_paths
    from xlrepro.vectors.open.settings import open_settings

    paths = registered_paths(f"mono-text/{language}/")
    if language in open_settings().languages:
        paths = [file.path for file in text_files(language)]
    return {path: file_hash(path) for path in paths}


def recipe(settings: AdaptationSettings) -> dict[str, Any]:
    """Return what decides the text of both languages, and what the initialisation reads."""
    inputs: dict[str, Any] = {}
    for language in (SOURCE, settings.target):
        inputs |= recipe_of_text(settings, language)
    if settings.corpus == "artificial":
        return inputs
    if settings.corpus == SUPPLIED:
        return inputs | _supplied_recipe(settings)
    from xlrepro.vectors.open import vectors as open_vectors
    from xlrepro.vectors.open.registered import file_hash

    if settings.initialisation.kind == "parallel":
        inputs |= {path: file_hash(path) for path in parallel_paths(settings.target)}
    if settings.initialisation.kind == "mono":
        inputs["vectors"] = open_vectors.recipe_hash(
            settings.initialisation.vectors, settings.target
        )
    return inputs


def _supplied_recipe(settings: AdaptationSettings) -> dict[str, str]:
    """Return what the initialisation reads of supplied files, by size."""
    from xlrepro.data import supplied
    from xlrepro.papers.ramen.data import supplied_data

    kind, target = settings.initialisation.kind, settings.target
    if kind == "mono":
        files = supplied.aligned_vectors([SOURCE, target]).values()
        return {file.name: supplied.size(file) for file in files}
    path = supplied_data.parallel_path(target)
    return {path: supplied_data.size(path)} if kind == "parallel" else {}


def numbers(lines: Sequence[Sequence[str]], of_word: Any) -> np.ndarray:
    """Return lines as one stream of pieces.

    Args:
        lines: words of each.
        of_word: word to numbers of pieces.
    """
    return np.array([n for line in lines for word in line for n in of_word(word)], dtype=np.int64)
