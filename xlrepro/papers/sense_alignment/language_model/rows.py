"""A large table of which a step touches few rows: only those get a gradient and an update.

With V x S sense vectors a dense gradient would cost more than the rest of the step. Rows without
gradient stay as they are, which for Adagrad is exact; for Adam it leaves out the momentum of
untouched rows (as ``torch.optim.SparseAdam`` does). With all rows touched both are torch's own.
"""

import math

import torch
from torch import Tensor, nn

BETAS, EPSILON = (0.9, 0.999), {"adagrad": 1e-10, "adamw": 1e-8}


class RowTable(nn.Module):
    """Rows of numbers, trained where they are used.

    Args:
        values: the first values. ``(rows, width)``
        optimiser: ``"adagrad"`` or ``"adamw"`` (whose decay of weights hits used rows alone).
        accumulator: Adagrad's first sum of squares.
        decay: AdamW's.

    Example:
        >>> table = RowTable(torch.zeros(5, 2), "adagrad")
        >>> used = table.take(torch.tensor([1, 3]))
        >>> used.sum().backward(); table.step(0.1)
        >>> table.values.abs().sum(1).nonzero().flatten().tolist()
        [1, 3]
    """

    values: Tensor
    squares: Tensor
    momentum: Tensor
    updates: Tensor

    def __init__(
        self, values: Tensor, optimiser: str, accumulator: float = 1.0, decay: float = 0.0
    ) -> None:
        super().__init__()
        self.adam = optimiser == "adamw"
        self.epsilon = EPSILON[optimiser]
        self.decay = decay
        self.accumulator = 0.0 if self.adam else accumulator
        self.register_buffer("values", values)
        self.register_buffer("squares", torch.full_like(values, self.accumulator))
        moments = torch.zeros_like(values) if self.adam else values.new_zeros(0)
        self.register_buffer("momentum", moments)
        self.register_buffer("updates", torch.zeros((), dtype=torch.long))
        self._used: Tensor | None = None
        self._rows: Tensor | None = None

    def take(self, rows: Tensor | None = None) -> Tensor:
        """Return the values of distinct rows, None: of all; they collect this step's gradient."""
        self._rows = rows
        self._used = (self.values if rows is None else self.values[rows]).detach().clone()
        return self._used.requires_grad_(torch.is_grad_enabled())

    def forget(self) -> None:
        """Forget what the optimiser remembers, for a schedule that starts anew."""
        self.squares.fill_(self.accumulator)
        self.momentum.zero_()
        self.updates.zero_()

    @property
    def gradient(self) -> Tensor | None:
        """Gradient of the rows taken last; None where nothing reached them."""
        return None if self._used is None else self._used.grad

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Update the rows taken last, and let them go."""
        gradient, rows = self.gradient, self._rows
        self._used = None
        if gradient is None:
            return
        every = slice(None) if rows is None else rows
        # shape: (rows taken, width), these and all below
        values, squares = self.values[every], self.squares[every]
        self.updates += 1
        if not self.adam:
            squares = squares + gradient * gradient
            self.squares[every] = squares
            self.values[every] = values - learning_rate * gradient / (squares.sqrt() + self.epsilon)
            return
        done = int(self.updates)
        squares = BETAS[1] * squares + (1 - BETAS[1]) * gradient * gradient
        momentum = BETAS[0] * self.momentum[every] + (1 - BETAS[0]) * gradient
        self.squares[every], self.momentum[every] = squares, momentum
        spread = squares.sqrt() / math.sqrt(1 - BETAS[1] ** done) + self.epsilon
        values = values * (1 - learning_rate * self.decay)
        self.values[every] = values - learning_rate / (1 - BETAS[0] ** done) * momentum / spread
