"""Character-level word vectors: convolutions over a word's characters, maximum, one linear layer.

Meant to be called once per step with the step's distinct words. A convolution over a window of
characters is a sum of one table row per place in the window, so characters are never embedded and
multiplied one by one: the embeddings are multiplied by the filters once per step. The gradient
visits the best windows alone.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from xlrepro.nn.dropout import Dropout

CHUNK = 128  # words of similar length convolved together


class CharCNN(nn.Module):
    """Words as vectors of what their characters look like (Kim 2014, over characters).

    Character vectors are random unit vectors and stay so.

    Args:
        characters: number of distinct characters; ids run from 1, 0 is padding.
        embedding_dim: width of a character's vector.
        filters: filters of each width.
        kernel_sizes: widths of the windows, in characters.
        output_dim: width of a word's vector.
        dropout: probability of zeroing an entry of what the filters found, before the last layer.

    Example:
        >>> cnn = CharCNN(characters=5, embedding_dim=4, filters=2, output_dim=3)
        >>> cnn(torch.tensor([[1, 2, 3, 4], [5, 0, 0, 0]])).shape
        torch.Size([2, 3])
    """

    def __init__(
        self,
        characters: int,
        embedding_dim: int = 128,
        filters: int = 200,
        kernel_sizes: Sequence[int] = (3, 4, 5),
        output_dim: int = 128,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.kernel_sizes = tuple(kernel_sizes)
        self.filters = filters
        self.output_dim = output_dim
        # Row 0 is padding and stays zero.
        vectors = functional.normalize(torch.randn(characters, embedding_dim), dim=-1)
        self.embedding = nn.Parameter(vectors, requires_grad=False)
        # Columns [j * embedding_dim, (j + 1) * embedding_dim) belong to a window's character j.
        self.maps = nn.ModuleList(nn.Linear(w * embedding_dim, filters) for w in self.kernel_sizes)
        self.output = nn.Linear(filters * len(self.kernel_sizes), output_dim)
        self.dropout = Dropout(dropout)

    def forward(self, characters: Tensor, tokens: Tensor | None = None) -> Tensor:
        """Return a vector per word, or per token.

        Args:
            characters: ``(words, width)`` character ids, 0 right of each word's end; every word
                has at least one character.
            tokens: number of each token's word, if vectors are wanted of tokens: dropout is drawn
                for each of them. ``(tokens,)``

        Returns:
            ``(words, output_dim)``, or ``(tokens, output_dim)``.
        """
        pooled = self._pooled(characters)
        if tokens is not None:
            pooled = pooled.index_select(0, tokens)
        return functional.relu(self.output(self.dropout(pooled)))

    def _pooled(self, characters: Tensor) -> Tensor:
        """Return what the filters found in each word, ``(words, filters * len(kernel_sizes))``."""
        padded = functional.pad(characters, (0, max(self.kernel_sizes) - 1))
        order = (characters > 0).sum(1).argsort(stable=True)
        # shape of each: (words, filters)
        pooled = []
        for width, linear in zip(self.kernel_sizes, self.maps, strict=True):
            assert isinstance(linear, nn.Linear)
            # shape: (width, embedding_dim, filters)
            by_place = linear.weight.view(self.filters, width, -1).permute(1, 2, 0)
            # shape: (width, characters + 1, filters); what a character adds at each place
            table = functional.pad(self.embedding @ by_place, (0, 0, 1, 0))
            best: Tensor = _BestWindow.apply(table, padded, order)  # type: ignore[no-untyped-call]
            pooled.append(best + linear.bias)
        return functional.relu(torch.cat(pooled, -1))


class _BestWindow(torch.autograd.Function):
    """What the best window of each word is worth to each filter.

    It equals ``max over starts s of Σ_j table[j, characters[s + j]]``, s from 0 to the word's last
    character, with zero for characters behind it; the gradient goes to the summands of the best s.
    """

    @staticmethod
    def forward(ctx: Any, table: Tensor, padded: Tensor, order: Tensor) -> Tensor:
        """Look at all windows; one begins at each character, and none behind the word's end.

        Args:
            ctx: what the gradient needs.
            table: what a character adds at each place of a window.
                ``(width, characters + 1, filters)``
            padded: characters, and zeros for the windows at a word's end. ``(words, …)``
            order: words by length, so that those convolved together have few windows too many.

        Returns:
            ``(words, filters)``.
        """
        width, rows, filters = table.shape
        best = table.new_empty(len(padded), filters)
        starts = torch.empty(len(padded), filters, dtype=torch.int16, device=padded.device)
        flat = table.flatten(0, 1).clone()
        flat[0] = -torch.inf  # padding is no place where a window begins
        offsets = torch.arange(width, device=padded.device) * rows
        chunks, lengths = order.split(CHUNK), (padded > 0).sum(1)
        longest = torch.stack([lengths[words].max() for words in chunks]).tolist()
        for words, length in zip(chunks, longest, strict=True):
            windows = padded[words].unfold(1, width, 1)[:, :length]  # (chunk, length, width)
            values = functional.embedding_bag(
                (windows + offsets).reshape(-1, width), flat, mode="sum"
            ).view(len(words), length, -1)
            place = torch.arange(length, dtype=torch.int16, device=padded.device)
            # shape: (chunk, filters)
            highest = values.amax(1)
            # Faster than argmax, which looks at one entry at a time; ties: the last window.
            there = (values == highest.unsqueeze(1)) * place[:, None]
            best[words], starts[words] = highest, there.amax(1)
        ctx.save_for_backward(padded, starts)
        ctx.shape = table.shape
        return best

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient of the table: each character of a best window gets it."""
        padded, starts = ctx.saved_tensors
        # shape: (width, characters + 1, filters)
        by_place = grad.new_zeros(ctx.shape)
        begins = starts.long()
        for place, rows in enumerate(by_place):
            rows.scatter_add_(0, padded.gather(1, begins + place), grad)
        by_place[:, 0] = 0  # padding is worth nothing
        return by_place, None, None
