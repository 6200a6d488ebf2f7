"""Senses of words: which one a word has in its context, and the output layer that predicts it.

Algorithm 1 chooses senses and moves their centres, Algorithm 2 makes the projection that they are
chosen in, and a rule gives up senses that are chosen too rarely (§3.1). No gradient reaches any of
this. With one sense `SenseOutput` is the ordinary output layer of a language model.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.papers.sense_alignment import softmax
from xlrepro.papers.sense_alignment.settings import PruningSettings, SenseSettings

Project = Callable[[Tensor], Tensor]
# A sense that is chosen too rarely loses half of its score, and at a tenth it is given up [code].
LOST, FLOOR = 0.5, 0.1


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


class SenseCentres(nn.Module):
    """A centre per word and sense, moved by the states that choose it (Algorithm 1).

    The chosen centre alone moves, once per token, as in the text. In the code all centres shrink at
    every step, and the chosen ones get a times the mean of their states.

    Args:
        words: V.
        slots: senses per word.
        dim: width of a state.
        sigma: standard deviation of the first centres.
        rate: a.
        truncated: whether they are drawn within two standard deviations.

    Attributes:
        values: ``(words, slots, dim)``.
    """

    values: Tensor

    def __init__(
        self, words: int, slots: int, dim: int, sigma: float, rate: float, truncated: bool = False
    ) -> None:
        super().__init__()
        values = torch.empty(words, slots, dim)
        if truncated:
            nn.init.trunc_normal_(values, std=sigma, a=-2 * sigma, b=2 * sigma)
        else:
            nn.init.normal_(values, std=sigma)
        self.register_buffer("values", values)
        self.rate = rate

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
        reduced = functional.normalize(project(self.values[kinds]), dim=-1)
        seen = functional.normalize(project(states), dim=-1)
        cosines = torch.einsum("ncsr,nr->ncs", reduced[place], seen)
        allowed = enabled[kinds][place] & there.unsqueeze(-1)
        return cosines.masked_fill(~allowed, -torch.inf)

    def choose(
        self, words: Tensor, states: Tensor, project: Project, enabled: Tensor, heat: float = 0.0
    ) -> Tensor:
        """Return the sense of each word in its context, ``(tokens,)``; first of equals.

        With ``heat`` it is drawn from the softmax of the cosines over ``heat``.
        """
        cosines = self.similarities(words.unsqueeze(1), states, project, enabled)[:, 0]
        if heat:  # the largest after Gumbel noise is such a draw
            cosines = cosines - heat * torch.empty_like(cosines).exponential_().log()
        return cosines.argmax(-1)

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
        flat[groups.kinds[groups.group[last]]] = states[last].to(flat.dtype)

    @torch.no_grad()
    def move(self, words: Tensor, senses: Tensor, states: Tensor) -> None:
        """Move the chosen centres towards their states, ``(tokens, dim)``, in their order."""
        flat = self.values.view(-1, self.values.shape[-1])
        groups = grouped(words * self.values.shape[1] + senses)
        chosen = flat[groups.kinds]
        # c after m states: (1 - a)^m c + sum over i of a (1 - a)^(m - 1 - i) h_i.
        later = groups.counts[groups.group] - 1 - groups.rank
        weight = self.rate * (1 - self.rate) ** later.to(chosen.dtype)
        total = torch.zeros_like(chosen)
        total.index_add_(0, groups.group, states.to(total.dtype) * weight.unsqueeze(1))
        kept = (1 - self.rate) ** groups.counts.unsqueeze(1).to(total.dtype)
        flat[groups.kinds] = kept * chosen + total


class QueueProjection(nn.Module):
    """P, first random, then the leading principal components of the last Q states (Algorithm 2).

    Args:
        dim: d, width of a state.
        reduced: d', components; at most ``dim``.
        size: Q.
        centred: whether states and centres are projected as differences from the queue's mean.

    Attributes:
        matrix: P, ``(dim, reduced)``.
        origin: what is subtracted before P; zero unless ``centred``. ``(dim,)``

    Example:
        >>> projection = QueueProjection(4, 2, 100)
        >>> projection.add(torch.randn(10, 4)); projection.update()
        >>> projection.matrix.shape
        torch.Size([4, 2])
    """

    matrix: Tensor
    origin: Tensor
    queue: Tensor
    seen: Tensor

    def __init__(self, dim: int, reduced: int, size: int, centred: bool = False) -> None:
        super().__init__()
        self.centred = centred
        self.register_buffer("origin", torch.zeros(dim))
        self.register_buffer("matrix", torch.randn(dim, min(dim, reduced)))
        self.register_buffer("queue", torch.zeros(size, dim))
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))

    def add(self, states: Tensor) -> None:
        """Let states, ``(n, dim)``, enter the queue; the oldest leave it.

        All states do, as in the text; in the code those of the updating steps alone.
        """
        size = len(self.queue)
        # shape: (n, dim), the latest Q at most; (n,)
        kept = states.detach()[-size:]
        first = self.seen + len(states) - len(kept)
        places = (torch.arange(len(kept), device=kept.device) + first) % size
        self.queue[places] = kept.to(self.queue.dtype)
        self.seen += len(states)

    def update(self) -> None:
        """Make P the first components of the queue; nothing changes while it holds too few.

        The components are always those of the centred states. SaBERT's code never comes here, by a
        comparison that is never true: its P stays random.
        """
        # shape: (states, dim)
        states = self.queue[: min(int(self.seen), len(self.queue))]
        if len(states) <= self.matrix.shape[1]:
            return
        mean = states.mean(0)
        centred = states - mean
        if self.centred:
            self.origin.copy_(mean)
        # Columns in the order of rising variance; the sign of a column changes no cosine.
        # shape: (dim, dim)
        _, vectors = torch.linalg.eigh(centred.T @ centred)
        self.matrix.copy_(vectors[:, -self.matrix.shape[1] :].flip(1))

    def project(self, x: Tensor) -> Tensor:
        """Return states or centres ``(…, dim)`` after projection, ``(…, reduced)``."""
        return (x - self.origin) @ self.matrix if self.centred else x @ self.matrix


class Pruning(nn.Module):
    """Counts choices and gives senses up, by the rule of the code.

    The text's rule is a relative frequency below a threshold. In the code the warm-up's own sense
    may come back, where a rare word's window still holds choices of it; here it may not.

    Args:
        words: V.
        slots: senses per word.
        settings: when, and which.

    Attributes:
        window: the last choices of each word, in a ring; -1 where there was none.
            ``(words, window)``
        score: of each sense. ``(words, slots)``
    """

    window: Tensor
    records: Tensor
    score: Tensor

    def __init__(self, words: int, slots: int, settings: PruningSettings) -> None:
        super().__init__()
        self.settings = settings
        ring = torch.full((words, settings.window), -1, dtype=torch.int8)
        self.register_buffer("window", ring)
        self.register_buffer("records", torch.zeros(words, dtype=torch.long))
        self.register_buffer("score", torch.ones(words, slots))

    def record(self, words: Tensor, senses: Tensor) -> None:
        """Take note of choices, both ``(tokens,)``, in their order."""
        groups, size = grouped(words), self.settings.window
        # Of more choices than the ring has places the last ones stay.
        kept = (groups.rank >= groups.counts[groups.group] - size).nonzero().squeeze(1)
        place = (self.records[words] + groups.rank) % size
        self.window[words[kept], place[kept]] = senses[kept].to(self.window.dtype)
        self.records[groups.kinds] += groups.counts

    def due(self, step: int) -> bool:
        """Tell whether senses are looked at after ``step`` steps."""
        return step > self.settings.after and step % self.settings.every == 0

    def prune(self, enabled: Tensor) -> None:
        """Switch senses off in ``enabled``, ``(words, slots)``; a word keeps one at least."""
        settings, slots = self.settings, self.score.shape[1]
        full = self.records >= settings.window
        # shape: (words with a full window, slots)
        chosen = torch.stack([(self.window[full] == s).sum(1) for s in range(slots)], 1)
        rare = chosen <= settings.frequency * settings.window
        score = torch.where(rare, self.score[full] * LOST, 1.0)
        self.score[full] = score
        kept = enabled[full]
        best = chosen.masked_fill(~kept, -1).argmax(1)
        stays = torch.zeros_like(kept)
        stays[torch.arange(len(best), device=best.device), best] = True
        enabled[full] = kept & ((score >= FLOOR) | stays)


class SenseOutput(nn.Module):
    """The output layer of one direction: V x S sense vectors and what chooses among them.

    Args:
        words: V, words in the order of their frequency.
        dim: width of a state.
        settings: everything about senses.
        optimiser: of the sense vectors.

    Example:
        >>> settings = SenseSettings(senses=2, warmup="copied", warmup_steps=0)
        >>> layer = SenseOutput(words=7, dim=4, settings=settings, optimiser="adagrad")
        >>> states = torch.randn(3, 4)
        >>> layer.loss(states, states, torch.tensor([0, 5, 5]), seed=[0]).shape
        torch.Size([])
    """

    on: Tensor

    def __init__(
        self, words: int, dim: int, settings: SenseSettings, optimiser: softmax.Optimiser
    ) -> None:
        super().__init__()
        self.settings = settings
        self.words, self.slots = words, settings.slots
        # As ELMo: a normal distribution of standard deviation 1 / sqrt(dim). No bias: the code has
        # one per sense, the text has none.
        # shape: (words * slots, dim)
        self.vectors = softmax.RowTable(torch.randn(words * self.slots, dim) / dim**0.5, optimiser)
        self.register_buffer("on", torch.ones(words, self.slots, dtype=torch.bool))
        if settings.senses > 1:
            self.centres = SenseCentres(
                words, self.slots, dim, settings.sigma, settings.rate, settings.truncated
            )
            self.projection = QueueProjection(
                dim, settings.projection_dim, settings.queue, settings.centred
            )
            if settings.pruning:
                self.pruning = Pruning(words, self.slots, settings.pruning)
        self.begin(0)
        self.refresh()

    # -- senses over time

    def begin(self, step: int) -> None:
        """Switch senses on or off where the warm-up begins or ends at ``step``."""
        settings = self.settings
        if settings.senses == 1:
            return
        if step == 0 and settings.warmup_steps:
            self.on[:, 1:] = False
        elif step == settings.warmup_steps:
            self.on[:] = True
            if settings.warmup == "own":
                self.on[:, 0] = False
            elif step:
                self.copy_to_all(self.vectors.values.view(self.words, self.slots, -1)[:, 0])
        self.refresh()

    def copy_to_all(self, vectors: Tensor) -> None:
        """Let all senses of each word begin as one vector, ``(words, dim)``."""
        self.vectors.values.view(self.words, self.slots, -1)[:] = vectors.unsqueeze(1)

    def end(self, step: int) -> None:
        """Do what is due after ``step`` steps: update P, give senses up."""
        settings = self.settings
        if settings.senses == 1:
            return
        if step % settings.projection_every == 0:
            self.projection.update()
        if settings.pruning and step > settings.warmup_steps and self.pruning.due(step):
            self.pruning.prune(self.on)
            self.refresh()

    def refresh(self) -> None:
        """Take note of another set of enabled senses, as after loading a checkpoint."""
        self.enabled = np.flatnonzero(self.on.cpu().numpy())

    def negatives(self, seed: list[int]) -> Tensor:
        """Draw numbers of senses evenly among the enabled ones, all of them where none is said.

        Without repetition and correction (code); ELMo's own prefers frequent words and corrects for
        it.

        Returns:
            ``(negatives,)``
        """
        there = len(self.enabled)
        count = min(self.settings.negatives or there, there)
        places = np.random.default_rng(seed).choice(there, count, replace=False, shuffle=False)
        return torch.from_numpy(self.enabled[places])

    # -- senses of tokens

    def choose(self, words: Tensor, states: Tensor) -> Tensor:
        """Return the sense of each word, ``(tokens,)``; ``states`` are the words' own."""
        if self.settings.senses == 1:
            return torch.zeros_like(words)
        heat = self.settings.temperature if self.training else 0.0
        return self.centres.choose(words, states, self.projection.project, self.on, heat)

    def observe(self, words: Tensor, senses: Tensor, states: Tensor, step: int) -> None:
        """Let centres follow, and remember states for P and choices for the pruning.

        All states of the batch move centres: the code's are those of the first GPU, SaBERT's those
        of another batch.
        """
        settings = self.settings
        own = settings.warmup == "own"
        if settings.begin == "states" and step < settings.warmup_steps:
            self.centres.place(words, states, step, int(own))
        # Where the warm-up's sense stays, it gets no lead: choices count from the warm-up's end.
        if own or step >= settings.warmup_steps:
            self.centres.move(words, senses, states)
            if settings.pruning:
                self.pruning.record(words, senses)
        self.projection.add(states)

    def loss(
        self,
        predicting: Tensor,
        choosing: Tensor,
        words: Tensor,
        seed: list[int],
        step: int = 0,
        translations: Tensor | None = None,
    ) -> Tensor:
        """Return the mean loss of predicting words in their senses; in training, centres follow.

        All of it is as precise as the sense vectors, also where the network's products are not.

        Args:
            predicting: h*, the states that predict. ``(tokens, dim)``
            choosing: h, the states of the tokens themselves. ``(tokens, dim)``
            words: ``(tokens,)``
            seed: of the negatives.
            step: number of the step.
            translations: words that translate each token, -1 padded: all of them, as in the text;
                the code has four at most. ``(tokens, T)``
        """
        dtype = self.vectors.values.dtype
        with torch.autocast(words.device.type, enabled=False):
            predicting, choosing = predicting.to(dtype), choosing.detach().to(dtype)
            # shape: (tokens,)
            senses = self.choose(words, choosing)
            if translations is None:
                translated = None
            elif self.settings.senses > 1:
                translated = self.centres.choose_translation(
                    translations, choosing, self.projection.project, self.on
                )
            else:  # a word for a sense: the first translation
                translated = translations[:, 0]
            if self.training and self.settings.senses > 1:
                self.observe(words, senses, choosing, step)
            gold = words * self.slots + senses
            # shape: (tokens, slots)
            slots = torch.arange(self.slots, device=words.device)
            others = torch.where(self.on[words], words.unsqueeze(1) * self.slots + slots, -1)
            own = softmax.own_columns(gold, translated, others)
            negatives = self.negatives(seed).to(words.device)
            # shape: (rows,) and (negatives + tokens * n,)
            both = torch.cat((negatives, own.clamp(min=0).flatten()))
            rows, place = both.unique(return_inverse=True)
            near, mine = place[: len(negatives)], place[len(negatives) :].view_as(own)
            used = self.vectors.take(rows)
            mine_vectors, near_vectors = (functional.embedding(i, used) for i in (mine, near))
            two = translated is not None
            return softmax.joint_loss(predicting, own, mine_vectors, negatives, near_vectors, two)

    # -- words, whatever their sense

    @torch.no_grad()
    def word_losses(self, states: Tensor, words: Tensor) -> Tensor:
        """Return each word's negative log-probability, summed over its senses, ``(tokens,)``."""
        # shape: (tokens, words * slots), then (tokens, words, slots)
        logits = (states @ self.vectors.values.T).masked_fill(~self.on.flatten(), -torch.inf)
        by_word = logits.view(len(states), -1, self.slots)
        # shape: (tokens,)
        right = by_word[torch.arange(len(words), device=words.device), words].logsumexp(-1)
        return logits.logsumexp(-1) - right
