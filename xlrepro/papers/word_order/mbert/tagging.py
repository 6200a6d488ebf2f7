"""The rows on M-BERT of Tables 1 and 2: an encoder on its frozen states, and M-BERT fine-tuned.

    frozen M-BERT → states at first subwords → TRS, RPT or ORT → linear → CRF
    M-BERT → states at first subwords → linear → softmax

"TRS w/ M-BERT PE" takes M-BERT's own position table and leaves it as it is; "w/ frozen PE" leaves
that table out of fine-tuning (paper, "Our Models and Baselines"). No sentence of a target language
is read before training and model selection are over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.encoders.pretrained import Encoder, Framed, load
from xlrepro.nn.transformer import LearnedPositions, TransformerEncoder
from xlrepro.papers.word_order.model import make_tagger
from xlrepro.papers.word_order.run import result
from xlrepro.papers.word_order.settings import EncoderSettings, MbertSettings
from xlrepro.precision import cached_per_precision
from xlrepro.tasks import tagging
from xlrepro.tasks.source import Source
from xlrepro.training.batches import predicted_tags
from xlrepro.training.loop import Fit, fast_products, fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials import Trial, TrialContext, TrialResult
from xlrepro.vectors.encoding import Batch, EncodedSplit, TagSet


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: accuracy (POS) or span F1 per language and ``avg`` over the targets, percent.

    Details: the learning curve, the full settings, per POS language how often each tag was right.
    """
    settings = trial.typed(MbertSettings)
    work = Labelling(settings, trial.seed, context)
    curve = work.train()
    scores = {code: work.score(code, "test") for code in (settings.source, *settings.targets)}
    if settings.targets:
        scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    more: dict[str, Any] = {"scores": scores}
    if settings.task == "POS":
        more["by_tag"] = work.by_tag
    return result(trial, settings, work.labeller, curve, scores, more)


# ---- sentences as subwords


@dataclass(frozen=True)
class SubwordSplit:
    """A split as sequences of subwords; a sentence too long for M-BERT is several of them.

    Attributes:
        framed: the sequences.
        tags: per sequence the tag number of each word; -1 for a tag outside the tag set.
        gold: the tags of each sentence, as the corpus has them.
    """

    framed: Framed
    tags: list[Tensor]
    gold: Sequence[Sequence[str]]

    def by_sentence(self, rows: Sequence[Tensor]) -> list[Tensor]:
        """Return what stands at the words of the sequences, joined to whole sentences.

        Args:
            rows: a value per word of each sequence. each ``(words, ...)``
        """
        joined: list[list[Tensor]] = [[] for _ in range(self.framed.sentence[-1] + 1)]
        for number, row in zip(self.framed.sentence, rows, strict=True):
            joined[number].append(row)
        return [torch.cat(parts) for parts in joined]


def as_subwords(
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    known: TagSet,
) -> SubwordSplit:
    """Return sentences with their tags as subwords.

    Args:
        encoder: whose subwords.
        sentences: the words of each.
        tags: the tag names of each.
        known: numbers of the tags.
    """
    framed = encoder.framed(sentences)
    rest = [[known.number(name) for name in names] for names in tags]
    cut = []
    for number, reads in zip(framed.sentence, framed.reads, strict=True):
        cut.append(torch.tensor(rest[number][: len(reads)]))
        rest[number] = rest[number][len(reads) :]
    return SubwordSplit(framed, cut, tags)


def as_features(encoder: Encoder, split: SubwordSplit) -> EncodedSplit:
    """Return frozen states at first subwords; computed once, read in every epoch.

    A word of the split has a row of the table of its own: M-BERT's states depend on the sentence.
    """
    states = encoder.kept_states(split.framed.ids, split.framed.reads)
    # shape: (words of all sequences + 1, dim); row 0 is padding's
    table = torch.zeros(len(states) + 1, encoder.dim)
    table[1:] = torch.from_numpy(states.astype("float64"))  # exact
    rows = torch.arange(1, len(table)).split([len(reads) for reads in split.framed.reads])
    return EncodedSplit(table, list(rows), split.tags)


def as_sequences(split: SubwordSplit) -> EncodedSplit:
    """Return the subwords themselves, for fine-tuning; only first subwords have a label.

    The rows are subwords, and the tags of all others are ``NO_LABEL``.
    """
    ids, tags = [torch.tensor(row) for row in split.framed.ids], []
    for row, first, numbers in zip(ids, split.framed.reads, split.tags, strict=True):
        tagged = torch.full_like(row, tagging.NO_LABEL)
        tagged[first] = numbers
        tags.append(tagged)
    return EncodedSplit(torch.zeros(1, 0), ids, tags)


@cached_per_precision(maxsize=2)
def frozen_encoder(checkpoint: str, device: str) -> Encoder:
    """Return an encoder that nobody trains (cached in the process)."""
    return load(checkpoint, device=device)


@cached_per_precision(maxsize=80)
def features(
    checkpoint: str, source: Source, language: str, split: str, device: str
) -> tuple[SubwordSplit, EncodedSplit]:
    """Return a split and its frozen features (cached: trials of all encoders share them)."""
    encoder = frozen_encoder(checkpoint, device)
    subwords = split_of(encoder, source, language, split)
    return subwords, as_features(encoder, subwords)


def split_of(encoder: Encoder, source: Source, language: str, split: str) -> SubwordSplit:
    """Return a split as subwords of an encoder."""
    sentences = source.sentences(language, split)
    gold = [tagging.labels(s, source.task) for s in sentences]
    return as_subwords(encoder, [s.tokens for s in sentences], gold, tagging.tag_set(source))


