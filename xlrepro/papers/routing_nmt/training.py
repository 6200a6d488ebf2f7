"""The paper's schedule (§2.3): each update takes a batch of translation and one of a random task.

Everything random in an update follows from the seed and the update's number, so a checkpoint needs
weights, optimiser and counters alone: a killed run goes on to the same bits. A task's rate is
halved when its development loss rises; the update's step size is translation's rate, and another
task's loss counts by the ratio of its rate to that: with plain gradient descent exactly a rate per
task, and with Adam, which does not see the scale of a loss, the nearest that one optimiser can do.
"""

import copy
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from xlrepro.papers.routing_nmt.batches import (
    Batch,
    batch_of,
    batches_of_epoch,
    ordered_batches,
)
from xlrepro.papers.routing_nmt.data.encoding import Encoded, Example
from xlrepro.papers.routing_nmt.model import MultiTaskModel
from xlrepro.papers.routing_nmt.settings import TRANSLATION, TranslationSettings

EVALUATION_BATCH = 64


@dataclass
class Fit:
    """How far training is, and how it went.

    Attributes:
        epochs: epochs done.
        updates: updates done.
        drawn: batches taken so far of each auxiliary task.
        rates: learning rate of each task.
        losses: of each epoch, mean training loss per sentence of each task, nats.
        dev_losses: of each epoch, development loss per target token of each task, nats.
        best_epoch: 0-based epoch whose weights are kept: lowest translation loss on development.
        tokens: target tokens trained on.
        seconds: wall time of training, without evaluation, over all runs that it took.
    """

    epochs: int = 0
    updates: int = 0
    drawn: dict[str, int] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    losses: list[dict[str, float]] = field(default_factory=list)
    dev_losses: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = -1
    tokens: int = 0
    seconds: float = 0.0

    def perplexities(self) -> list[float]:
        """Return translation's perplexity on development after each epoch."""
        return [perplexity(losses[TRANSLATION]) for losses in self.dev_losses]


def perplexity(nats: float) -> float:
    """Return the perplexity of a loss per token; an absurd one is cut at e^50."""
    return math.exp(min(nats, 50.0))


