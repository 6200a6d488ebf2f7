"""The learner that most models are: Adam on shuffled batches of one set of examples."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from torch import nn

from xlrepro.training.loop import Step
from xlrepro.training.optimiser import ScheduledAdam

B = TypeVar("B")


class BatchLearner(Generic[B]):
    """A model, and what batches and steps depend on; see
    :class:`xlrepro.training.loop.Learner`.

    Args:
        model: on its device.
        adam: of its parameters.
        batches: those of a round, counted from 0; they draw from ``generator``.
        step: changes the model by one batch.
        dev_score: scores the model as it is on the source's dev set; higher is better.
        generator: of all draws but dropout's, which come from torch's.
    """

    def __init__(
        self,
        model: nn.Module,
        adam: ScheduledAdam,
        batches: Callable[[int], Iterable[B]],
        step: Callable[[B], Step],
        dev_score: Callable[[], float],
        generator: np.random.Generator,
    ) -> None:
        self.model, self.adam, self.generator = model, adam, generator
        self.batches, self.step, self.dev_score = batches, step, dev_score

    def state(self) -> dict[str, Any]:
        """Return optimiser and generator."""
        return {"adam": self.adam.state(), "draws": self.generator.bit_generator.state}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        self.adam.restore(state["adam"])
        self.generator.bit_generator.state = state["draws"]
