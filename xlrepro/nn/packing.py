"""Texts of several lengths without their padding: where each token stands, in which order.

A padded batch is mostly padding where lengths differ, and padding costs as much as tokens. What is
here describes batches of *flat* tokens, ``(tokens, dim)``: the tokens of the first text, then of
the second, and so on, as ``x[mask]`` of a padded batch gives them.
"""

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor


class Packing:
    """The lengths of some texts, and what follows from them.

    Args:
        lengths: tokens of each text, at least one. ``(batch,)``

    Attributes:
        lengths: the same.
        device: where tensors of places are.

    Example:
        >>> packing = Packing(torch.tensor([2, 3]))
        >>> packing.batch_sizes, packing.ahead.tolist(), packing.behind.tolist()
        ([2, 2, 1], [2, 0, 3, 1, 4], [4, 1, 3, 0, 2])
    """

    def __init__(self, lengths: Tensor) -> None:
        if lengths.numel() == 0 or int(lengths.min()) < 1:
            raise ValueError("packing needs at least one text, and no text without tokens")
        self.device = lengths.device
        self.lengths = lengths
        self._lengths = lengths.cpu()

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._lengths)

    @classmethod
    def joined(cls, packings: Sequence["Packing"]) -> "Packing":
        """Return the packing of the texts of several batches, one batch after the other."""
        return cls(torch.cat([p.lengths for p in packings]))

    @cached_property
    def sizes(self) -> list[int]:
        """Return the number of tokens of each text."""
        return self._lengths.tolist()

    @cached_property
    def starts(self) -> Tensor:
        """Return where each text begins, ``(batch,)``, on the CPU."""
        return self._lengths.cumsum(0) - self._lengths

    @cached_property
    def texts(self) -> Tensor:
        """Return the number of each token's text, ``(tokens,)``."""
        return torch.arange(len(self)).repeat_interleave(self._lengths).to(self.device)

    @cached_property
    def mask(self) -> Tensor:
        """Return the mask of the padded batch, ``(batch, length)``, True at tokens."""
        return (torch.arange(max(self.sizes)) < self._lengths[:, None]).to(self.device)

    def padded(self, x: Tensor) -> Tensor:
        """Return ``(batch, length, dim)`` for flat tokens ``(tokens, dim)``, zero at padding."""
        # shape: (batch, length, dim)
        padded = x.new_zeros(*self.mask.shape, x.shape[-1])
        padded[self.mask] = x
        return padded

    def similar(self, ratio: float = 0.7) -> list[tuple[Tensor, "Packing"]]:
        """Return the texts in groups of similar length, for layers that need a padded batch.

        Args:
            ratio: shortest length in a group, as a share of its longest.

        Returns:
            Per group the flat places of its tokens, ``(tokens,)``, and their packing.
        """
        groups: list[list[int]] = []
        for text in self._order.tolist():
            if not groups or self.sizes[text] < ratio * self.sizes[groups[-1][0]]:
                groups.append([])
            groups[-1].append(text)
        places = torch.arange(sum(self.sizes), device=self.device).split(self.sizes)
        return [
            (torch.cat([places[text] for text in group]), Packing(self.lengths[group]))
            for group in groups
        ]

    # The order of a recurrence: the first token of all texts, the second of those that have one, …;
    # longer texts first, so that those still running are always the first of the step before.

    @cached_property
    def _order(self) -> Tensor:
        return self._lengths.argsort(descending=True, stable=True)

    @cached_property
    def batch_sizes(self) -> list[int]:
        """Return how many texts have a t-th token, for each t."""
        return self.mask.sum(0).tolist()

    @cached_property
    def _steps(self) -> tuple[Tensor, Tensor]:
        """Return step and text of each token in the recurrence's order."""
        ordered = self._lengths[self._order]
        # shape: (longest, batch); True while a text runs
        running = torch.arange(int(ordered[0]))[:, None] < ordered
        step, rank = running.nonzero(as_tuple=True)
        return step, self._order[rank]

    @cached_property
    def ahead(self) -> Tensor:
        """Return the flat place of each token in a recurrence from left to right, ``(tokens,)``."""
        step, text = self._steps
        return (self.starts[text] + step).to(self.device)

    @cached_property
    def behind(self) -> Tensor:
        """Return the same from right to left, ``(tokens,)``: each text begins with its last."""
        step, text = self._steps
        return (self.starts[text] + self._lengths[text] - 1 - step).to(self.device)

    @cached_property
    def previous(self) -> Tensor:
        """Return where a token's text stood a step before, in that order, ``(tokens,)``.

        Counted from a row per text that stands before the first token.
        """
        counts = torch.tensor(self.batch_sizes)
        back = torch.cat((counts[:1], counts[:-1])).repeat_interleave(counts)
        return (torch.arange(len(back)) + counts[0] - back).to(self.device)

    def windows(self, width: int) -> Tensor:
        """Return the flat places of the ``width`` tokens from each token on, ``(tokens, width)``.

        Behind a text's end stands the number of tokens, one more than the last place.
        """
        places = torch.arange(sum(self.sizes))
        ends = (self.starts + self._lengths).repeat_interleave(self._lengths)
        # shape: (tokens, width)
        windows = places[:, None] + torch.arange(width)
        return windows.masked_fill(windows >= ends[:, None], len(places)).to(self.device)


def inverse(order: Tensor) -> Tensor:
    """Return the permutation that undoes ``order``, both ``(n,)``."""
    places = torch.empty_like(order)
    places[order] = torch.arange(len(order), device=order.device)
    return places
