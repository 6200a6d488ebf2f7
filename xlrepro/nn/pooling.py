"""From the vectors of a text's tokens to one vector: convolution with maximum, attention."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
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
            place = packing.texts.unsqueeze(1).expand_as(values)
            highest = values.new_empty(len(packing), values.shape[1])
            # equal ones share the gradient
            pooled.append(highest.scatter_reduce(0, place, values, "amax", include_self=False))
        # ReLU and maximum can change places: ReLU does not fall.
        return functional.relu(torch.cat(pooled, -1))


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
