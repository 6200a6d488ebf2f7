"""The paper's schedule (§2.3): each update takes a batch of translation and one of a random task.

Everything random in an update follows from the seed and the update's number. A task's rate is
halved when its development loss rises; the update's step size is translation's rate, and another
task's loss counts by the ratio of its rate to that: with plain gradient descent exactly a rate per
task. With Adam, which does not see a gradient's scale, it is a task's share in the gradients of
what tasks share; its own parts step at translation's rate (deviation T11).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from xlrepro.papers.routing_nmt.encoding import Encoded, Example
from xlrepro.papers.routing_nmt.model import MultiTaskModel
from xlrepro.papers.routing_nmt.settings import TRANSLATION, TranslationSettings
from xlrepro.training.batches import by_length, pooled
from xlrepro.training.loop import Step
from xlrepro.vectors.encoding import padded

EVALUATION_BATCH = 64
CLIP_NORM = 5.0  # largest gradient norm; the paper does not say: DyNet's default
POOL = 20  # batches are cut from so many batches' sentences in order of length


class Batch(NamedTuple):
    """Padded examples.

    Attributes:
        source: ``(batch, source length)``, padded on the right.
        lengths: tokens of each source, ``(batch,)``.
        target: ``(batch, target length)``, start and end included, padded on the right.
        indices: where the examples stand in their split.
    """

    source: Tensor
    lengths: Tensor
    target: Tensor
    indices: list[int]

    def to(self, device: str) -> "Batch":
        """Return the batch on a device."""
        source, lengths, target = (tensor.to(device) for tensor in self[:3])
        return Batch(source, lengths, target, self.indices)


def batch_of(examples: Sequence[Example], indices: Sequence[int]) -> Batch:
    """Return some examples as one batch."""
    sources, targets = ([getattr(examples[i], s) for i in indices] for s in ("source", "target"))
    # PAD is 0
    (source, mask), (target, _) = padded(sources), padded(targets)
    return Batch(source, mask.sum(1), target, list(indices))


def ordered_batches(examples: Sequence[Example]) -> Iterator[Batch]:
    """Yield all examples in batches of similar source length, for evaluation."""
    lengths = [len(example.source) for example in examples]
    return (batch_of(examples, chosen) for chosen in by_length(lengths, EVALUATION_BATCH))


@dataclass
class Course:
    """How the tasks' training went so far; all that draws and rates depend on.

    Attributes:
        updates: updates done.
        drawn: batches taken so far of each auxiliary task.
        rates: learning rate of each task.
        losses: of each epoch, mean training loss per sentence of each task, nats.
        dev_losses: of each epoch, development loss per target token of each task, nats.
    """

    updates: int
    drawn: dict[str, int]
    rates: dict[str, float]
    losses: list[dict[str, float]] = field(default_factory=list)
    dev_losses: list[dict[str, float]] = field(default_factory=list)

    def perplexities(self) -> list[float]:
        """Return translation's perplexity on development after each epoch."""
        return [perplexity(losses[TRANSLATION]) for losses in self.dev_losses]


def perplexity(nats: float) -> float:
    """Return the perplexity of a loss per token; an absurd one is cut at e^50."""
    return math.exp(min(nats, 50.0))


