"""BERT, small: embeddings, a Transformer encoder, and the head that predicts masked pieces.

Devlin et al. 2019, without segments and without next-sentence prediction. Weights carry over to and
from ``transformers.BertModel`` (a test compares the outputs); own code, because importing
transformers costs more seconds than a small trial takes.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class BertSizes(NamedTuple):
    """The sizes of a BERT.

    Attributes:
        vocabulary: number of word pieces.
        dim: width.
        layers: number of layers.
        heads: attention heads, a divisor of ``dim``.
        ff_dim: width inside the feed-forward layers.
        positions: rows of the position table: the longest sequence, ``[CLS]`` and ``[SEP]`` too.
        dropout: probability of zeroing an entry, everywhere in training.
        eps: added to the variance in layer normalisation.
    """

    vocabulary: int
    dim: int
    layers: int
    heads: int
    ff_dim: int
    positions: int
    dropout: float = 0.1
    eps: float = 1e-12


class BertLayer(nn.Module):
    """Self-attention and feed-forward, each with residual and layer normalisation after it."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        dim = sizes.dim
        self.heads = sizes.heads
        self.project = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        self.attention_norm = nn.LayerNorm(dim, eps=sizes.eps)
        self.widen = nn.Linear(dim, sizes.ff_dim)
        self.narrow = nn.Linear(sizes.ff_dim, dim)
        self.feed_forward_norm = nn.LayerNorm(dim, eps=sizes.eps)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, x: Tensor, allowed: Tensor | None) -> Tensor:
        """Return ``(batch, length, dim)``.

        Args:
            x: ``(batch, length, dim)``.
            allowed: ``(batch, 1, 1, length)`` bool, True at pieces; None: no padding anywhere.
        """
        batch, length, dim = x.shape
        # shape of each: (batch, heads, length, dim / heads)
        q, k, v = self.project(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        drop = self.dropout.p if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed, dropout_p=drop)
        # shape from here on: (batch, length, dim)
        mixed = self.output(mixed.transpose(1, 2).reshape(batch, length, dim))
        x = self.attention_norm(x + self.dropout(mixed))
        inner = self.narrow(functional.gelu(self.widen(x)))
        return self.feed_forward_norm(x + self.dropout(inner))


class Bert(nn.Module):
    """Word pieces to one vector each.

    Args:
        sizes: all sizes.

    Example:
        >>> bert = Bert(BertSizes(11, dim=8, layers=1, heads=2, ff_dim=16, positions=6))
        >>> bert(torch.ones(2, 5, dtype=torch.long)).shape
        torch.Size([2, 5, 8])
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        if sizes.dim % sizes.heads:
            raise ValueError(f"{sizes.heads} heads do not divide a width of {sizes.dim}")
        self.sizes = sizes
        self.pieces = nn.Embedding(sizes.vocabulary, sizes.dim)
        self.positions = nn.Embedding(sizes.positions, sizes.dim)
        self.norm = nn.LayerNorm(sizes.dim, eps=sizes.eps)
        self.dropout = nn.Dropout(sizes.dropout)
        self.layers = nn.ModuleList(BertLayer(sizes) for _ in range(sizes.layers))
        self.apply(_initialise)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode a batch; what stands at padding means nothing and changes nothing.

        Args:
            ids: numbers of pieces. ``(batch, length)``, length at most ``sizes.positions``
            mask: True at pieces, padding on the right; None: no padding. ``(batch, length)``

        Returns:
            ``(batch, length, dim)``
        """
        *_, last = self._states(ids, mask, len(self.layers))
        return last

    def hidden_states(
        self, ids: Tensor, mask: Tensor | None = None, layers: int | None = None
    ) -> list[Tensor]:
        """Return the states of all layers: the embeddings' first, then one per layer.

        Args:
            ids: as in :meth:`forward`. ``(batch, length)``
            mask: as in :meth:`forward`. ``(batch, length)``
            layers: stop after so many layers; None: all.

        Returns:
            ``layers + 1`` tensors of ``(batch, length, dim)``
        """
        return list(self._states(ids, mask, len(self.layers) if layers is None else layers))

    def _states(self, ids: Tensor, mask: Tensor | None, layers: int) -> Iterator[Tensor]:
        # shape: (batch, length, dim)
        x = self.pieces(ids) + self.positions.weight[: ids.shape[1]]
        x = self.dropout(self.norm(x))
        yield x
        allowed = None if mask is None else mask[:, None, None, :]
        for layer in self.layers[:layers]:
            x = layer(x, allowed)
            yield x


class MaskedLanguageModel(nn.Module):
    """A BERT with the head that names the hidden pieces; piece vectors serve as output weights.

    Args:
        sizes: of the BERT.
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.bert = Bert(sizes)
        self.transform = nn.Linear(sizes.dim, sizes.dim)
        self.norm = nn.LayerNorm(sizes.dim, eps=sizes.eps)
        self.bias = nn.Parameter(torch.zeros(sizes.vocabulary))
        _initialise(self.transform)

    def forward(self, ids: Tensor, hidden: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return a score per piece of the vocabulary, at the hidden positions alone.

        Args:
            ids: numbers of pieces, some replaced by ``[MASK]``. ``(batch, length)``
            hidden: True where a piece is to be named. ``(batch, length)``
            mask: True at pieces; None: no padding. ``(batch, length)``

        Returns:
            ``(hidden positions, vocabulary)``, in the order of ``ids[hidden]``
        """
        # shape: (hidden positions, dim)
        x = self.bert(ids, mask)[hidden]
        x = self.norm(functional.gelu(self.transform(x)))
        return x @ self.bert.pieces.weight.T + self.bias


def _initialise(module: nn.Module) -> None:
    """Draw weights from N(0, 0.02), as BERT does; biases are zero."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
