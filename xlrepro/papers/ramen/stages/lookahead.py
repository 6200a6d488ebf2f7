"""Lookahead (Zhang et al. 2019, Alg. 1): every k fast steps, slow weights go part of the way."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn


class Lookahead:
    """Slow weights around any optimiser of the fast ones.

        every k fast steps:  φ ← φ + α (θ - φ),  θ ← φ

    Call :meth:`step` after each step of the fast optimiser.

    Args:
        parameters: the fast weights θ; the slow ones φ begin as they are.
        k: fast steps to a slow one.
        alpha: share of the way that the slow weights go.

    Example:
        >>> theta = nn.Parameter(torch.tensor([0.0]))
        >>> slow = Lookahead([theta], k=2, alpha=0.5)
        >>> for value in (1.0, 4.0):
        ...     theta.data.fill_(value) is theta.data and slow.step()
        >>> theta.item()
        2.0
    """

    def __init__(self, parameters: Iterable[nn.Parameter], k: int = 5, alpha: float = 0.5) -> None:
        self._fast = list(parameters)
        self._slow = [p.detach().clone() for p in self._fast]
        self._k, self._alpha = k, alpha
        self._steps = 0

    @torch.no_grad()
    def step(self) -> None:
        """Count a fast step; move slow and fast weights if it was the k-th."""
        self._steps += 1
        if self._steps % self._k:
            return
        for fast, slow in zip(self._fast, self._slow, strict=True):
            slow.lerp_(fast, self._alpha)
            fast.copy_(slow)

    def state_dict(self) -> dict[str, Any]:
        """Return the slow weights and the number of steps."""
        return {"slow": self._slow, "steps": self._steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned."""
        for slow, saved in zip(self._slow, state["slow"], strict=True):
            slow.copy_(saved)
        self._steps = state["steps"]
