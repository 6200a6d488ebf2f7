"""From the vectors of a text's tokens to one vector: convolution with maximum, attention."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from xlrepro.nn.recurrent import Packing


class ConvolutionPooling(nn.Module):
    """Convolutions of several widths over the tokens, ReLU, maximum over time (Kim 2014).

    A window stands at every token; what it sees behind the last token is zero. So each sequence
    has as many windows as tokens, however far its batch is padded.

    Args:
        input_dim: width of a token's vector.
        filters: filters of each width.
        kernel_sizes: widths of the windows, in tokens.

    Attributes:
        output_dim: ``filters * len(kernel_sizes)``.
    """

    def __init__(self, input_dim: int, filters: int, kernel_sizes: Sequence[int]) -> None:
        super().__init__()
        self.kernel_sizes = tuple(kernel_sizes)
        self.output_dim = filters * len(self.kernel_sizes)
        # Columns [j * input_dim, (j + 1) * input_dim) of a weight belong to a window's token j.
        self.maps = nn.ModuleList(nn.Linear(w * input_dim, filters) for w in self.kernel_sizes)

    def forward(self, x: Tensor, packing: Packing) -> Tensor:
        """Pool ``x`` over its tokens.

        Args:
            x: flat tokens, ``(tokens, input_dim)``.
            packing: of the texts.

        Returns:
            ``(batch, output_dim)``.
        """
        widest = max(self.kernel_sizes)
        nothing = x.new_zeros(1, x.shape[1])  # what stands behind a text's end
        places = packing.windows(widest).flatten()
        # shape: (tokens, widest * dim); a window's tokens side by side
        windows = torch.cat((x, nothing)).index_select(0, places).view(len(x), -1)
        pooled = []
        for width, linear in zip(self.kernel_sizes, self.maps, strict=True):
            assert isinstance(linear, nn.Linear)
            # shape: (tokens, filters), and (batch, filters)
            values = linear(windows[:, : width * x.shape[1]])
            highest: Tensor = _HighestOfText.apply(values, packing)  # type: ignore[no-untyped-call]
            pooled.append(highest)
        # ReLU and maximum can change places: ReLU does not fall.
        return functional.relu(torch.cat(pooled, -1))


class _HighestOfText(torch.autograd.Function):
    """The maximum over each text's tokens; equal ones share its gradient, as in ``amax``.

    It equals ``torch.stack([text.amax(0) for text in values.split(packing.sizes)])``.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, packing: Packing) -> Tensor:
        """Return ``(batch, dim)`` for flat ``values``, ``(tokens, dim)``."""
        # shape: (tokens, dim)
        place = packing.texts.unsqueeze(1).expand_as(values)
        # shape: (batch, dim)
        highest = values.new_empty(len(packing), values.shape[1])
        highest.scatter_reduce_(0, place, values, "amax", include_self=False)
        ctx.save_for_backward(values, highest)
        ctx.packing = packing
        return highest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """Return the gradient of the values."""
        values, highest = ctx.saved_tensors
        texts = ctx.packing.texts
        # shape: (tokens, dim); True at a text's highest value
        is_highest = values == highest.index_select(0, texts)
        # a GPU would be waited for: there everything is divided, mostly by 1
        if not grad.is_cpu or int(is_highest.count_nonzero()) > highest.numel():
            # shape: (batch, dim); how many tokens share it
            times = torch.zeros_like(highest).index_add_(0, texts, is_highest.to(grad.dtype))
            grad = grad / times
        return grad.index_select(0, texts).mul_(is_highest), None


class AttentionPooling(nn.Module):
    """A mean of the tokens' vectors, weighted by their dot product with one learnt vector.

    ``a = softmax_t(v c_t)`` over the tokens, ``s = sum_t a_t c_t`` (Luong et al. 2015, dot score).
    A softmax over all positions that is masked and renormalised afterwards gives the same weights.

    Args:
        dim: width of a token's vector.

    Example:
        >>> pooling = AttentionPooling(4)
        >>> pooling(torch.ones(2, 3, 4), torch.ones(2, 3, dtype=torch.bool)).shape
        torch.Size([2, 4])
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.vector = nn.Parameter(torch.empty(dim).uniform_(-1, 1) / math.sqrt(dim))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return ``(batch, dim)`` for ``x``, ``(batch, length, dim)``, and ``mask`` of tokens."""
        # shape: (batch, length)
        scores = (x @ self.vector).masked_fill(~mask, -math.inf)
        weights = scores.softmax(1)
        # shape: (batch, 1, length) x (batch, length, dim)
        return (weights.unsqueeze(1) @ x.masked_fill(~mask.unsqueeze(-1), 0)).squeeze(1)
