"""Multi-head self-attention, plain and with relative positions."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class SelfAttention(nn.Module):
    """Multi-head self-attention (Vaswani et al. 2017, §3.2.2).

    Args:
        dim: width of the model, divisible by ``heads``.
        heads: number of heads.

    Raises:
        ValueError: where ``heads`` does not divide ``dim``.
    """

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or dim % heads:
            raise ValueError(f"{heads} heads do not divide a width of {dim}")
        self.heads = heads
        self.head_dim = dim // heads
        self.project = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        for part in self.project.weight.detach().split(dim):
            nn.init.xavier_uniform_(part)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.project.bias)
        nn.init.zeros_(self.output.bias)

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
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)


class RelativeSelfAttention(SelfAttention):
    """Self-attention with relative positions in keys and values.

    ``score_ij = q_i (k_j + aK_r) / sqrt(d_k)``, ``out_i = sum_j alpha_ij (v_j + aV_r)`` with
    ``r = min(|i - j|, max_distance)`` (Shaw et al. 2018, Eq. 3 and 4; without sign, as Ahmad et
    al. 2019 use it). One table each of keys and values, shared by the heads. No tensor of length x
    length x head_dim is made: a query meets each of the ``max_distance + 1`` keys once, and
    attention weights are summed per distance before they meet the values.

    Args:
        dim: width of the model, divisible by ``heads``.
        heads: number of heads.
        max_distance: all distances from here on share one vector.
    """

    def __init__(self, dim: int, heads: int, max_distance: int) -> None:
        super().__init__(dim, heads)
        if max_distance < 0:
            raise ValueError(f"max_distance must be 0 or more, not {max_distance}")
        self.max_distance = max_distance
        self.distance_keys = nn.Parameter(torch.empty(max_distance + 1, self.head_dim))
        self.distance_values = nn.Parameter(torch.empty(max_distance + 1, self.head_dim))
        nn.init.xavier_uniform_(self.distance_keys)
        nn.init.xavier_uniform_(self.distance_values)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """Return the values mixed by attention, ``(batch, heads, length, head_dim)``."""
        batch, heads, length, _ = q.shape
        place = torch.arange(length, device=q.device)
        # shape: (length, length)
        distance = (place[:, None] - place).abs().clamp(max=self.max_distance)
        distances = distance.expand(batch, heads, length, length)
        # shape: (batch, heads, length, max_distance + 1)
        by_distance = q @ self.distance_keys.T
        # shape: (batch, heads, length, length)
        scores = (q @ k.transpose(-1, -2) + by_distance.gather(-1, distances)) / math.sqrt(
            self.head_dim
        )
        weights = scores.masked_fill(~mask[:, None, None, :], -math.inf).softmax(-1)
        # shape: (batch, heads, length, max_distance + 1); summed weights of each distance
        per_distance = torch.zeros_like(by_distance).scatter_add(-1, distances, weights)
        return weights @ v + per_distance @ self.distance_values
