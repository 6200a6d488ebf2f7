"""Zero-shot transfer on frozen vectors: entities, sentiment, inference (Tables 3, 4 and 5).

A head learns on English alone. The target language's vectors come from the same language model, or
from one of its own; W brings them into the English space where the system has it. W changes nothing
in English, so that a trial trains one head for the system with it and the one without.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from xlrepro import metrics
from xlrepro.papers.sense_alignment import anchors, features, tagger, transfer_data
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.pretraining import artefacts
from xlrepro.papers.sense_alignment.segmentation import words_of_characters
from xlrepro.papers.sense_alignment.settings import TransferSettings, validated
from xlrepro.papers.sense_alignment.systems import TRANSFER
from xlrepro.papers.sense_alignment.transfer_data import NLI, POLARITY, Example
from xlrepro.tasks import classification
from xlrepro.tasks.classification import Examples
from xlrepro.training.loop import Fit
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

Widths = dict[str, dict[str, float]]  # system -> column -> `_width` of the test set
SPREAD_TEXTS = 2000  # English training texts that mean and deviation are taken of


def entities(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the F1 of the target language, percent (Table 3)."""
    settings = validated(trial.settings, trial.label, TransferSettings)
    assert settings.tagger is not None
    read = partial(_labelled, settings, context)
    (train, gold), (dev, dev_gold) = (read(settings.source, s, None) for s in ("train", "dev"))
    spread, tags = _spread(train), tagger.tag_set(gold)
    model, fit = tagger.train(
        tagger.tagged(_scaled(train, spread), gold, tags),
        tagger.tagged(_scaled(dev, spread), dev_gold, tags),
        tags,
        settings.tagger,
        trial.seed,
        context.device,
        context.progress,
    )
    (column,) = trial.columns
    cells, widths = [], Widths()
    for system in trial.systems:
        maps = _maps(settings, system, context)
        vectors, test_gold = read(settings.target, "test", maps)
        scaled = _scaled(vectors, spread)
        widths[system] = {column: _width(scaled)}
        test = tagger.tagged(scaled, test_gold, tags)
        cells.append(Cell(system, column, tagger.f1(model, test, context.device), "F1"))
    signatures = {"F1": metrics.span_f1_signature()}
    return _result(settings, cells, signatures, [fit], fit.tokens, widths, context)


