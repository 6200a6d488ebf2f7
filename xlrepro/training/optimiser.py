"""Adam with a schedule and clipped gradients, AdamW, and the schedules."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from xlrepro.training.settings import Schedule

Factor = Callable[[int], float]
CLIP_NORM = 5.0  # largest norm of all gradients together


def schedule(name: Schedule, warmup: int, total: int) -> Factor:
    """Return the learning rate's factor at each step, counted from 0: up to 1 in ``warmup`` steps.

    From there on ``"linear"`` goes down to 0 at ``total``, the last step that a training may reach;
    ``"constant"`` stays at 1, and ``"root"`` is 1 / √(step / warmup) (Vaswani et al. 2017, §5.3):
    they need no last step, so patience may end a training anywhere.

    Example:
        >>> [schedule("linear", 2, 4)(step) for step in range(5)]
        [0.5, 1.0, 1.0, 0.5, 0.0]
    """
    after: dict[Schedule, Factor] = {
        "linear": lambda step: max(0.0, (total - step) / max(1, total - warmup)),
        "constant": lambda step: 1.0,
        "root": lambda step: (max(1, warmup) / (step + 1)) ** 0.5,
    }
    return lambda step: (step + 1) / warmup if step < warmup else after[name](step)


class ScheduledAdam:
    """Adam on the parameters that ask for a gradient, with a schedule and a largest gradient norm.

    Args:
        model: whose parameters.
        learning_rate: Adam's, where the schedule's factor is 1.
        factor: factor of the learning rate at each step, counted from 0.
    """

    def __init__(
        self, model: nn.Module, learning_rate: float, factor: Factor = lambda step: 1.0
    ) -> None:
        self.model = model
        trained = [p for p in model.parameters() if p.requires_grad]
        self.adam = torch.optim.Adam(trained, lr=learning_rate, fused=True)
        self.rates = torch.optim.lr_scheduler.LambdaLR(self.adam, factor)

    def step(self, loss: Tensor) -> float:
        """Take one step down the gradient of ``loss``, a scalar, and return its value."""
        self.adam.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), CLIP_NORM)
        self.adam.step()
        self.rates.step()
        return float(loss.detach())


def adamw(parameters: Iterable[nn.Parameter], learning_rate: float) -> torch.optim.AdamW:
    """Return AdamW; biases and normalisation are not decayed (Devlin et al. 2019)."""
    decays: dict[float, list[nn.Parameter]] = {0.01: [], 0.0: []}
    for parameter in parameters:
        decays[0.01 if parameter.dim() > 1 else 0.0].append(parameter)
    groups = [{"params": those, "weight_decay": decay} for decay, those in decays.items()]
    return torch.optim.AdamW(groups, lr=learning_rate, fused=True)
