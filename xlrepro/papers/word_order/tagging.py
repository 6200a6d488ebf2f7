"""Zero-shot and few-shot tagging on word vectors: Tables 1, 2, 5 and 6, Figures 1 to 3.

No sentence of a target language is read before training and model selection are over, but the
few-shot sentences of Figure 2.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from xlrepro.papers.word_order.data import disturbed, shuffled_copy, training_split
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import TaggingSettings, validated
from xlrepro.tasks.source import Source
from xlrepro.tasks.tagging import (
    TaggedSplit,
    encoded,
    metric,
    score,
    split_of,
    tag_counts,
    tag_set,
    tagger_learner,
)
from xlrepro.training.batches import EVALUATION_TOKENS, TEST_TOKENS, predicted_tags
from xlrepro.training.loop import Fit, compute_repeatably, fit
from xlrepro.training.settings import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

DEV_SCORES = {"POS": "dev_accuracy", "NER": "dev_f1", "SF": "dev_f1"}  # in a record's details


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial.

    Cells: accuracy (POS) or F1, percent, per column that the trial announces. Details: the learning
    curve and the full settings; per language how often each tag was right (POS), or the scores of
    all test sets.
    """
    settings = validated(trial.settings, trial.label, TaggingSettings)
    source = Source.of(settings, settings.task)
    tagger, curve = trained(settings, source, trial.seed, context)
    if not settings.evaluate_targets:
        scores = dict.fromkeys(trial.columns, curve.dev_scores[curve.best_epoch])
        return result(trial, settings, tagger, curve, scores)
    scores, by_tag = evaluated(tagger, settings, source, trial.seed, context.device)
    more = {"by_tag": by_tag} if settings.task == "POS" else {"scores": scores}
    return result(trial, settings, tagger, curve, scores, more)


def trained(
    settings: TaggingSettings, source: Source, seed: int, context: TrialContext
) -> tuple[SequenceTagger, Fit]:
    """Train on the source language's train split, and keep the best epoch on its dev split."""
    compute_repeatably(context.device)
    train, dev = training_split(settings, source), split_of(source, settings.source, "dev")
    tags = tag_set(source)
    torch.manual_seed(seed)
    dim = train.table.shape[1]
    tagger = SequenceTagger(settings.encoder, dim, len(tags), settings.head).to(context.device)

    def dev_score() -> float:
        return score(
            source.task, dev.gold, predicted_tags(tagger, dev.encoded, context.device), tags
        )

    def copy(epoch: int) -> Any:
        return shuffled_copy(train, tags, settings, epoch, seed)

    learner = tagger_learner(
        tagger,
        train,
        dev_score,
        settings,
        seed,
        context.device,
        settings.word_dropout,
        copy if settings.shuffle else None,
    )
    return tagger, fit(learner, settings.epochs, settings.patience, context.progress)


def evaluated(
    tagger: nn.Module, settings: TaggingSettings, source: Source, seed: int, device: str
) -> tuple[dict[str, float], dict[str, dict[str, list[int]]]]:
    """Test on the source and on every target.

    Returns:
        Per language, as ``avg`` over the targets, and as ``k=…`` on disturbed source tests:
        accuracy or F1, percent. Per language and tag ``[right, total]``.
    """
    tags, scores, by_tag = tag_set(source), {}, {}
    # Spans are tagged in larger batches: so were they when the first records were made.
    tokens = TEST_TOKENS if settings.task == "POS" else EVALUATION_TOKENS
    predict = partial(predicted_tags, tagger, device=device, max_tokens=tokens)
    for language in (settings.source, *settings.targets):
        test = split_of(source, language, "test")
        predicted = predict(test.encoded)
        scores[language] = score(source.task, test.gold, predicted, tags)
        by_tag[language] = tag_counts(test.encoded.tags, predicted, tags)
    if settings.targets:
        scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    for k in settings.test_shuffles:
        test = disturbed_test(settings, source, k, seed)
        scores[f"k={k}"] = score(source.task, test.gold, predict(test.encoded), tags)
    return scores, by_tag


def disturbed_test(settings: TaggingSettings, source: Source, k: int, seed: int) -> TaggedSplit:
    """Return the source's test set with its order disturbed by ``k``."""
    sentences = source.sentences(settings.source, "test")
    moved = disturbed(sentences, k, source.task, seed)
    return encoded(moved, settings.source, source.task, tag_set(source), source.vectors)


def result(
    trial: Trial,
    settings: TaggingSettings,
    model: nn.Module,
    curve: Fit,
    scores: Mapping[str, float],
    more: Mapping[str, Any] | None = None,
    dev_scores: str | None = None,
    whole: Any = None,
) -> TrialResult:
    """Return the cells that a trial announces, and the details that every tagging trial has.

    Args:
        trial: the trial; a column is "NER/es", "es", "es/0.03" or "k=1": it, or a part of it, names
            a score.
        settings: of the tagger, defaults too.
        model: what was trained.
        curve: how training went.
        scores: by name, percent.
        more: details of its own.
        dev_scores: the name that dev scores have in the record, if not that of the task.
        whole: the trial's settings, where the tagger's are a part of them.
    """
    (system,) = trial.systems
    named = {c: next(part for part in (c, *c.split("/")) if part in scores) for c in trial.columns}
    name, signature = metric(settings.task)
    return TrialResult(
        cells=[Cell(system, column, scores[part], name) for column, part in named.items()],
        details={
            **learning(whole or settings, model, curve, dev_scores or DEV_SCORES[settings.task]),
            **(more or {}),
        },
        signatures={name: signature},
        training_tokens=curve.tokens,
        training_seconds=curve.seconds,
    )


def learning(settings: Any, model: nn.Module, curve: Fit, dev_scores: str) -> dict[str, Any]:
    """Return the details of every training: settings, learning curve, size.

    Args:
        settings: all of them, defaults too.
        model: what was trained.
        curve: how training went.
        dev_scores: the name that its dev scores have in the record.
    """
    return {
        "settings": settings.model_dump(mode="json"),
        dev_scores: curve.dev_scores,
        "train_loss": curve.losses,
        "best_epoch": curve.best_epoch,
        "parameters": sum(p.numel() for p in model.parameters()),
    }