# ---- models


def frozen_tagger(
    settings: EncoderSettings, bert: Encoder, n_tags: int, head: str
) -> tagging.SequenceTagger:
    """Return an encoder with CRF or softmax on frozen states of M-BERT.

    Args:
        settings: the encoder; ``positions: learned`` means M-BERT's table, frozen, added to its
            states before anything else.
        bert: whose states and position table.
        n_tags: number of tags.
        head: ``"crf"`` or ``"linear"``.
    """
    tagger = make_tagger(settings, bert.dim, n_tags, head)
    if settings.positions == "learned":
        assert isinstance(tagger.encoder, TransformerEncoder)
        # shape: (positions - 1, dim); row 0 belongs to [CLS]: the first word has row 1
        table = bert.position_table.detach()[1:]
        positions = LearnedPositions(bert.dim, table)
        # shape: (batch, length, bert.dim) -> (batch, length, dim)
        tagger.encoder.project = nn.Sequential(positions, tagger.encoder.project)
        tagger.encoder.positions = nn.Identity()  # drawn all the same: later draws stay as they are
    return tagger


class FineTunedBert(nn.Module):
    """M-BERT with a linear layer and a softmax per word.

    Args:
        bert: trained further; its model is changed in place.
        n_tags: number of tags.
        dropout: before the linear layer.
        freeze_positions: leave the position table as it is.
    """

    def __init__(self, bert: Encoder, n_tags: int, dropout: float, freeze_positions: bool) -> None:
        super().__init__()
        self.network, self._bert = bert.model, bert
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(bert.dim, n_tags)
        bert.position_table.requires_grad_(not freeze_positions)

    def emissions(self, batch: Batch) -> Tensor:
        """Return a score per subword and tag: (batch, subwords, tags)."""
        # shape: (batch, subwords, dim) -> (batch, subwords, tags)
        return self.linear(self.dropout(self._bert(batch.rows, batch.mask)))

    def loss(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the mean negative log-likelihood per word.

        Args:
            batch: subwords, with tags at first subwords alone.
            table: not used.
        """
        # shape: (batch, subwords); True at the first subwords of words
        labelled = batch.mask & (batch.tags != tagging.NO_LABEL)
        # shape: (words, tags) and (words,)
        return functional.cross_entropy(self.emissions(batch)[labelled], batch.tags[labelled])

    @torch.no_grad()
    def predict(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the best tag of each subword (batch, subwords); those of first subwords count."""
        return self.emissions(batch).argmax(-1)


class Labelling:
    """One labeller, its data, and what came of them.

    Args:
        settings: of the trial.
        seed: of weights, dropout and batches.
        context: device and progress.
    """

    def __init__(self, settings: MbertSettings, seed: int, context: TrialContext) -> None:
        self.settings, self.seed, self.context = settings, seed, context
        # M-BERT stands in the place of word vectors.
        self.source = replace(Source.of(settings, settings.task), vectors_name=None)
        self.tags = tagging.tag_set(self.source)
        dropout, device = settings.encoder.dropout, context.device
        if settings.fine_tune:
            self.bert = load(settings.checkpoint, dropout=dropout, device=device)
        else:
            self.bert = frozen_encoder(settings.checkpoint, device)
        torch.manual_seed(seed)  # after the loading, which may draw numbers too
        self.labeller: nn.Module
        if settings.fine_tune:
            freeze = settings.freeze_positions
            self.labeller = FineTunedBert(self.bert, len(self.tags), dropout, freeze)
        else:
            head = settings.head
            self.labeller = frozen_tagger(settings.encoder, self.bert, len(self.tags), head)
        self.labeller.to(device)
        self.by_tag: dict[str, dict[str, list[int]]] = {}

    def split(self, language: str, name: str) -> tuple[SubwordSplit, EncodedSplit]:
        """Return a split as subwords and as what the labeller reads."""
        if self.settings.fine_tune:
            subwords = split_of(self.bert, self.source, language, name)
            return subwords, as_sequences(subwords)
        checkpoint, device = self.settings.checkpoint, self.context.device
        return features(checkpoint, self.source, language, name, device)

    def train(self) -> Fit:
        """Train on the source language's train split, select on its dev split."""
        language, settings = self.settings.source, self.settings
        _, train = self.split(language, "train")
        dev = self.split(language, "dev")

        def dev_score() -> float:
            return tagging.score(self.source.task, dev[0].gold, self._predicted(*dev), self.tags)

        torch.manual_seed(self.seed)  # whatever was drawn while the data were read
        learner = tagging.tagger_learner(
            self.labeller, train, dev_score, settings, self.seed, self.context.device
        )
        with fast_products(self.context.device):
            return fit(learner, settings.epochs, settings.patience, self.context.progress)

    def score(self, language: str, name: str) -> float:
        """Return accuracy or F1 on a split, percent."""
        subwords, encoded = self.split(language, name)
        predicted = self._predicted(subwords, encoded)
        numbers = subwords.by_sentence(subwords.tags)
        self.by_tag[language] = tagging.tag_counts(numbers, predicted, self.tags)
        return tagging.score(self.source.task, subwords.gold, predicted, self.tags)

    def _predicted(self, subwords: SubwordSplit, encoded: EncodedSplit) -> list[Tensor]:
        """Return tag numbers of each sentence, (words,) each."""
        rows = predicted_tags(self.labeller, encoded, self.context.device)
        if self.settings.fine_tune:
            # shape of each: (subwords,) -> (words,)
            rows = [row[first] for row, first in zip(rows, subwords.framed.reads, strict=True)]
        return subwords.by_sentence(rows)
