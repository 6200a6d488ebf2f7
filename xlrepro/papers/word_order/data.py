"""What a trial of the word-order paper reads."""

import numpy as np
import torch

from xlrepro.data.sentences import Sentence
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.papers.word_order.shuffling import shuffle_order
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import encoded, joined, labels, split_of, tag_set
from xlrepro.vectors.encoding import EncodedSplit, TagSet


def training_split(settings: TaggingSettings, source: Source) -> EncodedSplit:
    """Return the source language's training sentences, and few-shot ones where there are any."""
    split = split_of(source, settings.source, "train").encoded
    language = settings.few_shot_language
    sentences = few_shot(settings, source)
    if not sentences or language is None:
        return split
    vectors, tags = source.vectors, tag_set(source)
    return joined(split, encoded(sentences, language, source.task, tags, vectors).encoded)


def few_shot(settings: TaggingSettings, source: Source) -> list[Sentence]:
    """Return the first ``few_shot_share`` of the few-shot language's training sentences."""
    if settings.few_shot_language is None or settings.few_shot_share == 0:
        return []
    sentences = source.sentences(settings.few_shot_language, "train")
    return sentences[: round(settings.few_shot_share * len(sentences))]


def shuffled_copy(
    split: EncodedSplit, tags: TagSet, settings: TaggingSettings, epoch: int, seed: int
) -> EncodedSplit:
    """Return copy ``epoch mod shuffle_copies`` of the training sentences, each in a new order.

    A trial that trains as many epochs as there are copies sees each copy once. Spans of BIO tags
    stay whole; where tags are no BIO tags, every token is a unit. Copies depend on the seed, so
    that seeds differ in them too.
    """
    draw = np.random.default_rng([seed, epoch % settings.shuffle_copies])
    rows, numbers = [], []
    for sentence_rows, sentence_tags in zip(split.rows, split.tags, strict=True):
        names = [tags.names[t] if t >= 0 else "O" for t in sentence_tags.tolist()]
        # shape: (length,); the old place of each token
        order = torch.tensor(shuffle_order(len(sentence_rows), settings.shuffle_k, draw, names))
        rows.append(sentence_rows[order])
        numbers.append(sentence_tags[order])
    return EncodedSplit(split.language, split.table, rows, numbers)


def disturbed(sentences: list[Sentence], k: int, task: str, seed: int) -> list[Sentence]:
    """Return the sentences with units moved by at most ``k`` places, spans whole (Table 5)."""
    draw = np.random.default_rng([seed, k])
    layer = {"NER": "entities", "SF": "slots"}[task]
    moved = []
    for sentence in sentences:
        bio = labels(sentence, task)
        order = shuffle_order(len(sentence), k, draw, bio)
        tokens = tuple(sentence.tokens[i] for i in order)
        moved.append(Sentence(tokens, **{layer: tuple(bio[i] for i in order)}))  # type: ignore[arg-type]
    return moved
