"""Zero-shot part-of-speech tagging: the trials of Table 2.

No sentence of a target language is read before training and model selection are over.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xlrepro import metrics
from xlrepro.papers.word_order import data
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import TaggingSettings, validated
from xlrepro.papers.word_order.training import Fit, train
from xlrepro.papers.word_order.zero_shot import predictions
from xlrepro.training.precision import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial of ``word_order/table2`` or ``word_order/learning_rates``.

    Cells: accuracy per language (percent), and ``avg``, the mean over the targets without the
    source. Details: the learning curve, and per language how often each tag was right.
    """
    settings = validated(trial.settings, trial.label)  # type: ignore[var-annotated]
    (system,) = trial.systems
    tagger, fit = train_tagger(settings, trial.seed, context.device, context.progress)
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json"),
        "dev_accuracy": fit.dev_scores,
        "train_loss": fit.losses,
        "best_epoch": fit.best_epoch,
        "parameters": sum(p.numel() for p in tagger.parameters()),
    }
    if settings.evaluate_targets:
        scores, details["by_tag"] = evaluate(tagger, settings, context.device)
    else:
        (column,) = trial.columns
        scores = {column: fit.dev_scores[fit.best_epoch]}
    return TrialResult(
        cells=[Cell(system, column, value, "accuracy") for column, value in scores.items()],
        details=details,
        signatures={"accuracy": metrics.accuracy_signature()},
        training_tokens=fit.tokens,
        training_seconds=fit.seconds,
    )


def train_tagger(
    settings: TaggingSettings,
    seed: int,
    device: str = "cpu",
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> tuple[SequenceTagger, Fit]:
    """Train on the source language's train split, select on its dev split."""
    shared = data.data_settings(settings)
    splits = (
        data.encoded(shared, settings.source, "train"),
        data.encoded(shared, settings.source, "dev"),
    )
    return train(settings, splits, data.UPOS, accuracy, seed, device, progress)


def accuracy(gold: Sequence[torch.Tensor], predicted: Sequence[torch.Tensor]) -> float:
    """Return the share of right tags over all tokens, percent."""
    return metrics.accuracy(torch.cat(list(gold)).tolist(), torch.cat(list(predicted)).tolist())


def evaluate(
    tagger: SequenceTagger, settings: TaggingSettings, device: str
) -> tuple[dict[str, float], dict[str, dict[str, list[int]]]]:
    """Test on the source and on every target.

    Returns:
        Accuracy per language and ``avg``, percent; and per language and tag ``[right, total]``.
    """
    shared = data.data_settings(settings)
    scores: dict[str, float] = {}
    breakdown: dict[str, dict[str, list[int]]] = {}
    for language in (settings.source, *settings.targets):
        split = data.encoded(shared, language, "test")
        gold = torch.cat(split.tags)
        predicted = torch.cat(predictions(tagger, split, device))
        scores[language] = accuracy([gold], [predicted])
        breakdown[language] = {
            name: [int(((gold == n) & (predicted == n)).sum()), int((gold == n).sum())]
            for n, name in enumerate(data.UPOS.names)
            if bool((gold == n).any())
        }
    scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    return scores, breakdown
