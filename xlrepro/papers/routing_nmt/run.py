"""One trial of Table 1: train a system on one pair, translate what was held out."""

from collections.abc import Sequence
from typing import Any

import torch

from xlrepro.papers.routing_nmt import training
from xlrepro.papers.routing_nmt.blocks import SOURCES
from xlrepro.papers.routing_nmt.encoding import Encoded, Example
from xlrepro.papers.routing_nmt.model import MultiTaskModel
from xlrepro.papers.routing_nmt.scores import PERPLEXITY_SIGNATURE, scored
from xlrepro.papers.routing_nmt.settings import DIRECTIONS, TRANSLATION, TranslationSettings
from xlrepro.paths import checkpoint_of
from xlrepro.precision import computing
from xlrepro.training.batches import in_order
from xlrepro.training.loop import Checkpoints, fit
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult

METRICS = {"PPL": "perplexity", "TER": "percent", "BLEU": "percent"}


def translation(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial of ``routing_nmt/table1``.

    Cells: perplexity per target subword, TER and tokenised BLEU on development and test. Details:
    curves, sizes, what was left out, detokenised BLEU, BLEU's counts of each test sentence (for
    the paired bootstrap), and of a routed system what each router does with each task.
    """
    settings = trial.typed(TranslationSettings)
    (system,) = trial.systems
    data = Encoded(settings)
    model = make_model(settings, data, trial.seed).to(context.device)
    learner = training.MultiTaskLearner(model, data, settings, trial.seed, context.device)
    at_most = settings.epochs, settings.patience
    fitted = fit(learner, *at_most, context.progress, Checkpoints(checkpoint_of(trial.key)))
    sizes, course = {n: p.numel() for n, p in model.named_parameters()}, learner.course
    others = {*settings.auxiliary}
    own = sum(size for name, size in sizes.items() if not {*name.split(".")} & others)
    details: dict[str, Any] = {
        "settings": settings.model_dump(mode="json"),
        "data": data.counts,
        "dev_perplexity": [round(value, 4) for value in course.perplexities()],
        "losses on dev": course.dev_losses,
        "losses": course.losses,
        "best_epoch": fitted.best_epoch,
        "updates": course.updates,
        "rates": course.rates,
        "parameters": sum(sizes.values()),
        "parameters of translation": own,
        "BLEU detokenised": {},
    }
    cells, signatures = [], {"PPL": PERPLEXITY_SIGNATURE}
    task = data.tasks[TRANSLATION]
    for split in ("dev", "test"):
        examples: list[Example] = getattr(task, split)
        nats = training.loss_per_token(model, TRANSLATION, examples, context.device)
        outputs = translations(model, data, examples, settings.longest_output, context.device)
        references = [target for _, target in getattr(task.splits, split)]
        scores = scored(outputs, references, task.splits.lines[split])
        values = {"PPL": training.perplexity(nats), "TER": scores.ter, "BLEU": scores.bleu}
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
    return TrialResult(
        cells, details, signatures, training_tokens=fitted.tokens, training_seconds=fitted.seconds,
        earlier_seconds=fitted.earlier, stopped=fitted.stopped if settings.patience else None,
    )  # fmt: skip


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
    model: MultiTaskModel, data: Encoded, examples: Sequence[Example], longest: float, device: str
) -> list[list[str]]:
    """Return the words of the greedy translation of each sentence, in the order given."""

    def predict(batch: training.Batch) -> list[list[str]]:
        moved = batch.to(device)
        limits = [round(longest * n) + 10 for n in batch.lengths.tolist()]
        outputs = model.greedy(TRANSLATION, moved.source, moved.lengths, limits)
        return [data.words(numbers) for numbers in outputs]

    return in_order(model, training.ordered_batches(examples), predict)


Use = dict[str, dict[str, dict[str, dict[str, object]]]]


def routers(model: MultiTaskModel, data: Encoded, device: str) -> Use:
    """Return what each direction's router does: direction, source, task to `router_use`.

    Sources are translation's test sentences with each task's tag, and the tasks' own.
    """
    sentences = data.tasks[TRANSLATION].test
    found: Use = {direction: {source: {} for source in SOURCES} for direction in DIRECTIONS}
    for task, own in data.tasks.items():
        for source, examples in zip(SOURCES, (data.retagged(sentences, task), own.test)):
            for direction, use in zip(DIRECTIONS, router_use(model, task, examples, device)):
                found[direction][source][task] = use
    return found


@torch.inference_mode()
def router_use(
    model: MultiTaskModel, task: str, examples: Sequence[Example], device: str = "cpu"
) -> list[dict[str, object]]:
    """Return what each direction's router does over all source tokens, the task's tag among them.

    ``shares`` is the mean of tau per block, ``largest`` the mean of a token's largest tau: 1 / n
    where all blocks are used alike, 1 where the router sends each token to one block.
    """
    model.eval()
    sums, largest, tokens = torch.zeros(()), torch.zeros(()), 0
    for batch in training.ordered_batches(examples):
        moved = batch.to(device)
        memory = model.encode(task, moved.source, moved.lengths)
        assert memory.taus is not None
        # shape: (directions, length, batch, blocks), zero at padding
        taus = memory.taus.double() * memory.mask.T[None, :, :, None]
        sums = sums + taus.sum((1, 2)).cpu()
        largest = largest + taus.amax(-1).sum((1, 2)).cpu()
        tokens += int(moved.lengths.sum())
    return [
        {"shares": [round(share, 6) for share in shares], "largest": round(most, 6)}
        for shares, most in zip((sums / tokens).tolist(), (largest / tokens).tolist(), strict=True)
    ]
