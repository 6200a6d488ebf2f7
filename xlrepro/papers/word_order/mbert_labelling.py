"""Trials of the M-BERT rows of Tables 1 and 2, and the record of a pretraining of ours.

No sentence of a target language is read before training and model selection are over.
"""

from typing import Any

import torch
from torch import Tensor, nn

from xlrepro import metrics
from xlrepro.embeddings.vectors.encoding import EncodedSplit, TagSet
from xlrepro.papers.word_order import mbert_data
from xlrepro.papers.word_order.mbert import MultilingualBert, load_bert
from xlrepro.papers.word_order.mbert_data import MbertSettings, PieceSplit
from xlrepro.papers.word_order.mbert_model import FineTunedBert, FrozenBertTagger
from xlrepro.papers.word_order.mbert_training import predictions, train
from xlrepro.papers.word_order.settings import validated
from xlrepro.papers.word_order.training import Fit
from xlrepro.training.precision import in_its_precision
from xlrepro.training.repeatable import compute_repeatably
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: accuracy (POS) or span F1 per language and ``avg`` over the targets, percent.

    Details: the learning curve, the full settings, per POS language how often each tag was right,
    and how many sentences were cut because M-BERT has no more positions.
    """
    settings = validated(trial.settings, trial.label, MbertSettings)
    (system,) = trial.systems
    work = Labelling(settings, trial.seed, context)
    fit = work.train()
    scores = {code: work.score(code, "test") for code in (settings.source, *settings.targets)}
    scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json"),
        f"dev_{'accuracy' if settings.task == 'POS' else 'f1'}": fit.dev_scores,
        "train_loss": fit.losses,
        "best_epoch": fit.best_epoch,
        "parameters": sum(p.numel() for p in work.labeller.parameters()),
        "scores": scores,
        "cut_sentences": work.cut,
    }
    if settings.task == "POS":
        details["by_tag"] = work.by_tag
    metric = "accuracy" if settings.task == "POS" else "slot F1"
    signature = metrics.accuracy_signature if settings.task == "POS" else metrics.span_f1_signature
    return TrialResult(
        # a column is "NER/es" or "es"
        cells=[Cell(system, c, scores[c.rsplit("/", 1)[-1]], metric) for c in trial.columns],
        details=details,
        signatures={metric: signature()},
        training_tokens=fit.tokens,
        training_seconds=fit.seconds,
    )


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
        self.tags: TagSet = mbert_data.tag_set(settings)
        self.bert: MultilingualBert = load_bert(settings.checkpoint)
        torch.manual_seed(seed)  # after the loading, which draws numbers too
        self.labeller: nn.Module = self._labeller().to(context.device)
        self.cut: dict[str, int] = {}
        self.by_tag: dict[str, dict[str, list[int]]] = {}

    def _labeller(self) -> nn.Module:
        settings = self.settings
        if settings.fine_tune:
            dropout = settings.encoder.dropout
            return FineTunedBert(self.bert, len(self.tags), dropout, settings.freeze_positions)
        return FrozenBertTagger(settings, self.bert, len(self.tags))

    def split(self, language: str, name: str) -> tuple[PieceSplit, EncodedSplit]:
        """Return a split as pieces and as what the labeller reads."""
        if self.settings.fine_tune:
            pieces = mbert_data.encoded(self.bert, self.settings, language, name)
            return pieces, mbert_data.as_sequences(pieces)
        shared = mbert_data.data_settings(self.settings)
        return mbert_data.features(shared, language, name, self.context.device)

    def train(self) -> Fit:
        """Train on the source language's train split, select on its dev split."""
        source = self.settings.source
        _, batches = self.split(source, "train")
        dev = self.split(source, "dev")
        return train(
            self.labeller,
            self.settings,
            batches,
            lambda: self._scored(source, "dev", *dev),
            self.seed,
            self.context.device,
            self.context.progress,
        )

    def score(self, language: str, name: str) -> float:
        """Return accuracy or F1 on a split, percent."""
        pieces, batches = self.split(language, name)
        self.cut[language] = pieces.cut
        return self._scored(language, name, pieces, batches)

    def _scored(self, language: str, name: str, pieces: PieceSplit, batches: EncodedSplit) -> float:
        rows = predictions(self.labeller, batches, self.context.device)
        if self.settings.fine_tune:
            rows = [row[first] for row, first in zip(rows, pieces.first, strict=True)]
        predicted, gold = pieces.by_sentence(rows), pieces.by_sentence(pieces.tags)
        if self.settings.task == "POS":
            if name == "test":
                self.by_tag[language] = tag_counts(torch.cat(gold), torch.cat(predicted), self.tags)
            return metrics.accuracy(torch.cat(gold).tolist(), torch.cat(predicted).tolist())
        found = mbert_data.sentences(self.settings, language, name)
        return metrics.span_f1(
            [mbert_data.names(sentence, self.settings.task) for sentence in found],
            [[self.tags.names[n] for n in row.tolist()] for row in predicted],
        )


def tag_counts(gold: Tensor, predicted: Tensor, tags: TagSet) -> dict[str, list[int]]:
    """Return per tag that occurs ``[right, total]``; both tensors are ``(words,)``."""
    return {
        name: [int(((gold == n) & (predicted == n)).sum()), int((gold == n).sum())]
        for n, name in enumerate(tags.names)
        if bool((gold == n).any())
    }
