"""Transformer encoder: absolute, relative or no positions; linear or convolutional feed-forward.

Read beside Vaswani et al. 2017, §3.1 (layers with residuals and layer normalisation after each
part), Shaw et al. 2018 (relative positions) and the word order paper, Eq. 1 and 2 (no positions,
convolution as feed-forward).
"""

from collections.abc import Callable

from torch import Tensor, nn

from xlrepro.nn.attention import RelativeSelfAttention, SelfAttention
from xlrepro.nn.feed_forward import FeedForward
from xlrepro.nn.positions import RelativePositions

Positions = Callable[[int], nn.Module]


class TransformerEncoder(nn.Module):
    """A stack of Transformer layers over padded batches; padding never changes outputs.

    Args:
        input_dim: width of the input vectors; a linear map leads to ``dim`` where they differ.
        dim: width of the model.
        heads: attention heads, a divisor of ``dim``.
        layers: number of layers.
        ff_dim: width inside the feed-forward layers.
        kernel_size: window of the convolution in the feed-forward layers; None: linear ones.
        positions: makes the module of ``positions.py`` that the input goes through, given ``dim``;
            None: no positions. It is called after the linear map is drawn.
        dropout: probability of zeroing an entry of the input and of each part's output.

    Example:
        >>> import torch
        >>> ort = TransformerEncoder(4, 8, heads=2, layers=1, ff_dim=16, positions=None)
        >>> ort(torch.zeros(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)).shape
        torch.Size([2, 5, 8])
    """

    def __init__(
        self,
        input_dim: int,
        dim: int,
        heads: int,
        layers: int,
        ff_dim: int,
        kernel_size: int | None = 3,
        positions: Positions | None = None,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.output_dim = dim
        self.project: nn.Module = nn.Identity()
        if input_dim != dim:
            self.project = nn.Linear(input_dim, dim)
        self.positions = positions(dim) if positions else nn.Identity()
        known = self.positions
        distance = known.max_distance if isinstance(known, RelativePositions) else None
        self.layers = nn.ModuleList(
            TransformerLayer(dim, heads, ff_dim, kernel_size, distance, dropout)
            for _ in range(layers)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Encode a batch.

        Args:
            x: ``(batch, length, input_dim)``.
            mask: ``(batch, length)`` bool, True at tokens; padding only on the right.

        Returns:
            ``(batch, length, dim)``, zero at padding.
        """
        # shape: (batch, length, input_dim) -> (batch, length, dim)
        x = self.project(x.masked_fill(~mask.unsqueeze(-1), 0))
        # shape from here on: (batch, length, dim)
        x = self.dropout(self.positions(x))
        for layer in self.layers:
            x = layer(x, mask)
        return x.masked_fill(~mask.unsqueeze(-1), 0)


class TransformerLayer(nn.Module):
    """Self-attention and feed-forward, each with residual and layer normalisation after it.

    Eq. 1 and 2 of the word order paper; a convolution keeps the length.

    Args:
        dim: width of the model.
        heads: attention heads.
        ff_dim: width inside the feed-forward layer.
        kernel_size: window of the convolution; None: linear.
        max_distance: where relative distances are clipped; None: no relative positions.
        dropout: probability of zeroing an entry of each part's output.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        ff_dim: int,
        kernel_size: int | None,
        max_distance: int | None,
        dropout: float,
    ) -> None:
        super().__init__()
        self.attention: SelfAttention = (
            SelfAttention(dim, heads)
            if max_distance is None
            else RelativeSelfAttention(dim, heads, max_distance)
        )
        self.attention_norm = nn.LayerNorm(dim)
        self.feed_forward = FeedForward(dim, ff_dim, kernel_size)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return ``(batch, length, dim)`` for ``x`` of that shape; ``mask`` is True at tokens."""
        # shape: (batch, length, dim)
        x = self.attention_norm(x + self.dropout(self.attention(x, mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x, mask)))
