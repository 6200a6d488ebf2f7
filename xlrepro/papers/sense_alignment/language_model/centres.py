"""Algorithm 1: which sense a word has in its context, and how the sense's centre follows."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

Project = Callable[[Tensor], Tensor]
SMALLEST_SCALE = 1e-6  # below it the common factor of all centres is multiplied in


class SenseCentres(nn.Module):
    """A centre per word and sense, moved by the states that choose it and by no gradient.

    Args:
        words: V.
        slots: senses per word.
        dim: width of a state.
        sigma: standard deviation of the first centres.
        truncated: whether they are drawn within two standard deviations.
        rate: a.
        decayed: the code's update instead of the text's; see ``SenseSettings.centres``.

    Attributes:
        values: ``(words, slots, dim)``, to be multiplied by ``scale``.
        scale: what all centres have shrunk to by the code's update; 1 by the text's.
    """

    values: Tensor
    scale: Tensor

    def __init__(
        self,
        words: int,
        slots: int,
        dim: int,
        sigma: float = 16.0,
        truncated: bool = False,
        rate: float = 0.01,
        decayed: bool = False,
    ) -> None:
        super().__init__()
        values = torch.empty(words, slots, dim)
        if truncated:
            nn.init.trunc_normal_(values, std=sigma, a=-2 * sigma, b=2 * sigma)
        else:
            nn.init.normal_(values, std=sigma)
        self.register_buffer("values", values)
        self.register_buffer("scale", torch.ones((), dtype=torch.float64))
        self.rate = rate
        self.decayed = decayed

    def centres(self) -> Tensor:
        """Return all centres as they are, ``(words, slots, dim)``: for tests and figures."""
        return self.values * self.scale.to(self.values.dtype)

    @torch.no_grad()
    def similarities(
        self, words: Tensor, states: Tensor, project: Project, enabled: Tensor
    ) -> Tensor:
        """Return the cosine of each state with the centres of its words, after projection.

        Centres are looked up once per distinct word: nothing has the size of the vocabulary.

        Args:
            words: ``(tokens, candidates)``; -1 where a token has fewer candidates.
            states: ``(tokens, dim)``.
            project: projects states and centres, ``(…, dim)`` to ``(…, reduced)``.
            enabled: False where a sense is switched off or given up. ``(V, slots)``

        Returns:
            ``(tokens, candidates, slots)``, -inf for senses that are off and for no candidate.
        """
        there = words >= 0
        kinds, place = words.clamp(min=0).unique(return_inverse=True)
        # shape: (kinds, slots, reduced)
        own = self.values[kinds]
        if self.decayed:
            own = own * self.scale.to(own.dtype)
        reduced = functional.normalize(project(own), dim=-1)
        seen = functional.normalize(project(states), dim=-1)
        cosines = torch.einsum("ncsr,nr->ncs", reduced[place], seen)
        allowed = enabled[kinds][place] & there.unsqueeze(-1)
        return cosines.masked_fill(~allowed, -torch.inf)

    def choose(self, words: Tensor, states: Tensor, project: Project, enabled: Tensor) -> Tensor:
        """Return the sense of each word in its context, ``(tokens,)``; first of equals."""
        cosines = self.similarities(words.unsqueeze(1), states, project, enabled)
        return cosines[:, 0].argmax(-1)

    def choose_translation(
        self, words: Tensor, states: Tensor, project: Project, enabled: Tensor
    ) -> Tensor:
        """Return the number ``word * slots + sense`` of each token's translation in context.

        Args:
            words: translations of each token, -1 padded. ``(tokens, T)``
            states: ``(tokens, dim)``.
            project: projects states and centres.
            enabled: ``(V, slots)``.

        Returns:
            ``(tokens,)``, -1 for a token without translation.
        """
        slots = enabled.shape[1]
        cosines = self.similarities(words, states, project, enabled)
        best = cosines.flatten(1).argmax(-1, keepdim=True)
        word = words.gather(1, best // slots)
        return torch.where(word < 0, -1, word * slots + best % slots).squeeze(1)

    @torch.no_grad()
    def place(self, words: Tensor, states: Tensor, step: int, first: int = 0) -> None:
        """Put states, ``(tokens, dim)``, where centres of their words are, the old ones forgotten.

        Which centre of a word depends on the token's place in the batch and on the step, so that
        after some uses of a word its centres are different states of it.

        Args:
            words: ``(tokens,)``
            states: ``(tokens, dim)``
            step: number of the step.
            first: centres before this one stay.
        """
        slots = self.values.shape[1]
        turn = (torch.arange(len(words), device=words.device) + step) % (slots - first)
        groups = grouped(words * slots + first + turn)
        last = groups.rank == groups.counts[groups.group] - 1
        flat = self.values.view(-1, self.values.shape[-1])
        flat[groups.kinds[groups.group[last]]] = (states[last] / self.scale).to(flat.dtype)

    @torch.no_grad()
    def move(self, words: Tensor, senses: Tensor, states: Tensor) -> None:
        """Move the chosen centres towards their states, ``(tokens, dim)``, in their order."""
        slots = self.values.shape[1]
        flat = self.values.view(-1, self.values.shape[-1])
        groups = grouped(words * slots + senses)
        chosen = flat[groups.kinds]
        total = torch.zeros_like(chosen)
        count = groups.counts.unsqueeze(1)
        if self.decayed:
            total.index_add_(0, groups.group, states.to(total.dtype))
            self.scale *= 1 - self.rate
            flat[groups.kinds] = chosen + total / count * (self.rate / float(self.scale))
            if float(self.scale) < SMALLEST_SCALE:
                self.values *= float(self.scale)
                self.scale.fill_(1)
            return
        # c after m states: (1 - a)^m c + sum over i of a (1 - a)^(m - 1 - i) h_i.
        later = groups.counts[groups.group] - 1 - groups.rank
        weight = self.rate * (1 - self.rate) ** later.to(total.dtype)
        total.index_add_(0, groups.group, states.to(total.dtype) * weight.unsqueeze(1))
        flat[groups.kinds] = (1 - self.rate) ** count.to(total.dtype) * chosen + total


class Groups(NamedTuple):
    """Equal numbers of a list as groups.

    Attributes:
        kinds: the distinct numbers, sorted. ``(groups,)``
        group: of each entry. ``(n,)``
        counts: entries of each group. ``(groups,)``
        rank: how many equal entries stand before each. ``(n,)``
    """

    kinds: Tensor
    group: Tensor
    counts: Tensor
    rank: Tensor


def grouped(numbers: Tensor) -> Groups:
    """Return the groups of equal numbers, ``(n,)``.

    Example:
        >>> grouped(torch.tensor([7, 3, 7])).rank.tolist()
        [0, 0, 1]
    """
    kinds, group, counts = numbers.unique(return_inverse=True, return_counts=True)
    order = group.argsort(stable=True)
    starts = counts.cumsum(0) - counts
    rank = torch.empty_like(group)
    rank[order] = torch.arange(len(group), device=group.device) - starts[group[order]]
    return Groups(kinds, group, counts, rank)
