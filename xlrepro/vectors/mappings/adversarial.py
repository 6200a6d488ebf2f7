"""Maps learnt without any dictionary, by playing against discriminators, then refined.

References:
    MUSE: Conneau et al. (2018), Word translation without parallel data. §2.1 adversarial training,
    §2.2 refinement, §3.4 the unsupervised criterion.
    UMWE: Chen and Cardie (2018), Unsupervised multilingual word embeddings. §3.1 multilingual
    adversarial training, §3.2 multilingual pseudo-supervised refinement.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

from xlrepro.vectors.mappings.csls import mutual, retrieve

Score = Callable[[Sequence[Tensor]], float]  # of maps: the criterion that they reach


@dataclass(frozen=True)
class AdversarialSettings:
    """Settings of adversarial training; the defaults are those of Conneau et al. (2018), §3.

    Attributes:
        hidden: units of the discriminator's two hidden layers.
        input_dropout: of the discriminator.
        smoothing: how far its labels are from 0 and 1.
        batch_size: words of each language per step.
        epochs: after each the criterion is taken.
        epoch_steps: updates of the maps per epoch. (The text gives no length of an epoch; a
            million words is our reading of its cost: 31,250 steps x 32 words.)
        learning_rate: of plain SGD, on both sides.
        decay: of the learning rate, per epoch.
        shrink: factor of the learning rate when the criterion falls.
        beta: of the orthogonality update (Eq. 7).
        frequent: most frequent words that the discriminator sees.
        criterion_words: most frequent words that the criterion is taken over.
        refinements: rounds of refinement after it.
        refinement_words: most frequent words that the dictionary of a refinement comes from.
    """

    hidden: int = 2048
    input_dropout: float = 0.1
    smoothing: float = 0.2
    batch_size: int = 32
    epochs: int = 5
    epoch_steps: int = 31_250
    learning_rate: float = 0.1
    decay: float = 0.95
    shrink: float = 0.5
    beta: float = 0.01
    frequent: int = 50_000
    criterion_words: int = 10_000
    refinements: int = 5
    refinement_words: int = 15_000


def discriminator(dim: int, settings: AdversarialSettings) -> nn.Module:
    """Return what tells whether a vector is a language's own or was mapped into its space (§2.1).

    From vectors ``(batch, dim)`` to a logit each, ``(batch, 1)``: above 0 for its own.
    """
    return nn.Sequential(
        nn.Dropout(settings.input_dropout),
        nn.Linear(dim, settings.hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(settings.hidden, settings.hidden),
        nn.LeakyReLU(0.2),
        nn.Linear(settings.hidden, 1),
    )


def origin_loss(logits: Tensor, own: bool, smoothing: float) -> Tensor:
    """Return the mean cross-entropy of calling all vectors a language's own, or mapped.

    Args:
        logits: of the discriminator. ``(batch, 1)``
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
    """Draw a batch of the most frequent words, ``(batch, dim)``, from torch's global generator.

    Args:
        x: rows of length 1, ``(n, dim)``; the discriminator sees them at length √dim.
        settings: how many, from how many.
    """
    words = min(settings.frequent, len(x))
    rows = torch.randint(words, (settings.batch_size,), device=x.device)
    return x[rows] * x.shape[1] ** 0.5


@torch.no_grad()
def criterion(x: Tensor, y: Tensor, words: int) -> float:
    """Return the mean cosine of the most frequent words of x and their translations by CSLS.

    It is the unsupervised criterion of a map (Conneau et al. 2018, §3.4).

    Args:
        x: mapped, rows of length 1, most frequent first, ``(n, dim)``.
        y: likewise, ``(m, dim)``.
        words: most frequent words of either.
    """
    x, y = x[:words], y[:words]
    return float((x * y[retrieve(x, y)]).sum(1).mean())


def muse(x: Tensor, y: Tensor, settings: AdversarialSettings, seed: int = 0) -> Tensor:
    """Learn an orthogonal map of one space into another without supervision: MUSE.

    It is UMWE of two languages with a discriminator in the second's space alone, and a criterion of
    one direction.

    Args:
        x: rows of length 1, most frequent word first, ``(n, dim)``.
        y: likewise, ``(m, dim)``.
        settings: of training and refinement.
        seed: of every random draw.

    Returns:
        The map with the highest criterion, ``(dim, dim)``.
    """
    return _learnt((x, y), (1,), ((0, 1),), settings, seed)[0]


def umwe(spaces: Sequence[Tensor], settings: AdversarialSettings, seed: int = 0) -> list[Tensor]:
    """Learn orthogonal maps of several languages into the space of the last, unsupervised: UMWE.

    Each language l has an orthogonal map into the common space, so that its transpose leads back,
    and a discriminator that tells the language's own words from words of the others that were led
    there. The common space is that of the last language, whose map stays the identity.

    Args:
        spaces: rows of length 1, most frequent word first, each ``(words, dim)``.
        settings: those of MUSE.
        seed: of every random draw.

    Returns:
        The maps of the round with the highest criterion, each ``(dim, dim)``: the mean of the
        criterion of MUSE over all ordered pairs of languages.
    """
    every = range(len(spaces))
    return _learnt(spaces, every, list(permutations(every, 2)), settings, seed)


