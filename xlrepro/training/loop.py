"""One training loop for every paper: rounds of steps, a look at dev after each, the best kept.

A round is an epoch, or so many iterations of a stream without end, or the steps between two
checkpoints of a language model, which is not looked at: its last weights are its result. What
differs between models, how batches are drawn and what a step does, is a :class:`Learner`'s matter.
A `Checkpoints` file keeps the state of a training, whole at every moment.
"""

import copy
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import nn

from xlrepro.errors import DataError


class Checkpoints:
    """Keeps the last state of one training.

    Args:
        file: where. A state is written beside it and renamed.
        read_only: whether another process that trains the same model writes it.
    """

    def __init__(self, file: Path, read_only: bool = False) -> None:
        self.file, self.read_only = file, read_only

    def save(self, state: Mapping[str, Any]) -> None:
        """Keep a state in place of the one before; tensors, numbers, strings and their containers.

        A kill at any moment leaves one of the two.

        Raises:
            DataError: if it cannot be written, on a full disk; the one before stays.
        """
        if self.read_only:
            return
        beside = self.file.with_name(f"{self.file.name}.part")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as file:
                torch.save(dict(state), file)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.file)
        except (OSError, RuntimeError) as error:  # torch puts its own over the disk's
            with suppress(OSError):
                beside.unlink()
            why = error if isinstance(error, OSError) else error.__context__
            if not isinstance(why, OSError):
                raise
            said = f"{self.file} cannot be written ({why}): make room there, repeat the command"
            raise DataError(said) from error

    def load(self) -> dict[str, Any] | None:
        """Return the kept state on the CPU, None if there is none; no code in it is run.

        Raises:
            DataError: if the file is damaged, or holds anything but tensors and plain values.
        """
        if not self.file.is_file():
            return None
        try:
            return dict(torch.load(self.file, map_location="cpu", weights_only=True))
        except Exception as error:  # a damaged pickle raises anything, IndexError too
            # Its own message stays out: it may advise to run the code in the file.
            said = f"{self.file} is no whole checkpoint: remove it, the training begins anew"
            raise DataError(said) from error


Progress = Callable[[float, str], None]
CURVE_POINTS = 40  # of the loss curve that a record shows


@dataclass(frozen=True)
class Step:
    """What came of one step.

    Attributes:
        loss: of its batch, or of each named part of the loss.
        count: what the round's mean divides the sum of losses by, all steps together: 1 where
            ``loss`` is a mean over the batch, the number of items where it is a sum.
        tokens: number of tokens it saw.
    """

    loss: float | Mapping[str, float]
    count: int = 1
    tokens: int = 0


class Learner(Protocol):
    """What is trained: a model, its data, its optimiser, and its score on dev."""

    @property
    def model(self) -> nn.Module:
        """The model, on its device."""
        ...

    def batches(self, round_: int, /) -> Iterable[Any]:
        """Yield the batches of a round, counted from 0."""
        ...

    def step(self, batch: Any, /) -> Step:
        """Change the model by one batch."""
        ...

    def dev_score(self) -> float | None:
        """Return the score of the model as it is on the source's dev set; higher is better.

        None: there is none, and the last weights stay.
        """
        ...


