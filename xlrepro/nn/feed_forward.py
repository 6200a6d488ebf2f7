"""Position-wise and convolutional feed-forward layers."""

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
        self.expand = nn.Conv1d(dim, ff_dim, self.kernel_size)
        self.contract = nn.Linear(ff_dim, dim)
        nn.init.xavier_uniform_(self.expand.weight)
        nn.init.xavier_uniform_(self.contract.weight)
        if self.expand.bias is not None:
            nn.init.zeros_(self.expand.bias)
        nn.init.zeros_(self.contract.bias)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Map ``x``, ``(batch, length, dim)``; padding is zeroed before the convolution."""
        if self.kernel_size == 1:
            hidden = functional.linear(x, self.expand.weight.squeeze(-1), self.expand.bias)
            return self.contract(functional.relu(hidden))
        left = (self.kernel_size - 1) // 2
        zeroed = x.masked_fill(~mask.unsqueeze(-1), 0).transpose(1, 2)
        padded = functional.pad(zeroed, (left, self.kernel_size - 1 - left))
        return self.contract(functional.relu(self.expand(padded)).transpose(1, 2))