def _learnt(
    spaces: Sequence[Tensor],
    judged: Sequence[int],
    compared: Sequence[tuple[int, int]],
    settings: AdversarialSettings,
    seed: int,
) -> list[Tensor]:
    """Train maps into the space of the last language, then refine them.

    Args:
        spaces: per language its vectors.
        judged: the languages that have a discriminator.
        compared: the ordered pairs of languages that the criterion is averaged over.
        settings: of both.
        seed: of every random draw.
    """

    @torch.no_grad()
    def reached(maps: Sequence[Tensor]) -> float:
        words = settings.criterion_words
        common = [normalize(x[:words] @ w, dim=1) for x, w in zip(spaces, maps)]
        return fmean(criterion(common[i], common[j], words) for i, j in compared)

    with torch.random.fork_rng(devices=[spaces[0].device] if spaces[0].is_cuda else []):
        torch.manual_seed(seed)
        maps = _adversarial(spaces, judged, settings, reached)
    return refined(spaces, maps, settings, reached)


def _adversarial(
    spaces: Sequence[Tensor], judged: Sequence[int], settings: AdversarialSettings, reached: Score
) -> list[Tensor]:
    """Train maps against discriminators in turns (Algorithm 1 of UMWE; MUSE is its simplest case).

    Returns:
        The orthogonal matrices nearest to the maps of the best epoch.
    """
    dim, device = spaces[0].shape[1], spaces[0].device
    maps = [nn.Parameter(torch.eye(dim, device=device)) for _ in spaces]
    judges = nn.ModuleList(discriminator(dim, settings) for _ in judged).to(device)

    def led(into: int) -> Tensor:
        """Draw words of another language, led through the common space into one, (batch, dim)."""
        origin = _other(into, len(spaces))
        return draw(spaces[origin], settings) @ maps[origin] @ maps[into].T

    def judge_loss() -> Tensor:
        """Let each discriminator tell its language's words from those led to it (Eq. 3)."""
        total = torch.zeros((), device=device)
        for number, judge in zip(judged, judges):
            mapped = led(number).detach()
            total = total + origin_loss(judge(mapped), False, settings.smoothing)
            words = draw(spaces[number], settings)
            total = total + origin_loss(judge(words), True, settings.smoothing)
        return total

    def map_loss() -> Tensor:
        """Let them be wrong (Eq. 4); a language's own words have no part in it."""
        total = torch.zeros((), device=device)
        for number, judge in zip(judged, judges):
            total = total + origin_loss(judge(led(number)), True, settings.smoothing)
        return total

    trained, rate = maps[:-1], settings.learning_rate
    of_judges = torch.optim.SGD(judges.parameters(), lr=rate)
    of_maps = torch.optim.SGD(trained, lr=rate)
    best, history = [w.detach().clone() for w in maps], []
    for _ in range(settings.epochs):
        for _ in range(settings.epoch_steps):
            of_judges.zero_grad()
            judge_loss().backward()  # type: ignore[no-untyped-call]
            of_judges.step()
            # A language that was not drawn has no part in this step's loss but by the way back.
            gradients = torch.autograd.grad(map_loss(), trained, allow_unused=True)
            for w, gradient in zip(trained, gradients):
                w.grad = gradient
            of_maps.step()
            for w in trained:
                orthogonalise(w, settings.beta)
        history.append(reached(maps))
        rate *= settings.decay
        if history[-1] >= max(history):
            best = [w.detach().clone() for w in maps]
        else:
            rate *= settings.shrink
        for group in (*of_judges.param_groups, *of_maps.param_groups):
            group["lr"] = rate
    return [nearest_orthogonal(w) for w in best]


def _other(number: int, languages: int) -> int:
    """Draw a language other than ``number``.

    (The paper draws any language, itself too; of itself nothing is learnt where W Wᵀ = I.)
    """
    drawn = int(torch.randint(languages - 1, ())) if languages > 2 else 0
    return drawn + (drawn >= number)


@torch.no_grad()
def refined(
    spaces: Sequence[Tensor], maps: list[Tensor], settings: AdversarialSettings, reached: Score
) -> list[Tensor]:
    """Refine all maps on the mutual nearest neighbours of all pairs of languages (§3.2).

    The loss is the sum over pairs of ‖Xᵢ Wᵢ − Xⱼ Wⱼ‖². With the other maps held, that of one
    language is an orthogonal Procrustes problem: the languages are solved one after the other.

    Returns:
        The maps of the round with the highest criterion.
    """
    best, highest = maps, reached(maps)
    for _ in range(settings.refinements):
        maps = list(maps)
        pairs = dictionaries(spaces, maps, settings.refinement_words)
        for number in range(len(maps) - 1):
            maps[number] = _solved(spaces, maps, pairs, number)
        if (now := reached(maps)) > highest:
            best, highest = maps, now
    return best


def dictionaries(
    spaces: Sequence[Tensor], maps: Sequence[Tensor], words: int
) -> dict[tuple[int, int], Tensor]:
    """Return the mutual nearest neighbours by CSLS of every pair of languages (i, j), i < j."""
    common = [normalize(x[:words] @ w, dim=1) for x, w in zip(spaces, maps)]
    return {(i, j): mutual(common[i], common[j]) for i, j in combinations(range(len(common)), 2)}


def _solved(
    spaces: Sequence[Tensor],
    maps: Sequence[Tensor],
    dictionaries: Mapping[tuple[int, int], Tensor],
    number: int,
) -> Tensor:
    """Return the orthogonal map of one language that fits all others best."""
    # shape: (dim, dim)
    covariance = torch.zeros_like(maps[number])
    for (i, j), pairs in dictionaries.items():
        if number in (i, j):
            side, other = (0, j) if number == i else (1, i)
            # shape of goal: (pairs, dim)
            goal = spaces[other][pairs[:, 1 - side]] @ maps[other]
            covariance += spaces[number][pairs[:, side]].T @ goal
    return nearest_orthogonal(covariance)
