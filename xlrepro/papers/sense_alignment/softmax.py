"""The loss of Eq. 4, 6 and 7, over all senses or a sample of them, and the table that it trains.

With V x S sense vectors a dense gradient would cost more than the rest of the step. Rows without
gradient stay as they are, which for Adagrad is exact; for Adam it leaves out the momentum of
untouched rows (as ``torch.optim.SparseAdam`` does). With all rows touched both are torch's own.

Sense vectors have no bias, as in Eq. 3; the authors' code has one per sense (``softmax.bias``).
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn

ACCUMULATOR = 1.0  # Adagrad's first sum of squares [code]
DECAY, BETAS = 0.01, (0.9, 0.999)  # of AdamW
EPSILON = {"adagrad": 1e-10, "adamw": 1e-8}
Optimiser = Literal["adagrad", "adamw"]


class RowTable(nn.Module):
    """Rows of numbers, trained where they are used.

    Args:
        values: the first values. ``(rows, width)``
        optimiser: ``"adagrad"`` or ``"adamw"`` (whose decay of weights hits used rows alone).

    Attributes:
        used: values of the rows taken last, with their gradient; None before and after a step.

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
    _rows: Tensor

    def __init__(self, values: Tensor, optimiser: Optimiser) -> None:
        super().__init__()
        self.adam = optimiser == "adamw"
        self.epsilon = EPSILON[optimiser]
        self.register_buffer("values", values)
        self.register_buffer("squares", torch.empty_like(values))
        self.register_buffer("momentum", values.new_zeros(values.shape if self.adam else 0))
        self.register_buffer("updates", torch.zeros((), dtype=torch.long))
        self.used: Tensor | None = None
        self.forget()

    def take(self, rows: Tensor) -> Tensor:
        """Return the values of distinct rows; they collect this step's gradient."""
        self._rows, self.used = rows, self.values[rows].detach()
        return self.used.requires_grad_(torch.is_grad_enabled())

    def forget(self) -> None:
        """Forget what the optimiser remembers, for a schedule that starts anew."""
        self.squares.fill_(0.0 if self.adam else ACCUMULATOR)
        self.momentum.zero_()
        self.updates.zero_()

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Update the rows taken last, and let them go."""
        used, self.used = self.used, None
        if used is None or used.grad is None:
            return
        rows, gradient = self._rows, used.grad
        # shape: (rows taken, width), these and all below
        values, squares = self.values[rows], self.squares[rows]
        self.updates += 1
        if not self.adam:
            squares = squares + gradient * gradient
            self.squares[rows] = squares
            self.values[rows] = values - learning_rate * gradient / (squares.sqrt() + self.epsilon)
            return
        done = int(self.updates)
        squares = BETAS[1] * squares + (1 - BETAS[1]) * gradient * gradient
        momentum = BETAS[0] * self.momentum[rows] + (1 - BETAS[0]) * gradient
        self.squares[rows], self.momentum[rows] = squares, momentum
        spread = squares.sqrt() / math.sqrt(1 - BETAS[1] ** done) + self.epsilon
        values = values * (1 - learning_rate * DECAY)
        self.values[rows] = values - learning_rate / (1 - BETAS[0] ** done) * momentum / spread


def own_columns(sense: Tensor, translation: Tensor | None, others: Tensor) -> Tensor:
    """Return what the sum of each token holds besides negatives, without repetitions.

    Numbers of senses are ``word * slots + sense``.

    Args:
        sense: of each token. ``(tokens,)``
        translation: sense of its translation, -1 where it has none; None in one language.
            ``(tokens,)``
        others: the senses of the token's word, -1 where they are off. The sum has them all, as
            Eq. 3 says; the code's has those that are drawn. ``(tokens, slots)``

    Returns:
        ``(tokens, n)``: first the gold sense, then the gold translation where there are two
        languages, then others; -1 for nothing and for what stands further left already.
    """
    gold = [part.unsqueeze(1) for part in (sense, translation) if part is not None]
    senses = torch.cat((*gold, others), 1)
    for place in range(1, senses.shape[1]):
        again = (senses[:, :place] == senses[:, place : place + 1]).any(1)
        senses[:, place].masked_fill_(again, -1)
    return senses


def joint_loss(
    states: Tensor,
    own: Tensor,
    own_vectors: Tensor,
    negatives: Tensor,
    negative_vectors: Tensor,
    two: bool,
) -> Tensor:
    """Return the mean joint loss (Eq. 7), summed over each token's own senses and the negatives.

    Args:
        states: ``(tokens, dim)``
        own: :func:`own_columns` of the tokens. ``(tokens, n)``
        own_vectors: of these senses. ``(tokens, n, dim)``
        negatives: distinct numbers; one that is a token's own does not count twice.
            ``(negatives,)``
        negative_vectors: of them. ``(negatives, dim)``
        two: whether the second column is the gold translation.
    """
    # shape: (tokens, n) and (tokens, negatives)
    mine = torch.einsum("nd,nad->na", states, own_vectors).masked_fill(own < 0, -torch.inf)
    others = (states @ negative_vectors.T).masked_fill(_repeated(own, negatives), -torch.inf)
    # shape: (tokens,), both
    total = torch.logaddexp(mine.logsumexp(-1), others.logsumexp(-1))
    right = mine[:, 0]
    if two:
        there = own[:, 1] >= 0
        right = torch.where(there, (right + mine[:, 1].masked_fill(~there, 0)) / 2, right)
    return (total - right).mean()


def _repeated(own: Tensor, negatives: Tensor) -> Tensor:
    """Return where a negative is one of a token's own senses, ``(tokens, negatives)``."""
    ordered, order = negatives.sort()
    # shape: (tokens, n); where a sense would stand among the ordered negatives
    at = torch.searchsorted(ordered, own).clamp(max=len(negatives) - 1)
    times = torch.zeros(len(own), len(negatives), dtype=torch.int8, device=own.device)
    return times.scatter_add_(1, order[at], (ordered[at] == own).to(times.dtype)) > 0
