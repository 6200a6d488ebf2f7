"""Utterances with intents and slots, and their vectors, for the NLU model of Liu et al. (2019)."""

from dataclasses import dataclass
from pathlib import Path

import torch

from xlrepro.corpora import loading, registry
from xlrepro.corpora.readers.columns import read_columns
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.embeddings.vectors.encoding import EncodedSplit, Lookup, TagSet, encode
from xlrepro.errors import DataError, SettingsError
from xlrepro.papers.word_order import span_data
from xlrepro.papers.word_order.data import FAMILY_SEED, supplied_dir, vectors
from xlrepro.papers.word_order.nlu_delexicalisation import WithMarks, delexicalised
from xlrepro.papers.word_order.nlu_settings import NLUSettings
from xlrepro.papers.word_order.span_data import SpanSettings

REGISTERED = "fb-multilingual-nlu"  # English re-split from its evaluation and test files
OFFICIAL = "fb-multilingual-nlu-official"  # English training file supplied by the user
CORPORA = ("artificial", REGISTERED, OFFICIAL)


@dataclass(frozen=True)
class Labels:
    """The labels that the source language teaches.

    Attributes:
        intents: names of the intents.
        tags: BIO tags of the slots.
    """

    intents: TagSet
    tags: TagSet


@dataclass(frozen=True)
class NLUSplit:
    """One split of one language, ready to batch, with its labels as the corpus has them.

    Attributes:
        encoded: rows of vectors and tag numbers.
        intents: numbers of the intents, -1 for one that the source does not have. (sentences,)
        gold_intents: names of the intents.
        gold_slots: BIO tags of each sentence.
    """

    encoded: EncodedSplit
    intents: torch.Tensor
    gold_intents: list[str]
    gold_slots: list[tuple[str, ...]]


def sentences(settings: NLUSettings, language: str, split: str) -> list[Sentence]:
    """Return a split of the settings' corpus, cut to the settings' limit.

    Raises:
        DataError: if a file is missing or malformed.
        SettingsError: for an unknown corpus.
    """
    limit = settings.train_sentences if split == "train" else settings.test_sentences
    if settings.corpus == "artificial":
        from xlrepro.corpora.artificial import family_of  # only here: see data.py

        family = family_of(FAMILY_SEED)
        return family.corpus(language, limit or 100, split=split, kind="requests")
    if settings.corpus == OFFICIAL and (language, split) == ("en", "train"):
        return _official_training()[:limit]
    if settings.corpus == OFFICIAL and language == "en":
        return loading.load(REGISTERED, f"en/{split}")[:limit]
    if settings.corpus in CORPORA:
        return span_data.sentences(_span_settings(settings), language, split)
    raise SettingsError(f"unknown corpus {settings.corpus!r}; known: {', '.join(CORPORA)}")


def _span_settings(settings: NLUSettings) -> SpanSettings:
    """Return what ``span_data`` wants to know; it reads the corpus and the limits alone."""
    return SpanSettings(
        task="SF",
        corpus=REGISTERED,
        vectors=settings.vectors,
        source=settings.source,
        targets=settings.targets,
        encoder=settings.encoder,
        learning_rate=settings.learning_rate,
        epochs=settings.epochs,
        patience=settings.patience,
        train_sentences=settings.train_sentences,
        test_sentences=settings.test_sentences,
    )


def official_training_file() -> Path:
    """Return the English training file that the user supplies.

    Raises:
        DataError: if it is not there.
    """
    file = supplied_dir() / REGISTERED / "train-en.conllu"
    if not file.is_file():
        raise DataError(
            f"{file} is missing: put the English training file of the Facebook multilingual "
            "utterances there, or set XLREPRO_SUPPLIED to the folder above "
            f"{REGISTERED}/"
        )
    return file


def _official_training() -> list[Sentence]:
    reader = registry.dataset(REGISTERED).reader
    return read_columns(
        official_training_file(),
        reader.columns,
        reader.scheme,
        reader.encoding,
        separator=reader.separator,
        comment=reader.comment,
        intent_comment=reader.intent_comment,
        empty_tokens=reader.empty_tokens,
        tag_aliases=reader.tag_aliases,
    )


def labels(found: list[Sentence]) -> Labels:
    """Return the intents and slots of the source training sentences, each B- with its I-.

    Raises:
        DataError: if a sentence has no intent or no slots.
    """
    kinds = {tag[2:] for s in found for tag in slots(s) if tag != "O"}
    tags = TagSet(["O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")])
    return Labels(TagSet([intent(s) for s in found]), tags)


def intent(sentence: Sentence) -> str:
    """Return the intent.

    Raises:
        DataError: if the corpus names none.
    """
    if sentence.intent is None:
        raise DataError("a sentence has no intent: use a corpus of task-oriented utterances")
    return sentence.intent


def slots(sentence: Sentence) -> tuple[str, ...]:
    """Return the BIO tags.

    Raises:
        DataError: if the corpus has none.
    """
    return span_data.labels(sentence, "SF")


def encoded(settings: NLUSettings, language: str, found: list[Sentence], known: Labels) -> NLUSplit:
    """Return sentences as rows of vectors, tag numbers and intent numbers.

    Args:
        settings: name the vectors, and whether tokens are delexicalised.
        language: code of the sentences' language.
        found: the sentences.
        known: labels of the source language.
    """
    languages = tuple(dict.fromkeys((settings.source, *settings.targets)))
    corpus = "artificial" if settings.corpus == "artificial" else REGISTERED
    table: Lookup = vectors(corpus, settings.vectors, languages)
    tokens = [s.tokens for s in found]
    if settings.delexicalise:
        table, tokens = WithMarks(table), [delexicalised(t, language) for t in tokens]
    gold = [slots(s) for s in found]
    names = [intent(s) for s in found]
    numbers = torch.tensor([known.intents.number(name) for name in names])
    return NLUSplit(encode(language, tokens, gold, known.tags, table), numbers, names, gold)


def data_hashes(settings: NLUSettings) -> dict[str, str]:
    """Return the content hash of every data set that a trial with these settings reads.

    What the user supplies is named by its size, as in ``data.data_hashes``.

    Raises:
        DataError: if a file that the user supplies is missing.
        SettingsError: for an unknown corpus or unknown vectors.
    """
    if settings.corpus == "artificial":
        return {"artificial": f"family {FAMILY_SEED}"}
    if settings.corpus not in CORPORA:
        raise SettingsError(f"unknown corpus {settings.corpus!r}; known: {', '.join(CORPORA)}")
    hashes: dict[str, str] = {}
    if settings.corpus == OFFICIAL:
        file = official_training_file()
        hashes[f"supplied/{file.name}"] = f"{file.stat().st_size} bytes"
    files = ["en/dev", "en/test", *(f"{code}/test" for code in settings.targets)]
    for name in files:
        hashes[f"{REGISTERED}/{name}"] = registry.content_hash(REGISTERED, name)
    if settings.vectors == "fasttext-aligned":
        hashes["vectors/fasttext-aligned"] = "supplied by the user"
    else:
        hashes[f"vectors/{settings.vectors}"] = open_vectors.recipe_hash(settings.vectors)
    return hashes
