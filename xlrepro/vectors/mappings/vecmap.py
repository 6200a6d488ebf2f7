"""VecMap: both spaces mapped into a common one, with the dictionary learnt alongside.

Reference:
    Artetxe et al. (2018), A robust self-learning method for fully unsupervised cross-lingual
    mappings of word embeddings (ACL). §3.2 unsupervised first dictionary, §3.3 self-learning with
    stochastic dictionary induction and CSLS, §3.4 symmetric re-weighting, whose whitening is that
    of Artetxe et al. (2018), Generalizing and improving bilingual word embedding mappings with a
    multi-step framework of linear transformations (AAAI).
"""

import time
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import normalize

from xlrepro.errors import SettingsError
from xlrepro.vectors.mappings.collapse import report_of
from xlrepro.vectors.mappings.csls import translate
from xlrepro.vectors.mappings.spaces import Mapped, MappingProblem, same_strings


@dataclass(frozen=True)
class VecMapSettings:
    """Settings of :func:`vecmap`; the defaults are the paper's.

    Attributes:
        start: the first dictionary: words spelt alike, words with similar distributions of
            similarities (unsupervised), or the pairs that are given.
        frequent: most frequent words of each side that dictionaries are induced from.
        start_words: the same, for the unsupervised first dictionary.
        keep: first probability that an entry of the similarity matrix is looked at.
        growth: factor of that probability when the objective has stopped growing.
        patience: rounds without growth that count as having stopped.
        threshold: the least growth.
        most_rounds: end of self-learning, whatever the objective does.
        reweight: power of the singular values by which both sides are re-weighted at the end; 0 is
            an orthogonal map.
        whiten: whiten both sides before the last solution, and undo it after.
    """

    start: Literal["identical", "unsupervised", "pairs"] = "identical"
    frequent: int = 20_000
    start_words: int = 4_000
    keep: float = 0.1
    growth: float = 2.0
    patience: int = 50
    threshold: float = 1e-6
    most_rounds: int = 1_000
    reweight: float = 0.5
    whiten: bool = True


def vecmap(problem: MappingProblem, settings: VecMapSettings | None = None) -> Mapped:
    """Learn a map and a dictionary in turns; with re-weighting the target is mapped too.

    Its pairs are looked at with ``start="pairs"`` only; its seed is that of stochastic dictionary
    induction.

    Returns:
        The map and its report. Self-learning replaces the first dictionary, so it can collapse
        whatever it starts from; its history is the objective of each round.

    Raises:
        SettingsError: for an unknown start, or if the first dictionary is empty.
    """
    settings = settings or VecMapSettings()
    started = time.perf_counter()
    x, y = problem.vectors()
    first = _first_dictionary(problem, x, y, settings)
    generator = torch.Generator(device=x.device).manual_seed(problem.seed)
    pairs, history = _self_learning(x, y, first, settings, generator)
    w, w_target = solve(x, y, pairs, reweight=settings.reweight, whiten=settings.whiten)
    return report_of(
        "VecMap", problem, (w.cpu().numpy(), w_target.cpu().numpy()), pairs=len(pairs),
        steps=len(history), started=started, history=history, unsupervised=True,
    )  # fmt: skip


def _first_dictionary(
    problem: MappingProblem, x: Tensor, y: Tensor, settings: VecMapSettings
) -> Tensor:
    if settings.start == "unsupervised":
        return similar_distributions(x[: settings.start_words], y[: settings.start_words])
    if settings.start == "pairs":
        rows = problem.seed_rows("VecMap with start='pairs'")
    elif settings.start == "identical":
        rows = same_strings(problem.x, problem.y)
        if not len(rows):
            raise SettingsError(
                "VecMap found no word that both languages spell alike: use start='unsupervised'"
            )
    else:
        raise SettingsError(f"VecMap has no start {settings.start!r}: see VecMapSettings")
    return torch.from_numpy(rows).to(x.device)


def similar_distributions(x: Tensor, y: Tensor) -> Tensor:
    """Return the unsupervised first dictionary (§3.2), int64 ``(n + m, 2)``.

    A word is described by its similarities to the words of its own language, sorted; equivalent
    words should have like distributions. Similarities are those of the square root of X Xᵀ.

    Args:
        x: most frequent words of one language, rows of length 1, ``(n, dim)``.
        y: of the other, ``(m, dim)``; both are cut to the same number.
    """
    words = min(len(x), len(y))
    described = []
    for vectors in (x[:words], y[:words]):
        u, s, _ = torch.linalg.svd(vectors, full_matrices=False)
        similarities = ((u * s) @ u.T).sort(dim=1).values  # shape: (words, words)
        unit = normalize(similarities, dim=1)
        described.append(normalize(unit - unit.mean(dim=0), dim=1))
    of_x, of_y = described
    return translate(of_x, of_y).both_ways()


def _self_learning(
    x: Tensor, y: Tensor, pairs: Tensor, settings: VecMapSettings, generator: torch.Generator
) -> tuple[Tensor, list[float]]:
    """Solve and induce in turns (§3.3); return the last dictionary and all objectives."""
    keep, best, idle = settings.keep, float("-inf"), 0
    history: list[float] = []
    frequent_x, frequent_y = x[: settings.frequent], y[: settings.frequent]
    for _ in range(settings.most_rounds):
        w, w_target = solve(x, y, pairs)
        # shape: (frequent, dim), in the common space
        a, b = normalize(frequent_x @ w, dim=1), normalize(frequent_y @ w_target, dim=1)
        induced = translate(a, b, keep=keep, generator=generator)
        pairs = induced.both_ways()
        # The mean similarity of the induced dictionary, both directions.
        cosines = torch.cat([induced.forward_cosine, induced.backward_cosine])
        history.append(float(cosines.mean()))
        idle = 0 if history[-1] > best + settings.threshold else idle + 1
        best = max(best, history[-1])
        if idle >= settings.patience:
            if keep >= 1:
                break
            keep, idle = min(1.0, settings.growth * keep), 0
    return pairs, history


def solve(
    x: Tensor, y: Tensor, pairs: Tensor, *, reweight: float = 0.0, whiten: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the maps of both sides for a dictionary, each ``(dim, dim)``.

    Args:
        x: ``(n, dim)``.
        y: ``(m, dim)``.
        pairs: (row of x, row of y), int64 ``(pairs, 2)``.
        reweight: power of the singular values on each side; 0.5 on both is symmetric.
        whiten: whiten before, and undo it after, each side by its own covariance.
    """
    # shape of both: (pairs, dim)
    a, b = x[pairs[:, 0]].double(), y[pairs[:, 1]].double()
    eye = torch.eye(a.shape[1], dtype=a.dtype, device=a.device)
    (white_x, back_x), (white_y, back_y) = (
        (_whitening(side) if whiten else (eye, eye)) for side in (a, b)
    )
    # shape: (dim, dim), (dim,) and (dim, dim)
    u, s, vh = torch.linalg.svd((a @ white_x).T @ (b @ white_y))
    weights = s**reweight
    w = white_x @ (u * weights) @ (u.T @ back_x @ u)
    w_target = white_y @ (vh.T * weights) @ (vh @ back_y @ vh.T)
    return w.to(x.dtype), w_target.to(x.dtype)


def _whitening(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return (XᵀX)^(−1/2) and its inverse; directions without variance stay as they are."""
    values, vectors = torch.linalg.eigh(x.T @ x)
    roots = torch.where(values > values.max() * 1e-8, values, torch.ones_like(values)).sqrt()
    return (vectors / roots) @ vectors.T, (vectors * roots) @ vectors.T
