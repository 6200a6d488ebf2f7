"""UMWE: several languages mapped into one space together, without any dictionary.

Reference:
    Chen and Cardie (2018), Unsupervised multilingual word embeddings. §3.1 multilingual
    adversarial training, §3.2 multilingual pseudo-supervised refinement.

Each language l has an orthogonal map into the common space, so that its transpose leads back, and
a discriminator that tells the language's own words from words of the others that were led there.
The common space is that of one language, whose map stays the identity.
"""

import time
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

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

Maps = dict[str, Tensor]


def umwe(
    x: Mapping[str, Space],
    y: Space,
    *,
    pairs: Pairs | None = None,
    settings: AdversarialSettings | None = None,
    seed: int = 0,
    device: str = "cpu",
    check: Mapping[str, Pairs] | None = None,
) -> dict[str, Mapped]:
    """Learn orthogonal maps of several languages into the space of one, without supervision.

    Args:
        x: the spaces that are mapped, by language.
        y: the space that they are mapped into.
        pairs: not looked at; it is there for the common call shape.
        settings: see :class:`~xlrepro.embeddings.mappings.adversarial.AdversarialSettings`.
        seed: of the discriminators, the drawn words and their dropout.
        device: ``"cpu"`` or ``"cuda"``.
        check: per language (row of its space, row of y): a dictionary to tell collapse by.

    Returns:
        Per language of x its map and report: those of the round with the highest criterion, the
        mean of the criterion of MUSE over all ordered pairs of languages. ``seconds`` and ``steps``
        are those of the whole, for each language alike.
    """
    chosen = settings or AdversarialSettings()
    started = time.perf_counter()
    # The common space's language comes last and has no name of its own in the result.
    spaces = [torch.from_numpy(np.array(s.matrix)).to(device) for s in (*x.values(), y)]
    devices = [spaces[0].device] if spaces[0].is_cuda else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        maps, history = _adversarial(spaces, chosen)
    maps, sizes, more = _refine(spaces, maps, chosen)
    steps = chosen.epochs * chosen.epoch_steps + len(more)
    return {
        code: report_of(
            "UMWE", x[code], y, (w.cpu().numpy(), None), pairs=size, steps=steps, started=started,
            history=history + more, device=device, unsupervised=True, check=(check or {}).get(code),
        )
        for code, w, size in zip(x, maps, sizes)
    }  # fmt: skip


def _adversarial(
    spaces: Sequence[Tensor], settings: AdversarialSettings
) -> tuple[list[Tensor], list[float]]:
    """Train all maps against all discriminators (Algorithm 1); return the best epoch's maps."""
    dim, device = spaces[0].shape[1], spaces[0].device
    maps = [nn.Parameter(torch.eye(dim, device=device)) for _ in spaces]
    maps[-1].requires_grad_(False)
    judges = nn.ModuleList(
        Discriminator(dim, settings.hidden, settings.input_dropout) for _ in spaces
    ).to(device)
    rate = settings.learning_rate
    of_judges = torch.optim.SGD(judges.parameters(), lr=rate)
    of_maps = torch.optim.SGD(maps[:-1], lr=rate)
    best, history = [w.detach().clone() for w in maps], []
    for _ in range(settings.epochs):
        for _ in range(settings.epoch_steps):
            for _ in range(settings.discriminator_steps):
                _discriminator_step(spaces, maps, judges, of_judges, settings)
            _map_step(spaces, maps, judges, of_maps, settings)
        history.append(mean_criterion(spaces, maps, settings.criterion_words))
        rate *= settings.decay
        if history[-1] >= max(history):
            best = [w.detach().clone() for w in maps]
        else:
            rate *= settings.shrink
        for group in (*of_judges.param_groups, *of_maps.param_groups):
            group["lr"] = rate
    return [nearest_orthogonal(w) for w in best], history


def _other(number: int, languages: int) -> int:
    """Draw a language other than ``number``.

    (The paper draws any language, itself too; of itself nothing is learnt where W Wᵀ = I.)
    """
    drawn = int(torch.randint(languages - 1, ()))
    return drawn + (drawn >= number)


def _draw(x: Tensor, settings: AdversarialSettings) -> Tensor:
    rows = frequent_words(min(settings.frequent, len(x)), settings.batch_size, x.device)
    return x[rows] * x.shape[1] ** 0.5


def _led(
    spaces: Sequence[Tensor], maps: Sequence[Tensor], into: int, settings: AdversarialSettings
) -> Tensor:
    """Return words of a drawn language led through the common space into language ``into``."""
    origin = _other(into, len(spaces))
    return _draw(spaces[origin], settings) @ maps[origin] @ maps[into].T


