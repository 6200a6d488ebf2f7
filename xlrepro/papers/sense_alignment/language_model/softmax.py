"""The loss of Eq. 4, 6 and 7: over all senses, or over a sample of them."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from xlrepro.papers.sense_alignment.language_model.settings import SoftmaxSettings


@dataclass(frozen=True)
class Gold:
    """The senses that tokens are to be predicted as; numbers are ``word * slots + sense``.

    Attributes:
        sense: of each token. ``(tokens,)``
        translation: sense of its translation, -1 where it has none; None in one language.
            ``(tokens,)``
        others: further senses that a sampled sum must hold, -1 padded; the gold ones may be among
            them. ``(tokens, any number)``
    """

    sense: Tensor
    translation: Tensor | None = None
    others: Tensor | None = None


def full_loss(
    states: Tensor,
    vectors: Tensor,
    bias: Tensor | None,
    sense: Tensor,
    translation: Tensor | None = None,
) -> Tensor:
    """Return the mean joint loss (Eq. 7) with the sum over all enabled senses (Eq. 3 and 5).

    Args:
        states: those that predict. ``(tokens, dim)``
        vectors: of the enabled senses. ``(enabled, dim)``
        bias: of the enabled senses, or None. ``(enabled, 1)``
        sense: row of each token's sense. ``(tokens,)``
        translation: row of its translation's sense, -1 where it has none. ``(tokens,)``
    """
    # shape: (tokens, enabled)
    logits = states @ vectors.T if bias is None else torch.addmm(bias.T, states, vectors.T)
    scores = logits.log_softmax(-1)
    # shape: (tokens,)
    right = scores.gather(1, sense.unsqueeze(1)).squeeze(1)
    if translation is not None:
        there = translation >= 0
        other = scores.gather(1, translation.clamp(min=0).unsqueeze(1)).squeeze(1)
        right = torch.where(there, (right + other) / 2, right)
    return -right.mean()


def columns(gold: Gold) -> Tensor:
    """Return what the sum of each token holds besides negatives, without repetitions.

    Returns:
        ``(tokens, n)``: first the gold sense, then the gold translation where there are two
        languages, then others; -1 for nothing and for what stands further left already.
    """
    # shape: (tokens, 1), (tokens, 1) and (tokens, others)
    parts = [gold.sense.unsqueeze(1)]
    if gold.translation is not None:
        parts.append(gold.translation.unsqueeze(1))
    parts += [] if gold.others is None else [gold.others]
    senses = torch.cat(parts, 1)
    for place in range(1, senses.shape[1]):
        again = (senses[:, :place] == senses[:, place : place + 1]).any(1)
        senses[:, place].masked_fill_(again, -1)
    return senses


def sampled_loss(
    states: Tensor,
    own: Tensor,
    own_vectors: Tensor,
    negative_vectors: Tensor,
    own_bias: Tensor | None,
    negative_bias: Tensor | None,
    negatives: Tensor,
    correction: Tensor | None,
    two: bool,
) -> Tensor:
    """Return the mean joint loss with the sum over each token's own senses and the negatives.

    Args:
        states: ``(tokens, dim)``
        own: :func:`columns` of the tokens. ``(tokens, n)``
        own_vectors: of these senses. ``(tokens, n, dim)``
        negative_vectors: of the negatives. ``(negatives, dim)``
        own_bias: ``(tokens, n)``, or None.
        negative_bias: ``(negatives,)``, or None.
        negatives: their numbers; one that is a token's own does not count twice. ``(negatives,)``
        correction: logarithm of how often each is expected among them, or None. ``(negatives,)``
        two: whether the second column is the gold translation.
    """
    # shape: (tokens, n) and (tokens, negatives)
    mine = torch.einsum("nd,nad->na", states, own_vectors)
    others = states @ negative_vectors.T
    if own_bias is not None and negative_bias is not None:
        mine, others = mine + own_bias, others + negative_bias
    if correction is not None:
        others = others - correction
    mine = mine.masked_fill(own < 0, -torch.inf)
    others = others.masked_fill(_repeated(own, negatives), -torch.inf)
    # shape: (tokens,), both
    total = torch.logaddexp(mine.logsumexp(-1), others.logsumexp(-1))
    right = mine[:, 0]
    if two:
        there = own[:, 1] >= 0
        right = torch.where(there, (right + mine[:, 1].masked_fill(~there, 0)) / 2, right)
    return (total - right).mean()


def _repeated(own: Tensor, negatives: Tensor) -> Tensor:
    """Return where a negative is one of a token's own senses, ``(tokens, negatives)``."""
    ordered, order = negatives.sort()
    mask = torch.zeros(len(own), len(negatives), dtype=torch.bool, device=own.device)
    # shape: (tokens, n); where a sense would stand among the ordered negatives
    first = torch.searchsorted(ordered, own)
    # A negative that was drawn several times stands several times in a row.
    for place in range(int(ordered.unique_consecutive(return_counts=True)[1].max())):
        at = (first + place).clamp(max=len(negatives) - 1)
        row, column = (ordered[at] == own).nonzero(as_tuple=True)
        mask[row, order[at[row, column]]] = True
    return mask


class Sampler:
    """Draws negatives among the enabled senses.

    Args:
        enabled: ``(words, slots)``, words in the order of their frequency.
        settings: how many, and how.

    Attributes:
        rows: numbers of all enabled senses. ``(enabled,)``
        place: of each number its place in ``rows``, -1 where it is off. ``(words * slots,)``
    """

    def __init__(self, enabled: Tensor, settings: SoftmaxSettings) -> None:
        flat = enabled.cpu().numpy()
        self.settings = settings
        self.numbers = np.flatnonzero(flat)
        self.rows = torch.from_numpy(self.numbers)
        self.place = torch.full((flat.size,), -1)
        self.place[self.rows] = torch.arange(len(self.rows))
        self._words, self._slots = flat.shape
        self._alive = flat.sum(1)

    def draw(self, seed: list[int]) -> tuple[Tensor, Tensor | None]:
        """Return numbers of senses, ``(negatives,)``, and their correction or None.

        Uniform: distinct ones, all of them where there are fewer than asked for. Log-uniform:
        word of rank r with probability ``log((r + 2) / (r + 1)) / log(V + 1)``, then one of its
        senses; with repetition.
        """
        random, wanted = np.random.default_rng(seed), self.settings.negatives
        if self.settings.sampler == "uniform":
            count = min(wanted, len(self.numbers))
            places = random.choice(len(self.numbers), count, replace=False, shuffle=False)
            negatives = torch.from_numpy(self.numbers[places])
            expected = torch.full((count,), float(np.log(count / len(self.numbers))))
        else:
            negatives, expected = self._log_uniform(random, wanted)
        return negatives, expected if self.settings.corrected else None

    def _log_uniform(self, random: np.random.Generator, wanted: int) -> tuple[Tensor, Tensor]:
        total = np.log(self._words + 1)
        rank = (np.exp(random.random(wanted) * total) - 1).astype(np.int64)
        rank = rank.clip(0, self._words - 1)
        # Enabled senses of word r are numbers[starts[r] : starts[r] + alive[r]].
        starts = np.cumsum(self._alive) - self._alive
        pick = (random.random(wanted) * self._alive[rank]).astype(np.int64)
        chance = np.log((rank + 2) / (rank + 1)) / total / self._alive[rank]
        negatives = torch.from_numpy(self.numbers[starts[rank] + pick])
        return negatives, torch.from_numpy(np.log(wanted * chance))
