"""Whether a map that was learnt without supervision is one, or has collapsed.

Adversarial and self-learning methods end somewhere
whatever the spaces are, with most words near *some* word of the other space; so their own criterion
says little by itself. Two comparisons do:

* With a dictionary for checking, which learning never sees: collapsed if precision at 1 is under
  5 %, the line under which Artetxe et al. (2018, §4) count a run as failed.
* Without one: collapsed if the criterion has not come a quarter of the way from chance to 1. Chance
  is what Procrustes refinement reaches from random rotations of the same spaces. This finds maps of
  unrelated spaces; a wrong map of spaces that are alike may pass it.

The quarter was set on artificial spaces, before any run on real ones: maps of unrelated spaces came
up to 0.11 of the way, the known alignments over 0.9.
"""

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from xlrepro.vectors.mappings.adversarial import nearest_orthogonal
from xlrepro.vectors.mappings.csls import translate
from xlrepro.vectors.mappings.spaces import (
    COLLAPSED,
    MAPPED,
    Mapped,
    MappingProblem,
    MappingReport,
    Pairs,
)

LEAST_PRECISION = 0.05
LEAST_GAIN = 0.25
CRITERION_WORDS = 2_000  # most frequent words that criterion and chance are taken over
STARTS = 3  # random rotations; chance is the best of them
ROUNDS = 5  # of refinement, as many as MUSE does


def report_of(
    method: str,
    problem: MappingProblem,
    maps: tuple[np.ndarray, np.ndarray | None],
    *,
    pairs: int,
    steps: int,
    started: float,
    history: Sequence[float],
    unsupervised: bool = False,
) -> Mapped:
    """Judge a map and return it with its report; the clock stops before the judging.

    Args:
        method: its name.
        problem: what the map was learnt for.
        maps: of x and of y, each ``(dim, dim)``; ``None`` is the identity.
        pairs: size of the last dictionary.
        steps: updates of the map.
        started: ``time.perf_counter()`` when it began.
        history: the criterion that the method watched.
        unsupervised: only then can it have collapsed.
    """
    seconds = time.perf_counter() - started
    w, w_target = maps
    if w_target is None:
        w_target = np.eye(w.shape[0], dtype=w.dtype)
    # shape: (n, dim) and (m, dim), in the common space
    left, right = (
        normalize(side @ torch.from_numpy(np.asarray(m)).to(problem.device), dim=1)
        for side, m in zip(problem.vectors(), (w, w_target))
    )
    value = criterion(left, right)
    check = problem.check
    precision = None if check is None else checked_precision(left, right, check)
    level = None
    status = MAPPED
    if unsupervised and precision is not None:
        status = COLLAPSED if not precision >= LEAST_PRECISION else MAPPED
    elif unsupervised:
        level = chance(left, right)
        status = COLLAPSED if value - level < LEAST_GAIN * (1 - level) else MAPPED
    report = MappingReport(
        method, status, value, level, precision, pairs, steps, seconds, tuple(history)
    )
    return Mapped(w, w_target, report)


@torch.no_grad()
def criterion(x: Tensor, y: Tensor, words: int = CRITERION_WORDS) -> float:
    """Return the mean cosine of the most frequent words of x and their translations by CSLS.

    It is the unsupervised criterion of a map (Conneau et al. 2018, §3.4).

    Args:
        x: mapped, rows of length 1, most frequent first, ``(n, dim)``.
        y: likewise, ``(m, dim)``.
        words: most frequent words of either.
    """
    return float(translate(x[:words], y[:words]).forward_cosine.mean())


@torch.no_grad()
def chance(x: Tensor, y: Tensor) -> float:
    """Return the criterion that refinement reaches from random rotations, the best of three.

    Args:
        x: rows of length 1, most frequent first, ``(n, dim)``; mapped or not.
        y: likewise, ``(m, dim)``.
    """
    generator = torch.Generator().manual_seed(0)
    x, y = x[:CRITERION_WORDS], y[:CRITERION_WORDS]
    dim, reached = x.shape[1], []
    for _ in range(STARTS):
        start = torch.linalg.qr(torch.randn(dim, dim, generator=generator))[0]
        w = start.to(x.device)
        for _ in range(ROUNDS):
            pairs = translate(x @ w, y).mutual()
            # shape: (dim, pairs) x (pairs, dim)
            w = nearest_orthogonal(x[pairs[:, 0]].T @ y[pairs[:, 1]])
        reached.append(criterion(x @ w, y))
    return max(reached)


@torch.no_grad()
def checked_precision(x: Tensor, y: Tensor, check: Pairs) -> float:
    """Return the share of a dictionary's words of x whose best translation by CSLS is in it.

    Args:
        x: mapped, rows of length 1, ``(n, dim)``.
        y: likewise, ``(m, dim)``.
        check: (row of x, row of y).

    Returns:
        0 to 1; nan where the dictionary is empty.
    """
    gold: dict[int, set[int]] = {}
    for row, other in np.asarray(check, dtype=np.int64).reshape(-1, 2).tolist():
        gold.setdefault(row, set()).add(other)
    if not gold:
        return float("nan")
    best = translate(x, y).forward.tolist()
    return sum(best[row] in rows for row, rows in gold.items()) / len(gold)
