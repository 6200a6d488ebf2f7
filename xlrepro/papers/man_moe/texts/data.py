"""Sentences with labels, text without, and word vectors, by the names that the settings use.

Labels leave this module through :func:`labelled` alone; :func:`text` has none. So what a
zero-resource run may not see can be watched at one place.

Reviews and vectors learnt without a dictionary have modules of their own, which are imported where
they are used: a change of theirs leaves the other records fresh.
"""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NoReturn, cast

from xlrepro.artificial import family_of
from xlrepro.data import named, supplied
from xlrepro.data.named import ARTIFICIAL, Part
from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.papers.man_moe.texts.examples import FAMILY_SEED, POLARITY, Example
from xlrepro.precision import cached_per_precision
from xlrepro.tasks.source import Source, word_vectors
from xlrepro.vectors import artificial as artificial_vectors
from xlrepro.vectors.encoding import Lookup
from xlrepro.vectors.mappings import NAMES as WITHOUT_DICTIONARY
from xlrepro.vectors.tables import VectorSet

ARTIFICIAL_DIM = 64  # of the artificial languages' word vectors
TWEETS = "sentiment-umsab"


def source(settings: TransferSettings) -> Source:
    """Return where tags and vectors come from."""
    return Source(
        settings.corpus,
        settings.task,
        settings.languages,
        settings.vectors,
        settings.train_sentences,
        settings.test_sentences,
    )


def labelled(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Example]:
    """Return the labelled texts of a split, cut to the settings' limit.

    Raises:
        DataError: if a file is missing or malformed, or nothing is there.
        SettingsError: for an unknown corpus.
    """
    if settings.task == "reviews":
        from xlrepro.papers.man_moe.texts import reviews

        limit = _limit(settings, split)
        examples = reviews.labelled(settings.corpus, language, domain, split, limit)
    else:
        sentences = _sentences(settings, language, domain, split)
        examples = [Example(s.tokens, _tags(s, settings.task)) for s in sentences]
    return examples or _nothing(settings, language, domain, split)


def text(
    settings: TransferSettings, language: str, domain: str | None, split: str = "train"
) -> list[tuple[str, ...]]:
    """Return the words of a split, cut to the same limit; errors as :func:`labelled`.

    No label decides what is among them, but the domain that a request is annotated with.
    """
    if settings.task == "reviews":
        from xlrepro.papers.man_moe.texts import reviews

        texts = reviews.text(settings.corpus, language, domain, split, _limit(settings, split))
    else:
        texts = [s.tokens for s in _sentences(settings, language, domain, split)]
    return texts or _nothing(settings, language, domain, split)


def _nothing(settings: TransferSettings, language: str, domain: str | None, split: str) -> NoReturn:
    raise DataError(f"{settings.corpus} {language}/{split} has nothing of domain {domain}")


def _limit(settings: TransferSettings, split: str) -> int | None:
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == ARTIFICIAL and limit is None:
        raise SettingsError("artificial corpora have no end: set train_sentences, test_sentences")
    return limit


def _tags(sentence: Sentence, task: str) -> tuple[str, ...]:
    layer = sentence.entities if task == "NER" else sentence.slots
    if layer is None:
        raise DataError(f"a sentence has no {task} tags: use a corpus with that layer")
    return layer


def _sentences(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Sentence]:
    limit = _limit(settings, split)
    if settings.corpus == ARTIFICIAL:
        kind = "statements" if domain is None else "requests"
        return _artificial(language, limit or 0, split, kind, domain and domain.lower())
    if domain is None:
        return source(settings).sentences(language, split)
    return [s for s in _utterances(settings, language, split) if _domain(s) == domain][:limit]


def _utterances(settings: TransferSettings, language: str, split: str) -> list[Sentence]:
    whole = replace(source(settings), train_sentences=None, test_sentences=None)
    return whole.sentences(language, split)


