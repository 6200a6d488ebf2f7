"""Sentences with labels, text without, and word vectors, by the names that the settings use.

Labels leave this module through :func:`labelled` alone; :func:`text` drops them at once. So what a
zero-resource run may not see can be watched at one place.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from xlrepro.corpora import loading, registry
from xlrepro.corpora.artificial import Family
from xlrepro.corpora.artificial.family import sentence_of
from xlrepro.corpora.artificial.semantics import sentiment
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings import artificial_vectors, open_vectors
from xlrepro.embeddings.encoding import Lookup
from xlrepro.embeddings.tokenise import tokenise
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.man_moe.settings import TransferSettings

FAMILY_SEED = 0
ARTIFICIAL_DIM = 64  # of the artificial languages' word vectors
CORPORA = {
    "NER": ("artificial", "panx-wikiann"),
    "SF": ("artificial", "fb-multilingual-nlu"),
    "reviews": ("artificial", "sentiment-umsab"),
}
WITHOUT_DICTIONARY = ("muse", "umwe")  # open vectors mapped without one
POLARITY = ("negative", "positive")
# English slots, re-split from the evaluation and test files, as in word_order: 12,802 utterances.
RESPLIT_SEED = 0
RESPLIT = {"train": slice(0, 10_000), "dev": slice(10_000, 11_400), "test": slice(11_400, None)}


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
    return _examples(settings, language, domain, split)


def text(
    settings: TransferSettings, language: str, domain: str | None, split: str = "train"
) -> list[tuple[str, ...]]:
    """Return the words of a split without its labels; errors as :func:`labelled`."""
    return [example.tokens for example in _examples(settings, language, domain, split)]


def _examples(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Example]:
    known = CORPORA[settings.task]
    if settings.corpus not in known:
        raise SettingsError(
            f"unknown corpus {settings.corpus!r} for {settings.task}; known: {', '.join(known)}"
        )
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == "artificial" and limit is None:
        raise SettingsError("artificial corpora have no end: set train_sentences, test_sentences")
    if settings.task == "reviews":
        found = _reviews(settings.corpus, language, domain, split, limit)[:limit]
    else:
        sentences = _sentences(settings, language, domain, split, limit)[:limit]
        found = [Example(s.tokens, _tags(s, settings.task)) for s in sentences]
    if not found:
        raise DataError(f"{settings.corpus} {language}/{split} has nothing of domain {domain}")
    return found


def _tags(sentence: Sentence, task: str) -> tuple[str, ...]:
    layer = sentence.entities if task == "NER" else sentence.slots
    if layer is None:
        raise DataError(f"a sentence has no {task} tags: use a corpus with that layer")
    return layer


def _sentences(
    settings: TransferSettings, language: str, domain: str | None, split: str, limit: int | None
) -> list[Sentence]:
    if settings.corpus == "artificial":
        kind = "statements" if domain is None else "requests"
        return _artificial(language, limit or 0, split, kind, domain and domain.lower())
    if settings.corpus == "fb-multilingual-nlu":
        found = _utterances(language, split)
        return [s for s in found if (s.intent or "").partition("/")[0] == domain]
    return loading.load(settings.corpus, f"{language}/{split}")


@lru_cache(maxsize=64)
def _artificial(language: str, n: int, split: str, kind: str, domain: str | None) -> list[Sentence]:
    # A seed per language: else the languages' corpora would say the same, sentence by sentence.
    seed = zlib.crc32(language.encode())
    return Family(FAMILY_SEED).corpus(language, n, split, seed, kind, domain)  # type: ignore[arg-type]


@lru_cache(maxsize=16)
def _utterances(language: str, split: str) -> list[Sentence]:
    if language != "en":
        return loading.load("fb-multilingual-nlu", f"{language}/{split}")
    parts = [loading.load("fb-multilingual-nlu", f"en/{part}") for part in ("dev", "test")]
    found = [sentence for part in parts for sentence in part]
    order = np.random.default_rng(RESPLIT_SEED).permutation(len(found))
    return [found[i] for i in order][RESPLIT[split]]


@lru_cache(maxsize=64)
def _reviews(
    corpus: str, language: str, domain: str | None, split: str, limit: int | None
) -> list[Example]:
    if corpus == "artificial":
        return _artificial_reviews(language, domain or "", split, limit or 0)
    rows = loading.load_rows(corpus, f"{language}/{split}")
    polar = [(POLARITY[label == "2"], line) for label, line in rows if label in ("0", "2")]
    words = [(label, tuple(tokenise(line, language))) for label, line in polar]
    return [Example(tokens, (label,)) for label, tokens in words if tokens]


def _artificial_reviews(language: str, domain: str, split: str, n: int) -> list[Example]:
    """Return statements that take a side; each domain is another draw of them."""
    seed = zlib.crc32(f"{language} {domain}".encode())
    drawn = Family(FAMILY_SEED).realisations(language, 4 * n, split, seed, "statements")
    sides = [(sentiment(realisation.meaning), realisation) for realisation in drawn]
    return [Example(sentence_of(r).tokens, (POLARITY[side > 0],)) for side, r in sides if side][:n]


@lru_cache(maxsize=8)
def vectors(corpus: str, name: str, languages: tuple[str, ...]) -> Lookup:
    """Return the word vectors ``name`` for ``languages`` (cached in the process).

    Raises:
        SettingsError: for unknown vectors.
        CollapsedError: for vectors mapped without a dictionary whose maps collapsed.
    """
    if corpus == "artificial":
        return artificial_vectors.load(Family(FAMILY_SEED), languages, ARTIFICIAL_DIM, name)
    if name in WITHOUT_DICTIONARY:
        from xlrepro.embeddings import unsupervised_vectors

        return unsupervised_vectors.load(name, languages)
    return open_vectors.load(name, languages)


def data_hashes(settings: TransferSettings) -> dict[str, str]:
    """Return the content hash of every file that a trial with these settings reads."""
    if settings.corpus == "artificial":
        return {"artificial": f"family {FAMILY_SEED}"}
    wanted: dict[str, None] = {}
    for target in settings.targets:
        sources = settings.sources(target)
        wanted |= dict.fromkeys(f"{code}/{part}" for code in sources for part in ("train", "dev"))
        wanted |= dict.fromkeys(f"{target}/{part}" for part in ("train", "dev", "test"))
    if settings.corpus == "fb-multilingual-nlu":
        wanted.pop("en/train", None)  # a part of the other two
        wanted |= {"en/test": None} if "en/dev" in wanted else {}
    hashes = {
        f"{settings.corpus}/{name}": registry.content_hash(settings.corpus, name) for name in wanted
    }
    hashes[f"vectors/{settings.vectors}"] = vectors_hash(settings.vectors, settings.languages)
    return hashes


def vectors_hash(name: str, languages: tuple[str, ...]) -> str:
    """Return the hash of everything that decides the open vectors ``name``."""
    if name in WITHOUT_DICTIONARY:
        from xlrepro.embeddings import unsupervised_vectors

        return unsupervised_vectors.recipe_hash(name, languages)
    return open_vectors.recipe_hash(name)


def label_names(task: str, gold: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the labels of a task in a fixed order; tags: ``O``, then each B- with its I-."""
    if task == "reviews":
        return POLARITY
    kinds = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
    return ("O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI"))
