"""Matrix products of a recurrent loop whose weight gradients are summed in one product at the end.

Autograd adds a gradient as large as the weight at every step of a loop. Here a step only keeps its
input and its output's gradient; when the last step's gradient is there, one product over all steps
gives the weight's. Values and gradients are those of `torch.matmul` but for the order of sums.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Pairs = list[tuple[Tensor, Tensor]]


class LoopProduct:
    """``x @ weight`` for the x of every step of a loop.

    Args:
        weight: ``(in, out)``, or ``(blocks, in, out)`` for x of ``(blocks, batch, in)``.

    Example:
        >>> weight = torch.ones(3, 2, requires_grad=True)
        >>> product = LoopProduct(weight)
        >>> (product(torch.ones(1, 3)) + product(torch.ones(1, 3))).sum().backward()
        >>> weight.grad[0]
        tensor([2., 2.])
    """

    def __init__(self, weight: Tensor) -> None:
        self._pairs: Pairs = []
        self._weight = weight
        if torch.is_grad_enabled() and weight.requires_grad:
            self._weight = _Collected.apply(weight, self._pairs)

    def __call__(self, x: Tensor, added: Tensor | None = None) -> Tensor:
        """Return ``added + x @ weight`` of one step, ``(..., batch, out)``."""
        return _Product.apply(x, self._weight, added, self._pairs)  # type: ignore[no-any-return]


class _Collected(torch.autograd.Function):
    """The weight; its gradient is made of all pairs once every step has been gone back through."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, pairs: Pairs) -> Tensor:
        ctx.pairs = pairs
        ctx.set_materialize_grads(False)
        return weight.view_as(weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor | None) -> tuple[Tensor | None, None]:
        if not ctx.pairs:
            return None, None
        inputs = torch.cat([x for x, _ in ctx.pairs], -2)
        gradients = torch.cat([g for _, g in ctx.pairs], -2)
        ctx.pairs.clear()
        return inputs.transpose(-1, -2) @ gradients, None


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, added: Tensor | None, pairs: Pairs) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.pairs = pairs
        ctx.set_materialize_grads(False)
        if added is None:
            return x @ weight
        return torch.baddbmm(added, x, weight) if x.dim() == 3 else torch.addmm(added, x, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor | None) -> tuple[Tensor | None, ...]:
        if gradient is None:
            return None, None, None, None
        x, weight = ctx.saved_tensors
        ctx.pairs.append((x, gradient))
        wanted, _, wanted_added, _ = ctx.needs_input_grad
        given = gradient @ weight.transpose(-1, -2) if wanted else None
        return given, None, gradient if wanted_added else None, None
