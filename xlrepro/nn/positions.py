"""What a Transformer encoder knows of positions: sinusoidal or learned tables, or distances."""

import math

import torch
from torch import Tensor, nn

from xlrepro.errors import DataError, SettingsError


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
    """Adds a learned position table to its input.

    Args:
        dim: width of the model.
        max_positions: number of rows of the table where none is given.
        table: ``(positions, dim)`` initial values, such as a pre-trained model's table.
        frozen: whether the table stays as it is in training.

    Raises:
        SettingsError: where ``table`` has another width than ``dim``.
    """

    def __init__(
        self,
        dim: int,
        max_positions: int = 512,
        table: Tensor | None = None,
        frozen: bool = False,
    ) -> None:
        super().__init__()
        if table is None:
            table = torch.empty(max_positions, dim).normal_(std=0.02)
        elif table.dim() != 2 or table.shape[1] != dim:
            raise SettingsError(
                f"the position table has shape {tuple(table.shape)}, but the encoder is {dim} "
                "wide: give the encoder the table's width"
            )
        self.table = nn.Parameter(table.detach().clone(), requires_grad=not frozen)

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x``, ``(batch, length, dim)``, with positions added.

        Raises:
            DataError: where a sentence is longer than the table.
        """
        if x.shape[1] > self.table.shape[0]:
            raise DataError(
                f"a sentence of {x.shape[1]} tokens is longer than the {self.table.shape[0]} "
                "learned positions: cut it, or raise max_positions"
            )
        return x + self.table[: x.shape[1]]


class RelativePositions(nn.Module):
    """Distances between tokens: an encoder's attention sees them, its input stays as it is.

    Args:
        dim: width of the model.
        max_distance: all distances from here on are one.
    """

    def __init__(self, dim: int, max_distance: int = 10) -> None:
        super().__init__()
        self.max_distance = max_distance

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x``, ``(batch, length, dim)``."""
        return x
