"""The text of a language model: sentences as numbers of words, and which words translate which."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from xlrepro.artefacts import hash_of
from xlrepro.artificial.ambiguity import AmbiguousFamily, lists
from xlrepro.data import loading, registry
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment.language_model.settings import (
    LanguageModelSettings,
    TextSettings,
)
from xlrepro.paths import supplied_dir
from xlrepro.vectors.normalise import word_form
from xlrepro.vectors.open.registered import file_hash, local_path
from xlrepro.vectors.open.text import TextFile, text_files
from xlrepro.vectors.open.tokenise import words_of

if TYPE_CHECKING:
    from torch import Tensor

SOURCE = "en"
FAMILY_SEED = 0
BEGIN, END, UNKNOWN, MASK = SPECIAL = ("<S>", "</S>", "<UNK>", "<MASK>")
MADE_UP = ("artificial", "lists")  # sources of artificial languages
USUAL_WORDS = 8  # of an artificial sentence
FEWEST_WORDS = 3  # shorter lines are headings and list marks
SUPPLIED = "language-model-text"  # {en,de,es,ja,zh}.txt: a tokenised sentence a line


@dataclass
class Corpus:
    """Text as numbers.

    Attributes:
        words: all distinct words: special ones, then by falling frequency. The first ``known`` are
            the vocabulary that is predicted; the others are predicted as ``<UNK>``.
        known: V.
        sentences: per language its sentences, ``(length,)`` each.
        held_out: per language the sentences kept for the perplexity.
        translations: per word of the vocabulary the words that translate it, -1 padded, or None.
            ``(V, T)``
    """

    words: list[str]
    known: int
    sentences: dict[str, list[np.ndarray]]
    held_out: dict[str, list[np.ndarray]]
    translations: "Tensor | None"

    @property
    def tokens(self) -> int:
        """Running words of the training text."""
        return sum(len(s) for sentences in self.sentences.values() for s in sentences)


def family(pairs: int) -> AmbiguousFamily:
    """Return the artificial languages; in the source, so many pairs of concepts share a word."""
    return _family(pairs)


@lru_cache(maxsize=4)
def _family(pairs: int) -> AmbiguousFamily:
    return AmbiguousFamily(FAMILY_SEED, pairs, (SOURCE,))


def read(settings: LanguageModelSettings) -> Corpus:
    """Return the text that a language model learns from.

    Raises:
        DataError: if a file is missing.
        SettingsError: if a language has no text.
    """
    parts = {code: split(code, settings.text) for code in settings.languages}
    kept: dict[str, None] = {}
    counts: Counter[str] = Counter()
    for train, _ in parts.values():
        own = Counter(word for sentence in train for word in sentence)
        counts += own
        kept |= dict.fromkeys(_most_frequent(own)[: settings.text.vocabulary])
    known = sorted(kept, key=lambda w: (-counts[w], w))
    rest = sorted(counts.keys() - kept.keys(), key=lambda w: (-counts[w], w))
    words = [*SPECIAL, *known, *rest]
    number = {word: i for i, word in enumerate(words)}
    unknown = SPECIAL.index(UNKNOWN)

    def numbered(sentences: Iterable[Sequence[str]]) -> list[np.ndarray]:
        return [np.array([number.get(w, unknown) for w in s], dtype=np.int32) for s in sentences]

    vocabulary = len(SPECIAL) + len(known)
    return Corpus(
        words,
        vocabulary,
        {code: numbered(train) for code, (train, _) in parts.items()},
        {code: numbered(held_out) for code, (_, held_out) in parts.items()},
        translations(settings, words[:vocabulary]) if settings.dictionary else None,
    )


def _most_frequent(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda w: (-counts[w], w))


def split(language: str, settings: TextSettings) -> tuple[list[list[str]], list[list[str]]]:
    """Return training and held-out sentences of a language, at most ``settings.words`` words."""
    sources = {"artificial": _artificial, "lists": _lists, "open": _open, "supplied": _supplied}
    training: list[list[str]] = []
    held_out: list[list[str]] = []
    words = 0
    limit = settings.words.get(language, settings.words.get("others", 0))
    for sentence in sources[settings.source](language, settings, limit):
        if len(sentence) < FEWEST_WORDS:
            continue
        if len(held_out) < settings.held_out:
            held_out.append(sentence)
            continue
        training.append(sentence)
        words += len(sentence)
        if words >= limit:
            break
    if not training:
        raise DataError(f"there is no {settings.source} text of {language} to learn from")
    return training, held_out


def _artificial(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    """Yield sentences; more are made where the first ones have too few words."""
    count, given = limit // USUAL_WORDS + settings.held_out, 0
    while True:
        made = _made_up(settings.ambiguous, language, count)
        yield from map(list, made[given:])
        given, count = count, 2 * count


@lru_cache(maxsize=16)
def _made_up(pairs: int, language: str, count: int) -> list[tuple[str, ...]]:
    return family(pairs).text(language, count)


def _lists(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    """Yield lists of nouns of one kind each, enough of them."""
    count = limit // FEWEST_WORDS + settings.held_out
    for made in lists(family(settings.ambiguous), language, count):
        yield [word.form for word in made.words]


def _open(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    """Yield all lines of the open text in random order; a repeated line counts once."""
    lines: dict[str, None] = {}
    for file in text_files(language):
        lines |= dict.fromkeys(line.strip() for line in _raw_lines(file))
    order = list(lines)
    random.Random(f"language model {settings.seed} {language}").shuffle(order)
    for line in order:
        yield [word for word in words_of(line, language) if word.strip()]


def _raw_lines(file: TextFile) -> Iterator[str]:
    if file.treebank:
        from xlrepro.data.readers.conllu import read_conllu

        for sentence in read_conllu(local_path(file.path)):
            yield " ".join(sentence.tokens)
        return
    with open(local_path(file.path), encoding="utf-8") as rows:
        for row in rows:
            yield row if file.column is None else row.rstrip("\n").split("\t")[file.column]


def _supplied(language: str, settings: TextSettings, limit: int) -> Iterator[list[str]]:
    path = supplied_dir() / SUPPLIED / f"{language}.txt"
    if not path.is_file():
        raise DataError(
            f"{path} is missing: put tokenised {language} text there, a sentence a line"
        )
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield [word_form(word, language) for word in line.split()]


def recipe(settings: LanguageModelSettings) -> dict[str, Any]:
    """Return what decides text and dictionary: content hashes; reads no data of the registry."""
    text = settings.text
    if text.source in MADE_UP:
        return {text.source: f"family {FAMILY_SEED}"}
    inputs: dict[str, Any] = {}
    for code in settings.languages:
        if text.source == "open":
            inputs[code] = [[f.path, file_hash(f.path)] for f in text_files(code)]
        else:
            path = supplied_dir() / SUPPLIED / f"{code}.txt"
            inputs[code] = path.stat().st_size if path.is_file() else None
    if settings.dictionary:
        name = _dictionary_of(settings)
        inputs["dictionary"] = registry.content_hash("muse-full", name)
    return inputs


def text_hash(settings: LanguageModelSettings) -> str:
    """Return the hash of :func:`recipe`, 64 hex digits."""
    return hash_of(recipe(settings))


def _dictionary_of(settings: LanguageModelSettings) -> str:
    (other,) = (code for code in settings.languages if code != SOURCE)
    return f"{SOURCE}-{other}"


def pairs(settings: LanguageModelSettings) -> list[tuple[str, str]]:
    """Return the seed dictionary, English word first, in its order, without repetitions."""
    (other,) = (code for code in settings.languages if code != SOURCE)
    if settings.text.source in MADE_UP:
        entries = family(settings.text.ambiguous).dictionary(SOURCE, other)
    else:
        rows = loading.load_rows("muse-full", _dictionary_of(settings))
        entries = [(word_form(a, SOURCE), word_form(b, other)) for a, b in rows]
    return list(dict.fromkeys(entries))


def translations(settings: LanguageModelSettings, words: list[str]) -> "Tensor":
    """Return per word the words of the vocabulary that translate it, in either direction.

    A word is no translation of itself: names that both languages share are one word already.

    Returns:
        ``(V, T)``, -1 padded; T at most ``settings.senses.translations``.
    """
    number = {word: i for i, word in enumerate(words)}
    translated: list[dict[int, None]] = [{} for _ in words]
    for first, second in pairs(settings):
        if first in number and second in number and first != second:
            a, b = number[first], number[second]
            translated[a][b] = None
            translated[b][a] = None
    limit = settings.senses.translations
    rows = [list(row)[:limit] for row in translated]
    import torch  # here alone: trials are named without it

    table = torch.full((len(rows), max(1, max(map(len, rows)))), -1)
    for row, others in zip(table, rows, strict=True):
        row[: len(others)] = torch.tensor(others, dtype=torch.long)
    return table
