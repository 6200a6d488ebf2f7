"""Sentences and vectors of the two span tasks: named entities (NER) and slots (SF)."""

from functools import lru_cache
from typing import Literal

import numpy as np

from xlrepro.corpora import loading, registry
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.embeddings.vectors.encoding import EncodedSplit, TagSet, encode
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.word_order.data import FAMILY_SEED, vectors
from xlrepro.papers.word_order.settings import TaggingSettings

CORPORA = ("artificial", "fb-multilingual-nlu", "panx-wikiann")
# English slots, re-split from the evaluation and test files: 12,802 utterances in all.
RESPLIT_SEED = 0
RESPLIT = {"train": slice(0, 10_000), "dev": slice(10_000, 11_400), "test": slice(11_400, None)}


class SpanSettings(TaggingSettings):
    """Settings of a span-labelling trial.

    Attributes:
        task: which layer is labelled.
        test_shuffles: also score the source test set with its order disturbed by each k (Table 5).
        few_shot_language: target language whose training sentences are added (Figure 2).
        few_shot_share: share of its training sentences, 0 to 1.
    """

    task: Literal["NER", "SF"]
    test_shuffles: tuple[int, ...] = ()
    few_shot_language: str | None = None
    few_shot_share: float = 0.0


def sentences(settings: SpanSettings, language: str, split: str) -> list[Sentence]:
    """Return a split of the settings' corpus, cut to the settings' limit.

    Raises:
        DataError: if a file is missing or malformed.
        SettingsError: for an unknown corpus.
    """
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == "artificial":
        from xlrepro.corpora.artificial import family_of  # only here: see data.py

        return family_of(FAMILY_SEED).corpus(language, limit or 100, split=split)
    if settings.corpus == "panx-wikiann":
        return loading.load(settings.corpus, f"{language}/{split}")[:limit]
    if settings.corpus == "fb-multilingual-nlu":
        if language == "en":
            return _resplit_english()[RESPLIT[split]][:limit]
        return loading.load(settings.corpus, f"{language}/{split}")[:limit]
    raise SettingsError(f"unknown corpus {settings.corpus!r}; known: {', '.join(CORPORA)}")


@lru_cache(maxsize=1)
def _resplit_english() -> list[Sentence]:
    """Return the English evaluation and test utterances in one fixed random order."""
    found = [
        s for part in ("dev", "test") for s in loading.load("fb-multilingual-nlu", f"en/{part}")
    ]
    return [found[i] for i in np.random.default_rng(RESPLIT_SEED).permutation(len(found))]


def few_shot(settings: SpanSettings) -> list[Sentence]:
    """Return the first ``few_shot_share`` of the few-shot language's training sentences."""
    if settings.few_shot_language is None or settings.few_shot_share == 0:
        return []
    found = sentences(settings, settings.few_shot_language, "train")
    return found[: round(settings.few_shot_share * len(found))]


def labels(sentence: Sentence, task: str) -> tuple[str, ...]:
    """Return the BIO tags of the task.

    Raises:
        DataError: if the sentence has no such layer.
    """
    layer = sentence.entities if task == "NER" else sentence.slots
    if layer is None:
        raise DataError(f"a sentence has no {task} tags: use a corpus with that layer")
    return layer


def tag_set(settings: SpanSettings) -> TagSet:
    """Return the tags of the source training split, each B- with its I-."""
    names = {
        t for s in sentences(settings, settings.source, "train") for t in labels(s, settings.task)
    }
    kinds = {name[2:] for name in names if name != "O"}
    return TagSet(["O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")])


def encoded(
    settings: SpanSettings, language: str, found: list[Sentence], tags: TagSet
) -> EncodedSplit:
    """Return sentences as rows of vectors and tag numbers."""
    languages = tuple(dict.fromkeys((settings.source, *settings.targets)))
    return encode(
        language,
        [s.tokens for s in found],
        [labels(s, settings.task) for s in found],
        tags,
        vectors(settings.corpus, settings.vectors, languages),
    )


def data_hashes(settings: SpanSettings) -> dict[str, str]:
    """Return the content hash of every data set that a trial with these settings reads."""
    if settings.corpus == "artificial":
        return {"artificial": f"family {FAMILY_SEED}"}
    wanted = [("en", "train"), ("en", "dev"), ("en", "test")]
    if settings.corpus == "fb-multilingual-nlu":
        wanted = wanted[1:]  # train is a part of the other two
    wanted += [(code, "test") for code in settings.targets]
    if settings.few_shot_language is not None:
        wanted.append((settings.few_shot_language, "train"))
    files = [f"{code}/{split}" for code, split in wanted]
    hashes = {
        f"{settings.corpus}/{name}": registry.content_hash(settings.corpus, name) for name in files
    }
    hashes[f"vectors/{settings.vectors}"] = open_vectors.recipe_hash(settings.vectors)
    return hashes
