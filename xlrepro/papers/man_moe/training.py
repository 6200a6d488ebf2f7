"""Algorithm 1: k updates of the discriminator, then one of everything else (Appendix A)."""

import copy
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from xlrepro.nn.packing import Packing
from xlrepro.papers.man_moe.encoding import (
    EncodedTexts,
    TextBatch,
    WordTable,
    collate,
    endless_batches,
)
from xlrepro.papers.man_moe.model import ManMoe, language_mean
from xlrepro.papers.man_moe.settings import TransferSettings


@dataclass(frozen=True)
class TrainingTexts:
    """What a training sees.

    Attributes:
        table: every word of it.
        labelled: of each source language, with labels; the i-th has language number i.
        unlabelled: of each source language and, last, of the target, without labels; empty
            without a discriminator.
    """

    table: WordTable
    labelled: Sequence[EncodedTexts]
    unlabelled: Sequence[EncodedTexts]


@dataclass
class Fit:
    """What training leaves behind besides the weights.

    Attributes:
        dev_scores: score after each epoch on what the epoch is chosen by, percent.
        losses: mean of each part of the loss in each epoch: ``task``, ``gates``, ``language``
            (the discriminator's, as the features see it) and ``discriminator`` (its own).
        best_epoch: 0-based epoch whose weights were kept.
        iterations: main iterations done.
        tokens: tokens seen in training, all parts of all iterations.
        seconds: wall time of training, without evaluation.
    """

    dev_scores: list[float] = field(default_factory=list)
    losses: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = -1
    iterations: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class StepBatches:
    """The texts of one main iteration.

    Attributes:
        labelled: a batch of every source language, as one.
        unlabelled: a batch of every language, as one; ``None`` without a discriminator.
        critics: for each of the k discriminator updates such a batch.
    """

    labelled: TextBatch
    unlabelled: TextBatch | None
    critics: tuple[TextBatch, ...]

    @property
    def main(self) -> tuple[TextBatch, ...]:
        """The texts of the update of all but the discriminator, labelled ones first."""
        return (self.labelled, self.unlabelled) if self.unlabelled else (self.labelled,)

    @property
    def tokens(self) -> int:
        """Number of tokens in all of them."""
        return sum(len(batch.flat) for batch in (*self.main, *self.critics))


