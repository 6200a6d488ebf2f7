"""Span labelling on the paper's own corpora: the trials of ``span_labelling.py``, other data.

Scored alike, by span F1 under conlleval's rules. No sentence of a target language is read before
training and model selection are over, but the few-shot sentences of Figure 2.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from xlrepro import metrics
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.vectors.encoding import TagSet
from xlrepro.papers.word_order import official_spans
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import validated
from xlrepro.papers.word_order.span_data import SpanSettings, encoded, labels
from xlrepro.papers.word_order.span_labelling import disturbed, joined, named
from xlrepro.papers.word_order.training import Fit, predictions, train
from xlrepro.training.precision import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial; cells and details are those of ``span_labelling.run``."""
    settings = validated(trial.settings, trial.label, SpanSettings)
    tags = official_spans.tag_set(settings)
    tagger, fit = train_labeller(settings, tags, trial.seed, context)

    def score(language: str, found: list[Sentence]) -> float:
        split = encoded(settings, language, found, tags)
        return f1(settings, found, named(predictions(tagger, split, context.device), tags))

    languages = (settings.source, *settings.targets)
    test = {code: official_spans.sentences(settings, code, "test") for code in languages}
    scores = {code: score(code, found) for code, found in test.items()}
    for k in settings.test_shuffles:
        moved = disturbed(test[settings.source], k, settings.task, trial.seed)
        scores[f"k={k}"] = score(settings.source, moved)
    return result(trial, settings, fit, scores, tagger)


def train_labeller(
    settings: SpanSettings, tags: TagSet, seed: int, context: TrialContext
) -> tuple[SequenceTagger, Fit]:
    """Train on the source language, and on the few-shot sentences where there are any."""
    source = settings.source
    split = encoded(settings, source, official_spans.sentences(settings, source, "train"), tags)
    added = official_spans.few_shot(settings)
    if added and settings.few_shot_language is not None:
        split = joined(split, encoded(settings, settings.few_shot_language, added, tags))
    held_out = official_spans.sentences(settings, source, "dev")

    def score(_: Sequence[Tensor], predicted: Sequence[Tensor]) -> float:
        return f1(settings, held_out, named(predicted, tags))

    splits = (split, encoded(settings, source, held_out, tags))
    return train(settings, splits, tags, score, seed, context.device, context.progress)


def f1(settings: SpanSettings, found: list[Sentence], predicted: Sequence[Sequence[str]]) -> float:
    """Return span F1 of predicted BIO tags, percent."""
    return metrics.span_f1([labels(s, settings.task) for s in found], predicted)


def result(
    trial: Trial,
    settings: SpanSettings,
    fit: Fit,
    scores: Mapping[str, float],
    labeller: nn.Module,
    more: Mapping[str, Any] | None = None,
) -> TrialResult:
    """Return the cells that a trial announces and the details that every span trial has.

    Args:
        trial: the trial.
        settings: all of them, defaults too.
        fit: how training went.
        scores: F1 per language, and ``k=…`` for disturbed source tests, percent.
        labeller: what was trained.
        more: details of its own.
    """
    (system,) = trial.systems
    targets = [scores[code] for code in settings.targets]
    whole = {**scores, **({"avg": sum(targets) / len(targets)} if targets else {})}
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json"),
        "dev_f1": fit.dev_scores,
        "train_loss": fit.losses,
        "best_epoch": fit.best_epoch,
        "scores": whole,
        "parameters": sum(p.numel() for p in labeller.parameters()),
        **(more or {}),
    }
    # a column is "NER/es", "es", "es/0.03" or "k=1": the part that names a test set
    tests = {c: next(part for part in c.split("/") if part in whole) for c in trial.columns}
    return TrialResult(
        cells=[Cell(system, column, whole[name], "slot F1") for column, name in tests.items()],
        details=details,
        signatures={"slot F1": metrics.span_f1_signature()},
        training_tokens=fit.tokens,
        training_seconds=fit.seconds,
    )
