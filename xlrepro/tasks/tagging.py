"""Sequence tagging: parts of speech, named entities and slots, trained on one language.

A tagger is any module with ``loss(batch, table)``, a scalar, and ``predict(batch, table)``, tag
numbers ``(batch, length)``; ``table`` holds the vectors that ``batch.rows`` names.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro import metrics
from xlrepro.data.readers import columns
from xlrepro.data.sentences import Sentence
from xlrepro.nn.crf import LinearChainCRF
from xlrepro.nn.recurrent import BiLSTM
from xlrepro.nn.transformer import TransformerEncoder
from xlrepro.precision import cached_per_precision
from xlrepro.tasks.source import Source
from xlrepro.training.batches import shuffled_batches
from xlrepro.training.loop import BatchLearner, Step
from xlrepro.training.optimiser import ScheduledAdam, schedule
from xlrepro.training.settings import FitSettings
from xlrepro.vectors.encoding import Batch, EncodedSplit, TagSet, encode
from xlrepro.vectors.tables import WordVectors

NO_LABEL = -100  # in place of a tag number: neither trained nor counted
UPOS = TagSet(columns.UPOS)  # all, though some treebanks never use X or SYM
LAYERS = {"POS": "upos", "NER": "entities", "SF": "slots"}


def labels(sentence: Sentence, task: str) -> tuple[str, ...]:
    """Return the tags of a sentence, one per token; those of spans are BIO.

    Args:
        sentence: the sentence.
        task: ``"POS"``, ``"NER"`` or ``"SF"``.
    """
    return tuple(getattr(sentence, LAYERS[task]))


def span_tags(gold: Iterable[Sequence[str]]) -> TagSet:
    """Return ``O`` and the span tags of some sentences, each B- with its I-.

    Example:
        >>> span_tags([["O", "I-PER"]]).names
        ('B-PER', 'I-PER', 'O')
    """
    kinds = {tag[2:] for tags in gold for tag in tags if tag != "O"}
    return TagSet(["O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")])


@lru_cache(maxsize=16)
def tag_set(source: Source) -> TagSet:
    """Return all universal tags, or the span tags of the training language's train split."""
    if source.task == "POS":
        return UPOS
    train = source.sentences(source.languages[0], "train")
    return span_tags(labels(sentence, source.task) for sentence in train)


@dataclass(frozen=True)
class TaggedSplit:
    """Sentences as a tagger reads them, with their tags as the corpus has them.

    Attributes:
        encoded: rows of vectors and tag numbers.
        gold: tags of each sentence, also those that the training language lacks.
    """

    encoded: EncodedSplit
    gold: list[tuple[str, ...]]


def encoded(
    sentences: Sequence[Sentence], language: str, task: str, tags: TagSet, vectors: WordVectors
) -> TaggedSplit:
    """Return sentences of one language as rows of vectors and tag numbers."""
    gold = [labels(s, task) for s in sentences]
    return TaggedSplit(encode(language, [s.tokens for s in sentences], gold, tags, vectors), gold)


@cached_per_precision(maxsize=80)
def split_of(source: Source, language: str, split: str) -> TaggedSplit:
    """Return a split of a source, encoded (cached in the process: trials share what they read)."""
    sentences = source.sentences(language, split)
    return encoded(sentences, language, source.task, tag_set(source), source.vectors)


def joined(first: EncodedSplit, second: EncodedSplit) -> EncodedSplit:
    """Return the sentences of both splits over one table; row 0 stays the zero vector."""
    offset = len(first.table) - 1
    return EncodedSplit(
        # shape: (types of both + 1, dim)
        torch.cat([first.table, second.table[1:]]),
        first.rows + [rows + offset for rows in second.rows],
        first.tags + second.tags,
    )


def score(
    task: str, gold: Sequence[Sequence[str]], predicted: Sequence[Tensor], tags: TagSet
) -> float:
    """Return accuracy over all tokens (POS) or span F1 by conlleval's rules, percent.

    Args:
        task: ``"POS"``, ``"NER"`` or ``"SF"``.
        gold: tags of each sentence.
        predicted: tag numbers of each sentence. each (length,)
        tags: names of the numbers.
    """
    names = [[tags.names[n] for n in row.tolist()] for row in predicted]
    if task != "POS":
        return metrics.span_f1(gold, names)
    return metrics.accuracy([t for row in gold for t in row], [t for row in names for t in row])


def metric(task: str) -> tuple[str, str]:
    """Return name and signature of what :func:`score` returns."""
    if task == "POS":
        return "accuracy", metrics.accuracy_signature()
    return "slot F1", metrics.span_f1_signature()


