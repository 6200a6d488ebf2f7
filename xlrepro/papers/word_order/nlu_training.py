"""Train the NLU model on the source language; keep the epoch of the best source dev slot F1."""

import copy
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from xlrepro import metrics
from xlrepro.embeddings.vectors.encoding import ordered_batches, shuffled_batches
from xlrepro.papers.word_order.nlu_data import Labels, NLUSplit
from xlrepro.papers.word_order.nlu_model import NLUModel
from xlrepro.papers.word_order.nlu_settings import NLUSettings
from xlrepro.papers.word_order.training import EVALUATION_TOKENS, Fit
from xlrepro.training.repeatable import compute_repeatably

INTENT, SLOTS = "intent accuracy", "slot F1"


def train(
    settings: NLUSettings,
    splits: tuple[NLUSplit, NLUSplit],
    labels: Labels,
    seed: int,
    device: str = "cpu",
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> tuple[NLUModel, Fit]:
    """Return the model with the weights of its best dev epoch, by slot F1.

    Args:
        settings: everything but seed and data.
        splits: train and dev of the source language.
        labels: of the source language.
        seed: of weights, noise, latent variables, dropout and batches.
        device: where to train.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)
    compute_repeatably(device)
    generator = np.random.default_rng(seed)
    train_split, dev_split = splits
    dim = train_split.encoded.table.shape[1]
    model = NLUModel(settings, dim, len(labels.intents), len(labels.tags)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    fit, best = Fit(), copy.deepcopy(model.state_dict())
    for epoch in range(settings.epochs):
        started = time.perf_counter()
        loss = _epoch(model, train_split, settings.batch_size, optimizer, generator, device)
        fit.seconds += time.perf_counter() - started
        fit.tokens += train_split.encoded.tokens
        fit.losses.append(round(loss, 4))
        fit.dev_scores.append(evaluate(model, dev_split, labels, device)[SLOTS])
        if fit.best_epoch < 0 or fit.dev_scores[-1] > fit.dev_scores[fit.best_epoch]:
            fit.best_epoch, best = epoch, copy.deepcopy(model.state_dict())
        progress((epoch + 1) / (settings.epochs + 1), f"dev {fit.dev_scores[-1]:.2f}")
        if epoch - fit.best_epoch >= settings.patience:
            break
    model.load_state_dict(best)
    return model, fit


def _epoch(
    model: NLUModel,
    split: NLUSplit,
    batch_size: int,
    optimizer: torch.optim.Optimizer,
    generator: np.random.Generator,
    device: str,
) -> float:
    """Train on every sentence once; return the mean of intent loss plus slot loss per sentence."""
    model.train()
    table, total = split.encoded.table.to(device), 0.0
    for batch in shuffled_batches(split.encoded, batch_size, generator):
        moved = batch.to(device)
        intents = split.intents[batch.indices].to(device)
        losses = model.losses(table[moved.rows], intents, moved.tags, moved.mask)
        two_steps(model, losses, optimizer)
        intent_loss, slot_loss = (float(loss.detach()) for loss in losses)
        total += intent_loss * len(batch.indices) + slot_loss
    return total / len(split.encoded)


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


def evaluate(model: NLUModel, split: NLUSplit, labels: Labels, device: str) -> dict[str, float]:
    """Return intent accuracy and slot F1 (percent, conlleval's rules).

    An intent or slot that the source language does not have counts as missed.
    """
    intents, tags = predictions(model, split, device)
    named_intents = [labels.intents.names[i] for i in intents]
    named_tags = [[labels.tags.names[t] for t in row.tolist()] for row in tags]
    return {
        INTENT: metrics.accuracy(split.gold_intents, named_intents),
        SLOTS: metrics.span_f1(split.gold_slots, named_tags),
    }


def predictions(model: NLUModel, split: NLUSplit, device: str) -> tuple[list[int], list[Tensor]]:
    """Return the predicted intent number and tag numbers of each sentence, in order."""
    model.eval()
    encoded = split.encoded
    table = encoded.table.to(device)
    intents, tags = [0] * len(encoded), [torch.empty(0)] * len(encoded)
    for batch in ordered_batches(encoded, EVALUATION_TOKENS):
        moved = batch.to(device)
        with torch.inference_mode():
            best_intents, best_tags = model.predict(table[moved.rows], moved.mask)
        for index, number, row in zip(
            batch.indices, best_intents.tolist(), best_tags.cpu(), strict=True
        ):
            intents[index], tags[index] = number, row[: len(encoded.rows[index])]
    return intents, tags
