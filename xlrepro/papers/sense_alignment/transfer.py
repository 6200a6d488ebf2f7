"""Zero-shot transfer on frozen vectors: entities, sentiment, inference (Tables 3, 4 and 5).

A head learns on English alone. The target language's vectors come from the same language model, or
from one of its own; W brings them into the English space where the system has it.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from xlrepro import metrics
from xlrepro.papers.sense_alignment import anchors, features, tagger, transfer_data
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.pretraining import artefacts
from xlrepro.papers.sense_alignment.segmentation import words_of_characters
from xlrepro.papers.sense_alignment.settings import TransferSettings, validated
from xlrepro.papers.sense_alignment.transfer_data import NLI, POLARITY, Example
from xlrepro.tasks import classification
from xlrepro.tasks.classification import Examples, Fit
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

SPREAD_TEXTS = 2000  # English training texts that mean and deviation are taken of


def entities(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the F1 of the target language, percent (Table 3)."""
    settings = validated(trial.settings, trial.label, TransferSettings)
    assert settings.tagger is not None
    sets = [_tagged(settings, settings.source, split, None, context) for split in ("train", "dev")]
    spread = _spread(sets[0].vectors)
    sets = [tagger.Tagged(_scaled(s.vectors, spread), s.tags) for s in sets]
    train, dev = sets
    model, fit = tagger.train(
        train, dev, settings.tagger, trial.seed, context.device, context.progress
    )
    test = _tagged(settings, settings.target, "test", _maps(settings, context), context)
    test = tagger.Tagged(_scaled(test.vectors, spread), test.tags)
    score = tagger.f1(model, test, context.device)
    cells = [Cell(s, c, score, "F1") for s in trial.systems for c in trial.columns]
    return _result(settings, cells, {"F1": metrics.span_f1_signature()}, [fit], context)


def sentiment(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the accuracy of the target language in each domain, percent (Table 4)."""
    settings = validated(trial.settings, trial.label, TransferSettings)
    maps = _maps(settings, context)
    cells, fits = [], []
    for column, domain in zip(trial.columns, settings.domains, strict=True):
        scores = _classified("sentiment", settings, POLARITY, maps, domain, trial.seed, context)
        fits.append(scores[1])
        cells += [Cell(system, column, scores[0], "accuracy") for system in trial.systems]
    signatures = {"accuracy": metrics.accuracy_signature()}
    return _result(settings, cells, signatures, fits, context)


def inference(trial: Trial, context: TrialContext) -> TrialResult:
    """Fill the accuracy of the target language, percent (Table 5)."""
    settings = validated(trial.settings, trial.label, TransferSettings)
    maps = _maps(settings, context)
    score, fit = _classified("inference", settings, NLI, maps, "", trial.seed, context)
    cells = [Cell(s, c, score, "accuracy") for s in trial.systems for c in trial.columns]
    return _result(settings, cells, {"accuracy": metrics.accuracy_signature()}, [fit], context)


def _classified(
    task: str,
    settings: TransferSettings,
    names: Sequence[str],
    maps: Tensor | None,
    domain: str,
    seed: int,
    context: TrialContext,
) -> tuple[float, Fit]:
    """Train a classifier on English; return its accuracy on the target language."""
    head = settings.classifier
    assert head is not None

    def read(language: str, split: str, mapping: Tensor | None) -> Examples:
        found = transfer_data.examples(task, settings, language, split, domain)
        labels = torch.tensor([names.index(e.labels[0]) for e in found])
        parts = []
        for number in range(len(found[0].texts)):
            vectors = _vectors(settings, language, found, number, mapping, context)
            # A document is the mean of its words; a premise or hypothesis stays a sequence.
            parts.append([v.mean(0) for v in vectors] if task == "sentiment" else vectors)
        return Examples(tuple(parts), labels)

    train_set, dev_set = (read(settings.source, split, None) for split in ("train", "dev"))
    spread = _spread(train_set.parts[0])

    def scaled(examples: Examples) -> Examples:
        return Examples(tuple(_scaled(part, spread) for part in examples.parts), examples.labels)

    train_set, dev_set = scaled(train_set), scaled(dev_set)
    model, fit = classification.train(
        train_set, dev_set, len(names), head, seed, context.device, context.progress
    )
    test = scaled(read(settings.target, "test", maps))
    return classification.accuracy(model, test, head, context.device), fit


def _spread(vectors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return mean and standard deviation of each entry of English training vectors.

    Small language models have small states that share a large part; heads learn from what differs.
    """
    rows = torch.cat([v.reshape(-1, v.shape[-1]) for v in vectors[:SPREAD_TEXTS]])
    return rows.mean(0), rows.std(0).clamp(min=1e-6)


def _scaled(vectors: Sequence[Tensor], spread: tuple[Tensor, Tensor]) -> list[Tensor]:
    mean, deviation = spread
    return [(v - mean) / deviation for v in vectors]


def _tagged(
    settings: TransferSettings,
    language: str,
    split: str,
    maps: Tensor | None,
    context: TrialContext,
) -> tagger.Tagged:
    found = transfer_data.examples("ner", settings, language, split)
    vectors = _vectors(settings, language, found, 0, maps, context)
    return tagger.Tagged(vectors, [e.labels[: settings.longest] for e in found])


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
    found = features.kept(reader, read, settings.layer, maps, context.device)
    return [v if len(p) == len(v) else v[p] for v, p in zip(found, places, strict=True)]


def _maps(settings: TransferSettings, context: TrialContext) -> Tensor | None:
    if not settings.project:
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
    context: TrialContext,
) -> TrialResult:
    models: dict[str, LanguageModelSettings] = {"source": settings.source_model}
    if settings.target_model is not None:
        models["target"] = settings.target_model
    details: dict[str, Any] = {
        "dev_scores": [fit.dev_scores for fit in fits],
        "train_loss": [fit.losses for fit in fits],
        "best_epoch": [fit.best_epoch for fit in fits],
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
        training_tokens=sum(fit.seen for fit in fits),
        training_seconds=sum(fit.seconds for fit in fits),
        artefacts=contents,
    )
