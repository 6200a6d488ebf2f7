"""Trials of the M-BERT rows of Tables 1 and 2.

No sentence of a target language is read before training and model selection are over.
"""

import torch
from torch import Tensor, nn

from xlrepro.papers.word_order.hashes import mbert_source
from xlrepro.papers.word_order.mbert import encoders, pieces
from xlrepro.papers.word_order.mbert.model import FineTunedBert, frozen_tagger
from xlrepro.papers.word_order.mbert.pieces import PieceSplit
from xlrepro.papers.word_order.mbert.settings import MbertSettings
from xlrepro.papers.word_order.settings import validated
from xlrepro.papers.word_order.tagging import result
from xlrepro.tasks.tagging import labels, score, tag_counts, tag_set, tagger_learner
from xlrepro.training.batches import predicted_tags
from xlrepro.training.loop import Fit, compute_repeatably, fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials.trial import Trial, TrialContext, TrialResult
from xlrepro.vectors.encoding import EncodedSplit


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: accuracy (POS) or span F1 per language and ``avg`` over the targets, percent.

    Details: the learning curve, the full settings, per POS language how often each tag was right,
    and how many sentences were cut because M-BERT has no more positions.
    """
    settings = validated(trial.settings, trial.label, MbertSettings)
    work = Labelling(settings, trial.seed, context)
    curve = work.train()
    if not settings.evaluate_targets:
        scores = dict.fromkeys(trial.columns, curve.dev_scores[curve.best_epoch])
        return result(trial, settings, work.labeller, curve, scores)
    scores = {code: work.score(code, "test") for code in (settings.source, *settings.targets)}
    scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    more = {"scores": scores, "cut_sentences": work.cut}
    if settings.task == "POS":
        more["by_tag"] = work.by_tag
    return result(trial, settings, work.labeller, curve, scores, more)


class Labelling:
    """One labeller, its data, and what came of them.

    Args:
        settings: of the trial.
        seed: of weights, dropout and batches.
        context: device and progress.
    """

    def __init__(self, settings: MbertSettings, seed: int, context: TrialContext) -> None:
        compute_repeatably(context.device)
        self.settings, self.seed, self.context = settings, seed, context
        self.source = mbert_source(settings)
        self.tags = tag_set(self.source)
        load = encoders.load_bert if settings.fine_tune else pieces.frozen_bert
        self.bert = load(settings.checkpoint)
        torch.manual_seed(seed)  # after the loading, which draws numbers too
        self.labeller = self._labeller().to(context.device)
        self.cut: dict[str, int] = {}
        self.by_tag: dict[str, dict[str, list[int]]] = {}

    def _labeller(self) -> nn.Module:
        settings, n_tags = self.settings, len(self.tags)
        if settings.fine_tune:
            dropout = settings.encoder.dropout
            return FineTunedBert(self.bert, n_tags, dropout, settings.freeze_positions)
        return frozen_tagger(settings.encoder, self.bert, n_tags, settings.head)

    def split(self, language: str, name: str) -> tuple[PieceSplit, EncodedSplit]:
        """Return a split as pieces and as what the labeller reads."""
        if self.settings.fine_tune:
            in_pieces = pieces.pieces_of(self.bert, self.source, language, name)
            return in_pieces, pieces.as_sequences(in_pieces)
        checkpoint, device = self.settings.checkpoint, self.context.device
        return pieces.features(checkpoint, self.source, language, name, device)

    def train(self) -> Fit:
        """Train on the source language's train split, select on its dev split."""
        language, settings = self.settings.source, self.settings
        _, train = self.split(language, "train")
        dev = self.split(language, "dev")
        gold = self._gold(language, "dev")

        def dev_score() -> float:
            return score(self.source.task, gold, self._predicted(*dev), self.tags)

        torch.manual_seed(self.seed)  # whatever was drawn while the data were read
        learner = tagger_learner(
            self.labeller, train, dev_score, settings, self.seed, self.context.device
        )
        return fit(learner, settings.epochs, settings.patience, self.context.progress)

    def score(self, language: str, name: str) -> float:
        """Return accuracy or F1 on a split, percent."""
        in_pieces, batches = self.split(language, name)
        self.cut[language] = in_pieces.cut
        predicted = self._predicted(in_pieces, batches)
        numbers = in_pieces.by_sentence(in_pieces.tags)
        self.by_tag[language] = tag_counts(numbers, predicted, self.tags)
        return score(self.source.task, self._gold(language, name), predicted, self.tags)

    def _gold(self, language: str, name: str) -> list[tuple[str, ...]]:
        return [labels(s, self.source.task) for s in self.source.sentences(language, name)]

    def _predicted(self, in_pieces: PieceSplit, batches: EncodedSplit) -> list[Tensor]:
        """Return tag numbers of each sentence, (words,) each."""
        rows = predicted_tags(self.labeller, batches, self.context.device)
        if self.settings.fine_tune:
            # shape of each: (pieces,) -> (words,)
            rows = [row[first] for row, first in zip(rows, in_pieces.first, strict=True)]
        return in_pieces.by_sentence(rows)