def sentiment(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the accuracy of the target language in each domain, percent (Table 4)."""
    return _classified("sentiment", POLARITY, trial, context)


def inference(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the accuracy of the target language, percent (Table 5)."""
    return _classified("inference", NLI, trial, context)


def _classified(
    task: str, names: Sequence[str], trial: Trial, context: TrialContext
) -> TrialResult:
    """Train a classifier per domain on English; fill its accuracies on the target language."""
    settings = validated(trial.settings, trial.label, TransferSettings)
    cells, fits, widths = [], [], Widths()
    for column, domain in zip(trial.columns, settings.domains or ("",), strict=True):
        read = partial(_examples, task, names, settings, domain, context)
        train_set, dev_set = (read(settings.source, split, None) for split in ("train", "dev"))
        spread = _spread(train_set.parts[0])
        assert settings.classifier is not None
        model, fit = classification.train(
            _scaled_examples(train_set, spread),
            _scaled_examples(dev_set, spread),
            len(names),
            settings.classifier,
            trial.seed,
            context.device,
            context.progress,
        )
        fits.append(fit)
        for system in trial.systems:
            maps = _maps(settings, system, context)
            test = _scaled_examples(read(settings.target, "test", maps), spread)
            widths.setdefault(system, {})[column] = _width(test.parts[0])
            score = classification.accuracy(model, test, settings.classifier, context.device)
            cells.append(Cell(system, column, score, "accuracy"))
    signatures = {"accuracy": metrics.accuracy_signature()}
    seen = sum(fit.tokens for fit in fits)
    return _result(settings, cells, signatures, fits, seen, widths, context)


def _examples(
    task: str,
    names: Sequence[str],
    settings: TransferSettings,
    domain: str,
    context: TrialContext,
    language: str,
    split: str,
    maps: Tensor | None,
) -> Examples:
    examples = transfer_data.examples(task, settings, language, split, domain)
    labels = torch.tensor([names.index(e.labels[0]) for e in examples])
    parts = []
    for number in range(len(examples[0].texts)):
        vectors = _vectors(settings, language, examples, number, maps, context)
        # A document is the mean of its words; a premise or hypothesis stays a sequence.
        parts.append([v.mean(0) for v in vectors] if task == "sentiment" else vectors)
    return Examples(tuple(parts), labels)


def _scaled_examples(examples: Examples, spread: tuple[Tensor, Tensor]) -> Examples:
    return Examples(tuple(_scaled(part, spread) for part in examples.parts), examples.labels)


def _spread(vectors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation of each entry of English training vectors.

    Small language models have small states that share a large part; heads learn from what differs.
    """
    rows = torch.cat([v.reshape(-1, v.shape[-1]) for v in vectors[:SPREAD_TEXTS]])
    return rows.mean(0), rows.std(0).clamp(min=1e-6)


def _scaled(vectors: Sequence[Tensor], spread: tuple[Tensor, Tensor]) -> list[Tensor]:
    mean, deviation = spread
    return [(v - mean) / deviation for v in vectors]


def _width(scaled: Sequence[Tensor]) -> float:
    """Return how far vectors spread, the mean of their entries' deviations; 1 as in English.

    A least-squares map draws what it does not know together: heads are shown less than in English.
    """
    rows = torch.cat([v.reshape(-1, v.shape[-1]) for v in scaled])
    return round(float(rows.std(0).mean()), 4)


def _labelled(
    settings: TransferSettings,
    context: TrialContext,
    language: str,
    split: str,
    maps: Tensor | None,
) -> tuple[list[Tensor], list[tuple[str, ...]]]:
    """Return the vectors of each sentence's tokens, ``(length, dim)``, and the tokens' tags."""
    examples = transfer_data.examples("ner", settings, language, split)
    vectors = _vectors(settings, language, examples, 0, maps, context)
    return vectors, [e.labels[: settings.longest] for e in examples]


def _vectors(
    settings: TransferSettings,
    language: str,
    examples: Sequence[Example],
    number: int,
    maps: Tensor | None,
    context: TrialContext,
) -> list[Tensor]:
    """Return the vectors of each example's tokens, ``(length, dim)``."""
    reader = settings.source_model if language == settings.source else settings.target_reader
    artificial = settings.corpus == "artificial"
    read, places = [], []
    for example in examples:
        tokens = example.texts[number][: settings.longest]
        words, place = (
            (list(tokens), list(range(len(tokens))))
            if artificial
            else words_of_characters(tokens, language)
        )
        read.append(features.as_read(words, language, artificial))
        places.append(place)
    vectors = features.kept(reader, read, settings.layer, maps, context.device)
    return [v if len(p) == len(v) else v[p] for v, p in zip(vectors, places, strict=True)]


def _maps(settings: TransferSettings, system: str, context: TrialContext) -> Tensor | None:
    """Return W where the system has it: the head is the same, English is left as it is."""
    if not TRANSFER[system.split(":", 1)[1]][1]:
        return None
    return anchors.projection(
        settings.source_model,
        settings.target_reader,
        (settings.source, settings.target),
        settings.anchor_sentences,
        settings.map,
        context.device,
    )


def _result(
    settings: TransferSettings,
    cells: list[Cell],
    signatures: dict[str, str],
    fits: Sequence[Fit],
    seen: int,
    widths: Widths,
    context: TrialContext,
) -> TrialResult:
    models: dict[str, LanguageModelSettings] = {"source": settings.source_model}
    if settings.target_model is not None:
        models["target"] = settings.target_model
    head = settings.tagger or settings.classifier
    assert head is not None
    details: dict[str, Any] = {
        "dev_scores": [fit.dev_scores for fit in fits],
        "train_loss": [fit.losses for fit in fits],
        "best_epoch": [fit.best_epoch for fit in fits],
        "most_epochs": head.epochs,
        "target_width": widths,
        "language_models": 1,  # seeds are of the heads: every cell rests on one pretraining
    }
    contents = {}
    for name, each in models.items():
        model = artefacts.load(each, context.device)
        details[f"{name} model"] = {k: v for k, v in model.log.items() if k != "content"}
        contents[f"{name} language model"] = model.content
    return TrialResult(
        cells,
        details,
        signatures,
        training_tokens=seen,
        training_seconds=sum(fit.seconds for fit in fits),
        artefacts=contents,
    )
