"""RCSLS: a map learnt for the criterion that translations are retrieved by.

Reference:
    Joulin et al. (2018), Loss in translation: learning bilingual word mapping with a retrieval
    criterion, §3. The loss of a dictionary of n pairs is

        1/n Σᵢ [ −2 s(xᵢ, yᵢ) + 1/k Σ_{y ∈ N(xᵢ)} s(xᵢ, y) + 1/k Σ_{x ∈ N(yᵢ)} s(x, yᵢ) ],

    with s(x, y) = x W · y and N the k nearest neighbours among all words of the other language.
    It is convex over the convex hull of the orthogonal matrices while the neighbours stay.
"""

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from xlrepro.errors import SettingsError
from xlrepro.vectors.mappings.collapse import checked_precision, report_of
from xlrepro.vectors.mappings.csls import BLOCK
from xlrepro.vectors.mappings.seeded import procrustes
from xlrepro.vectors.mappings.spaces import Mapped, MappingProblem, seed_rows


@dataclass(frozen=True)
class RcslsSettings:
    """Settings of :func:`rcsls`.

    Attributes:
        neighbours: k.
        epochs: passes over the dictionary at most (the paper tries 10 and 20).
        batch_size: pairs per step; ``None`` is all of them.
        learning_rate: of the first step (the paper tries 1, 10, 25, 50); halved whenever the loss
            of an epoch is no lower.
        frequent: most frequent words of each side that neighbours come from.
        constraint: the map is projected onto the orthogonal matrices, onto their convex hull (the
            unit ball of the spectral norm, "spectral"), or not at all; the paper reports the last
            two.
    """

    neighbours: int = 10
    epochs: int = 10
    batch_size: int | None = None
    learning_rate: float = 1.0
    frequent: int = 200_000
    constraint: Literal["none", "spectral", "orthogonal"] = "none"
    validation: float = 0.0
    validation_words: int = 5_000