def _domain(utterance: Sentence) -> str:
    return (utterance.intent or "").partition("/")[0]


@lru_cache(maxsize=64)
def _artificial(language: str, n: int, split: str, kind: str, domain: str | None) -> list[Sentence]:
    # A seed per language: else the languages' corpora would say the same, sentence by sentence.
    seed = zlib.crc32(language.encode())
    return family_of(FAMILY_SEED).corpus(language, n, split, seed, kind, domain)  # type: ignore[arg-type]


@cached_per_precision(maxsize=8)
def vectors(corpus: str, name: str, languages: tuple[str, ...]) -> Lookup:
    """Return the word vectors ``name`` for ``languages`` (cached in the process).

    Raises:
        CollapsedError: for vectors mapped without a dictionary whose maps collapsed.
        DataError: naming the supplied files that are missing.
        SettingsError: for unknown vectors.
    """
    if corpus == ARTIFICIAL:
        return _artificial_vectors(name, languages)
    if name not in WITHOUT_DICTIONARY:
        return word_vectors(False, name, languages)
    if corpus == supplied.CONLL:
        from xlrepro.vectors.mappings import unsupervised

        return unsupervised.load_supplied(name, supplied.wiki_vectors(languages))
    from xlrepro.vectors.mappings import unsupervised as unsupervised_vectors

    return unsupervised_vectors.load(name, languages)


def lookup(settings: TransferSettings) -> Lookup:
    """Return the word vectors as the settings want them read; errors as :func:`vectors`."""
    names = (settings.corpus, settings.vectors, settings.languages)
    return vectors(*names) if settings.word_vectors == "standardised" else _raw(*names)


@cached_per_precision(maxsize=4)
def _raw(corpus: str, name: str, languages: tuple[str, ...]) -> Lookup:
    from xlrepro.papers.man_moe.texts.raw_vectors import RawVectors

    return RawVectors(cast(VectorSet, vectors(corpus, name, languages)))


def _artificial_vectors(name: str, languages: tuple[str, ...]) -> Lookup:
    family = family_of(FAMILY_SEED)
    if name in WITHOUT_DICTIONARY:
        from xlrepro.vectors.mappings import unsupervised

        return unsupervised.load_artificial(name, family, languages, ARTIFICIAL_DIM)
    return artificial_vectors.load(family, languages, ARTIFICIAL_DIM, name)


def data_hashes(settings: TransferSettings) -> dict[str, str]:
    """Return the content hash of every file that a trial reads; supplied ones by their size.

    Raises:
        DataError: naming the supplied files that are missing.
        SettingsError: for an unknown corpus or unknown vectors.
    """
    parts: dict[Part, None] = {}
    for target in settings.targets:
        sources = settings.sources(target)
        parts |= dict.fromkeys((code, part) for code in sources for part in ("train", "dev"))
        parts |= dict.fromkeys((target, part) for part in ("train", "dev", "test"))
    if settings.task == "reviews":
        hashes = _reviews(settings.corpus).hashes(list(parts))
    else:
        hashes = replace(source(settings), vectors_name=None).hashes(list(parts))
    if settings.corpus == supplied.CONLL and settings.vectors in WITHOUT_DICTIONARY:
        supplied.wiki_vectors(settings.languages)
    return hashes


def _reviews(corpus: str) -> named.Corpus:
    known: dict[str, named.Corpus] = {
        ARTIFICIAL: named.corpus(ARTIFICIAL, "POS"),
        TWEETS: named.Corpus(TWEETS, ("reviews",)),
    }
    if corpus not in known:
        raise SettingsError(f"unknown corpus {corpus!r} for reviews; known: {', '.join(known)}")
    return known[corpus]


def label_names(task: str, gold: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the labels of a task in a fixed order; tags: ``O``, then each B- with its I-."""
    if task == "reviews":
        return POLARITY
    kinds = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
    return ("O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI"))
