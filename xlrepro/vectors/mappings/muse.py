"""MUSE: a map learnt without any dictionary, by playing against a discriminator, then refined.

Reference:
    Conneau et al. (2018), Word translation without parallel data. §2.1 adversarial training,
    §2.2 refinement, §3.4 the unsupervised criterion.
"""

import time

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from xlrepro.vectors.mappings.adversarial import (
    Discriminator,
    draw,
    nearest_orthogonal,
    origin_loss,
    play,
)
from xlrepro.vectors.mappings.collapse import criterion, report_of
from xlrepro.vectors.mappings.csls import translate
from xlrepro.vectors.mappings.recipes import AdversarialSettings
from xlrepro.vectors.mappings.spaces import Mapped, MappingProblem


def muse(problem: MappingProblem, settings: AdversarialSettings | None = None) -> Mapped:
    """Learn an orthogonal map without supervision.

    Returns:
        The map with the highest criterion, and its report, whose status says whether it collapsed;
        its history is the criterion after each epoch and each refinement.
    """
    settings = settings or AdversarialSettings()
    started = time.perf_counter()
    x, y = problem.vectors()
    with torch.random.fork_rng(devices=[x.device] if x.is_cuda else []):
        torch.manual_seed(problem.seed)
        w, history = _adversarial(x, y, settings)
    w, size, more = refine(x, y, w, settings)
    steps = settings.epochs * settings.epoch_steps + len(more)
    return report_of(
        "MUSE", problem, (w.cpu().numpy(), None), pairs=size, steps=steps, started=started,
        history=history + more, unsupervised=True,
    )  # fmt: skip


def _adversarial(x: Tensor, y: Tensor, settings: AdversarialSettings) -> tuple[Tensor, list[float]]:
    """Train map and discriminator; return the map of the best epoch, and all criteria."""
    w = nn.Parameter(torch.eye(x.shape[1], device=x.device))
    judge = Discriminator(x.shape[1], settings.hidden, settings.input_dropout).to(x.device)

    def judge_loss() -> Tensor:
        """Let the discriminator tell mapped words of x from words of y (Eq. 3)."""
        # shape: (batch, dim)
        mapped = draw(x, settings) @ w.detach()
        loss = origin_loss(judge(mapped), False, settings.smoothing)
        return loss + origin_loss(judge(draw(y, settings)), True, settings.smoothing)

    def map_loss() -> Tensor:
        """Let it be wrong (Eq. 4); the words of y do not depend on W and have no gradient."""
        return origin_loss(judge(draw(x, settings) @ w), True, settings.smoothing)

    def reached() -> float:
        return criterion(normalize(x @ w.detach(), dim=1), y, settings.criterion_words)

    (best,), history = play([w], judge, settings, judge_loss, map_loss, reached)
    return best, history


def refine(
    x: Tensor, y: Tensor, w: Tensor, settings: AdversarialSettings
) -> tuple[Tensor, int, list[float]]:
    """Solve Procrustes on mutual nearest neighbours by CSLS, again and again (§2.2).

    Returns:
        The map with the highest criterion, the size of its dictionary (0 if it is ``w`` itself),
        and the criterion after each round.
    """
    words = settings.refinement_words
    best, size = w, 0
    highest = criterion(normalize(x @ w, dim=1), y, settings.criterion_words)
    history: list[float] = []
    for _ in range(settings.refinements):
        pairs = translate(normalize(x[:words] @ w, dim=1), y[:words]).mutual()
        # shape: (dim, pairs) x (pairs, dim)
        w = nearest_orthogonal(x[pairs[:, 0]].T @ y[pairs[:, 1]])
        history.append(criterion(normalize(x @ w, dim=1), y, settings.criterion_words))
        if history[-1] > highest:
            best, size, highest = w, len(pairs), history[-1]
    return best, size, history
