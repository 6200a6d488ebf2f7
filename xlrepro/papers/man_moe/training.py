"""Algorithm 1: k updates of the discriminator, then one of everything else (Appendix A)."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from xlrepro.nn.recurrent import Packing
from xlrepro.papers.man_moe.encoding import EncodedTexts, TextBatch, WordTable, collate
from xlrepro.papers.man_moe.model import ManMoe, language_mean
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.training.batches import cut
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


class TransferLearner:
    """A model, its texts, its two optimisers, and the steps of Algorithm 1.

    See :class:`xlrepro.training.loop.Learner`.

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
        self.model, self.texts, self.settings, self.dev_score = model, texts, settings, dev_score
        self.device, self.table, self.sources = device, texts.table.to(device), len(texts.labelled)
        self.rounds, self.iterations = schedule(texts, settings)
        self.critics = settings.discriminator_steps if texts.unlabelled else 0
        self.generator = np.random.default_rng(seed)
        # Of the labelled texts, of those without labels, and of these again for D's own steps.
        self.streams = [
            [endless_batches(t, settings.batch_size, self.generator) for t in part]
            for part in (texts.labelled, texts.unlabelled, texts.unlabelled)
        ]
        # The main optimiser, and the discriminator's if there is one.
        groups = [model.main_parameters()]
        if model.discriminator is not None:
            groups.append(list(model.discriminator.parameters()))
        rate = settings.learning_rate
        self.optimizers = [
            torch.optim.Adam(group, lr=rate, weight_decay=WEIGHT_DECAY, fused=True)
            for group in groups
        ]

    def batches(self, round_: int) -> Iterator[StepBatches]:
        """Yield the texts of each iteration of a round."""
        return (self.drawn() for _ in range(self.iterations))

    def drawn(self) -> StepBatches:
        """Draw the texts of the next iteration."""
        texts, (of_labelled, of_unlabelled, of_critics) = self.texts, self.streams
        return StepBatches(
            self._batch(texts.labelled, of_labelled),
            self._batch(texts.unlabelled, of_unlabelled) if texts.unlabelled else None,
            tuple(self._batch(texts.unlabelled, of_critics) for _ in range(self.critics)),
        )

    def _batch(
        self, texts: Sequence[EncodedTexts], streams: Sequence[Iterator[list[int]]]
    ) -> TextBatch:
        chosen = [(t, next(stream)) for t, stream in zip(texts, streams, strict=True)]
        return collate(chosen).to(self.device)

    def step(self, batch: StepBatches) -> Step:
        """Do one main iteration; each part of its loss is a mean.

        The words of the whole iteration are represented at once: the discriminator's updates
        change nothing below it.
        """
        rows = torch.cat([texts.flat for texts in (*batch.main, *batch.critics)])
        # shape: (tokens of all, dim); labelled texts first
        words = self.model.words(rows, self.table)
        main = sum(len(texts.flat) for texts in batch.main)
        critic = self.discriminator_steps(batch.critics, words[main:].detach())
        loss, parts = self.main_loss(batch, words[:main])
        _descend(self.optimizers[0], loss)
        parts = {"discriminator": critic, **parts}
        losses = torch.stack(list(parts.values())).tolist()
        return Step(dict(zip(parts, losses, strict=True)), tokens=batch.tokens)

    def discriminator_steps(self, critics: Sequence[TextBatch], words: Tensor) -> Tensor:
        """Update D once per batch, all else fixed; return its mean loss (Algorithm 1, 3-9).

        All k batches go through F_s together, without a graph.
        """
        total = words.new_zeros(())
        if not critics:
            return total
        with torch.no_grad():
            # shape of each: (tokens of a batch, 2 * extractor_dim)
            features = self._shared(critics, words)
        for batch, shared in zip(critics, features, strict=True):
            loss = self.language_loss(shared, batch)
            _descend(self.optimizers[1], loss)
            total += loss.detach()
        return total / len(critics)

    def main_loss(self, batches: StepBatches, words: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return J of Eq. 6 on the batches, and its parts (Algorithm 1, 11-21)."""
        # shape of each: (tokens of a batch, 2 * extractor_dim)
        shared = self._shared(batches.main, words)
        labelled = batches.labelled
        of_labelled = words[: len(labelled.flat)]
        prediction = self.model.predict(of_labelled, labelled.packing, shared[0])

        def average(losses: Tensor) -> Tensor:
            # a mean over tokens (the code), not over the sentences' sums (Eq. 2)
            return language_mean(losses, languages_of(len(losses), labelled), self.sources)

        # shape: (items,)
        task = functional.nll_loss(prediction.log_probabilities, labelled.gold, reduction="none")
        parts = {"task": average(task)}
        # L_g: per item the loss of the expert of its language (Eq. 5)
        gates = [
            functional.cross_entropy(logits, languages_of(len(logits), labelled), reduction="none")
            for logits in (prediction.private_gate, prediction.predictor_gate)
            if logits is not None
        ]
        if gates:
            parts["gates"] = torch.stack([average(losses) for losses in gates]).sum()
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
        assert self.model.discriminator is not None
        # shape: (batch, languages), then (batch,)
        log_probabilities = self.model.discriminator(shared, batch.packing)
        losses = functional.nll_loss(log_probabilities, batch.languages, reduction="none")
        return language_mean(losses, batch.languages, self.sources + 1)

    def _shared(self, texts: Sequence[TextBatch], words: Tensor) -> tuple[Tensor, ...]:
        """Return F_s of several batches, which go through it as one."""
        packing = Packing.joined([batch.packing for batch in texts])
        # shape: (tokens of all, 2 * extractor_dim)
        features: Tensor = self.model.shared(words, packing)
        return features.split([len(batch.flat) for batch in texts])


def _descend(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def endless_batches(
    texts: EncodedTexts, batch_size: int, generator: np.random.Generator
) -> Iterator[list[int]]:
    """Yield numbers of texts without end: every text once, in random order, then again."""
    while True:
        yield from cut(generator.permutation(len(texts.rows)).tolist(), batch_size)


def languages_of(items: int, batch: TextBatch) -> Tensor:
    """Return the language of each item of a batch, its texts or their tokens, ``(items,)``."""
    of_texts = batch.languages
    return of_texts if items == len(of_texts) else of_texts[batch.packing.texts]


def schedule(texts: TrainingTexts, settings: TransferSettings) -> tuple[int, int]:
    """Return how many rounds there are at most, and how many iterations a round has.

    A round is an epoch, or as many iterations as lie between two looks at dev. An epoch has as many
    iterations as the geometric mean of the source languages' numbers of batches.
    """
    batches = [math.ceil(len(t.rows) / settings.batch_size) for t in texts.labelled]
    per_epoch = max(1, round(math.prod(batches) ** (1 / len(batches))))
    epochs = max(settings.epochs, math.ceil(settings.min_iterations / per_epoch))
    if settings.evaluate_every is None:
        return epochs, per_epoch
    iterations = settings.max_iterations or epochs * per_epoch
    return math.ceil(iterations / settings.evaluate_every), settings.evaluate_every
