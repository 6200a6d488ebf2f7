"""What MUSE and UMWE share: the discriminator, and how maps are trained against it."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from xlrepro.vectors.mappings.recipes import AdversarialSettings


class Discriminator(nn.Module):
    """Tells whether a vector is a language's own or was mapped into its space (§2.1).

    Args:
        dim: of the vectors.
        hidden: units of its two layers.
        dropout: on the input.
    """

    def __init__(self, dim: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(dim, hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, vectors: Tensor) -> Tensor:
        """Return a logit per row, ``(batch,)``: above 0 for the language's own."""
        # shape: (batch, dim) -> (batch,)
        return self.layers(vectors).squeeze(1)  # type: ignore[no-any-return]


def origin_loss(logits: Tensor, own: bool, smoothing: float) -> Tensor:
    """Return the mean cross-entropy of calling all vectors a language's own, or mapped.

    Args:
        logits: of the discriminator. ``(batch,)``
        own: whether the vectors are the language's own.
        smoothing: taken from the label 1, or added to 0.
    """
    label = 1 - smoothing if own else smoothing
    return binary_cross_entropy_with_logits(logits, torch.full_like(logits, label))


@torch.no_grad()
def orthogonalise(w: Tensor, beta: float) -> None:
    """Move W towards the orthogonal matrices, in place: W ← (1 + β) W − β (W Wᵀ) W (Eq. 7).

    Args:
        w: W, changed. ``(dim, dim)``
        beta: β, the size of the step.
    """
    w.copy_((1 + beta) * w - beta * (w @ w.T) @ w)


def nearest_orthogonal(w: Tensor) -> Tensor:
    """Return the orthogonal matrix nearest to W, both ``(dim, dim)``."""
    u, _, vh = torch.linalg.svd(w)
    return u @ vh


def draw(x: Tensor, settings: AdversarialSettings) -> Tensor:
    """Draw a batch of the most frequent words, ``(batch, dim)``, from the global chance.

    Args:
        x: rows of length 1, ``(n, dim)``; the discriminator sees them at length √dim.
        settings: how many, from how many.
    """
    words = min(settings.frequent, len(x))
    rows = torch.randint(words, (settings.batch_size,), device=x.device)
    return x[rows] * x.shape[1] ** 0.5


def play(
    maps: Sequence[nn.Parameter],
    judges: nn.Module,
    settings: AdversarialSettings,
    judge_loss: Callable[[], Tensor],
    map_loss: Callable[[], Tensor],
    criterion: Callable[[], float],
) -> tuple[list[Tensor], list[float]]:
    """Train maps against discriminators in turns (Algorithm 1 of UMWE; MUSE is its simplest case).

    Args:
        maps: each ``(dim, dim)``; those that require a gradient are changed.
        judges: the discriminators.
        settings: numbers of steps, rates.
        judge_loss: low where the discriminators are right.
        map_loss: low where they are wrong.
        criterion: of the maps as they are, after each epoch; higher is better.

    Returns:
        The orthogonal matrices nearest to the maps of the best epoch, and all criteria.
    """
    trained, rate = [w for w in maps if w.requires_grad], settings.learning_rate
    of_judges = torch.optim.SGD(judges.parameters(), lr=rate)
    of_maps = torch.optim.SGD(trained, lr=rate)
    best, history = [w.detach().clone() for w in maps], []
    for _ in range(settings.epochs):
        for _ in range(settings.epoch_steps):
            for _ in range(settings.discriminator_steps):
                _judge_step(judge_loss(), of_judges)
            _map_step(map_loss(), of_maps, trained, settings.beta)
        history.append(criterion())
        rate *= settings.decay
        if history[-1] >= max(history):
            best = [w.detach().clone() for w in maps]
        else:
            rate *= settings.shrink
        for group in (*of_judges.param_groups, *of_maps.param_groups):
            group["lr"] = rate
    return [nearest_orthogonal(w) for w in best], history


def _judge_step(loss: Tensor, optimiser: torch.optim.Optimizer) -> None:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()


def _map_step(
    loss: Tensor, optimiser: torch.optim.Optimizer, maps: Sequence[Tensor], beta: float
) -> None:
    """Follow the gradient, then move towards the orthogonal matrices."""
    # A language that was not drawn has no part in this step's loss but by the way back.
    gradients = torch.autograd.grad(loss, maps, allow_unused=True)
    for w, gradient in zip(maps, gradients):
        w.grad = gradient
    optimiser.step()
    for w in maps:
        orthogonalise(w, beta)
