"""From the vectors of a text's tokens to one vector: convolution with maximum, attention."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


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

    def forward(self, x: Tensor, mask: Tensor, all_windows: bool = False) -> Tensor:
        """Pool ``x`` over its tokens.

        Args:
            x: ``(batch, length, input_dim)``.
            mask: ``(batch, length)`` bool, True at tokens.
            all_windows: also take the windows that lie wholly in the padding of the batch, as an
                unmasked convolution does; the result then depends on the longest sequence.

        Returns:
            ``(batch, output_dim)``.
        """
        batch, length, dim = x.shape
        widest = max(self.kernel_sizes)
        padded = functional.pad(x.masked_fill(~mask.unsqueeze(-1), 0), (0, 0, 0, widest - 1))
        # shape: (batch, length, widest * dim); a window's tokens side by side, copied once
        windows = padded.unfold(1, widest, 1).transpose(2, 3).reshape(batch, length, widest * dim)
        hidden = torch.zeros_like(mask) if all_windows else ~mask
        pooled = []
        for width, linear in zip(self.kernel_sizes, self.maps, strict=True):
            values = linear(windows[..., : width * dim])
            pooled.append(values.masked_fill(hidden.unsqueeze(-1), -math.inf).amax(1))
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
        scores = (x @ self.vector).masked_fill(~mask, -math.inf)
        weights = scores.softmax(1)
        return (weights.unsqueeze(1) @ x.masked_fill(~mask.unsqueeze(-1), 0)).squeeze(1)