class MultiTaskLearner:
    """A model with its tasks; :func:`xlrepro.training.loop.fit` trains it.

    Args:
        model: freshly initialised, on its device.
        data: encoded tasks.
        settings: everything else but the seed.
        seed: of order, choice of tasks, and dropout.
        device: ``"cpu"`` or ``"cuda"``.
    """

    def __init__(
        self,
        model: MultiTaskModel,
        data: Encoded,
        settings: TranslationSettings,
        seed: int,
        device: str = "cpu",
    ) -> None:
        self.model = model
        rates = dict.fromkeys(settings.tasks, settings.learning_rate)
        self.course = Course(0, dict.fromkeys(settings.auxiliary, 0), rates)
        self._data, self._settings, self._seed = data, settings, seed
        self._device = device
        self._optimizer = torch.optim.Adam(
            model.parameters(), lr=settings.learning_rate, fused=True
        )
        self._order = lru_cache(len(settings.tasks))(self._order)  # type: ignore[method-assign]
        self._losses: dict[str, list[float]] = {}

    def batches(self, epoch: int) -> list[list[int]]:
        """Return translation's batches of an epoch, as numbers of examples."""
        self._losses = {task: [] for task in self._settings.tasks}
        return self._order(TRANSLATION, epoch)

    def step(self, indices: Sequence[int]) -> Step:
        """Take one update: a batch of translation, and one of a random task."""
        course, settings, tokens = self.course, self._settings, 0
        torch.manual_seed(self._seed * 1_000_003 + course.updates)
        chosen = [(TRANSLATION, batch_of(self._data.tasks[TRANSLATION].train, indices))]
        if settings.auxiliary:
            chosen.append(self._auxiliary_batch())
        self._optimizer.zero_grad(set_to_none=True)
        for task, batch in chosen:
            moved = batch.to(self._device)
            loss = self.model.loss(task, moved.source, moved.lengths, moved.target)
            loss = loss / len(batch.indices)
            # gamma = 1; the ratio of rates stands for the task's own rate
            (loss * (course.rates[task] / course.rates[TRANSLATION])).backward()
            self._losses[task].append(float(loss.detach()))
            tokens += int((batch.target[:, 1:] > 0).sum())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        for group in self._optimizer.param_groups:
            group["lr"] = course.rates[TRANSLATION]
        self._optimizer.step()
        course.updates += 1
        return Step(self._losses[TRANSLATION][-1], tokens=tokens)

    def _auxiliary_batch(self) -> tuple[str, Batch]:
        draw = np.random.default_rng([self._seed, 1, self.course.updates])
        task = self._settings.auxiliary[int(draw.integers(len(self._settings.auxiliary)))]
        examples = self._data.tasks[task].train
        per_epoch = math.ceil(len(examples) / self._settings.batch_size)
        epoch, place = divmod(self.course.drawn[task], per_epoch)
        self.course.drawn[task] += 1
        return task, batch_of(examples, self._order(task, epoch)[place])

    def _order(self, task: str, epoch: int) -> list[list[int]]:
        """Return the batches of an epoch of a task; those of the last epochs are kept."""
        key = [self._seed, 0, self._settings.tasks.index(task), epoch]
        lengths = [(len(e.target), len(e.source)) for e in self._data.tasks[task].train]
        return pooled(lengths, self._settings.batch_size, POOL, np.random.default_rng(key))

    def dev_score(self) -> float:
        """Return translation's log-likelihood per token; halve the rate of each task that rose."""
        course, losses = self.course, self._losses
        course.losses.append({t: round(float(np.mean(v)), 6) for t, v in losses.items() if v})
        now = {
            task: round(loss_per_token(self.model, task, data.dev, self._device), 6)
            for task, data in self._data.tasks.items()
        }
        if course.dev_losses:
            for task, loss in now.items():
                if loss > course.dev_losses[-1][task]:
                    course.rates[task] /= 2
        course.dev_losses.append(now)
        return -now[TRANSLATION]

    def state(self) -> dict[str, Any]:
        """Return optimiser and course."""
        return {"optimizer": self._optimizer.state_dict(), "course": vars(self.course)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        self._optimizer.load_state_dict(state["optimizer"])
        self.course = Course(**state["course"])


@torch.inference_mode()
def loss_per_token(
    model: MultiTaskModel, task: str, examples: Sequence[Example], device: str = "cpu"
) -> float:
    """Return the mean negative log-likelihood per target token, ends included, in nats."""
    model.eval()
    total, tokens = 0.0, 0
    for batch in ordered_batches(examples):
        moved = batch.to(device)
        total += float(model.loss(task, moved.source, moved.lengths, moved.target))
        tokens += int((batch.target[:, 1:] > 0).sum())
    return total / tokens
