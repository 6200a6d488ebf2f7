"""Utterances with intents and slots, and their vectors, for the NLU model of Liu et al. (2019)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from xlrepro.data.sentences import Sentence
from xlrepro.errors import DataError
from xlrepro.papers.word_order.hashes import nlu_source
from xlrepro.papers.word_order.nlu.delexicalisation import WithMarks, delexicalised
from xlrepro.papers.word_order.nlu.settings import NLUSettings
from xlrepro.tasks.tagging import labels, span_tags
from xlrepro.vectors.encoding import EncodedSplit, Lookup, TagSet, encode


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


def known_labels(sentences: Sequence[Sentence]) -> Labels:
    """Return the intents and slots of the source training sentences, each B- with its I-.

    Raises:
        DataError: if a sentence has no intent or no slots.
    """
    return Labels(TagSet([intent(s) for s in sentences]), span_tags(sentences, "SF"))


def intent(sentence: Sentence) -> str:
    """Return the intent.

    Raises:
        DataError: if the corpus names none.
    """
    if sentence.intent is None:
        raise DataError("a sentence has no intent: use a corpus of task-oriented utterances")
    return sentence.intent


def encoded(
    settings: NLUSettings, language: str, sentences: Sequence[Sentence], known: Labels
) -> NLUSplit:
    """Return sentences as rows of vectors, tag numbers and intent numbers.

    Args:
        settings: name the vectors, and whether tokens are delexicalised.
        language: code of the sentences' language.
        sentences: the sentences.
        known: labels of the source language.
    """
    vectors: Lookup = nlu_source(settings).vectors
    tokens = [s.tokens for s in sentences]
    if settings.delexicalise:
        vectors, tokens = WithMarks(vectors), [delexicalised(t, language) for t in tokens]
    gold, names = [labels(s, "SF") for s in sentences], [intent(s) for s in sentences]
    # shape: (sentences,)
    numbers = torch.tensor([known.intents.number(name) for name in names])
    return NLUSplit(encode(language, tokens, gold, known.tags, vectors), numbers, names, gold)
