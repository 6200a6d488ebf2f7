"""The M-BERT rows on the paper's own corpora: the trials of ``mbert_labelling.py``, other data."""

import torch

from xlrepro.embeddings.vectors.encoding import EncodedSplit
from xlrepro.papers.word_order import mbert_data, official_spans
from xlrepro.papers.word_order.mbert import MultilingualBert, load_bert
from xlrepro.papers.word_order.mbert_data import MbertSettings, PieceSplit
from xlrepro.papers.word_order.mbert_labelling import Labelling
from xlrepro.papers.word_order.mbert_training import predictions
from xlrepro.papers.word_order.official_labelling import f1, result
from xlrepro.papers.word_order.settings import validated
from xlrepro.papers.word_order.span_data import labels
from xlrepro.papers.word_order.span_labelling import named
from xlrepro.precision import cached_per_precision
from xlrepro.training.precision import in_its_precision
from xlrepro.training.repeatable import compute_repeatably
from xlrepro.trials.trial import Trial, TrialContext, TrialResult


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial; cells and details are those of ``mbert_labelling.run``."""
    settings = validated(trial.settings, trial.label, MbertSettings)
    work = OfficialLabelling(settings, trial.seed, context)
    fit = work.train()
    scores = {code: work.score(code, "test") for code in (settings.source, *settings.targets)}
    more = {"cut_sentences": work.cut}
    return result(trial, settings, fit, scores, work.labeller, more)


class OfficialLabelling(Labelling):
    """One labeller and its data, from the supplied corpora.

    Args:
        settings: of the trial.
        seed: of weights, dropout and batches.
        context: device and progress.
    """

    def __init__(self, settings: MbertSettings, seed: int, context: TrialContext) -> None:
        # Not Labelling's own: that takes its tags from the open corpora.
        compute_repeatably(context.device)
        self.settings, self.seed, self.context = settings, seed, context
        self.tags = official_spans.tag_set(settings)
        self.bert = load_bert(settings.checkpoint)
        torch.manual_seed(seed)  # after the loading, which draws numbers too
        self.labeller = self._labeller().to(context.device)
        self.cut, self.by_tag = {}, {}

    def split(self, language: str, name: str) -> tuple[PieceSplit, EncodedSplit]:
        """Return a split as pieces and as what the labeller reads."""
        if self.settings.fine_tune:
            pieces = in_pieces(self.bert, self.settings, language, name)
            return pieces, mbert_data.as_sequences(pieces)
        return features(
            mbert_data.data_settings(self.settings), language, name, self.context.device
        )

    def _scored(self, language: str, name: str, pieces: PieceSplit, batches: EncodedSplit) -> float:
        rows = predictions(self.labeller, batches, self.context.device)
        if self.settings.fine_tune:
            rows = [row[first] for row, first in zip(rows, pieces.first, strict=True)]
        found = official_spans.sentences(self.settings, language, name)
        return f1(self.settings, found, named(pieces.by_sentence(rows), self.tags))


def in_pieces(
    bert: MultilingualBert, settings: MbertSettings, language: str, split: str
) -> PieceSplit:
    """Return a split of a supplied corpus as pieces of ``bert``."""
    found = official_spans.sentences(settings, language, split)
    gold = [labels(s, settings.task) for s in found]
    tags = official_spans.tag_set(settings)
    return mbert_data.in_pieces(bert, language, [s.tokens for s in found], gold, tags)


@cached_per_precision(maxsize=1)
def _frozen_bert(checkpoint: str) -> MultilingualBert:
    return load_bert(checkpoint)


@cached_per_precision(maxsize=16)
def features(
    settings: MbertSettings, language: str, split: str, device: str
) -> tuple[PieceSplit, EncodedSplit]:
    """Return a split and its frozen features (cached in the process).

    Call it with settings reduced by ``mbert_data.data_settings``, so that trials that differ in
    their encoder share them.
    """
    bert = _frozen_bert(settings.checkpoint)
    found = in_pieces(bert, settings, language, split)
    return found, mbert_data.as_features(bert, found, device)
