"""Experts that all work at once, and the gate that weighs them."""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.nn.dropout import Dropout

Mixture = Literal["log", "prob"]


class Experts(nn.Module):
    """N two-layer perceptrons ``input_dim -> hidden_dim (ReLU) -> output_dim`` on the same input.

    The first layers are one matrix product, the second layers one batched product. Dropout is
    drawn once for the input, which the experts share, and for each expert's hidden layer.

    Args:
        experts: number of experts N.
        input_dim: width of the input.
        hidden_dim: width of each hidden layer.
        output_dim: width of each output.
        dropout: probability of zeroing an entry of the input.
        hidden_dropout: of the hidden layers; ``None`` is that of the input.

    Example:
        >>> Experts(3, 4, 5, 2, dropout=0.0)(torch.zeros(7, 4)).shape
        torch.Size([7, 3, 2])
    """

    def __init__(
        self,
        experts: int,
        input_dim: int,
        hidden_dim: int,
        output_dim: int,
        dropout: float,
        hidden_dropout: float | None = None,
    ) -> None:
        super().__init__()
        self.experts = experts
        # shape: (experts, hidden_dim, input_dim) and (experts, output_dim, hidden_dim)
        self.inner = nn.Parameter(_uniform(experts, hidden_dim, input_dim, fan_in=input_dim))
        self.inner_bias = nn.Parameter(_uniform(experts, hidden_dim, fan_in=input_dim))
        self.outer = nn.Parameter(_uniform(experts, output_dim, hidden_dim, fan_in=hidden_dim))
        self.outer_bias = nn.Parameter(_uniform(experts, output_dim, fan_in=hidden_dim))
        self.dropout = Dropout(dropout)
        self.hidden_dropout = Dropout(dropout if hidden_dropout is None else hidden_dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``(items, experts, output_dim)`` for ``x``, ``(items, input_dim)``."""
        # shape: (experts * hidden_dim, input_dim) -> (items, experts * hidden_dim)
        weight = self.inner.flatten(0, 1)
        hidden = functional.linear(self.dropout(x), weight, self.inner_bias.flatten())
        hidden = self.hidden_dropout(functional.relu(hidden))
        # shape: (experts, items, hidden_dim)
        by_expert = hidden.view(len(x), self.experts, -1).transpose(0, 1)
        # shape: (experts, items, output_dim)
        outputs = torch.baddbmm(self.outer_bias.unsqueeze(1), by_expert, self.outer.transpose(1, 2))
        return outputs.transpose(0, 1)


class ExpertGate(nn.Module):
    """A linear map from an item to a logit per expert.

    Args:
        input_dim: width of the input.
        experts: number of experts.
        detach: whether the gate's gradient stops at its input, so that it trains the gate alone.
    """

    def __init__(self, input_dim: int, experts: int, detach: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(input_dim, experts)
        self.detach = detach

    def forward(self, x: Tensor) -> Tensor:
        """Return logits ``(items, experts)`` for ``x``, ``(items, input_dim)``."""
        return self.linear(x.detach() if self.detach else x)


def mix(outputs: Tensor, gate_logits: Tensor) -> Tensor:
    """Return the gate-weighted sum of the experts' outputs.

    Args:
        outputs: ``(items, experts, dim)``.
        gate_logits: ``(items, experts)``.

    Returns:
        ``(items, dim)``.
    """
    # Not a batched product: a matrix of one row per item costs more than it multiplies.
    return (gate_logits.softmax(-1).unsqueeze(-1) * outputs).sum(1)


def mix_log_probabilities(logits: Tensor, gate_logits: Tensor, mixture: Mixture) -> Tensor:
    """Return the log-probabilities of a mixture of classifiers.

    Args:
        logits: ``(items, experts, classes)``; each expert's softmax gives its probabilities.
        gate_logits: ``(items, experts)``.
        mixture: ``"prob"``: log of the weighted mean of probabilities; ``"log"``: the weighted
            mean of log-probabilities, a geometric mean that is not normalised.

    Returns:
        ``(items, classes)``.
    """
    # shape: (items, experts, classes)
    by_expert = logits.log_softmax(-1)
    if mixture == "log":
        return mix(by_expert, gate_logits)
    return torch.logsumexp(by_expert + gate_logits.log_softmax(-1).unsqueeze(-1), 1)


def _uniform(*shape: int, fan_in: int) -> Tensor:
    """Return what ``nn.Linear`` starts from: uniform in [-1, 1] / sqrt(fan_in)."""
    return torch.empty(*shape).uniform_(-1, 1) / math.sqrt(fan_in)
