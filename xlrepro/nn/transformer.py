"""Transformer encoder: absolute, relative or no positions; linear or convolutional feed-forward.

Read beside Vaswani et al. 2017, §3.1 (layers with residuals and layer normalisation after each
part), Shaw et al. 2018 (relative positions) and the word order paper, Eq. 1 and 2 (no positions,
convolution as feed-forward).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.errors import DataError


def sinusoidal_table(length: int, dim: int) -> Tensor:
    """Return the sinusoidal position table, ``(length, dim)``.

    ``PE[p, 2i] = sin(p / 10000^(2i/dim))``, ``PE[p, 2i+1]`` is the cosine of the same (Vaswani et
    al. 2017, §3.5).

    Example:
        >>> sinusoidal_table(1, 4)
        tensor([[0., 1., 0., 1.]])
    """
    # shape: (length, 1) and (dim / 2,)
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rate = torch.exp(torch.arange(0, dim, 2, dtype=torch.float64) * (-math.log(10_000.0) / dim))
    table = torch.zeros(length, dim, dtype=torch.float64)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate[: dim // 2])
    return table.to(torch.get_default_dtype())


class SinusoidalPositions(nn.Module):
    """Adds the sinusoidal table to its input; sentences may have any length."""

    table: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_table(512, dim), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x``, ``(batch, length, dim)``, with positions added."""
        length, dim = x.shape[1:]
        if length > self.table.shape[0]:
            self.table = sinusoidal_table(2 * length, dim).to(self.table)
        return x + self.table[:length].to(x.dtype)


class LearnedPositions(nn.Module):
    """Adds a position table to its input: one of 512 rows that is learned, or a given one.

    Args:
        dim: width of the model.
        table: ``(positions, dim)`` of a pre-trained model; it stays as it is in training.
    """

    def __init__(self, dim: int, table: Tensor | None = None) -> None:
        super().__init__()
        values = torch.empty(512, dim).normal_(std=0.02) if table is None else table.detach()
        self.table = nn.Parameter(values.clone(), requires_grad=table is None)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x``, ``(batch, length, dim)``, with positions added.

        Raises:
            DataError: where a sentence is longer than the table.
        """
        if x.shape[1] > self.table.shape[0]:
            raise DataError(
                f"a sentence of {x.shape[1]} tokens is longer than the {self.table.shape[0]} "
                "learned positions: cut it"
            )
        return x + self.table[: x.shape[1]]


class SelfAttention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017, §3.2.2), with relative positions or without.

    With a ``max_distance``, keys and values know how far away a token stands:
    ``score_ij = q_i (k_j + aK_r) / sqrt(d_k)``, ``out_i = sum_j alpha_ij (v_j + aV_r)`` with
    ``r = min(|i - j|, max_distance)`` (Shaw et al. 2018, Eq. 3 and 4; without sign, as Ahmad et
    al. 2019 use it). One table each of keys and values, shared by the heads. No tensor of length x
    length x head_dim is made: a query meets each of the ``max_distance + 1`` keys once, and
    attention weights are summed per distance before they meet the values.

    Args:
        dim: width of the model, divisible by ``heads``.
        heads: number of heads.
        max_distance: all distances from here on share one vector; None: no relative positions.
    """

    def __init__(self, dim: int, heads: int, max_distance: int | None = None) -> None:
        super().__init__()
        self.heads, self.head_dim, self.max_distance = heads, dim // heads, max_distance
        self.project = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        for part in self.project.weight.detach().split(dim):
            nn.init.xavier_uniform_(part)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.project.bias)
        nn.init.zeros_(self.output.bias)
        if max_distance is not None:
            self.distance_keys = nn.Parameter(torch.empty(max_distance + 1, self.head_dim))
            self.distance_values = nn.Parameter(torch.empty(max_distance + 1, self.head_dim))
            nn.init.xavier_uniform_(self.distance_keys)
            nn.init.xavier_uniform_(self.distance_values)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Let every token attend to all tokens of its sentence.

        Args:
            x: ``(batch, length, dim)``.
            mask: ``(batch, length)`` bool, True at tokens.

        Returns:
            ``(batch, length, dim)``; what stands at padding means nothing.
        """
        batch, length, dim = x.shape
        # shape of each: (batch, heads, length, head_dim)
        q, k, v = self.project(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        # shape: (batch, heads, length, head_dim)
        mixed = self.attend(q, k, v, mask)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, dim))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """Return the values mixed by attention, ``(batch, heads, length, head_dim)``."""
        # shape: (batch, 1, 1, length)
        allowed = mask[:, None, None, :]
        if self.max_distance is None:
            return functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        batch, heads, length, _ = q.shape
        place = torch.arange(length, device=q.device)
        # shape: (length, length)
        distance = (place[:, None] - place).abs().clamp(max=self.max_distance)
        distances = distance.expand(batch, heads, length, length)
        # shape: (batch, heads, length, max_distance + 1)
        by_distance = q @ self.distance_keys.T
        # shape: (batch, heads, length, length)
        scores = q @ k.transpose(-1, -2) + by_distance.gather(-1, distances)
        weights = (scores / math.sqrt(self.head_dim)).masked_fill(~allowed, -math.inf).softmax(-1)
        # shape: (batch, heads, length, max_distance + 1); summed weights of each distance
        per_distance = torch.zeros_like(by_distance).scatter_add(-1, distances, weights)
        return weights @ v + per_distance @ self.distance_values


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
            left, x = (self.kernel_size - 1) // 2, x.masked_fill(~mask.unsqueeze(-1), 0)
            # shape: (batch, length + kernel_size - 1, dim)
            padded = functional.pad(x, (0, 0, left, self.kernel_size - 1 - left))
            # shape: (batch, length, kernel_size * dim); each token's window side by side
            x = torch.cat([padded[:, k : k + x.shape[1]] for k in range(self.kernel_size)], -1)
        return self.contract(functional.relu(self.expand(x)))


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
        positions: makes the module that adds positions to the input, given ``dim``; None: none are
            added. It is called after the linear map is drawn.
        max_distance: relative positions in attention, clipped there; None: there are none.
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
        max_distance: int | None = None,
    ) -> None:
        super().__init__()
        self.output_dim = dim
        self.project: nn.Module = nn.Linear(input_dim, dim) if input_dim != dim else nn.Identity()
        self.positions = positions(dim) if positions else nn.Identity()
        sizes = dim, heads, ff_dim, kernel_size, max_distance, dropout
        self.layers = nn.ModuleList(TransformerLayer(*sizes) for _ in range(layers))
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
        self.attention = SelfAttention(dim, heads, max_distance)
        self.attention_norm = nn.LayerNorm(dim)
        self.feed_forward = FeedForward(dim, ff_dim, kernel_size)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return ``(batch, length, dim)`` for ``x`` of that shape; ``mask`` is True at tokens."""
        # shape: (batch, length, dim)
        x = self.attention_norm(x + self.dropout(self.attention(x, mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x, mask)))
