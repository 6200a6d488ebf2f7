"""Texts with labels and without, and word vectors, by the names that the settings use.

Labels leave this module through :func:`labelled` alone; :func:`text` has none. So what a
zero-resource run may not see can be watched at one place.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, cast

import numpy as np

from xlrepro.artificial import family_of, sentiment
from xlrepro.data import named, supplied
from xlrepro.data.named import ARTIFICIAL, FAMILY_SEED
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.precision import cached_per_precision, working_dtype
from xlrepro.tasks.source import word_vectors
from xlrepro.tasks.tagging import labels
from xlrepro.vectors import artificial as artificial_vectors
from xlrepro.vectors.mappings import unsupervised
from xlrepro.vectors.open.tokenise import tokenise
from xlrepro.vectors.tables import EXACT, UNKNOWN, VectorSet, WordVectors

ARTIFICIAL_DIM = 64  # of the artificial languages' word vectors
POLARITY = ("negative", "positive")
NEUTRAL = ""  # no class
DRAWN = 4  # artificial statements drawn per one that is wanted: most take no side


@dataclass(frozen=True)
class Example:
    """A text and its labels: one BIO tag per token, or one class.

    Attributes:
        tokens: the words, at least one.
        gold: as many tags as words, or a single class name.
    """

    tokens: tuple[str, ...]
    gold: tuple[str, ...]


def labelled(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Example]:
    """Return the labelled texts of a split, cut to the settings' limit.

    Raises:
        DataError: if a file is missing or malformed, or nothing is there.
        SettingsError: for an unknown corpus.
    """
    if settings.task == "reviews":
        texts = _reviews(settings, language, domain, split)
        examples = [e for e in texts if e.gold != (NEUTRAL,)][: settings.limit(split)]
    else:
        sentences = _sentences(settings, language, domain, split)
        examples = [Example(s.tokens, labels(s, settings.task)) for s in sentences]
    return examples or _nothing(settings, language, domain, split)


def text(
    settings: TransferSettings, language: str, domain: str | None, split: str = "train"
) -> list[tuple[str, ...]]:
    """Return the words of a split, cut to the same limit; errors as :func:`labelled`.

    No label decides what is among them, but the domain that a request is annotated with.
    """
    if settings.task == "reviews":
        reviews = _reviews(settings, language, domain, split)
        texts = [example.tokens for example in reviews][: settings.limit(split)]
    else:
        texts = [s.tokens for s in _sentences(settings, language, domain, split)]
    return texts or _nothing(settings, language, domain, split)


def _nothing(settings: TransferSettings, language: str, domain: str | None, split: str) -> NoReturn:
    raise DataError(f"{settings.corpus} {language}/{split} has nothing of domain {domain}")


def _sentences(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Sentence]:
    limit = settings.limit(split)
    if settings.corpus == ARTIFICIAL:
        return _artificial(language, limit or 0, split, domain.lower() if domain else "statements")
    corpus = named.corpus(settings.corpus, settings.task)
    if domain is None:
        return corpus.sentences(language, split, limit)
    every = corpus.sentences(language, split, None)
    return [s for s in every if (s.intent or "").partition("/")[0] == domain][:limit]


@lru_cache(maxsize=64)
def _artificial(language: str, n: int, split: str, kind: str) -> list[Sentence]:
    # A seed per language: else the languages' corpora would say the same, sentence by sentence.
    return family_of(FAMILY_SEED).corpus(language, n, split, zlib.crc32(language.encode()), kind)


@cached_per_precision(maxsize=8)
def vectors(corpus: str, name: str, languages: tuple[str, ...]) -> WordVectors:
    """Return the word vectors ``name`` for ``languages`` (cached in the process).

    Raises:
        XlreproError: for vectors mapped without a dictionary whose maps collapsed.
        DataError: naming the supplied files that are missing.
        SettingsError: for unknown vectors.
    """
    if corpus == ARTIFICIAL:
        return _artificial_vectors(name, languages)
    if name in supplied.UNSUPERVISED and corpus in (supplied.CONLL, supplied.REVIEWS):
        return unsupervised.load_supplied(name, supplied.vectors_of(supplied.WIKI, languages))
    return word_vectors(False, name, languages)


def lookup(settings: TransferSettings) -> WordVectors:
    """Return the word vectors as the settings want them read; errors as :func:`vectors`."""
    names = (settings.corpus, settings.vectors, settings.languages)
    return vectors(*names) if settings.word_vectors == "standardised" else _raw(*names)


@cached_per_precision(maxsize=4)
def _raw(corpus: str, name: str, languages: tuple[str, ...]) -> WordVectors:
    return RawVectors(cast(VectorSet, vectors(corpus, name, languages)))


def _artificial_vectors(name: str, languages: tuple[str, ...]) -> WordVectors:
    family = family_of(FAMILY_SEED)
    if name in supplied.UNSUPERVISED:
        return unsupervised.load_artificial(name, family, languages, ARTIFICIAL_DIM)
    return artificial_vectors.load(family, languages, ARTIFICIAL_DIM, name)


def label_names(task: str, gold: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the labels of a task in a fixed order; tags: ``O``, then each B- with its I-."""
    if task == "reviews":
        return POLARITY
    kinds = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
    return ("O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI"))


