"""MUSE: a map learnt without any dictionary, by playing against a discriminator, then refined.

Reference:
    Conneau et al. (2018), Word translation without parallel data. §2.1 adversarial training,
    §2.2 refinement, §3.4 the unsupervised criterion.
"""

import time

import numpy as np
import torch
from torch import Tensor, nn

from xlrepro.embeddings.mappings.adversarial import (
    Discriminator,
    frequent_words,
    mean_cosine,
    nearest_orthogonal,
    origin_loss,
    orthogonalise,
)
from xlrepro.embeddings.mappings.collapse import Pairs, report_of
from xlrepro.embeddings.mappings.csls import translate
from xlrepro.embeddings.mappings.recipes import AdversarialSettings
from xlrepro.embeddings.mappings.spaces import Mapped, Space


def muse(
    x: Space,
    y: Space,
    *,
    pairs: Pairs | None = None,
    settings: AdversarialSettings | None = None,
    seed: int = 0,
    device: str = "cpu",
    check: Pairs | None = None,
) -> Mapped:
    """Learn an orthogonal map without supervision.

    Args:
        x: the space that is mapped.
        y: the space that it is mapped into.
        pairs: not looked at; it is there for the common call shape.
        settings: see :class:`~xlrepro.embeddings.mappings.adversarial.AdversarialSettings`.
        seed: of the discriminator, the drawn words and its dropout.
        device: ``"cpu"`` or ``"cuda"``.
        check: (row of x, row of y), a dictionary that only the report looks at.

    Returns:
        The map with the highest criterion, and its report, whose status says whether it collapsed;
        its history is the criterion after each epoch and each refinement.
    """
    chosen = settings or AdversarialSettings()
    started = time.perf_counter()
    a, b = (torch.from_numpy(np.array(space.matrix)).to(device) for space in (x, y))
    devices = [a.device] if a.is_cuda else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        w, history = _adversarial(a, b, chosen)
    w, size, more = refine(a, b, w, chosen)
    steps = chosen.epochs * chosen.epoch_steps + len(more)
    return report_of(
        "MUSE", x, y, (w.cpu().numpy(), None), pairs=size, steps=steps, started=started,
        history=history + more, device=device, unsupervised=True, check=check,
    )  # fmt: skip


def _adversarial(x: Tensor, y: Tensor, settings: AdversarialSettings) -> tuple[Tensor, list[float]]:
    """Train map and discriminator; return the map of the best epoch, and all criteria."""
    dim = x.shape[1]
    w = nn.Parameter(torch.eye(dim, device=x.device))
    judge = Discriminator(dim, settings.hidden, settings.input_dropout).to(x.device)
    rate = settings.learning_rate
    of_judge = torch.optim.SGD(judge.parameters(), lr=rate)
    of_map = torch.optim.SGD([w], lr=rate)
    best, history = w.detach().clone(), []
    for _ in range(settings.epochs):
        for _ in range(settings.epoch_steps):
            for _ in range(settings.discriminator_steps):
                _discriminator_step(x, y, w, judge, of_judge, settings)
            _map_step(x, y, w, judge, of_map, settings)
        history.append(mean_cosine(_unit(x @ w.detach()), y, settings.criterion_words))
        rate *= settings.decay
        if history[-1] >= max(history):
            best = w.detach().clone()
        else:
            rate *= settings.shrink
        for group in (*of_judge.param_groups, *of_map.param_groups):
            group["lr"] = rate
    return nearest_orthogonal(best), history


def _draw(x: Tensor, settings: AdversarialSettings) -> Tensor:
    words = min(settings.frequent, len(x))
    return x[frequent_words(words, settings.batch_size, x.device)] * x.shape[1] ** 0.5


def _discriminator_step(
    x: Tensor,
    y: Tensor,
    w: Tensor,
    judge: Discriminator,
    optimiser: torch.optim.Optimizer,
    settings: AdversarialSettings,
) -> None:
    """Let the discriminator tell mapped words of x from words of y (Eq. 3)."""
    mapped = _draw(x, settings) @ w.detach()
    loss = origin_loss(judge(mapped), False, settings.smoothing)
    loss = loss + origin_loss(judge(_draw(y, settings)), True, settings.smoothing)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def _map_step(
    x: Tensor,
    y: Tensor,
    w: nn.Parameter,
    judge: Discriminator,
    optimiser: torch.optim.Optimizer,
    settings: AdversarialSettings,
) -> None:
    """Move the map so that the discriminator is wrong (Eq. 4), then towards orthogonality."""
    # The words of y do not depend on W: their term of Eq. 4 has no gradient.
    loss = origin_loss(judge(_draw(x, settings) @ w), True, settings.smoothing)
    (w.grad,) = torch.autograd.grad(loss, [w])
    optimiser.step()
    orthogonalise(w, settings.beta)


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
    highest = mean_cosine(_unit(x @ w), y, settings.criterion_words)
    history: list[float] = []
    for _ in range(settings.refinements):
        found = translate(_unit(x[:words] @ w), y[:words]).mutual()
        w = nearest_orthogonal(x[found[:, 0]].T @ y[found[:, 1]])
        history.append(mean_cosine(_unit(x @ w), y, settings.criterion_words))
        if history[-1] > highest:
            best, size, highest = w, len(found), history[-1]
    return best, size, history


def _unit(x: Tensor) -> Tensor:
    return torch.nn.functional.normalize(x, dim=1)
