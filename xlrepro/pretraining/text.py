"""The text of pretraining: words of every language, drawn from registered files or made up.

The files are those that the open word vectors read: test sets of the experiments are not among
them. English has the plain tokens of its training treebank too.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from xlrepro.pretraining.settings import LANGUAGES, SOURCE, PretrainingSettings
from xlrepro.vectors.normalise import normalise, simplified
from xlrepro.vectors.open.recipes import TextFile, text_files
from xlrepro.vectors.open.registered import file_hash, local_path, registered_paths
from xlrepro.vectors.open.settings import open_settings
from xlrepro.vectors.open.tokenise import tokenise

FAMILY_SEED = 0
FEWEST_WORDS = 3  # shorter lines are headings and list marks


def plain_word(word: str, language: str) -> str:
    """Return a word as the vocabulary has it: normalised, case kept, Chinese simplified.

    Example:
        >>> plain_word("Été", "fr")
        'Été'
    """
    return "".join(simplified(normalise(word, language), language).split())


def text_recipe(settings: PretrainingSettings) -> dict[str, Any]:
    """Return what decides the text: path and content hash of every file, per language."""
    if settings.text == "artificial":
        return {"artificial": f"family {FAMILY_SEED}"}
    return {code: files_of(code) for code in LANGUAGES}


def files_of(language: str) -> list[list[str]]:
    """Return path and content hash of every file of a language's open text."""
    return [[file.path, file_hash(file.path)] for file in _files(language)]


def _files(language: str) -> list[TextFile]:
    if language in open_settings().languages:
        return text_files(language)
    return [TextFile(path) for path in registered_paths(f"mono-text/{language}/")]


def lines(language: str, settings: PretrainingSettings) -> tuple[list[list[str]], list[list[str]]]:
    """Return training and held-out lines of a language as words.

    All lines of all files are put in one random order; the first ones are held out, the next are
    for training, up to the words that the settings allow. A line is never in both: repeated lines
    are dropped first.
    """
    limit = settings.words["en" if language == SOURCE else "others"]
    cut = (
        _artificial(language, limit)
        if settings.text == "artificial"
        else open_lines(language, settings.seed)
    )
    held_out: list[list[str]] = []
    training: list[list[str]] = []
    words = 0
    for read in cut:
        line = read()
        if len(line) < FEWEST_WORDS:
            continue
        if len(held_out) < settings.held_out:
            held_out.append(line)
            continue
        training.append(line)
        words += len(line)
        if words >= limit:
            break
    return training, held_out


def _artificial(language: str, limit: int) -> Iterator[Callable[[], list[str]]]:
    from xlrepro.artificial import family_of

    for tokens in family_of(FAMILY_SEED).text(language, limit // FEWEST_WORDS):
        yield partial(list, tokens)


def open_lines(language: str, seed: int) -> Iterator[Callable[[], list[str]]]:
    """Yield all lines of a language's open text in random order, no line twice.

    Each is a call that returns its words, since few of them are used.
    """
    raw: dict[str, None] = {}
    for file in _files(language):
        for line in _raw_lines(file):
            raw[line.strip()] = None
    chosen = list(raw)
    random.Random(f"pretraining {seed} {language}").shuffle(chosen)
    for line in chosen:
        yield partial(_words, line, language)


def _words(line: str, language: str) -> list[str]:
    words = (plain_word(word, language) for word in tokenise(line, language))
    return [word for word in words if word]


def _raw_lines(file: TextFile) -> Iterator[str]:
    if file.treebank:
        from xlrepro.data.readers.conllu import read_conllu

        for sentence in read_conllu(local_path(file.path)):
            yield " ".join(sentence.tokens)
        return
    with open(local_path(file.path), encoding="utf-8") as rows:
        for row in rows:
            yield row if file.column is None else row.rstrip("\n").split("\t")[file.column]
