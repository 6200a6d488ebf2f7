"""The sense-aware output layer of one direction: V x S sense vectors and what chooses among them.

With one sense it is the ordinary output layer of a language model: nothing is chosen and no centre
is kept.
"""

import torch
from torch import Tensor, nn

from xlrepro.papers.sense_alignment.language_model.centres import SenseCentres
from xlrepro.papers.sense_alignment.language_model.projection import QueueProjection
from xlrepro.papers.sense_alignment.language_model.pruning import Pruning
from xlrepro.papers.sense_alignment.language_model.rows import RowTable
from xlrepro.papers.sense_alignment.language_model.settings import SenseSettings
from xlrepro.papers.sense_alignment.language_model.softmax import (
    Gold,
    Sampler,
    columns,
    full_loss,
    sampled_loss,
)


class SenseOutput(nn.Module):
    """Predicts each token's sense, and that of its translation.

    Args:
        words: V, words in the order of their frequency.
        dim: width of a state.
        settings: everything about senses.
        optimiser: of the sense vectors, ``"adagrad"`` or ``"adamw"``.
        accumulator: Adagrad's first sum of squares.

    Example:
        >>> settings = SenseSettings(senses=2, warmup="copied", warmup_steps=0)
        >>> layer = SenseOutput(words=7, dim=4, settings=settings)
        >>> states = torch.randn(3, 4)
        >>> layer.loss(states, states, torch.tensor([0, 5, 5]), seed=[0]).shape
        torch.Size([])
    """

    def __init__(
        self,
        words: int,
        dim: int,
        settings: SenseSettings,
        optimiser: str = "adagrad",
        accumulator: float = 1.0,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.words, self.slots = words, settings.slots
        decay = 0.01 if optimiser == "adamw" else 0.0
        # As ELMo: a normal distribution of standard deviation 1 / sqrt(dim).
        # shape: (words * slots, dim)
        values = torch.randn(words * self.slots, dim) / dim**0.5
        self.vectors = RowTable(values, optimiser, accumulator, decay)
        bias = torch.zeros(words * self.slots if settings.softmax.bias else 0, 1)
        self.bias = RowTable(bias, optimiser, accumulator)
        self.register_buffer("on", torch.ones(words, self.slots, dtype=torch.bool))
        self.on: Tensor
        if settings.senses > 1:
            self.centres = SenseCentres(
                words,
                self.slots,
                dim,
                settings.sigma,
                settings.truncated,
                settings.rate,
                settings.centres == "decayed",
            )
            self.projection = QueueProjection(
                dim, settings.projection_dim, settings.queue, settings.centred
            )
            first = int(settings.warmup == "own")
            self.pruning = Pruning(words, self.slots, first, settings.pruning)
        self._sampler: Sampler | None = None
        self.begin(0)

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
        shape = (self.words, self.slots, -1)
        self.vectors.values.view(shape)[:] = vectors.unsqueeze(1)
        if self.settings.softmax.bias:
            values = self.bias.values.view(shape)
            values[:] = values[:, :1].clone()

    def end(self, step: int) -> None:
        """Do what is due after ``step`` steps: update P, give senses up."""
        settings = self.settings
        if settings.senses == 1:
            return
        if settings.projection == "queue" and step % settings.projection_every == 0:
            self.projection.update()
        if step > settings.warmup_steps and self.pruning.due(step):
            self.pruning.prune(self.on)
            self.refresh()

    def refresh(self) -> None:
        """Take note of another set of enabled senses, as after loading a checkpoint."""
        self._sampler = None

    def alive(self) -> Tensor:
        """Return how many senses each word has, ``(words,)``."""
        return self.on.sum(1)

    # -- senses of tokens

    def choose(self, words: Tensor, states: Tensor) -> Tensor:
        """Return the sense of each word, ``(tokens,)``; ``states`` are the words' own."""
        if self.settings.senses == 1:
            return torch.zeros_like(words)
        return self.centres.choose(words, states, self.projection.project, self.on)

    def observe(self, words: Tensor, senses: Tensor, states: Tensor, step: int) -> None:
        """Let centres follow, and remember states for P and choices for the pruning."""
        settings = self.settings
        if settings.begin == "states" and step < settings.warmup_steps:
            self.centres.place(words, states, step, int(settings.warmup == "own"))
        # Where the warm-up's sense stays, it gets no lead: choices count from the warm-up's end.
        if settings.warmup == "own" or step >= settings.warmup_steps:
            share = round(len(words) * settings.moving_share)
            self.centres.move(words[:share], senses[:share], states[:share])
            self.pruning.record(words, senses)
        if settings.projection == "queue" and (
            settings.queue_all or (step + 1) % settings.projection_every == 0
        ):
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

        Args:
            predicting: h*, the states that predict. ``(tokens, dim)``
            choosing: h, the states of the tokens themselves. ``(tokens, dim)``
            words: ``(tokens,)``
            seed: of the negatives.
            step: number of the step.
            translations: words that translate each token, -1 padded. ``(tokens, T)``
        """
        choosing = choosing.detach()
        # shape: (tokens,)
        senses = self.choose(words, choosing)
        gold = self._gold(words, senses, choosing, translations)
        if self.training and self.settings.senses > 1 and not self.settings.fresh_batch:
            self.observe(words, senses, choosing, step)
        if self.settings.softmax.kind == "full":
            return self._full(predicting, gold)
        return self._sampled(predicting, gold, seed)

    def _gold(
        self, words: Tensor, senses: Tensor, states: Tensor, translations: Tensor | None
    ) -> Gold:
        softmax, slots = self.settings.softmax, self.slots
        chosen, others = None, []
        if softmax.own_senses == "sum" and slots > 1 and softmax.kind == "sampled":
            others.append(self._senses_of(words.unsqueeze(1)))
        if translations is not None:
            if self.settings.senses > 1:
                project = self.projection.project
                chosen = self.centres.choose_translation(translations, states, project, self.on)
            else:  # a word for a sense: the first translation
                chosen = translations[:, 0]
            if softmax.all_translations and softmax.kind == "sampled":
                others.append(self._senses_of(translations))
        return Gold(words * slots + senses, chosen, torch.cat(others, 1) if others else None)

    def _senses_of(self, words: Tensor) -> Tensor:
        """Return the numbers of all senses of words, ``(tokens, n * slots)``, -1 where off."""
        # shape: (tokens, n, slots), both
        numbers = words.unsqueeze(-1) * self.slots + torch.arange(self.slots, device=words.device)
        there = (words >= 0).unsqueeze(-1) & self.on[words.clamp(min=0)]
        return torch.where(there, numbers, -1).flatten(1)

    def _full(self, states: Tensor, gold: Gold) -> Tensor:
        sampler = self.sampler()
        rows = None if len(sampler.rows) == len(sampler.place) else sampler.rows.to(states.device)
        place = sampler.place.to(states.device)
        chosen = gold.translation
        if chosen is not None:
            chosen = torch.where(chosen < 0, -1, place[chosen.clamp(min=0)])
        bias = self.bias.take(rows) if self.settings.softmax.bias else None
        return full_loss(states, self.vectors.take(rows), bias, place[gold.sense], chosen)

    def _sampled(self, states: Tensor, gold: Gold, seed: list[int]) -> Tensor:
        negatives, correction = self._draw(seed, states)
        # shape: (tokens, n); then (rows,) and (negatives + tokens * n,)
        own = columns(gold)
        rows, place = torch.cat((negatives, own.clamp(min=0).flatten())).unique(return_inverse=True)
        near, mine = place[: len(negatives)], place[len(negatives) :].view_as(own)
        used = self.vectors.take(rows)
        bias = self.bias.take(rows)[:, 0] if self.settings.softmax.bias else None
        return sampled_loss(
            states,
            own,
            nn.functional.embedding(mine, used),
            nn.functional.embedding(near, used),
            None if bias is None else bias[mine],
            None if bias is None else bias[near],
            negatives,
            correction,
            gold.translation is not None,
        )

    def sampler(self) -> Sampler:
        """Return what draws among the senses that are enabled now."""
        if self._sampler is None:
            self._sampler = Sampler(self.on, self.settings.softmax)
        return self._sampler

    def _draw(self, seed: list[int], states: Tensor) -> tuple[Tensor, Tensor | None]:
        negatives, correction = self.sampler().draw(seed)
        if correction is not None:
            correction = correction.to(states)
        return negatives.to(states.device), correction

    # -- words, whatever their sense

    @torch.no_grad()
    def word_losses(self, states: Tensor, words: Tensor) -> Tensor:
        """Return each word's negative log-probability, summed over its senses, ``(tokens,)``."""
        # shape: (tokens, words * slots), then (tokens, words, slots)
        logits = states @ self.vectors.values.T
        if self.settings.softmax.bias:
            logits = logits + self.bias.values.T
        logits = logits.masked_fill(~self.on.flatten(), -torch.inf).view(
            len(states), -1, self.slots
        )
        # shape: (tokens,)
        right = logits[torch.arange(len(words)), words].logsumexp(-1)
        return logits.flatten(1).logsumexp(-1) - right