def rcsls(problem: MappingProblem, settings: RcslsSettings | None = None) -> Mapped:
    """Learn a map from a dictionary by the relaxed CSLS loss, starting from Procrustes.

    Returns:
        The map with the lowest loss that was met, or with the highest precision on held-out pairs,
        and its report; its history is that loss or precision, the first that of Procrustes.

    Raises:
        SettingsError: if there are no pairs to learn from, or the constraint is unknown.
    """
    settings = settings or RcslsSettings()
    if settings.constraint not in ("none", "spectral", "orthogonal"):
        raise SettingsError(f"RCSLS has no constraint {settings.constraint!r}: see RcslsSettings")
    started = time.perf_counter()
    generator = torch.Generator().manual_seed(problem.seed)
    rows, held_out = _split(problem.seed_rows("RCSLS"), settings.validation, generator)
    relaxed = _Relaxed.of(problem, rows, settings)
    first = torch.from_numpy(
        procrustes(problem.x.matrix[rows[:, 0]], problem.y.matrix[rows[:, 1]])
    ).to(problem.device)
    maps, losses = _descend(relaxed, first, settings, generator)
    scores = losses
    if len(held_out):
        scores = [-_precision(relaxed, w, held_out, settings.validation_words) for w in maps]
    best = min(range(len(maps)), key=scores.__getitem__)
    return report_of(
        "RCSLS", problem, (maps[best].cpu().numpy(), None), pairs=len(rows),
        steps=settings.epochs * -(-len(rows) // (settings.batch_size or len(rows))),
        started=started, history=[abs(v) for v in scores] if len(held_out) else losses,
    )  # fmt: skip


def _split(
    rows: np.ndarray, share: float, generator: torch.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Hold out a share of the pairs, whole words of x; return (learnt from, held out)."""
    words = np.unique(rows[:, 0])
    drawn = torch.randperm(len(words), generator=generator).numpy()
    chosen = np.isin(rows[:, 0], words[drawn[: round(share * len(words))]])
    return seed_rows(rows[~chosen], "RCSLS"), rows[chosen]


def _precision(relaxed: "_Relaxed", w: Tensor, held_out: np.ndarray, words: int) -> float:
    """Return P@1 by CSLS of the held-out pairs among the most frequent words, 0 to 1."""
    x, y = normalize(relaxed.all_x[:words] @ w, dim=1), relaxed.all_y[:words]
    inside = held_out[(held_out[:, 0] < len(x)) & (held_out[:, 1] < len(y))]
    return checked_precision(x, y, inside) if len(inside) else 0.0


@dataclass(frozen=True)
class _Relaxed:
    """The loss of a dictionary.

    Attributes:
        x: vectors of its words of x, ``(pairs, dim)``.
        y: those of their translations, ``(pairs, dim)``.
        all_x: what neighbours come from, ``(n, dim)``.
        all_y: likewise, ``(m, dim)``.
        k: neighbours.
    """

    x: Tensor
    y: Tensor
    all_x: Tensor
    all_y: Tensor
    k: int

    @classmethod
    def of(cls, problem: MappingProblem, rows: np.ndarray, settings: RcslsSettings) -> "_Relaxed":
        x, y = problem.vectors()
        learnt = torch.from_numpy(rows).to(problem.device)
        pairs, most = (x[learnt[:, 0]], y[learnt[:, 1]]), settings.frequent
        return cls(*pairs, x[:most], y[:most], settings.neighbours)

    def loss_and_gradient(self, w: Tensor, batch: Tensor) -> tuple[float, Tensor]:
        """Return the loss of some pairs and its subgradient by W, ``(dim, dim)``."""
        # shape of both: (batch, dim)
        x, y = self.x[batch], self.y[batch]
        around_x = _neighbour_mean(x @ w, self.all_y, self.all_y, self.k)  # shape: (batch, dim)
        around_y = _neighbour_mean(y, self.all_x @ w, self.all_x, self.k)  # shape: (batch, dim)
        loss = ((x @ w) * (around_x - 2 * y)).sum() + ((around_y @ w) * y).sum()
        # shape: (dim, dim)
        gradient = x.T @ (around_x - 2 * y) + around_y.T @ y
        return float(loss) / len(batch), gradient / len(batch)


def _neighbour_mean(queries: Tensor, keys: Tensor, values: Tensor, k: int) -> Tensor:
    """Return for each query the mean of the values whose keys have the highest inner products."""
    means = []
    for block in queries.split(BLOCK):
        nearest = (block @ keys.T).topk(min(k, len(keys)), dim=1).indices  # shape: (block, k)
        means.append(values[nearest].mean(dim=1))
    return torch.cat(means)


def _descend(
    relaxed: _Relaxed, w: Tensor, settings: RcslsSettings, generator: torch.Generator
) -> tuple[list[Tensor], list[float]]:
    """Go down the gradient; return the first map and that of each epoch, with their losses.

    Where the loss rises, the next epoch starts from the lowest so far with half the rate. Where a
    step is less than all pairs, an epoch takes one step per batch.
    """
    n, everything = len(relaxed.x), torch.arange(len(relaxed.x), device=w.device)
    rate = settings.learning_rate
    loss, gradient = relaxed.loss_and_gradient(w, everything)
    maps, losses = [w], [loss]
    best = (loss, w, gradient)
    for _ in range(settings.epochs):
        _, w, gradient = best
        if settings.batch_size is None:
            w = project(w - rate * gradient, settings.constraint)
        else:
            order = torch.randperm(n, generator=generator).to(w.device)
            for batch in order.split(settings.batch_size):
                w = project(w - rate * relaxed.loss_and_gradient(w, batch)[1], settings.constraint)
        loss, gradient = relaxed.loss_and_gradient(w, everything)
        maps.append(w)
        losses.append(loss)
        if loss < best[0]:
            best = (loss, w, gradient)
        else:
            rate /= 2
    return maps, losses


def project(w: Tensor, constraint: str) -> Tensor:
    """Return the nearest matrix that obeys a constraint of :class:`RcslsSettings`.

    Example:
        >>> project(torch.diag(torch.tensor([2.0, 0.5])), "spectral").diagonal().tolist()
        [1.0, 0.5]
    """
    if constraint == "none":
        return w
    u, s, vh = torch.linalg.svd(w)
    return (u * (s.clamp(max=1) if constraint == "spectral" else torch.ones_like(s))) @ vh