# ---- reviews


def _reviews(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Example]:
    """Return all texts of a split: for, against and neutral.

    Only the first two have a class, so only they are labelled texts. Text without labels is all of
    them: what is neutral, only a label says, and a zero-resource run may not look at the target's.
    """
    if settings.corpus == ARTIFICIAL:
        wanted = settings.limit(split) or 0
        return _artificial_reviews(language, domain or "", split, DRAWN * wanted)
    return _read_reviews(settings.corpus, language, domain or "", split)


@lru_cache(maxsize=64)
def _read_reviews(corpus: str, language: str, domain: str, split: str) -> list[Example]:
    rows = named.reviews(corpus, language, domain, split)
    texts = [(label, tuple(tokenise(line, language))) for label, line in rows]
    return [Example(tokens, (label,)) for label, tokens in texts if tokens]


@lru_cache(maxsize=64)
def _artificial_reviews(language: str, domain: str, split: str, n: int) -> list[Example]:
    seed = zlib.crc32(f"{language} {domain}".encode())
    drawn = family_of(FAMILY_SEED).realisations(language, n, split, seed, "statements")
    sides = ((r, sentiment(r.meaning)) for r in drawn)
    return [Example(r.forms, (POLARITY[side > 0] if side else NEUTRAL,)) for r, side in sides]


# ---- vectors as the authors' code reads them


class RawVectors(WordVectors):
    """A look-up in a vector set by a word's lower-case form, and no second try.

    `VectorSet` standardises each dimension and backs off to parts of words; vocab.py of the
    authors' code does neither.

    Args:
        vectors: the set.

    Example:
        >>> both = VectorSet("two", {"en": ["ab"]}, {"en": np.array([[3.0, 4.0]])})
        >>> RawVectors(both).lookup("en", ["Ab", "abs"])[1].tolist()
        [1, 0]
    """

    def __init__(self, vectors: VectorSet) -> None:
        super().__init__()
        self.vectors, self.dim, self.source = vectors, vectors.dim, vectors.source
        self._rows: dict[str, dict[str, int]] = {}

    def find(self, language: str, words: Sequence[str]) -> list[tuple[np.ndarray, int]]:
        """Return each word's vector and 1, zeros and 0 where it is unknown.

        Raises:
            SettingsError: for a language without vectors.
        """
        if language not in self._rows:
            known = self.vectors.words(language)
            self._rows[language] = {word: row for row, word in enumerate(known)}
        matrix, none = self.vectors.matrix(language), np.zeros(self.dim, dtype=working_dtype())
        rows = [self._rows[language].get(word.strip().lower()) for word in words]
        return [
            (none, UNKNOWN) if row is None else (matrix[row].astype(working_dtype()), EXACT)
            for row in rows
        ]
