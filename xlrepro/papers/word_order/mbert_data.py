"""Sentences as word pieces for the M-BERT rows: labels on first pieces, long sentences in parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from xlrepro.corpora import registry
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.vectors.encoding import EncodedSplit, TagSet
from xlrepro.nn.bert import Bert
from xlrepro.papers.word_order import data, span_data
from xlrepro.papers.word_order.mbert import MultilingualBert, checkpoint_hash, load_bert
from xlrepro.papers.word_order.settings import EncoderSettings
from xlrepro.papers.word_order.span_data import SpanSettings
from xlrepro.precision import cached_per_precision
from xlrepro.pretraining.frozen_states import frozen_states

NO_LABEL = -100  # of [CLS], [SEP] and pieces inside a word
FEATURE_PIECES = 8192  # padded pieces of a batch of frozen features


class MbertSettings(SpanSettings):
    """Settings of a trial with M-BERT.

    Attributes:
        task: part-of-speech tags, entities or slots.
        checkpoint: ``"self:cpu"``, a name that transformers knows, or a folder.
        fine_tune: train M-BERT itself with a linear layer, instead of an encoder on its outputs.
        freeze_positions: fine-tuning: leave its position table as it is.
    """

    task: Literal["POS", "NER", "SF"]  # type: ignore[assignment]
    vectors: str = "M-BERT"
    encoder: EncoderSettings = EncoderSettings(kind="transformer")
    checkpoint: str
    fine_tune: bool = False
    freeze_positions: bool = False


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
    ids: list[torch.Tensor]
    first: list[torch.Tensor]
    tags: list[torch.Tensor]
    sentence: list[int]
    cut: int

    def by_sentence(self, rows: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return what stands at the words of the sequences, joined to whole sentences.

        Args:
            rows: a value per word of each sequence. each ``(words, ...)``
        """
        joined: list[list[torch.Tensor]] = [[] for _ in range(self.sentence[-1] + 1)]
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
    all_ids, all_first, all_tags, numbers = [], [], [], []
    cut_sentences = 0
    for number, (words, names) in enumerate(zip(sentences, tags, strict=True)):
        pieces = [found[:room] for found in bert.pieces(words, language)]
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
            numbers.append(number)
    return PieceSplit(language, all_ids, all_first, all_tags, numbers, cut_sentences)


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
        found = frozen_states(bert.network, bert.weights, pieces, reads, [layer], device)
        table[1:] = torch.from_numpy(found[layer].astype("float32"))
        return EncodedSplit(split.language, table, rows, split.tags)
    network = bert.network.to(device).eval()
    order = sorted(range(len(split.ids)), key=lambda i: -len(split.ids[i]))
    while order:
        count = max(1, FEATURE_PIECES // len(split.ids[order[0]]))
        chosen, order = order[:count], order[count:]
        ids, mask = padded([split.ids[i] for i in chosen])
        with torch.no_grad():
            hidden = network(ids.to(device), mask.to(device)).cpu()
        for i, outputs in zip(chosen, hidden, strict=True):
            table[rows[i]] = outputs[split.first[i]]
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


def padded(rows: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows as one tensor, 0 at the right where they are short, and the mask.

    Args:
        rows: numbers of pieces. each ``(length,)``

    Returns:
        The rows and the mask, True at pieces, both ``(rows, longest)``.
    """
    ids = torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]


def sentences(settings: MbertSettings, language: str, split: str) -> list[Sentence]:
    """Return a split of the settings' corpus, cut to the settings' limit."""
    if settings.task == "POS":
        return data.sentences(settings, language, split)
    return span_data.sentences(settings, language, split)


def names(sentence: Sentence, task: str) -> tuple[str, ...]:
    """Return the tag names of the task.

    Raises:
        DataError: if the sentence has no such layer.
    """
    if task == "POS" and sentence.upos is not None:
        return sentence.upos
    return span_data.labels(sentence, task)


def tag_set(settings: MbertSettings) -> TagSet:
    """Return the tags: all universal ones, or those of the source training split."""
    return data.UPOS if settings.task == "POS" else span_data.tag_set(settings)


@cached_per_precision(maxsize=2)
def _frozen_bert(checkpoint: str) -> MultilingualBert:
    return load_bert(checkpoint)


@cached_per_precision(maxsize=80)
def features(
    settings: MbertSettings, language: str, split: str, device: str
) -> tuple[PieceSplit, EncodedSplit]:
    """Return a split and its frozen features (cached in the process).

    Call it with settings reduced by :func:`data_settings`, so that trials that differ in their
    encoder share them.
    """
    bert = _frozen_bert(settings.checkpoint)
    found = encoded(bert, settings, language, split)
    return found, as_features(bert, found, device)


def encoded(
    bert: MultilingualBert, settings: MbertSettings, language: str, split: str
) -> PieceSplit:
    """Return a split as pieces."""
    found = sentences(settings, language, split)
    return in_pieces(
        bert,
        language,
        [s.tokens for s in found],
        [names(s, settings.task) for s in found],
        tag_set(settings),
    )


def data_settings(settings: MbertSettings) -> MbertSettings:
    """Return ``settings`` with everything that does not decide the features to fixed values."""
    return MbertSettings(
        corpus=settings.corpus,
        source=settings.source,
        targets=settings.targets,
        task=settings.task,
        checkpoint=settings.checkpoint,
        learning_rate=0.0,
        epochs=0,
        patience=0,
        train_sentences=settings.train_sentences,
        test_sentences=settings.test_sentences,
    )


def data_hashes(settings: MbertSettings) -> dict[str, str]:
    """Return what identifies every data set that a trial reads, and its checkpoint."""
    hashes = {f"M-BERT/{settings.checkpoint}": checkpoint_hash(settings.checkpoint)}
    if settings.corpus == "artificial":
        return {**hashes, "artificial": f"family {data.FAMILY_SEED}"}
    wanted = [(settings.source, "train"), (settings.source, "dev")]
    wanted += [(code, "test") for code in (settings.source, *settings.targets)]
    for code, split in wanted:
        if settings.corpus == "ud-release":
            for path in data.release_files(code, split):
                hashes[f"supplied/{path.name}"] = f"{path.stat().st_size} bytes"
        elif (settings.corpus, code, split) != ("fb-multilingual-nlu", "en", "train"):
            name = f"{code}/{split}"  # English slots: train is a part of the other two
            hashes[f"{settings.corpus}/{name}"] = registry.content_hash(settings.corpus, name)
    return hashes