class Trainer:
    """A model, its two optimisers, and the steps of Algorithm 1.

    Args:
        model: what is trained.
        table: the words of all texts.
        settings: loss weights, optimisers, and how losses are averaged.
        sources: number of source languages N.
    """

    def __init__(
        self, model: ManMoe, table: WordTable, settings: TransferSettings, sources: int
    ) -> None:
        self.model, self.table, self.settings, self.sources = model, table, settings, sources
        self.optimizer = self._adam(model.main_parameters())
        self.critic_optimizer: torch.optim.Optimizer | None = None
        if model.discriminator is not None:
            self.critic_optimizer = self._adam(list(model.discriminator.parameters()))

    def _adam(self, parameters: list[torch.nn.Parameter]) -> torch.optim.Adam:
        rate, decay = self.settings.learning_rate, self.settings.weight_decay
        return torch.optim.Adam(parameters, lr=rate, weight_decay=decay, fused=True)

    def step(self, batches: StepBatches) -> dict[str, float]:
        """Do one main iteration and return the parts of its loss.

        The words of the whole iteration are represented at once: the discriminator's updates
        change nothing below it.
        """
        words, critics = self.words(batches)
        parts = {"discriminator": self.discriminator_steps(batches.critics, critics)}
        loss, more = self.main_loss(batches, words)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return {**parts, **more}

    def words(self, batches: StepBatches) -> tuple[Tensor, Tensor]:
        """Return the words of the main step's texts, and those of the discriminator's.

        Returns:
            Flat representations, ``(tokens, dim)`` each; labelled texts first.
        """
        texts = [*batches.main, *batches.critics]
        words = self.model.words(torch.cat([batch.flat for batch in texts]), self.table)
        main = sum(len(batch.flat) for batch in batches.main)
        return words[:main], words[main:].detach()

    def discriminator_steps(self, critics: Sequence[TextBatch], words: Tensor) -> float:
        """Update D once per batch, all else fixed; return its mean loss (Algorithm 1, 3-9).

        All k batches go through F_s together, without a graph.
        """
        if not critics or self.critic_optimizer is None:
            return 0.0
        with torch.no_grad():
            features = self._shared(critics, words)
        total = 0.0
        for batch, shared in zip(critics, features, strict=True):
            loss = self.language_loss(shared, batch)
            self.critic_optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.critic_optimizer.step()
            total += float(loss.detach())
        return total / len(critics)

    def main_loss(self, batches: StepBatches, words: Tensor) -> tuple[Tensor, dict[str, float]]:
        """Return J of Eq. 6 on the batches, and its parts (Algorithm 1, 11-21)."""
        shared = self._shared(batches.main, words)
        labelled = batches.labelled
        own = words[: len(labelled.flat)]
        prediction = self.model.predict(own, labelled.packing, shared[0])
        task = -prediction.log_probabilities.gather(1, labelled.gold[:, None]).squeeze(1)
        parts = {"task": self._average(task, labelled)}
        gates = [g for g in (prediction.private_gate, prediction.predictor_gate) if g is not None]
        if gates:
            parts["gates"] = torch.stack(
                [self._average(gate_losses(g, labelled), labelled) for g in gates]
            ).sum()
        loss = parts["task"] + self.settings.lambda2 * parts.get("gates", 0.0)
        if batches.unlabelled is not None:
            parts["language"] = self._frozen_language_loss(shared[1], batches.unlabelled)
            # The features are to fool D: its loss with the sign turned round.
            loss = loss - self.settings.lambda1 * parts["language"]
        return loss, {name: float(part.detach()) for name, part in parts.items()}

    def language_loss(self, shared: Tensor, batch: TextBatch) -> Tensor:
        """Return L_D: the sum over languages of the mean loss of D on their texts (Eq. 4).

        Args:
            shared: shared features of the batch's tokens. ``(tokens, dim)``
            batch: texts of all languages, without gold labels in use.
        """
        discriminator = self.model.discriminator
        assert discriminator is not None
        log_probabilities = discriminator(shared, batch.packing)
        losses = -log_probabilities.gather(1, batch.languages[:, None]).squeeze(1)
        return language_mean(losses, batch.languages, self.sources + 1)

    def _frozen_language_loss(self, shared: Tensor, batch: TextBatch) -> Tensor:
        """Return L_D with D itself out of the graph, so that only features get a gradient."""
        assert self.model.discriminator is not None
        self.model.discriminator.requires_grad_(False)
        loss = self.language_loss(shared, batch)
        self.model.discriminator.requires_grad_(True)
        return loss

    def _shared(self, texts: Sequence[TextBatch], words: Tensor) -> tuple[Tensor, ...]:
        """Return F_s of several batches, which go through it as one."""
        packing = Packing.joined([batch.packing for batch in texts])
        features: Tensor = self.model.shared(words, packing)
        return features.split([len(batch.flat) for batch in texts])

    def _average(self, losses: Tensor, batch: TextBatch) -> Tensor:
        """Return the sum over languages of a mean: over tokens (or texts), or over token sums."""
        if len(losses) == len(batch.languages):
            return language_mean(losses, batch.languages, self.sources)
        of_token = batch.packing.texts
        if self.settings.token_loss == "mean":
            return language_mean(losses, batch.languages[of_token], self.sources)
        sums = losses.new_zeros(len(batch.mask)).index_add(0, of_token, losses)
        return language_mean(sums, batch.languages, self.sources)


def gate_losses(logits: Tensor, batch: TextBatch) -> Tensor:
    """Return L_g: per item the loss of the expert of its language (Eq. 5).

    Args:
        logits: ``(tokens, N)``, or ``(batch, N)`` where texts are gated.
        batch: the labelled batch they belong to.
    """
    languages = batch.languages
    if len(logits) != len(languages):
        languages = languages[batch.packing.texts]
    return torch.nn.functional.cross_entropy(logits, languages, reduction="none")


