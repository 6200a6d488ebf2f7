"""Sentences with labels, text without, and word vectors, by the names that the settings use.

Labels leave this module through :func:`labelled` alone; :func:`text` has none. So what a
zero-resource run may not see can be watched at one place.

Reviews, corpora that a user supplies, and vectors learnt without a dictionary have modules of their
own, which are imported where they are used: a change of theirs leaves the other records fresh.
"""

import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from xlrepro.corpora import loading, registry
from xlrepro.corpora.artificial import family_of
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.mappings import recipes as mapping_recipes
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.embeddings.vectors import artificial as artificial_vectors
from xlrepro.embeddings.vectors.encoding import Lookup
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.man_moe.examples import FAMILY_SEED, POLARITY, Example
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.precision import cached_per_precision

ARTIFICIAL_DIM = 64  # of the artificial languages' word vectors
# What can be had without asking anyone; other corpora are those that a user supplies.
OPEN_CORPORA = {
    "NER": ("artificial", "panx-wikiann"),
    "SF": ("artificial", "fb-multilingual-nlu"),
    "reviews": ("artificial", "sentiment-umsab"),
}
WITHOUT_DICTIONARY = ("muse", "umwe")  # vectors mapped without one
# English slots, re-split from the evaluation and test files, as in word_order: 12,802 utterances.
RESPLIT_SEED = 0
RESPLIT = {"train": slice(0, 10_000), "dev": slice(10_000, 11_400), "test": slice(11_400, None)}


def labelled(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> list[Example]:
    """Return the labelled texts of a split, cut to the settings' limit.

    Raises:
        DataError: if a file is missing or malformed, or nothing is there.
        SettingsError: for an unknown corpus.
    """
    if settings.corpus not in OPEN_CORPORA[settings.task]:
        from xlrepro.papers.man_moe import supplied_data

        found = supplied_data.labelled(settings, language, domain, split)
    elif settings.task == "reviews":
        from xlrepro.papers.man_moe import reviews

        limit = _limit(settings, split)
        found = reviews.labelled(settings.corpus, language, domain, split, limit)
    else:
        found = [
            Example(s.tokens, _tags(s, settings.task))
            for s in _sentences(settings, language, domain, split)
        ]
    if not found:
        raise _nothing(settings, language, domain, split)
    return found


def text(
    settings: TransferSettings, language: str, domain: str | None, split: str = "train"
) -> list[tuple[str, ...]]:
    """Return the words of a split, cut to the same limit; errors as :func:`labelled`.

    No label decides what is among them, but the domain that a request is annotated with.
    """
    if settings.corpus not in OPEN_CORPORA[settings.task]:
        from xlrepro.papers.man_moe import supplied_data

        found = supplied_data.text(settings, language, domain, split)
    elif settings.task == "reviews":
        from xlrepro.papers.man_moe import reviews

        found = reviews.text(settings.corpus, language, domain, split, _limit(settings, split))
    else:
        found = [s.tokens for s in _sentences(settings, language, domain, split)]
    if not found:
        raise _nothing(settings, language, domain, split)
    return found


def _nothing(
    settings: TransferSettings, language: str, domain: str | None, split: str
) -> DataError:
    return DataError(f"{settings.corpus} {language}/{split} has nothing of domain {domain}")


def _limit(settings: TransferSettings, split: str) -> int | None:
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == "artificial" and limit is None:
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
    if settings.corpus == "artificial":
        kind = "statements" if domain is None else "requests"
        return _artificial(language, limit or 0, split, kind, domain and domain.lower())
    if settings.corpus == "fb-multilingual-nlu":
        found = _utterances(language, split)
        return [s for s in found if (s.intent or "").partition("/")[0] == domain][:limit]
    return loading.load(settings.corpus, f"{language}/{split}")[:limit]


@lru_cache(maxsize=64)
def _artificial(language: str, n: int, split: str, kind: str, domain: str | None) -> list[Sentence]:
    # A seed per language: else the languages' corpora would say the same, sentence by sentence.
    seed = zlib.crc32(language.encode())
    return family_of(FAMILY_SEED).corpus(language, n, split, seed, kind, domain)  # type: ignore[arg-type]


@lru_cache(maxsize=16)
def _utterances(language: str, split: str) -> list[Sentence]:
    if language != "en":
        return loading.load("fb-multilingual-nlu", f"{language}/{split}")
    parts = [loading.load("fb-multilingual-nlu", f"en/{part}") for part in ("dev", "test")]
    found = [sentence for part in parts for sentence in part]
    order = np.random.default_rng(RESPLIT_SEED).permutation(len(found))
    return [found[i] for i in order][RESPLIT[split]]


@cached_per_precision(maxsize=8)
def vectors(corpus: str, name: str, languages: tuple[str, ...]) -> Lookup:
    """Return the word vectors ``name`` for ``languages`` (cached in the process).

    Raises:
        SettingsError: for unknown vectors.
        CollapsedError: for vectors mapped without a dictionary whose maps collapsed.
    """
    if not any(corpus in names for names in OPEN_CORPORA.values()):
        from xlrepro.papers.man_moe import supplied_data

        return supplied_data.vectors(name, languages)
    if corpus == "artificial":
        return _artificial_vectors(name, languages)
    if name in WITHOUT_DICTIONARY:
        from xlrepro.embeddings.mappings import unsupervised as unsupervised_vectors

        return unsupervised_vectors.load(name, languages)
    return open_vectors.load(name, languages)


def _artificial_vectors(name: str, languages: tuple[str, ...]) -> Lookup:
    family = family_of(FAMILY_SEED)
    if name in WITHOUT_DICTIONARY:
        from xlrepro.embeddings.mappings import artificial_unsupervised

        return artificial_unsupervised.load(name, family, languages, ARTIFICIAL_DIM)
    return artificial_vectors.load(family, languages, ARTIFICIAL_DIM, name)


def data_hashes(settings: TransferSettings) -> dict[str, str]:
    """Return the content hash of every file that a trial with these settings reads."""
    if settings.corpus not in OPEN_CORPORA[settings.task]:
        from xlrepro.papers.man_moe import supplied_data

        return supplied_data.data_hashes(settings)
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
        return mapping_recipes.recipe_hash(name, languages)
    return open_vectors.recipe_hash(name)


def label_names(task: str, gold: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the labels of a task in a fixed order; tags: ``O``, then each B- with its I-."""
    if task == "reviews":
        return POLARITY
    kinds = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
    return ("O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI"))