@dataclass
class Fit:
    """What training leaves behind besides the weights.

    Attributes:
        dev_scores: source dev score after each round, in the score's unit; none without dev set.
        losses: mean training loss of each round, or the mean of each of its named parts.
        step_losses: loss of each step, or of each of its named parts.
        best_epoch: 0-based round whose weights were kept; -1 without dev set.
        iterations: steps done.
        tokens: training tokens seen.
        seconds: wall time of training, without evaluation.
        earlier: wall time, evaluation included, of fits that were cut off and that it goes on from.
        stopped: whether patience ended it, and not the last round.
    """

    dev_scores: list[float] = field(default_factory=list)
    losses: list[Any] = field(default_factory=list)
    step_losses: list[Any] = field(default_factory=list)
    best_epoch: int = -1
    iterations: int = 0
    tokens: int = 0
    seconds: float = 0.0
    earlier: float = 0.0
    stopped: bool = False

    def curve(self) -> list[list[float]]:
        """Return at most 40 points ``[steps done, mean loss since the last point]``.

        Example:
            >>> Fit(step_losses=[4.0, 2.0]).curve()
            [[1, 4.0], [2, 2.0]]
        """
        steps, width = self.step_losses, max(1, -(-len(self.step_losses) // CURVE_POINTS))
        return [
            [min(i + width, len(steps)), round(float(np.mean(steps[i : i + width])), 4)]
            for i in range(0, len(steps), width)
        ]


def fit(
    learner: Learner,
    rounds: int,
    patience: int | None = None,
    progress: Progress = lambda fraction, text: None,
    checkpoints: Checkpoints | None = None,
) -> Fit:
    """Train in place; the model ends with the weights of its best round on source dev.

    Args:
        learner: what is trained.
        rounds: at most so many.
        patience: stop after so many rounds without a better dev score; None: never.
        progress: called with the fraction done and a short text.
        checkpoints: where the state is kept after each round; a fit that was cut off goes on from
            there, to the same bits. The learner's ``state()`` returns what the next batch and step
            depend on besides model and torch's generator; its ``restore(state)`` goes on from it.
    """
    model, result, best, clock = learner.model, Fit(), None, time.perf_counter()
    if checkpoints is not None and (kept := checkpoints.load()) is not None:
        best = _resume(learner, result, kept)
    while len(result.losses) < rounds and not result.stopped:
        started = time.perf_counter()
        model.train()
        steps = [learner.step(batch) for batch in learner.batches(len(result.losses))]
        result.seconds += time.perf_counter() - started
        result.iterations += len(steps)
        result.tokens += sum(step.tokens for step in steps)
        result.losses.append(mean_loss(steps))
        result.step_losses += [step.loss for step in steps]
        score = learner.dev_score()
        if score is not None:
            last = len(result.dev_scores)
            result.dev_scores.append(score)
            if result.best_epoch < 0 or score > result.dev_scores[result.best_epoch]:
                result.best_epoch, best = last, copy.deepcopy(model.state_dict())
            result.stopped = patience is not None and last - result.best_epoch >= patience
        if checkpoints is not None:
            so_far = result.earlier + time.perf_counter() - clock
            checkpoints.save(_resumable(learner, vars(result) | {"earlier": so_far}, best))
        after = f"step {result.iterations:,}, loss {result.losses[-1]}"
        text = after if score is None else f"dev {score:.2f}"
        progress(len(result.losses) / (rounds + 1), text)
    if best is not None:
        model.load_state_dict(best)
    return result


def mean_loss(steps: Sequence[Step]) -> Any:
    """Return the sum of the steps' losses over the sum of their counts, to four digits.

    Raises:
        DataError: if it is infinite or no number.

    Example:
        >>> mean_loss([Step(3.0, count=2), Step(1.0, count=2)])
        1.0
        >>> mean_loss([Step({"task": 1.0}), Step({"task": 2.0, "gates": 1.0})])
        {'task': 1.5, 'gates': 0.5}
    """
    count, sums = sum(step.count for step in steps), {"": 0.0}
    for step in steps:
        parts = step.loss if isinstance(step.loss, Mapping) else {"": step.loss}
        for name, loss in parts.items():
            sums[name] = sums.get(name, 0.0) + loss
    if not np.isfinite([*sums.values()]).all():
        raise DataError("training diverged, its loss is no number: lower the learning rate")
    means = {name: round(total / count, 4) for name, total in sums.items()}
    whole = means.pop("")
    return means or whole


def _resumable(
    learner: Any, result: Mapping[str, Any], best: Mapping[str, Any] | None
) -> dict[str, Any]:
    on_gpu = torch.cuda.is_available() and torch.cuda.is_initialized()
    of_gpus = torch.cuda.get_rng_state_all() if on_gpu else []
    return {
        "model": learner.model.state_dict(),
        "best": best,
        "fit": result,
        "learner": learner.state(),
        "random": {"cpu": torch.get_rng_state(), "cuda": of_gpus},
    }


def _resume(learner: Any, result: Fit, kept: Mapping[str, Any]) -> dict[str, Any] | None:
    learner.model.load_state_dict(kept["model"])
    learner.restore(kept["learner"])
    vars(result).update(kept["fit"])
    torch.set_rng_state(kept["random"]["cpu"])
    if kept["random"]["cuda"]:
        torch.cuda.set_rng_state_all(kept["random"]["cuda"])
    return kept["best"]


B = TypeVar("B")


@dataclass
class BatchLearner(Generic[B]):
    """A :class:`Learner` made of functions."""

    model: nn.Module
    batches: Callable[[int], Iterable[B]]
    step: Callable[[B], Step]
    dev_score: Callable[[], float]


@contextmanager
def fast_products(device: str) -> Iterator[None]:
    """Inside the block a GPU may round the factors of single-precision products to TF32.

    For the training of large networks; heads, maps and scores are computed without it.
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(before if device == "cpu" else "high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def mixed_products(device: str, mixed: bool) -> torch.autocast:
    """Return a block in which a network's products are computed in bfloat16, if ``mixed``.

    Weights and optimisers keep single precision, and so does what is computed outside the block.
    """
    return torch.autocast(torch.device(device).type, torch.bfloat16, mixed)
