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


def umwe(
    problems: Mapping[str, MappingProblem], settings: AdversarialSettings | None = None
) -> dict[str, Mapped]:
    """Learn orthogonal maps of several languages into the space of one, without supervision.

    Args:
        problems: by language; all have the same ``y``, seed and device.
        settings: those of MUSE.

    Returns:
        Per language its map and report: those of the round with the highest criterion, the
        mean of the criterion of MUSE over all ordered pairs of languages. ``seconds`` and ``steps``
        are those of the whole, for each language alike.
    """
    settings = settings or AdversarialSettings()
    started = time.perf_counter()
    pairs = [problem.vectors() for problem in problems.values()]
    # The common space's language comes last and has no name of its own in the result.
    spaces = [*(x for x, _ in pairs), pairs[0][1]]
    with torch.random.fork_rng(devices=[spaces[0].device] if spaces[0].is_cuda else []):
        torch.manual_seed(next(iter(problems.values())).seed)
        maps, history = _adversarial(spaces, settings)
    maps, sizes, more = _refine(spaces, maps, settings)
    steps = settings.epochs * settings.epoch_steps + len(more)
    return {
        code: report_of(
            "UMWE", problem, (w.cpu().numpy(), None), pairs=size, steps=steps, started=started,
            history=history + more, unsupervised=True,
        )
        for (code, problem), w, size in zip(problems.items(), maps, sizes)
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

    def led(into: int) -> Tensor:
        """Draw words of another language, led through the common space into one, (batch, dim)."""
        origin = _other(into, len(spaces))
        return draw(spaces[origin], settings) @ maps[origin] @ maps[into].T

    def judge_loss() -> Tensor:
        """Let each discriminator tell its language's words from those led into its space."""
        total = torch.zeros((), device=device)
        for number, judge in enumerate(judges):
            mapped = led(number).detach()
            total = total + origin_loss(judge(mapped), False, settings.smoothing)
            words = draw(spaces[number], settings)
            total = total + origin_loss(judge(words), True, settings.smoothing)
        return total

    def map_loss() -> Tensor:
        """Let the discriminators be wrong."""
        total = torch.zeros((), device=device)
        for number, judge in enumerate(judges):
            total = total + origin_loss(judge(led(number)), True, settings.smoothing)
        return total

    def reached() -> float:
        return mean_criterion(spaces, maps, settings.criterion_words)

    return play(maps, judges, settings, judge_loss, map_loss, reached)


def _other(number: int, languages: int) -> int:
    """Draw a language other than ``number``.

    (The paper draws any language, itself too; of itself nothing is learnt where W Wᵀ = I.)
    """
    drawn = int(torch.randint(languages - 1, ()))
    return drawn + (drawn >= number)


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
        criterion(a, b, words)
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
        pairs = dictionaries(spaces, maps, settings.refinement_words)
        for number in range(len(maps) - 1):
            maps[number] = _solved(spaces, maps, pairs, number)
        history.append(mean_criterion(spaces, maps, settings.criterion_words))
        if history[-1] > highest:
            best, highest = list(maps), history[-1]
            sizes = [sum(len(p) for key, p in pairs.items() if n in key) for n in range(len(maps))]
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
