"""Train an M-BERT row on the source language and keep its best epoch on source dev.

The schedule of the word-level rows (``training.py``), for any labeller with a loss and predictions.
"""

import copy
import math
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro.embeddings.vectors.encoding import (
    Batch,
    EncodedSplit,
    ordered_batches,
    shuffled_batches,
)
from xlrepro.papers.word_order.mbert_data import NO_LABEL, MbertSettings
from xlrepro.papers.word_order.training import EVALUATION_TOKENS, Fit, warmup_then_linear


class Labeller(Protocol):
    """A model that labels words; see ``mbert_model.py``."""

    def loss(self, batch: Batch, table: Tensor) -> Tensor:
        """Return the loss of a batch."""
        ...

    def predict(self, batch: Batch, table: Tensor) -> Tensor:
        """Return tag numbers, (batch, length)."""
        ...


def train(
    labeller: nn.Module,
    settings: MbertSettings,
    split: EncodedSplit,
    dev_score: Callable[[], float],
    seed: int,
    device: str,
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> Fit:
    """Train in place; the labeller ends with the weights of its best dev epoch.

    Parameters that ask for no gradient, such as a frozen position table, are not the optimiser's.

    Args:
        labeller: the model.
        settings: everything but seed and data.
        split: the source language's training sentences.
        dev_score: scores the labeller as it is on source dev; higher is better.
        seed: of batches and dropout.
        device: where to train.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)  # whatever was drawn while the data were read
    trained = [p for p in labeller.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=settings.learning_rate)
    steps = settings.epochs * math.ceil(len(split) / settings.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: warmup_then_linear(step, settings.warmup_steps, steps)
    )
    words = sum(int((tags != NO_LABEL).sum()) for tags in split.tags)
    generator, table = np.random.default_rng(seed), split.table.to(device)
    fit, best = Fit(), copy.deepcopy(labeller.state_dict())
    for epoch in range(settings.epochs):
        started = time.perf_counter()
        labeller.train()
        losses = []
        for batch in shuffled_batches(split, settings.batch_size, generator):
            losses.append(_step(labeller, batch.to(device), table, settings, optimizer))
            schedule.step()
        fit.seconds += time.perf_counter() - started
        fit.tokens += words
        fit.losses.append(round(sum(losses) / len(losses), 4))
        fit.dev_scores.append(dev_score())
        if fit.best_epoch < 0 or fit.dev_scores[-1] > fit.dev_scores[fit.best_epoch]:
            fit.best_epoch, best = epoch, copy.deepcopy(labeller.state_dict())
        progress((epoch + 1) / (settings.epochs + 1), f"dev {fit.dev_scores[-1]:.2f}")
        if epoch - fit.best_epoch >= settings.patience:
            break
    labeller.load_state_dict(best)
    return fit


def _step(
    labeller: nn.Module,
    batch: Batch,
    table: Tensor,
    settings: MbertSettings,
    optimizer: torch.optim.Optimizer,
) -> float:
    """Take one optimiser step and return the loss."""
    optimizer.zero_grad(set_to_none=True)
    loss: Tensor = labeller.loss(batch, table)  # type: ignore[operator]
    loss.backward()
    torch.nn.utils.clip_grad_norm_(labeller.parameters(), settings.clip_norm)
    optimizer.step()
    return float(loss.detach())


def predictions(labeller: nn.Module, split: EncodedSplit, device: str) -> list[Tensor]:
    """Return the predicted tag numbers of each sequence of ``split``, in its order."""
    labeller.eval()
    table = split.table.to(device)
    found: dict[int, Tensor] = {}
    for batch in ordered_batches(split, EVALUATION_TOKENS):
        with torch.inference_mode():
            best = labeller.predict(batch.to(device), table).cpu()  # type: ignore[operator]
        for index, row in zip(batch.indices, best, strict=True):
            found[index] = row[: len(split.rows[index])]
    return [found[i] for i in range(len(split))]