def step_batches(
    texts: TrainingTexts, settings: TransferSettings, generator: np.random.Generator
) -> Iterator[StepBatches]:
    """Draw the texts of main iterations without end: a batch of every language for each part."""
    size = settings.batch_size
    labelled = [endless_batches(t, size, generator) for t in texts.labelled]
    unlabelled = [endless_batches(t, size, generator) for t in texts.unlabelled]
    critics = [endless_batches(t, size, generator) for t in texts.unlabelled]

    def draw(of: Sequence[EncodedTexts], streams: Sequence[Iterator[list[int]]]) -> TextBatch:
        return collate([(t, next(stream)) for t, stream in zip(of, streams, strict=True)])

    while True:
        adversarial = settings.model.adversarial
        yield StepBatches(
            draw(texts.labelled, labelled),
            draw(texts.unlabelled, unlabelled) if adversarial else None,
            tuple(
                draw(texts.unlabelled, critics)
                for _ in range(settings.discriminator_steps if adversarial else 0)
            ),
        )


def iterations_per_epoch(texts: TrainingTexts, batch_size: int) -> int:
    """Return the geometric mean of the source languages' numbers of batches."""
    batches = [math.ceil(len(t.rows) / batch_size) for t in texts.labelled]
    return max(1, round(math.prod(batches) ** (1 / len(batches))))


def train(
    model: ManMoe,
    texts: TrainingTexts,
    settings: TransferSettings,
    seed: int,
    dev_score: Callable[[ManMoe], float],
    device: str = "cpu",
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> Fit:
    """Train a model and leave the weights of its best epoch in it.

    Args:
        model: what is trained, on ``device``.
        texts: what it sees.
        settings: everything but seed and data.
        seed: of the batches' order. Dropout draws from torch's generator.
        dev_score: what decides the best epoch, higher is better.
        device: where the model is.
        progress: called with the fraction done and a short text.
    """
    trainer = Trainer(model, texts.table.to(device), settings, len(texts.labelled))
    stream = step_batches(texts, settings, np.random.default_rng(seed))
    per_epoch = iterations_per_epoch(texts, settings.batch_size)
    epochs = max(settings.epochs, math.ceil(settings.min_iterations / per_epoch))
    fit, best = Fit(), copy.deepcopy(model.state_dict())
    for epoch in range(epochs):
        _run_epoch(trainer, stream, per_epoch, fit, device)
        model.eval()
        fit.dev_scores.append(dev_score(model))
        if fit.best_epoch < 0 or fit.dev_scores[-1] > fit.dev_scores[fit.best_epoch]:
            fit.best_epoch, best = epoch, copy.deepcopy(model.state_dict())
        progress((epoch + 1) / (epochs + 1), f"dev {fit.dev_scores[-1]:.2f}")
    model.load_state_dict(best)
    model.eval()
    return fit


def _run_epoch(
    trainer: Trainer, stream: Iterator[StepBatches], iterations: int, fit: Fit, device: str
) -> None:
    started = time.perf_counter()
    trainer.model.train()
    sums: dict[str, float] = {}
    for _ in range(iterations):
        batches = next(stream)
        fit.tokens += batches.tokens
        for name, part in trainer.step(moved(batches, device)).items():
            sums[name] = sums.get(name, 0.0) + part
    fit.seconds += time.perf_counter() - started
    fit.iterations += iterations
    fit.losses.append({name: round(total / iterations, 4) for name, total in sums.items()})


def moved(batches: StepBatches, device: str) -> StepBatches:
    """Return the batches on ``device``."""
    if device == "cpu":
        return batches
    return StepBatches(
        batches.labelled.to(device),
        batches.unlabelled.to(device) if batches.unlabelled else None,
        tuple(batch.to(device) for batch in batches.critics),
    )
