"""Zero-shot and few-shot span labelling: the trials of Tables 1, 5, 6 and of Figures 2, 3.

Scored as the paper does, by span F1 under conlleval's rules. No sentence of a target language is
read before training and model selection are over, but the few-shot sentences of Figure 2.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from xlrepro import metrics
from xlrepro.corpora.sentences import Sentence
from xlrepro.embeddings.vectors.encoding import EncodedSplit, TagSet
from xlrepro.papers.word_order import span_data
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import validated
from xlrepro.papers.word_order.shuffling import shuffle_order
from xlrepro.papers.word_order.span_data import SpanSettings
from xlrepro.papers.word_order.training import Fit, predictions, train
from xlrepro.training.precision import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial.

    Cells: slot or entity F1 (percent) per column that the trial announces; ``details`` holds the
    scores of all test sets, the learning curve and the full settings.
    """
    settings = validated(trial.settings, trial.label, SpanSettings)
    (system,) = trial.systems
    tags = span_data.tag_set(settings)
    tagger, fit = train_labeller(settings, tags, trial.seed, context)
    scores = evaluate(tagger, settings, tags, context.device, trial.seed)
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json"),
        "dev_f1": fit.dev_scores,
        "train_loss": fit.losses,
        "best_epoch": fit.best_epoch,
        "scores": scores,
        "parameters": sum(p.numel() for p in tagger.parameters()),
    }
    # a column is "NER/es", "es", "es/0.03" or "k=1": the part that names a test set
    values = {
        c: scores[next(part for part in c.split("/") if part in scores)] for c in trial.columns
    }
    return TrialResult(
        cells=[Cell(system, column, value, "slot F1") for column, value in values.items()],
        details=details,
        signatures={"slot F1": metrics.span_f1_signature()},
        training_tokens=fit.tokens,
        training_seconds=fit.seconds,
    )


def train_labeller(
    settings: SpanSettings, tags: TagSet, seed: int, context: TrialContext
) -> tuple[SequenceTagger, Fit]:
    """Train on the source language, and on the few-shot sentences where there are any."""
    source = settings.source
    found = span_data.sentences(settings, source, "train")
    split = span_data.encoded(settings, source, found, tags)
    added = span_data.few_shot(settings)
    if added and settings.few_shot_language is not None:
        split = joined(split, span_data.encoded(settings, settings.few_shot_language, added, tags))
    dev_sentences = span_data.sentences(settings, source, "dev")
    dev = span_data.encoded(settings, source, dev_sentences, tags)
    gold = [span_data.labels(s, settings.task) for s in dev_sentences]

    def score(_: Sequence[torch.Tensor], predicted: Sequence[torch.Tensor]) -> float:
        return metrics.span_f1(gold, named(predicted, tags))

    return train(settings, (split, dev), tags, score, seed, context.device, context.progress)


def joined(first: EncodedSplit, second: EncodedSplit) -> EncodedSplit:
    """Return the sentences of both splits over one table; row 0 stays the zero vector."""
    offset = len(first.table) - 1
    return EncodedSplit(
        f"{first.language}+{second.language}",
        torch.cat([first.table, second.table[1:]]),
        first.rows + [rows + offset for rows in second.rows],
        first.tags + second.tags,
    )


def named(predicted: Sequence[torch.Tensor], tags: TagSet) -> list[list[str]]:
    """Return tag numbers as names."""
    return [[tags.names[n] for n in row.tolist()] for row in predicted]


def evaluate(
    tagger: SequenceTagger, settings: SpanSettings, tags: TagSet, device: str, seed: int
) -> dict[str, float]:
    """Return F1 per language, ``avg`` over the targets, and ``k=…`` for disturbed source tests."""

    def score(language: str, found: list[Sentence]) -> float:
        split = span_data.encoded(settings, language, found, tags)
        gold = [span_data.labels(s, settings.task) for s in found]
        return metrics.span_f1(gold, named(predictions(tagger, split, device), tags))

    source = span_data.sentences(settings, settings.source, "test")
    scores = {settings.source: score(settings.source, source)}
    for language in settings.targets:
        scores[language] = score(language, span_data.sentences(settings, language, "test"))
    if settings.targets:
        scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    for k in settings.test_shuffles:
        scores[f"k={k}"] = score(settings.source, disturbed(source, k, settings.task, seed))
    return scores


def disturbed(found: list[Sentence], k: int, task: str, seed: int) -> list[Sentence]:
    """Return the sentences with units moved by at most ``k`` places, spans whole (Table 5)."""
    draw = np.random.default_rng([seed, k])
    moved = []
    for sentence in found:
        bio = span_data.labels(sentence, task)
        order = shuffle_order(len(sentence), k, draw, bio)
        layer = tuple(bio[i] for i in order)
        moved.append(
            Sentence(
                tokens=tuple(sentence.tokens[i] for i in order),
                entities=layer if task == "NER" else None,
                slots=layer if task == "SF" else None,
            )
        )
    return moved
