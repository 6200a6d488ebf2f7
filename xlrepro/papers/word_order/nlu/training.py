"""Zero-shot intents and slots with the NLU model of Liu et al. (2019): the trials of Table 3.

A trial trains once on the source language and scores every target. No sentence of a target
language is read before training and model selection are over.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from xlrepro import metrics
from xlrepro.papers.word_order.hashes import nlu_source
from xlrepro.papers.word_order.nlu.data import Labels, NLUSplit, encoded, known_labels
from xlrepro.papers.word_order.nlu.model import NLUModel
from xlrepro.papers.word_order.nlu.settings import NLUSettings
from xlrepro.papers.word_order.settings import validated
from xlrepro.papers.word_order.tagging import learning
from xlrepro.training.batches import EVALUATION_TOKENS, in_order, ordered_batches, shuffled_batches
from xlrepro.training.loop import BatchLearner, Fit, Step, compute_repeatably, fit
from xlrepro.training.optimiser import ScheduledAdam
from xlrepro.training.settings import in_its_precision
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult
from xlrepro.vectors.encoding import Batch

INTENT, SLOTS = "intent accuracy", "slot F1"


@in_its_precision
def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial.

    Cells: ``"es/intent accuracy"`` and ``"es/slot F1"`` (percent) per target; ``details`` holds
    the source's test scores too, the learning curve and the full settings.
    """
    settings = validated(trial.settings, trial.label, NLUSettings)
    (system,) = trial.systems
    model, known, curve = trained(settings, trial.seed, context)
    source, scores = nlu_source(settings), {}
    for language in (settings.source, *settings.targets):
        test = encoded(settings, language, source.sentences(language, "test"), known)
        scores[language] = evaluated(model, test, known, context.device)
    addresses = [(column, *column.split("/", 1)) for column in trial.columns]
    return TrialResult(
        cells=[
            Cell(system, column, scores[language][metric], metric)
            for column, language, metric in addresses
        ],
        details={
            **learning(settings, model, curve, "dev_f1"),
            "scores": scores,
            "intents": len(known.intents),
            "tags": len(known.tags),
        },
        signatures={
            INTENT: metrics.accuracy_signature().replace("level:token", "level:sentence"),
            SLOTS: metrics.span_f1_signature(),
        },
        training_tokens=curve.tokens,
        training_seconds=curve.seconds,
    )


def trained(
    settings: NLUSettings, seed: int, context: TrialContext
) -> tuple[NLUModel, Labels, Fit]:
    """Train on the source language and keep the epoch of the best source dev slot F1."""
    source, language = nlu_source(settings), settings.source
    sentences = source.sentences(language, "train")
    known = known_labels(sentences)
    train = encoded(settings, language, sentences, known)
    dev = encoded(settings, language, source.sentences(language, "dev"), known)
    compute_repeatably(context.device)
    torch.manual_seed(seed)
    dim = train.encoded.table.shape[1]
    model = NLUModel(settings, dim, len(known.intents), len(known.tags)).to(context.device)

    def dev_score() -> float:
        return evaluated(model, dev, known, context.device)[SLOTS]

    learner = nlu_learner(model, train, dev_score, settings, seed, context.device)
    return model, known, fit(learner, settings.epochs, settings.patience, context.progress)


def nlu_learner(
    model: NLUModel,
    train: NLUSplit,
    dev_score: Callable[[], float],
    settings: NLUSettings,
    seed: int,
    device: str,
) -> BatchLearner[Batch]:
    """Return the training of an NLU model.

    Args:
        model: what is trained, on ``device``.
        train: the source language's training sentences.
        dev_score: scores the model as it is on dev.
        settings: rate and batch size.
        seed: of the batches' order.
        device: where the model is.
    """
    table, generator = train.encoded.table.to(device), np.random.default_rng(seed)
    adam = ScheduledAdam(model, settings.learning_rate)

    def step(batch: Batch) -> Step:
        """Take the batch's two steps; its loss is intent loss plus slot loss, per sentence."""
        intents, on_device = train.intents[batch.indices].to(device), batch.to(device)
        # shape: (batch, length, dim)
        x = table[on_device.rows]
        losses = model.losses(x, intents, on_device.tags, on_device.mask)
        two_steps(model, losses, adam.adam)
        sentences = len(batch.indices)
        intent_loss, slot_loss = (float(loss.detach()) for loss in losses)
        # a mean over sentences and a sum over them
        total = intent_loss * sentences + slot_loss
        return Step(total, count=sentences, tokens=int(batch.mask.sum()))

    def batches(round_: int) -> Iterator[Batch]:
        return shuffled_batches(train.encoded, settings.batch_size, generator)

    return BatchLearner(model, adam, batches, step, dev_score, generator)


def two_steps(
    model: NLUModel, losses: tuple[Tensor, Tensor], optimizer: torch.optim.Optimizer
) -> None:
    """Take one optimiser step on the intent loss, then one on the slot loss.

    Both gradients are those of the same forward pass, as in the authors' code. A head whose loss
    it is not stays where it is; the encoder moves twice.

    Args:
        model: whose parameters move.
        losses: intent loss and slot loss of one forward pass.
        optimizer: over all parameters of ``model``.
    """
    parameters = list(model.parameters())
    intent_loss, slot_loss = losses
    both = [
        torch.autograd.grad(intent_loss, parameters, retain_graph=True, allow_unused=True),
        torch.autograd.grad(slot_loss, parameters, allow_unused=True),
    ]
    for gradients in both:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def evaluated(model: NLUModel, split: NLUSplit, known: Labels, device: str) -> dict[str, float]:
    """Return intent accuracy and slot F1 (percent, conlleval's rules).

    An intent or slot that the source language does not have counts as missed.
    """
    predicted = predictions(model, split, device)
    intents = [known.intents.names[number] for number, _ in predicted]
    slots = [[known.tags.names[n] for n in row.tolist()] for _, row in predicted]
    return {
        INTENT: metrics.accuracy(split.gold_intents, intents),
        SLOTS: metrics.span_f1(split.gold_slots, slots),
    }


def predictions(model: NLUModel, split: NLUSplit, device: str) -> list[tuple[int, Tensor]]:
    """Return the predicted intent number and tag numbers (length,) of each sentence, in order."""
    table, rows = split.encoded.table.to(device), split.encoded.rows

    def predict(batch: Batch) -> list[tuple[int, Tensor]]:
        on_device = batch.to(device)
        # shape: (batch,) and (batch, length)
        intents, tags = model.predict(table[on_device.rows], on_device.mask)
        cut = [row[: len(rows[i])] for i, row in zip(batch.indices, tags.cpu(), strict=True)]
        return list(zip(intents.tolist(), cut, strict=True))

    return in_order(model, ordered_batches(split.encoded, EVALUATION_TOKENS), predict)
