"""Zero-shot intents and slots with the NLU model of Liu et al. (2019): the trials of Table 3.

A trial trains once on the source language and scores every target. No sentence of a target
language is read before training and model selection are over.
"""

from typing import Any

from xlrepro import metrics
from xlrepro.papers.word_order import nlu_data
from xlrepro.papers.word_order.nlu_data import Labels
from xlrepro.papers.word_order.nlu_model import NLUModel
from xlrepro.papers.word_order.nlu_settings import NLUSettings, nlu_validated
from xlrepro.papers.word_order.nlu_training import INTENT, SLOTS, evaluate, train
from xlrepro.papers.word_order.training import Fit
from xlrepro.training.precision import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial.

    Cells: ``"es/intent accuracy"`` and ``"es/slot F1"`` (percent) per target; ``details`` holds
    the source's test scores too, the learning curve and the full settings.
    """
    settings = nlu_validated(trial.settings, trial.label)
    (system,) = trial.systems
    model, labels, fit = train_on_source(settings, trial.seed, context)
    scores = {
        language: test_scores(model, settings, labels, language, context.device)
        for language in (settings.source, *settings.targets)
    }
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json"),
        "dev_f1": fit.dev_scores,
        "train_loss": fit.losses,
        "best_epoch": fit.best_epoch,
        "scores": scores,
        "intents": len(labels.intents),
        "tags": len(labels.tags),
        "parameters": sum(p.numel() for p in model.parameters()),
    }
    addresses = [(column, *column.split("/", 1)) for column in trial.columns]
    return TrialResult(
        cells=[
            Cell(system, column, scores[language][metric], metric)
            for column, language, metric in addresses
        ],
        details=details,
        signatures={
            INTENT: metrics.accuracy_signature().replace("level:token", "level:sentence"),
            SLOTS: metrics.span_f1_signature(),
        },
        training_tokens=fit.tokens,
        training_seconds=fit.seconds,
    )


def train_on_source(
    settings: NLUSettings, seed: int, context: TrialContext
) -> tuple[NLUModel, Labels, Fit]:
    """Train and select on the source language; return the model and the labels it knows."""
    source = settings.source
    found = nlu_data.sentences(settings, source, "train")
    labels = nlu_data.labels(found)
    splits = (
        nlu_data.encoded(settings, source, found, labels),
        nlu_data.encoded(settings, source, nlu_data.sentences(settings, source, "dev"), labels),
    )
    model, fit = train(settings, splits, labels, seed, context.device, context.progress)
    return model, labels, fit


def test_scores(
    model: NLUModel, settings: NLUSettings, labels: Labels, language: str, device: str
) -> dict[str, float]:
    """Return intent accuracy and slot F1 on a language's test sentences."""
    found = nlu_data.sentences(settings, language, "test")
    return evaluate(model, nlu_data.encoded(settings, language, found, labels), labels, device)
