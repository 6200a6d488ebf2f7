"""Algorithm 1: k updates of the discriminator, then one of everything else (Appendix A)."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from xlrepro.nn.recurrent import Packing
from xlrepro.papers.man_moe.encoding import (
    EncodedTexts,
    EndlessBatches,
    TextBatch,
    WordTable,
    collate,
)
from xlrepro.papers.man_moe.model import ManMoe, language_mean
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.training.loop import Step

WEIGHT_DECAY = 1e-8  # of both optimisers (the code)


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

    @property
    def optimizers(self) -> list[torch.optim.Optimizer]:
        """The main optimiser, and the discriminator's if there is one."""
        return [o for o in (self.optimizer, self.critic_optimizer) if o is not None]

    def _adam(self, parameters: list[torch.nn.Parameter]) -> torch.optim.Adam:
        rate = self.settings.learning_rate
        return torch.optim.Adam(parameters, lr=rate, weight_decay=WEIGHT_DECAY, fused=True)

    def step(self, batches: StepBatches) -> dict[str, float]:
        """Do one main iteration and return the parts of its loss.

        The words of the whole iteration are represented at once: the discriminator's updates
        change nothing below it.
        """
        words, critics = self.words(batches)
        critic = self.discriminator_steps(batches.critics, critics)
        loss, parts = self.main_loss(batches, words)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        parts = {"discriminator": critic, **parts}
        return dict(zip(parts, torch.stack(list(parts.values())).tolist(), strict=True))

    def words(self, batches: StepBatches) -> tuple[Tensor, Tensor]:
        """Return the words of the main step's texts, and those of the discriminator's.

        Returns:
            Flat representations, ``(tokens, dim)`` each; labelled texts first.
        """
        rows = torch.cat([batch.flat for batch in (*batches.main, *batches.critics)])
        # shape: (tokens of all, dim)
        words = self.model.words(rows, self.table)
        main = sum(len(batch.flat) for batch in batches.main)
        return words[:main], words[main:].detach()

    def discriminator_steps(self, critics: Sequence[TextBatch], words: Tensor) -> Tensor:
        """Update D once per batch, all else fixed; return its mean loss (Algorithm 1, 3-9).

        All k batches go through F_s together, without a graph.
        """
        if not critics or self.critic_optimizer is None:
            return words.new_zeros(())
        with torch.no_grad():
            # shape of each: (tokens of a batch, 2 * extractor_dim)
            features = self._shared(critics, words)
        total = words.new_zeros(())
        for batch, shared in zip(critics, features, strict=True):
            loss = self.language_loss(shared, batch)
            self.critic_optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.critic_optimizer.step()
            total += loss.detach()
        return total / len(critics)

    def main_loss(self, batches: StepBatches, words: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return J of Eq. 6 on the batches, and its parts (Algorithm 1, 11-21)."""
        # shape of each: (tokens of a batch, 2 * extractor_dim)
        shared = self._shared(batches.main, words)
        labelled = batches.labelled
        of_labelled = words[: len(labelled.flat)]
        prediction = self.model.predict(of_labelled, labelled.packing, shared[0])
        # shape: (items,)
        task = -prediction.log_probabilities.gather(1, labelled.gold[:, None]).squeeze(1)
        parts = {"task": self._average(task, labelled)}
        gates = [g for g in (prediction.private_gate, prediction.predictor_gate) if g is not None]
        if gates:
            parts["gates"] = torch.stack(
                [self._average(gate_losses(g, labelled), labelled) for g in gates]
            ).sum()
        loss = parts["task"] + self.settings.lambda2 * parts.get("gates", 0.0)
        if batches.unlabelled is not None:
            # D itself is out of the graph, so that only features get a gradient.
            assert self.model.discriminator is not None
            self.model.discriminator.requires_grad_(False)
            parts["language"] = self.language_loss(shared[1], batches.unlabelled)
            self.model.discriminator.requires_grad_(True)
            # The features are to fool D: its loss with the sign turned round.
            loss = loss - self.settings.lambda1 * parts["language"]
        return loss, {name: part.detach() for name, part in parts.items()}

    def language_loss(self, shared: Tensor, batch: TextBatch) -> Tensor:
        """Return L_D: the sum over languages of the mean loss of D on their texts (Eq. 4).

        Args:
            shared: shared features of the batch's tokens. ``(tokens, dim)``
            batch: texts of all languages, without gold labels in use.
        """
        discriminator = self.model.discriminator
        assert discriminator is not None
        # shape: (batch, languages), then (batch,)
        log_probabilities = discriminator(shared, batch.packing)
        losses = -log_probabilities.gather(1, batch.languages[:, None]).squeeze(1)
        return language_mean(losses, batch.languages, self.sources + 1)

    def _shared(self, texts: Sequence[TextBatch], words: Tensor) -> tuple[Tensor, ...]:
        """Return F_s of several batches, which go through it as one."""
        packing = Packing.joined([batch.packing for batch in texts])
        # shape: (tokens of all, 2 * extractor_dim)
        features: Tensor = self.model.shared(words, packing)
        return features.split([len(batch.flat) for batch in texts])

    def _average(self, losses: Tensor, batch: TextBatch) -> Tensor:
        """Return the sum over languages of the mean over their tokens, or texts."""
        # a mean over tokens (the code), not over the sentences' sums (Eq. 2)
        return language_mean(losses, languages_of(len(losses), batch), self.sources)


def gate_losses(logits: Tensor, batch: TextBatch) -> Tensor:
    """Return L_g: per item the loss of the expert of its language (Eq. 5).

    Args:
        logits: ``(tokens, N)``, or ``(batch, N)`` where texts are gated.
        batch: the labelled batch they belong to.
    """
    languages = languages_of(len(logits), batch)
    return torch.nn.functional.cross_entropy(logits, languages, reduction="none")


def languages_of(items: int, batch: TextBatch) -> Tensor:
    """Return the language of each item of a batch, its texts or their tokens, ``(items,)``."""
    return (
        batch.languages if items == len(batch.languages) else batch.languages[batch.packing.texts]
    )


class StepStream:
    """The texts of main iterations without end: a batch of every language for each part.

    Args:
        texts: what is drawn from.
        settings: sizes of batches, and k.
        generator: of the order of texts.
        device: where batches go.
    """

    def __init__(
        self,
        texts: TrainingTexts,
        settings: TransferSettings,
        generator: np.random.Generator,
        device: str = "cpu",
    ) -> None:
        size, adversarial = settings.batch_size, settings.model.adversarial
        self.texts, self.generator, self.device = texts, generator, device
        self.critics = settings.discriminator_steps if adversarial else 0
        self.unlabelled = texts.unlabelled if adversarial else ()
        # Of the labelled texts, of those without labels, and of these again for D's own steps.
        self.streams = [
            [EndlessBatches(t, size, generator) for t in part]
            for part in (texts.labelled, self.unlabelled, self.unlabelled)
        ]

    def __next__(self) -> StepBatches:
        """Draw the texts of the next iteration."""
        of_labelled, of_unlabelled, of_critics = self.streams
        return StepBatches(
            self._drawn(self.texts.labelled, of_labelled),
            self._drawn(self.unlabelled, of_unlabelled) if self.unlabelled else None,
            tuple(self._drawn(self.unlabelled, of_critics) for _ in range(self.critics)),
        )

    def _drawn(self, texts: Sequence[EncodedTexts], streams: Sequence[EndlessBatches]) -> TextBatch:
        chosen = [(t, next(stream)) for t, stream in zip(texts, streams, strict=True)]
        return collate(chosen).to(self.device)

    def state(self) -> dict[str, Any]:
        """Return where every stream stands, and the generator's state."""
        places = [[(s.order, s.place) for s in part] for part in self.streams]
        return {"places": places, "draws": self.generator.bit_generator.state}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        for part, places in zip(self.streams, state["places"], strict=True):
            for stream, (order, place) in zip(part, places, strict=True):
                stream.order, stream.place = list(order), place
        self.generator.bit_generator.state = state["draws"]


def iterations_per_epoch(texts: TrainingTexts, batch_size: int) -> int:
    """Return the geometric mean of the source languages' numbers of batches."""
    batches = [math.ceil(len(t.rows) / batch_size) for t in texts.labelled]
    return max(1, round(math.prod(batches) ** (1 / len(batches))))


def schedule(texts: TrainingTexts, settings: TransferSettings) -> tuple[int, int]:
    """Return how many rounds there are at most, and how many iterations a round has.

    A round is an epoch, or as many iterations as lie between two looks at dev.
    """
    per_epoch = iterations_per_epoch(texts, settings.batch_size)
    epochs = max(settings.epochs, math.ceil(settings.min_iterations / per_epoch))
    if settings.evaluate_every is None:
        return epochs, per_epoch
    iterations = settings.max_iterations or epochs * per_epoch
    return math.ceil(iterations / settings.evaluate_every), settings.evaluate_every


class TransferLearner:
    """A model, its texts and its steps; see :class:`xlrepro.training.loop.Learner`.

    Args:
        model: what is trained, on ``device``.
        texts: what it sees.
        settings: everything but seed and data.
        seed: of the batches' order. Dropout draws from torch's generator.
        dev_score: what decides the best round, higher is better.
        device: where the model is.
    """

    def __init__(
        self,
        model: ManMoe,
        texts: TrainingTexts,
        settings: TransferSettings,
        seed: int,
        dev_score: Callable[[], float],
        device: str = "cpu",
    ) -> None:
        self.model, self.dev_score = model, dev_score
        self.trainer = Trainer(model, texts.table.to(device), settings, len(texts.labelled))
        self.stream = StepStream(texts, settings, np.random.default_rng(seed), device)
        self.rounds, self.iterations = schedule(texts, settings)

    def batches(self, round_: int) -> Iterator[StepBatches]:
        """Yield the texts of each iteration of a round."""
        return (next(self.stream) for _ in range(self.iterations))

    def step(self, batch: StepBatches) -> Step:
        """Do one main iteration; each part of its loss is a mean."""
        return Step(self.trainer.step(batch), tokens=batch.tokens)

    def state(self) -> dict[str, Any]:
        """Return both optimisers and the streams of texts."""
        optimisers = [o.state_dict() for o in self.trainer.optimizers]
        return {"optimisers": optimisers, "stream": self.stream.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        for optimiser, kept in zip(self.trainer.optimizers, state["optimisers"], strict=True):
            optimiser.load_state_dict(kept)
        self.stream.restore(state["stream"])
