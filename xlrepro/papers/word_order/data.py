"""What a trial of the word-order paper reads, and order-shuffled sentences.

A unit is a whole entity span, its tokens in order, or a single token outside of any. The units are
permuted by a σ with |σ(i) − i| ≤ k; k = ∞ allows every permutation ("Shuffling Word Order").
"""

import itertools
from collections.abc import Sequence

import numpy as np
import torch

from xlrepro.data.sentences import Sentence
from xlrepro.papers.word_order.settings import SHUFFLED_COPIES, TaggingSettings
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import LAYERS, TaggedSplit, encoded, joined, labels, split_of, tag_set
from xlrepro.vectors.encoding import EncodedSplit, TagSet


def training_split(settings: TaggingSettings, source: Source) -> EncodedSplit:
    """Return the source language's training sentences.

    After them stand the first ``few_shot_share`` of the few-shot language's, if there is one,
    without those that have a tag that the source lacks.
    """
    split = split_of(source, settings.source, "train").encoded
    language = settings.few_shot_language
    sentences = source.sentences(language, "train") if language else []
    tags = tag_set(source)
    few = sentences[: round(settings.few_shot_share * len(sentences))]
    few = [s for s in few if {*labels(s, source.task)} <= {*tags.names}]
    if language is None or not few:
        return split
    more = encoded(few, language, source.task, tags, source.vectors)
    return joined(split, more.encoded)


def shuffled_copy(
    split: EncodedSplit, tags: TagSet, k: int | None, epoch: int, seed: int
) -> EncodedSplit:
    """Return copy ``epoch mod 10`` of the training sentences, each in a new order.

    The paper draws ten permutations of each sentence; here an epoch sees one, so that it has as
    many steps in shuffled systems as in plain ones. Spans of BIO tags stay whole; where tags are no
    BIO tags, every token is a unit. Copies depend on the seed, so that seeds differ in them too.
    """
    draw = np.random.default_rng([seed, epoch % SHUFFLED_COPIES])
    rows, numbers = [], []
    for sentence_rows, sentence_tags in zip(split.rows, split.tags, strict=True):
        names = [tags.names[t] if t >= 0 else "O" for t in sentence_tags.tolist()]
        # shape: (length,); the old place of each token
        order = torch.tensor(shuffle_order(names, k, draw))
        rows.append(sentence_rows[order])
        numbers.append(sentence_tags[order])
    return EncodedSplit(split.table, rows, numbers)


def disturbed_test(settings: TaggingSettings, source: Source, k: int, seed: int) -> TaggedSplit:
    """Return the source's test set, units moved by at most ``k`` places, spans whole."""
    draw = np.random.default_rng([seed, k])
    moved = []
    for sentence in source.sentences(settings.source, "test"):
        bio = labels(sentence, source.task)
        order = shuffle_order(bio, k, draw)
        tokens = tuple(sentence.tokens[i] for i in order)
        moved.append(Sentence(tokens, **{LAYERS[source.task]: tuple(bio[i] for i in order)}))  # type: ignore[arg-type]
    return encoded(moved, settings.source, source.task, tag_set(source), source.vectors)


def units(bio_tags: Sequence[str]) -> list[range]:
    """Return the units of a sentence as ranges of positions.

    Example:
        >>> units(["O", "B-LOC", "I-LOC", "O"])
        [range(0, 1), range(1, 3), range(3, 4)]
    """
    starts = [0]
    for place, (before, tag) in enumerate(itertools.pairwise(bio_tags), start=1):
        # an I- continues the span that the tag before it is in, if that has its label
        if not (tag.startswith("I-") and before[:1] in "BI" and before[1:] == tag[1:]):
            starts.append(place)
    return [range(a, b) for a, b in itertools.pairwise([*starts, len(bio_tags)])]


def permutation(n: int, k: int | None, generator: np.random.Generator) -> np.ndarray:
    """Draw an order of n units in which none moves more than ``k`` places.

    Lample et al. (2018): sort i + uᵢ with uᵢ uniform in [0, k + 1). A unit can be overtaken only
    by units at most k places behind it, so |σ(i) − i| ≤ k.

    Args:
        n: number of units.
        k: the largest move; ``None`` is ∞, any permutation with equal probability.
        generator: source of the draw.

    Returns:
        The old positions in their new order. (n,)
    """
    if k is None:
        return generator.permutation(n)
    return np.argsort(np.arange(n) + generator.uniform(0.0, k + 1.0, n), kind="stable")


def shuffle_order(tags: Sequence[str], k: int | None, generator: np.random.Generator) -> list[int]:
    """Return the old token positions in their new order; spans of BIO tags stay whole and in order.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> sorted(shuffle_order(["O", "B-LOC", "I-LOC", "O"], None, rng))
        [0, 1, 2, 3]
    """
    spans = units(tags)
    order = permutation(len(spans), k, generator)
    return [position for unit in order for position in spans[unit]]
