"""One loop for language models: so many steps, each of which follows from its number.

Everything random in a step follows from the seed and the number of the step, so a checkpoint needs
no generator's state. On a CPU a training that was killed and goes on ends with the same bits as one
without a break (tests compare).
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn

from xlrepro.training.loop import Checkpoints, Step, mean_loss

CURVE_POINTS = 40  # of the loss curve that a record shows


class Stepper(Protocol):
    """What is trained: a model, its text, its optimiser."""

    def step(self, number: int, /) -> Any:
        """Change the model by one step, counted from 0; return its loss, or that of each part."""
        ...

    def state(self) -> dict[str, Any]:
        """Return what the next step depends on besides its number, weights included."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned; its tensors are on the CPU."""
        ...


@dataclass
class Progress:
    """How far training is.

    Attributes:
        losses: loss of each step, nats per predicted piece or word; of each language where a step
            has several.
        seconds: wall time of all steps, over all runs that it took.
    """

    losses: list[Any] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def step(self) -> int:
        """Steps done."""
        return len(self.losses)

    def curve(self, tokens_per_step: int = 1) -> list[list[float]]:
        """Return at most 40 points ``[tokens seen, mean loss since the last point]``.

        Example:
            >>> Progress([4.0, 2.0]).curve(tokens_per_step=10)
            [[10, 4.0], [20, 2.0]]
        """
        width = -(-self.step // CURVE_POINTS)
        return [
            [min(i + width, self.step) * tokens_per_step, round(float(np.mean(part)), 4)]
            for i in range(0, self.step, max(1, width))
            if (part := self.losses[i : i + width])
        ]


def take_steps(
    stepper: Stepper,
    steps: int,
    every: int,
    checkpoint: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
    stop_after: int | None = None,
) -> Progress:
    """Train in place, from the checkpoint if there is one, to the end.

    Args:
        stepper: what is trained.
        steps: how many.
        every: steps between checkpoints.
        checkpoint: file that is read first and written every so many steps; None: none is kept.
        say: gets a line at each checkpoint.
        stop_after: stop when so many steps are done, as if killed: for tests and timing.
    """
    progress = Progress()
    kept = Checkpoints(checkpoint).load() if checkpoint is not None else None
    if kept is not None and "stepper" in kept:  # not one of an older form
        stepper.restore(kept["stepper"])
        progress = Progress(**kept["progress"])
    end = steps if stop_after is None else min(stop_after, steps)
    started = time.perf_counter() - progress.seconds
    while progress.step < end:
        progress.losses.append(stepper.step(progress.step))
        progress.seconds = time.perf_counter() - started
        if checkpoint is not None and progress.step % every == 0:
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            Checkpoints(checkpoint).save({"stepper": stepper.state(), "progress": vars(progress)})
            recent = mean_loss([Step(loss) for loss in progress.losses[-every:]])
            say(f"step {progress.step:,} of {steps:,}, loss {recent}")
    return progress


def rows_of_step(step: int, count: int, size: int, key: Sequence[int]) -> np.ndarray:
    """Return which of ``count`` rows a step takes, at most ``size``; an epoch takes each once.

    Args:
        step: counted from 0.
        count: number of rows.
        size: rows of a step.
        key: of the order of rows, with the epoch's number.
    """
    epoch, place = divmod(step, max(1, count // size))
    order = np.random.default_rng([*key, epoch]).permutation(count)
    return order[place * size : (place + 1) * size]


def adamw(
    parameters: Iterable[nn.Parameter],
    learning_rate: float,
    betas: tuple[float, float] = (0.9, 0.999),
) -> torch.optim.AdamW:
    """Return AdamW; biases and normalisation are not decayed (Devlin et al. 2019)."""
    decays: dict[float, list[nn.Parameter]] = {0.01: [], 0.0: []}
    for parameter in parameters:
        decays[0.01 if parameter.dim() > 1 else 0.0].append(parameter)
    groups = [{"params": those, "weight_decay": decay} for decay, those in decays.items()]
    return torch.optim.AdamW(groups, lr=learning_rate, betas=betas)