def _discriminator_step(
    spaces: Sequence[Tensor],
    maps: Sequence[Tensor],
    judges: nn.ModuleList,
    optimiser: torch.optim.Optimizer,
    settings: AdversarialSettings,
) -> None:
    """Let each language's discriminator tell its own words from those led into its space."""
    total = torch.zeros((), device=spaces[0].device)
    for number, judge in enumerate(judges):
        with torch.no_grad():
            led = _led(spaces, maps, number, settings)
        total = total + origin_loss(judge(led), False, settings.smoothing)
        own = _draw(spaces[number], settings)
        total = total + origin_loss(judge(own), True, settings.smoothing)
    optimiser.zero_grad()
    total.backward()
    optimiser.step()


def _map_step(
    spaces: Sequence[Tensor],
    maps: list[nn.Parameter],
    judges: nn.ModuleList,
    optimiser: torch.optim.Optimizer,
    settings: AdversarialSettings,
) -> None:
    """Move all maps so that the discriminators are wrong, then towards orthogonality."""
    total = torch.zeros((), device=spaces[0].device)
    for number, judge in enumerate(judges):
        led = _led(spaces, maps, number, settings)
        total = total + origin_loss(judge(led), True, settings.smoothing)
    # A language that was not drawn has no part in this step's loss but by the way back.
    gradients = torch.autograd.grad(total, maps[:-1], allow_unused=True)
    for w, gradient in zip(maps[:-1], gradients):
        w.grad = gradient
    optimiser.step()
    for w in maps[:-1]:
        orthogonalise(w, settings.beta)


@torch.no_grad()
def mean_criterion(spaces: Sequence[Tensor], maps: Sequence[Tensor], words: int) -> float:
    """Return the criterion of MUSE, averaged over all ordered pairs of languages.

    Args:
        spaces: vectors per language. each ``(words, dim)``
        maps: of each into the common space. each ``(dim, dim)``
        words: most frequent words that are asked for.
    """
    common = [normalize(x[:words] @ w, dim=1) for x, w in zip(spaces, maps)]
    pairs = [
        mean_cosine(a, b, words)
        for number, a in enumerate(common)
        for other, b in enumerate(common)
        if number != other
    ]
    return sum(pairs) / len(pairs)


@torch.no_grad()
def _refine(
    spaces: Sequence[Tensor], maps: list[Tensor], settings: AdversarialSettings
) -> tuple[list[Tensor], list[int], list[float]]:
    """Refine all maps on the mutual nearest neighbours of all pairs of languages (§3.2).

    The loss is the sum over pairs of ‖Xᵢ Wᵢ − Xⱼ Wⱼ‖². With the other maps held, that of one
    language is an orthogonal Procrustes problem: the languages are solved one after the other.

    Returns:
        The maps of the round with the highest criterion, the sizes of their dictionaries, and the
        criterion after each round.
    """
    maps = list(maps)
    best, sizes = list(maps), [0] * len(maps)
    highest = mean_criterion(spaces, maps, settings.criterion_words)
    history: list[float] = []
    for _ in range(settings.refinements):
        found = dictionaries(spaces, maps, settings.refinement_words)
        for number in range(len(maps) - 1):
            maps[number] = _solved(spaces, maps, found, number)
        history.append(mean_criterion(spaces, maps, settings.criterion_words))
        if history[-1] > highest:
            best, highest = list(maps), history[-1]
            sizes = [sum(len(p) for key, p in found.items() if n in key) for n in range(len(maps))]
    return best, sizes, history


def dictionaries(
    spaces: Sequence[Tensor], maps: Sequence[Tensor], words: int
) -> dict[tuple[int, int], Tensor]:
    """Return the mutual nearest neighbours by CSLS of every pair of languages (i, j), i < j."""
    common = [normalize(x[:words] @ w, dim=1) for x, w in zip(spaces, maps)]
    return {
        (i, j): translate(common[i], common[j]).mutual()
        for i in range(len(common))
        for j in range(i + 1, len(common))
    }


def _solved(
    spaces: Sequence[Tensor],
    maps: Sequence[Tensor],
    found: Mapping[tuple[int, int], Tensor],
    number: int,
) -> Tensor:
    """Return the orthogonal map of one language that fits all others best."""
    covariance = torch.zeros_like(maps[number])
    for (i, j), pairs in found.items():
        if number in (i, j):
            own, other = (0, j) if number == i else (1, i)
            goal = spaces[other][pairs[:, 1 - own]] @ maps[other]
            covariance += spaces[number][pairs[:, own]].T @ goal
    return nearest_orthogonal(covariance)
