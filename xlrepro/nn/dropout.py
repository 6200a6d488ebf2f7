"""Dropout that draws eight or four decisions at a time.

torch's dropout on a CPU draws a number per entry, and costs more than the layers between. Here a
64-bit random number decides on eight entries where the probability is a multiple of 1/256, and on
four otherwise; the probability is then exact to 1/65536.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Dropout(nn.Module):
    """Zeroes entries and scales up the others, in training alone.

    Args:
        p: probability of zeroing an entry, at least 0 and below 1.

    Example:
        >>> Dropout(0.5).eval()(torch.ones(2))
        tensor([1., 1.])
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x``, of any shape, with entries zeroed; the device's generator draws which."""
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return functional.dropout(x, self.p)
        return x * kept(x.shape, self.p).to(x.dtype).mul_(1 / (1 - self.p))


def kept(shape: torch.Size, p: float) -> Tensor:
    """Return what is kept, bool, each entry with probability ``1 - p``, by torch's generator."""
    coarse = (256 * p).is_integer()
    levels, kind, per_word = (256, torch.int8, 8) if coarse else (65536, torch.int16, 4)
    count = shape.numel()
    # shape: (words of 64 bits,)
    words = torch.empty(-(-count // per_word), dtype=torch.int64).random_(-(2**63), None)
    return (words.view(kind)[:count] >= round(p * levels) - levels // 2).view(shape)
