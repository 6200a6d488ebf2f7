"""Sentences as word pieces for the M-BERT rows: labels on first pieces, long sentences in parts."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from xlrepro.nn.bert import Bert
from xlrepro.papers.word_order.mbert import encoders
from xlrepro.papers.word_order.mbert.encoders import MultilingualBert
from xlrepro.precision import cached_per_precision
from xlrepro.pretraining.frozen_states import frozen_states
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import NO_LABEL, labels, tag_set
from xlrepro.training.batches import in_order, ordered_batches
from xlrepro.vectors.encoding import Batch, EncodedSplit, TagSet

FEATURE_PIECES = 8192  # padded pieces of a batch of frozen features


@dataclass(frozen=True)
class PieceSplit:
    """A split as sequences of pieces; a sentence too long for M-BERT is several of them.

    Attributes:
        language: its code.
        ids: per sequence its pieces, ``[CLS]`` first and ``[SEP]`` last. each (pieces,)
        first: per sequence the place of each word's first piece. each (words,)
        tags: per sequence the tag number of each word; -1 for a tag outside the tag set.
            each (words,)
        sentence: per sequence the number of the sentence it belongs to.
        cut: number of sentences that are more than one sequence.
    """

    language: str
    ids: list[Tensor]
    first: list[Tensor]
    tags: list[Tensor]
    sentence: list[int]
    cut: int

    def by_sentence(self, rows: Sequence[Tensor]) -> list[Tensor]:
        """Return what stands at the words of the sequences, joined to whole sentences.

        Args:
            rows: a value per word of each sequence. each ``(words, ...)``
        """
        joined: list[list[Tensor]] = [[] for _ in range(self.sentence[-1] + 1)]
        for number, row in zip(self.sentence, rows, strict=True):
            joined[number].append(row)
        return [torch.cat(parts) for parts in joined]


def cut(lengths: Sequence[int], room: int) -> list[range]:
    """Cut a sentence at word boundaries into parts of at most ``room`` pieces.

    Args:
        lengths: number of pieces of each word, each at most ``room``.
        room: pieces of a sequence without ``[CLS]`` and ``[SEP]``.

    Example:
        >>> cut([2, 2, 3, 1], room=4)
        [range(0, 2), range(2, 4)]
    """
    starts, used = [0], 0
    for i, length in enumerate(lengths):
        if used + length > room:
            starts.append(i)
            used = 0
        used += length
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(lengths)], strict=True)]


def in_pieces(
    bert: MultilingualBert,
    language: str,
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    tag_set: TagSet,
) -> PieceSplit:
    """Encode sentences of one language.

    Args:
        bert: whose pieces.
        language: code of the language.
        sentences: the words of each.
        tags: the tag names of each.
        tag_set: numbers of the tags.
    """
    room = bert.limit - 2
    all_ids, all_first, all_tags, sentence = [], [], [], []
    cut_sentences = 0
    for number, (words, names) in enumerate(zip(sentences, tags, strict=True)):
        pieces = [numbers[:room] for numbers in bert.pieces(words, language)]
        parts = cut([len(p) for p in pieces], room)
        cut_sentences += len(parts) > 1
        for part in parts:
            ids, first = [bert.cls], []
            for word in part:
                first.append(len(ids) + bert.first(pieces[word]))
                ids += pieces[word]
            all_ids.append(torch.tensor([*ids, bert.sep]))
            all_first.append(torch.tensor(first))
            all_tags.append(torch.tensor([tag_set.number(names[word]) for word in part]))
            sentence.append(number)
    return PieceSplit(language, all_ids, all_first, all_tags, sentence, cut_sentences)


def as_features(bert: MultilingualBert, split: PieceSplit, device: str) -> EncodedSplit:
    """Return frozen M-BERT outputs at first pieces; computed once, read in every epoch.

    A word of the split has a row of the table of its own: M-BERT's outputs depend on the sentence.
    """
    total = sum(len(first) for first in split.first)
    table = torch.zeros(total + 1, bert.dim)
    rows, start = [], 1
    for first in split.first:
        rows.append(torch.arange(start, start + len(first)))
        start += len(first)
    if isinstance(bert.network, Bert) and bert.weights is not None:
        layer = len(bert.network.layers)
        pieces, reads = ([row.tolist() for row in some] for some in (split.ids, split.first))
        states = frozen_states(bert.network, bert.weights, pieces, reads, [layer], device)
        table[1:] = torch.from_numpy(states[layer].astype("float32"))  # exact: they are halves
        return EncodedSplit(split.language, table, rows, split.tags)
    network = bert.network.to(device)

    def at_words(batch: Batch) -> list[Tensor]:
        # shape: (batch, pieces, dim)
        hidden = network(batch.rows.to(device), batch.mask.to(device)).cpu()
        # shape of each: (words, dim)
        return [states[split.first[i]] for i, states in zip(batch.indices, hidden, strict=True)]

    batches = ordered_batches(as_sequences(split), FEATURE_PIECES)
    # shape: (words of all sequences, dim)
    table[1:] = torch.cat(in_order(network, batches, at_words))
    return EncodedSplit(split.language, table, rows, split.tags)


def as_sequences(split: PieceSplit) -> EncodedSplit:
    """Return the pieces themselves, for fine-tuning; only first pieces have a label.

    The rows are pieces, and the tags of all others are ``NO_LABEL``.
    """
    tags = []
    for ids, first, numbers in zip(split.ids, split.first, split.tags, strict=True):
        row = torch.full_like(ids, NO_LABEL)
        row[first] = numbers
        tags.append(row)
    return EncodedSplit(split.language, torch.zeros(1, 0), split.ids, tags)


def pieces_of(bert: MultilingualBert, source: Source, language: str, split: str) -> PieceSplit:
    """Return a split as pieces of ``bert``."""
    sentences = source.sentences(language, split)
    gold = [labels(s, source.task) for s in sentences]
    return in_pieces(bert, language, [s.tokens for s in sentences], gold, tag_set(source))


@cached_per_precision(maxsize=2)
def frozen_bert(checkpoint: str) -> MultilingualBert:
    """Return a checkpoint that nobody trains (cached in the process)."""
    return encoders.load_bert(checkpoint)


@cached_per_precision(maxsize=80)
def features(
    checkpoint: str, source: Source, language: str, split: str, device: str
) -> tuple[PieceSplit, EncodedSplit]:
    """Return a split and its frozen features (cached: trials of all encoders share them)."""
    bert = frozen_bert(checkpoint)
    pieces = pieces_of(bert, source, language, split)
    return pieces, as_features(bert, pieces, device)
