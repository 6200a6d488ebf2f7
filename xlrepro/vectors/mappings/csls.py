"""CSLS between two spaces, one way or both at once, in blocks, on CPU or GPU.

Reference:
    Conneau et al. (2018), Word translation without parallel data, §2.3:
    CSLS(x, y) = 2 cos(x, y) − r(x) − r(y).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

BLOCK = 1024  # rows at a time: 1,024 x 20,000 candidates x 4 bytes = 82 MB
NEIGHBOURS = 10  # k of r: "we use K = 10" (§3.2)


@dataclass(frozen=True)
class Translations:
    """The best translations by CSLS of n words into m and of m into n.

    Attributes:
        forward: row of y for each row of x, int64 ``(n,)``.
        backward: row of x for each row of y, int64 ``(m,)``.
        forward_cosine: cosine of each row of x and its translation, ``(n,)``.
        backward_cosine: likewise, ``(m,)``.
    """

    forward: Tensor
    backward: Tensor
    forward_cosine: Tensor
    backward_cosine: Tensor

    def mutual(self) -> Tensor:
        """Return the pairs that are each other's best, int64 ``(pairs, 2)``."""
        rows = torch.arange(len(self.forward), device=self.forward.device)
        agree = self.backward[self.forward] == rows
        return torch.stack([rows[agree], self.forward[agree]], dim=1)

    def both_ways(self) -> Tensor:
        """Return all pairs of both directions, int64 ``(n + m, 2)``; a mutual pair stands twice."""
        device = self.forward.device
        there = torch.stack([torch.arange(len(self.forward), device=device), self.forward], dim=1)
        back = torch.stack([self.backward, torch.arange(len(self.backward), device=device)], dim=1)
        return torch.cat([there, back])


def neighbour_mean(x: Tensor, y: Tensor, k: int = NEIGHBOURS) -> Tensor:
    """Return r: the mean cosine of each row of x and its k nearest rows of y, ``(n,)``.

    Args:
        x: rows of length 1, ``(n, dim)``.
        y: rows of length 1, ``(m, dim)``.
        k: neighbours; all of y where there are fewer.
    """
    k = min(k, len(y))
    return torch.cat([(block @ y.T).topk(k, dim=1).values.mean(dim=1) for block in x.split(BLOCK)])


def best_translations(
    queries: Tensor, targets: Tensor, sources: Tensor, k: int = NEIGHBOURS
) -> Tensor:
    """Return for each query the row of the target with the highest CSLS, int64 ``(n,)``.

    Args:
        queries: rows of length 1, ``(n, dim)``.
        targets: candidates, rows of length 1, ``(m, dim)``.
        sources: words of the queries' language, from which r(target) is taken. ``(words, dim)``
        k: neighbours of r.
    """
    r_targets = neighbour_mean(targets, sources, k)
    # r(query) is the same for all its candidates and does not change the best.
    # shape of each product: (block, m)
    best = [(block @ targets.T - r_targets / 2).argmax(dim=1) for block in queries.split(BLOCK)]
    return torch.cat(best)


def neighbour_means(x: Tensor, y: Tensor, k: int = NEIGHBOURS) -> tuple[Tensor, Tensor]:
    """Return r of x, ``(n,)``, and of y, ``(m,)``: :func:`neighbour_mean` of both in one product.

    Args:
        x: rows of length 1, ``(n, dim)``.
        y: rows of length 1, ``(m, dim)``.
        k: neighbours; all where there are fewer.
    """
    # shape of top: (k, m); the highest cosines of each row of y so far
    of_x, top = [], x.new_empty((0, len(y)))
    for block in x.split(BLOCK):
        cosines = block @ y.T  # shape: (block, m)
        of_x.append(cosines.topk(min(k, len(y)), dim=1).values.mean(dim=1))
        top = torch.cat([top, cosines.topk(min(k, len(block)), dim=0).values])
        top = top.topk(min(k, len(top)), dim=0).values
    return torch.cat(of_x), top.mean(dim=0)


def translate(
    x: Tensor,
    y: Tensor,
    k: int = NEIGHBOURS,
    *,
    keep: float = 1.0,
    generator: torch.Generator | None = None,
) -> Translations:
    """Find the best translation of every row of both sides.

    Args:
        x: rows of length 1, ``(n, dim)``.
        y: rows of length 1, ``(m, dim)``.
        k: neighbours of r.
        keep: probability that an entry of the similarity matrix is looked at; others count 0
            (Artetxe et al. 2018, §3.3, stochastic dictionary induction).
        generator: source of that chance.
    """
    # shape: (n,) and (m,)
    r_x, r_y = neighbour_means(x, y, k)
    forward, best = [], x.new_full((len(y),), -torch.inf)
    backward = torch.zeros(len(y), dtype=torch.long, device=x.device)
    for number, block in enumerate(x.split(BLOCK)):
        start = number * BLOCK
        # shape of cosines and mask: (block, m)
        cosines = block @ y.T
        mask = None
        if keep < 1:
            mask = torch.rand(cosines.shape, generator=generator, device=x.device) < keep
        # r of the row itself is the same for all its candidates and does not change the best.
        forward.append(_kept(cosines - r_y / 2, mask).argmax(dim=1))
        # shape of both: (m,)
        highest, row = _kept(cosines - r_x[start : start + BLOCK, None] / 2, mask).max(dim=0)
        better = highest > best
        best = torch.where(better, highest, best)
        backward = torch.where(better, row + start, backward)
    ahead = torch.cat(forward)
    return Translations(ahead, backward, (x * y[ahead]).sum(1), (y * x[backward]).sum(1))


def _kept(scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores if mask is None else scores * mask