def tag_counts(
    gold: Sequence[Tensor], predicted: Sequence[Tensor], tags: TagSet
) -> dict[str, list[int]]:
    """Return per tag that occurs ``[right, total]``.

    Args:
        gold: tag numbers of each sentence. each (length,)
        predicted: likewise.
        tags: names of the numbers.
    """
    # shape of both: (tokens,)
    true, guessed = torch.cat(list(gold)), torch.cat(list(predicted))
    return {
        name: [int(((true == n) & (guessed == n)).sum()), int((true == n).sum())]
        for n, name in enumerate(tags.names)
        if bool((true == n).any())
    }


class SequenceTagger(nn.Module):
    """Encoder, linear layer, and a CRF or a softmax per token.

    Args:
        encoder: ``(x, mask) -> (batch, length, encoder.output_dim)``.
        n_tags: number of tags.
        head: ``"crf"``, or ``"linear"`` for a softmax per token.
        dropout: before the linear layer.
        input_dropout: of the word vectors.

    Example:
        >>> from xlrepro.nn.recurrent import BiLSTM
        >>> tagger = SequenceTagger(BiLSTM(8, 4, layers=1, dropout=0.1), n_tags=3)
        >>> x, mask = torch.zeros(2, 5, 8), torch.ones(2, 5, dtype=torch.bool)
        >>> tagger.emissions(x, mask).shape
        torch.Size([2, 5, 3])
    """

    def __init__(
        self,
        encoder: BiLSTM | TransformerEncoder,
        n_tags: int,
        head: str = "crf",
        dropout: float = 0.0,
        input_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.input_dropout, self.dropout = nn.Dropout(input_dropout), nn.Dropout(dropout)
        self.linear = nn.Linear(encoder.output_dim, n_tags)
        self.crf = LinearChainCRF(n_tags) if head == "crf" else None

    def emissions(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return a score per token and tag.

        Args:
            x: word vectors. (batch, length, input_dim)
            mask: True on tokens, right-padded. (batch, length)

        Returns:
            (batch, length, tags)
        """
        # shape: (batch, length, output_dim) -> (batch, length, tags)
        return self.linear(self.dropout(self.encoder(self.input_dropout(x), mask)))

    def loss(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the mean negative log-likelihood per sentence (CRF) or per token (softmax).

        Args:
            batch: rows of ``table`` and gold tags of each token.
            table: word vectors. (types + 1, input_dim)
        """
        # shape: (batch, length, tags)
        emissions = self.emissions(table[batch.rows], batch.mask)
        if self.crf is not None:
            return self.crf(emissions, batch.tags, batch.mask)
        # shape: (tokens, tags) and (tokens,)
        return nn.functional.cross_entropy(emissions[batch.mask], batch.tags[batch.mask])

    @torch.no_grad()
    def predict(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the best tags (batch, length), -1 where padded; arguments as in :meth:`loss`."""
        # shape: (batch, length, tags)
        emissions = self.emissions(table[batch.rows], batch.mask)
        if self.crf is not None:
            return self.crf.decode(emissions, batch.mask)
        return emissions.argmax(-1).masked_fill(~batch.mask, -1)


def tagger_learner(
    model: nn.Module,
    split: EncodedSplit,
    dev_score: Callable[[], float],
    settings: FitSettings,
    seed: int,
    device: str,
    word_dropout: float | None = None,
    in_round: Callable[[int], EncodedSplit] | None = None,
) -> BatchLearner[Batch]:
    """Return a tagger's training by Adam on one split.

    Args:
        model: the tagger.
        split: the training sentences.
        dev_score: scores the tagger as it is on dev.
        settings: of the training.
        seed: of the batches' order and of dropped words.
        device: where the tagger is.
        word_dropout: share of tokens whose row becomes 0, the zero vector; None where rows are no
            words.
        in_round: the training sentences of a round, where they are not the same in all.
    """
    table, generator = split.table.to(device), np.random.default_rng(seed)
    steps = settings.epochs * math.ceil(len(split) / settings.batch_size)
    factor = schedule(settings.schedule, settings.warmup_steps, steps)

    def batches(round_: int) -> Iterator[Batch]:
        sentences = in_round(round_) if in_round else split
        return shuffled_batches(sentences, settings.batch_size, generator)

    def step(batch: Batch) -> Step:
        tokens = int((batch.mask & (batch.tags != NO_LABEL)).sum())
        if word_dropout is not None:
            # shape: (batch, length)
            dropped = generator.random(batch.rows.shape) < word_dropout
            batch = replace(batch, rows=batch.rows.masked_fill(torch.from_numpy(dropped), 0))
        loss: Tensor = model.loss(batch.to(device), table)  # type: ignore[operator]
        return Step(adam.step(loss), tokens=tokens)

    adam = ScheduledAdam(model, settings.learning_rate, factor)
    return BatchLearner(model, batches, step, dev_score)