class Trainer:
    """Trains a model from its checkpoint, if there is one, to the end.

    Args:
        model: freshly initialised.
        data: encoded tasks.
        settings: everything else but the seed.
        seed: of order, choice of tasks, and dropout.
        device: ``"cpu"`` or ``"cuda"``.
        checkpoint: file that is read first and written after each epoch; ``None``: none is kept.
    """

    def __init__(
        self,
        model: MultiTaskModel,
        data: Encoded,
        settings: TranslationSettings,
        seed: int,
        device: str = "cpu",
        checkpoint: Path | None = None,
    ) -> None:
        self.model, self.fit = model, Fit()
        self._data, self._settings, self._seed = data, settings, seed
        self._device, self._checkpoint = device, checkpoint
        self._optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
        self._best: dict[str, Tensor] = {}
        self._orders: dict[tuple[str, int], list[list[int]]] = {}
        self.fit.rates = dict.fromkeys(settings.tasks, settings.learning_rate)
        self.fit.drawn = dict.fromkeys(settings.auxiliary, 0)
        self._resume()

    def run(
        self,
        progress: Callable[[float, str], None] = lambda fraction, text: None,
        stop_after: int | None = None,
    ) -> Fit:
        """Train to the end and give the model its best weights.

        Args:
            progress: called with the fraction done and a short text.
            stop_after: stop after so many epochs, as if killed: for tests.
        """
        end = self._settings.epochs
        while self.fit.epochs < (end if stop_after is None else min(stop_after, end)):
            self._epoch(progress)
            self._evaluate()
            self._save()
            perplexity_now = self.fit.perplexities()[-1]
            progress(self.fit.epochs / (end + 1), f"dev perplexity {perplexity_now:.1f}")
        self.model.load_state_dict(self._best)
        return self.fit

    def _epoch(self, progress: Callable[[float, str], None]) -> None:
        started, fit = time.perf_counter(), self.fit
        self.model.train()
        order = self._order(TRANSLATION, fit.epochs)
        sums: dict[str, list[float]] = {task: [] for task in self._settings.tasks}
        for done, indices in enumerate(order):
            for task, loss in self._update(indices):
                sums[task].append(loss)
            progress((fit.epochs + done / len(order)) / (self._settings.epochs + 1), "training")
        fit.losses.append({task: round(float(np.mean(v)), 6) for task, v in sums.items() if v})
        fit.epochs += 1
        fit.seconds += time.perf_counter() - started

    def _update(self, indices: Sequence[int]) -> list[tuple[str, float]]:
        """Take one optimiser step; return each task's loss per sentence."""
        fit, settings = self.fit, self._settings
        torch.manual_seed(self._seed * 1_000_003 + fit.updates)
        chosen = [(TRANSLATION, batch_of(self._data.tasks[TRANSLATION].train, indices))]
        if settings.auxiliary:
            chosen.append(self._auxiliary_batch())
        self._optimizer.zero_grad(set_to_none=True)
        losses = []
        for task, batch in chosen:
            moved = batch.to(self._device)
            loss = self.model.loss(task, moved.source, moved.lengths, moved.target)
            loss = loss / len(batch.indices)
            # gamma = 1; the ratio of rates stands for the task's own rate
            (loss * (fit.rates[task] / fit.rates[TRANSLATION])).backward()
            losses.append((task, float(loss.detach())))
            fit.tokens += int((batch.target[:, 1:] > 0).sum())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip_norm)
        for group in self._optimizer.param_groups:
            group["lr"] = fit.rates[TRANSLATION]
        self._optimizer.step()
        fit.updates += 1
        return losses

    def _auxiliary_batch(self) -> tuple[str, Batch]:
        draw = np.random.default_rng([self._seed, 1, self.fit.updates])
        task = self._settings.auxiliary[int(draw.integers(len(self._settings.auxiliary)))]
        examples = self._data.tasks[task].train
        per_epoch = math.ceil(len(examples) / self._settings.batch_size)
        epoch, place = divmod(self.fit.drawn[task], per_epoch)
        self.fit.drawn[task] += 1
        return task, batch_of(examples, self._order(task, epoch)[place])

    def _order(self, task: str, epoch: int) -> list[list[int]]:
        """The batches of an epoch of a task; the last one asked for is kept."""
        if (task, epoch) not in self._orders:
            self._orders = {k: v for k, v in self._orders.items() if k[0] != task}
            number = self._settings.tasks.index(task)
            self._orders[task, epoch] = batches_of_epoch(
                self._data.tasks[task].train,
                self._settings.batch_size,
                self._settings.pool,
                [self._seed, 0, number, epoch],
            )
        return self._orders[task, epoch]

    def _evaluate(self) -> None:
        """Measure each task on development; halve its rate where the loss rose."""
        fit = self.fit
        now = {
            task: round(loss_per_token(self.model, task, data.dev, self._device), 6)
            for task, data in self._data.tasks.items()
        }
        if fit.dev_losses and self._settings.halve:
            for task, loss in now.items():
                if loss > fit.dev_losses[-1][task]:
                    fit.rates[task] /= 2
        fit.dev_losses.append(now)
        if fit.best_epoch < 0 or now[TRANSLATION] < fit.dev_losses[fit.best_epoch][TRANSLATION]:
            fit.best_epoch = fit.epochs - 1
            self._best = copy.deepcopy(self.model.state_dict())

    def _save(self) -> None:
        """Write a checkpoint beside the last one, then put it in its place."""
        if self._checkpoint is None:
            return
        self._checkpoint.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self._checkpoint.with_name(self._checkpoint.name + ".part")
        state = {
            "model": self.model.state_dict(),
            "best": self._best,
            "optimizer": self._optimizer.state_dict(),
            "fit": vars(self.fit),
        }
        with unfinished.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self._checkpoint)

    def _resume(self) -> None:
        if self._checkpoint is None or not self._checkpoint.is_file():
            return
        state: dict[str, Any] = torch.load(
            self._checkpoint, map_location=self._device, weights_only=True
        )
        self.model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._best = state["best"]
        self.fit = Fit(**state["fit"])


@torch.inference_mode()
def loss_per_token(
    model: MultiTaskModel, task: str, examples: Sequence[Example], device: str = "cpu"
) -> float:
    """Return the mean negative log-likelihood per target token, ends included, in nats."""
    model.eval()
    total, tokens = 0.0, 0
    for batch in ordered_batches(examples, EVALUATION_BATCH):
        moved = batch.to(device)
        total += float(model.loss(task, moved.source, moved.lengths, moved.target))
        tokens += int((batch.target[:, 1:] > 0).sum())
    return total / tokens
