"""One trial of Table 1: train a system on one pair, translate what was held out."""

from collections.abc import Sequence
from typing import Any

import torch

from xlrepro.papers.routing_nmt.blocks import routers
from xlrepro.papers.routing_nmt.encoding import Encoded, Example
from xlrepro.papers.routing_nmt.model import MultiTaskModel
from xlrepro.papers.routing_nmt.scores import PERPLEXITY_SIGNATURE, scored
from xlrepro.papers.routing_nmt.settings import TRANSLATION, TranslationSettings
from xlrepro.papers.routing_nmt.training import (
    Batch,
    MultiTaskLearner,
    loss_per_token,
    ordered_batches,
    perplexity,
)
from xlrepro.paths import build_dir
from xlrepro.training.batches import in_order
from xlrepro.training.loop import Checkpoints, Fit, compute_repeatably, fit
from xlrepro.training.settings import computing
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult

DECODING_BATCH = 64
SAMPLES = 4
METRICS = {"PPL": "perplexity", "TER": "percent", "BLEU": "percent"}


def translation(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial of ``routing_nmt/table1``.

    Cells: perplexity per target subword, TER and tokenised BLEU on development and test. Details:
    curves, sizes, what was left out, detokenised BLEU, BLEU's counts of each test sentence (for
    the paired bootstrap), of a routed system what each router does with each task, and of
    artificial languages a few translations.
    """
    settings = trial.typed(TranslationSettings)
    (system,) = trial.systems
    data = Encoded(settings)
    # another trial, or another version of the task, has another key
    checkpoint = build_dir() / "checkpoints" / f"{trial.key[:32]}.pt"
    compute_repeatably(context.device)
    model = make_model(settings, data, trial.seed).to(context.device)
    learner = MultiTaskLearner(model, data, settings, trial.seed, context.device)
    fitted = fit(learner, settings.epochs, None, context.progress, Checkpoints(checkpoint))
    cells, signatures = [], {"PPL": PERPLEXITY_SIGNATURE}
    details = _details(settings, data, learner, fitted)
    task = data.tasks[TRANSLATION]
    for split in ("dev", "test"):
        examples: list[Example] = getattr(task, split)
        nats = loss_per_token(model, TRANSLATION, examples, context.device)
        outputs = translations(model, data, examples, settings.longest_output, context.device)
        scores = scored(outputs, task.references[split], task.lines[split])
        values = {"PPL": perplexity(nats), "TER": scores.ter, "BLEU": scores.bleu}
        cells += [
            Cell(system, f"{settings.pair}/{split}/{metric}", values[metric], metric, unit)
            for metric, unit in METRICS.items()
        ]
        details["BLEU detokenised"][split] = round(scores.bleu_detokenised, 4)
        signatures |= scores.signatures
        if split == "test":
            details["test_counts"] = scores.statistics[:, :6].tolist()
    if settings.model.kind == "routed":
        details["routers"] = routers(model, data, context.device)
    if settings.corpus == "artificial":  # no sentence of a real corpus stands in a record
        details["samples"] = [
            {
                "source": " ".join(data.source_words(example)),
                "reference": " ".join(reference),
                "translation": " ".join(output),
            }
            for example, reference, output in list(
                zip(task.test, task.references["test"], outputs, strict=True)
            )[:SAMPLES]
        ]
    checkpoint.unlink(missing_ok=True)
    return TrialResult(
        cells=cells,
        details=details,
        signatures=signatures,
        training_tokens=fitted.tokens,
        training_seconds=fitted.seconds,
    )


def make_model(settings: TranslationSettings, data: Encoded, seed: int) -> MultiTaskModel:
    """Return a freshly initialised model of a trial."""
    torch.manual_seed(seed)
    vocabularies = {task: len(data.tasks[task].target) for task in settings.tasks}
    model = settings.model
    shared = {"encoder": model.shared_encoder, "decoder": model.shared_decoder}
    layers = shared if model.kind == "stacked" else None
    with computing(settings.precision):
        return MultiTaskModel(len(data.source), vocabularies, layers, model.hidden, model.dropout)


def translations(
    model: MultiTaskModel,
    data: Encoded,
    examples: Sequence[Example],
    longest_output: float,
    device: str,
) -> list[list[str]]:
    """Return the words of the greedy translation of each sentence, in the order given."""

    def predict(batch: Batch) -> list[list[str]]:
        moved = batch.to(device)
        limits = [round(longest_output * n) + 10 for n in batch.lengths.tolist()]
        outputs = model.greedy(TRANSLATION, moved.source, moved.lengths, limits)
        return [data.words(numbers) for numbers in outputs]

    return in_order(model, ordered_batches(examples, DECODING_BATCH), predict)


def _details(
    settings: TranslationSettings, data: Encoded, learner: MultiTaskLearner, fitted: Fit
) -> dict[str, Any]:
    course, others = learner.course, ("ner", "syntax", "semantics")
    sizes = {name: p.numel() for name, p in learner.model.named_parameters()}
    of_translation = (n for name, n in sizes.items() if not set(name.split(".")) & {*others})
    return {
        "settings": settings.model_dump(mode="json"),
        "data": data.counts,
        "dev_perplexity": [round(value, 4) for value in course.perplexities()],
        "losses on dev": course.dev_losses,
        "losses": course.losses,
        "best_epoch": fitted.best_epoch,
        "updates": course.updates,
        "rates": course.rates,
        "parameters": sum(sizes.values()),
        "parameters of translation": sum(of_translation),
        "BLEU detokenised": {},
    }
