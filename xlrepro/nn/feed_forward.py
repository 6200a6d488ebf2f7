"""Position-wise and convolutional feed-forward layers."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class FeedForward(nn.Module):
    """Two maps with a ReLU between: ``dim -> ff_dim -> dim``.

    With a ``kernel_size`` h the first map is a convolution over h tokens, which keeps the length:
    ``(h - 1) // 2`` zeros stand left of the sentence and the rest right of it. The second has
    width 1, so that one layer sees one window of h tokens (word order paper, Eq. 2). With
    ``kernel_size=None`` both are linear.

    Args:
        dim: width of the model.
        ff_dim: width between the two maps.
        kernel_size: window of the first map, or None.
    """

    def __init__(self, dim: int, ff_dim: int, kernel_size: int | None) -> None:
        super().__init__()
        if kernel_size is not None and kernel_size < 1:
            raise ValueError(f"kernel_size must be 1 or more, or None, not {kernel_size}")
        self.kernel_size = kernel_size or 1
        # A convolution is a linear map of the window's tokens side by side: columns
        # [k * dim, (k + 1) * dim) of the weight belong to the window's k-th token. As one matrix
        # product it is faster than a convolution kernel, on CPU most of all.
        self.expand = nn.Linear(self.kernel_size * dim, ff_dim)
        self.contract = nn.Linear(ff_dim, dim)
        for layer in (self.expand, self.contract):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Map ``x``, ``(batch, length, dim)``; padding is zeroed before the convolution."""
        if self.kernel_size > 1:
            # shape: (batch, length, kernel_size * dim)
            x = self._windows(x.masked_fill(~mask.unsqueeze(-1), 0))
        return self.contract(functional.relu(self.expand(x)))

    def _windows(self, x: Tensor) -> Tensor:
        """Return each token's window side by side, ``(batch, length, kernel_size * dim)``."""
        left = (self.kernel_size - 1) // 2
        # shape: (batch, length + kernel_size - 1, dim)
        padded = functional.pad(x, (0, 0, left, self.kernel_size - 1 - left))
        return torch.cat([padded[:, k : k + x.shape[1]] for k in range(self.kernel_size)], -1)
