"""One trial of Table 1: train a system on one pair, translate what was held out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from xlrepro.papers.routing_nmt.batches import ordered_batches
from xlrepro.papers.routing_nmt.data.encoding import Encoded, Example
from xlrepro.papers.routing_nmt.decoding import greedy
from xlrepro.papers.routing_nmt.model import MultiTaskModel, Routed, Sizes, Stacked
from xlrepro.papers.routing_nmt.settings import (
    TRANSLATION,
    ModelSettings,
    TranslationSettings,
    validated,
)
from xlrepro.papers.routing_nmt.text.scores import Scores, perplexity_signature, scored
from xlrepro.papers.routing_nmt.training import MultiTaskLearner, loss_per_token, perplexity
from xlrepro.papers.routing_nmt.usage import block_usage
from xlrepro.paths import build_dir
from xlrepro.training.loop import Checkpoints, Fit, compute_repeatably, fit
from xlrepro.training.settings import computing
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

DECODING_BATCH = 64
SAMPLES = 4
METRICS = {"PPL": "perplexity", "TER": "percent", "BLEU": "percent"}


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial of ``routing_nmt/table1``.

    Cells: perplexity per target piece, TER and tokenised BLEU on development and test. Details:
    curves, sizes, what was left out, detokenised BLEU, BLEU's counts of each test sentence (for
    the paired bootstrap), of a routed system how much each task uses each block, and of artificial
    languages a few translations.
    """
    settings = validated(trial.settings, trial.label)
    (system,) = trial.systems
    data = Encoded(settings)
    checkpoint = checkpoint_of(trial)
    learner, fitted = train(settings, data, trial.seed, context, checkpoint)
    model = learner.model
    cells, signatures = [], {"PPL": perplexity_signature()}
    details = _details(settings, data, learner, fitted)
    for split in ("dev", "test"):
        examples: list[Example] = getattr(data.tasks[TRANSLATION], split)
        nats = loss_per_token(model, TRANSLATION, examples, context.device)
        scores = evaluate(model, data, split, settings, context.device)
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
        details["usage"] = usage(model, data, context.device)
    if settings.corpus == "artificial":  # no sentence of a real corpus stands in a record
        details["samples"] = samples(model, data, settings, context.device)
    checkpoint.unlink(missing_ok=True)
    return TrialResult(
        cells=cells,
        details=details,
        signatures=signatures,
        training_tokens=fitted.tokens,
        training_seconds=fitted.seconds,
    )


def checkpoint_of(trial: Trial) -> Path:
    """Return where a trial's checkpoint lies; another version of its task has another key."""
    return build_dir() / "checkpoints" / f"{trial.key[:32]}.pt"


def make_model(settings: TranslationSettings, data: Encoded, seed: int) -> MultiTaskModel:
    """Return a freshly initialised model of a trial."""
    torch.manual_seed(seed)
    vocabularies = {task: len(data.tasks[task].target) for task in settings.tasks}
    chosen = settings.model
    recurrent: Stacked | Routed
    if chosen.kind == "routed":
        recurrent = Routed(chosen.shared_blocks)
    else:
        recurrent = Stacked(chosen.shared_encoder, chosen.shared_decoder)
    with computing(settings.precision):
        return MultiTaskModel(len(data.source), vocabularies, recurrent, _sizes(chosen))


def _sizes(chosen: ModelSettings) -> Sizes:
    return Sizes(**{name: getattr(chosen, name) for name in Sizes.__dataclass_fields__})


def train(
    settings: TranslationSettings,
    data: Encoded,
    seed: int,
    context: TrialContext,
    checkpoint: Path | None = None,
) -> tuple[MultiTaskLearner, Fit]:
    """Train from the checkpoint, if there is one; the model ends with its best weights."""
    compute_repeatably(context.device)
    model = make_model(settings, data, seed).to(context.device)
    learner = MultiTaskLearner(model, data, settings, seed, context.device, context.progress)
    checkpoints = None
    if checkpoint is not None:
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        checkpoints = Checkpoints(checkpoint)
    return learner, fit(learner, settings.epochs, None, context.progress, checkpoints)


def evaluate(
    model: MultiTaskModel, data: Encoded, split: str, settings: TranslationSettings, device: str
) -> Scores:
    """Translate a split and score it against its references."""
    task = data.tasks[TRANSLATION]
    outputs = translations(model, data, getattr(task, split), settings, device)
    return scored(outputs, task.references[split], task.lines[split])


def translations(
    model: MultiTaskModel,
    data: Encoded,
    examples: Sequence[Example],
    settings: TranslationSettings,
    device: str,
) -> list[list[str]]:
    """Return the words of the greedy translation of each sentence, in the order given."""
    model.eval()
    sentences: dict[int, list[str]] = {}
    for batch in ordered_batches(examples, DECODING_BATCH):
        moved = batch.to(device)
        limits = [round(settings.longest_output * n) + 10 for n in batch.lengths.tolist()]
        outputs = greedy(model, TRANSLATION, moved.source, moved.lengths, limits)
        for index, numbers in zip(batch.indices, outputs, strict=True):
            sentences[index] = data.words(numbers)
    return [sentences[i] for i in range(len(examples))]


def samples(
    model: MultiTaskModel, data: Encoded, settings: TranslationSettings, device: str
) -> list[dict[str, str]]:
    """Return the first test sentences: source, reference and translation."""
    task = data.tasks[TRANSLATION]
    outputs = translations(model, data, task.test[:SAMPLES], settings, device)
    triples = zip(task.test, task.references["test"], outputs, strict=False)
    return [
        {
            "source": " ".join(data.source_words(example)),
            "reference": " ".join(reference),
            "translation": " ".join(output),
        }
        for example, reference, output in triples
    ]


def usage(model: MultiTaskModel, data: Encoded, device: str) -> dict[str, dict[str, list[float]]]:
    """Return each task's use of each block, on translation's test sources and on its own."""
    sources = data.tasks[TRANSLATION].test
    return {
        "same": {
            task: block_usage(model, task, data.retagged(sources, task), device)
            for task in data.tasks
        },
        "own": {
            task: block_usage(model, task, each.test, device) for task, each in data.tasks.items()
        },
    }


def _details(
    settings: TranslationSettings, data: Encoded, learner: MultiTaskLearner, fitted: Fit
) -> dict[str, Any]:
    model, course = learner.model, learner.course
    shared = [p.numel() for name, p in model.named_parameters() if not _of_another_task(name)]
    return {
        "settings": settings.model_dump(mode="json"),
        "data": data.counts,
        "dev_perplexity": [round(value, 4) for value in course.perplexities()],
        "losses on dev": course.dev_losses,
        "losses": course.losses,
        "best_epoch": fitted.best_epoch,
        "updates": course.updates,
        "rates": course.rates,
        "parameters": sum(p.numel() for p in model.parameters()),
        "parameters of translation": sum(shared),
        "BLEU detokenised": {},
    }


def _of_another_task(name: str) -> bool:
    parts = name.split(".")
    return any(task in parts for task in ("ner", "syntax", "semantics"))
