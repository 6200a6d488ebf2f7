"""Train a tagger on the source language and keep its best epoch on source dev.

Shared by the paper's tasks: a task brings its encoded splits, its tag set and its score.
"""

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from xlrepro.embeddings.vectors.encoding import (
    Batch,
    EncodedSplit,
    TagSet,
    ordered_batches,
    shuffled_batches,
)
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.papers.word_order.shuffling import shuffle_order
from xlrepro.training.repeatable import compute_repeatably

EVALUATION_TOKENS = 8192  # padded tokens of an evaluation batch

# (gold, predicted), each a list of tag numbers per sentence -> the score, higher is better
Score = Callable[[Sequence[torch.Tensor], Sequence[torch.Tensor]], float]


@dataclass
class Fit:
    """What training leaves behind besides the weights.

    Attributes:
        dev_scores: source dev score after each epoch, in the score's unit.
        losses: mean training loss of each epoch.
        best_epoch: 0-based epoch whose weights were kept.
        tokens: training tokens seen.
        seconds: wall time of training, without evaluation.
    """

    dev_scores: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    best_epoch: int = -1
    tokens: int = 0
    seconds: float = 0.0


def train(
    settings: TaggingSettings,
    splits: tuple[EncodedSplit, EncodedSplit],
    tag_set: TagSet,
    score: Score,
    seed: int,
    device: str = "cpu",
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> tuple[SequenceTagger, Fit]:
    """Train on the source language; return the tagger with the weights of its best dev epoch.

    Args:
        settings: everything but seed and data.
        splits: train and dev of the source language.
        tag_set: the task's tags; BIO names keep spans whole when sentences are shuffled.
        score: what decides the best epoch.
        seed: of weights, dropout, batches and shuffled copies.
        device: where to train.
        progress: called with the fraction done and a short text.
    """
    torch.manual_seed(seed)
    compute_repeatably(device)
    train_split, dev_split = splits
    generator = np.random.default_rng(seed)
    tagger = SequenceTagger(
        settings.encoder, train_split.table.shape[1], len(tag_set), settings.head
    ).to(device)
    table = train_split.table.to(device)
    steps = settings.epochs * math.ceil(len(train_split) / settings.batch_size)
    optimizer = torch.optim.Adam(tagger.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: warmup_then_linear(step, settings.warmup_steps, steps)
    )
    fit, best = Fit(), copy.deepcopy(tagger.state_dict())
    for epoch in range(settings.epochs):
        started = time.perf_counter()
        split = train_split
        if settings.shuffle:
            split = shuffled_copy(train_split, tag_set, settings, epoch, seed)
        losses = []
        tagger.train()
        for batch in shuffled_batches(split, settings.batch_size, generator):
            losses.append(_step(tagger, batch.to(device), table, settings, optimizer, generator))
            schedule.step()
        fit.seconds += time.perf_counter() - started
        fit.tokens += split.tokens
        fit.losses.append(round(sum(losses) / len(losses), 4))
        fit.dev_scores.append(score(dev_split.tags, predictions(tagger, dev_split, device)))
        if fit.best_epoch < 0 or fit.dev_scores[-1] > fit.dev_scores[fit.best_epoch]:
            fit.best_epoch, best = epoch, copy.deepcopy(tagger.state_dict())
        progress((epoch + 1) / (settings.epochs + 1), f"dev {fit.dev_scores[-1]:.2f}")
        if epoch - fit.best_epoch >= settings.patience:
            break
    tagger.load_state_dict(best)
    return tagger, fit


def warmup_then_linear(step: int, warmup: int, total: int) -> float:
    """Return the learning rate's factor: up to 1 in ``warmup`` steps, down to 0 at ``total``."""
    if step < warmup:
        return (step + 1) / warmup
    return max(0.0, (total - step) / max(1, total - warmup))


def _step(
    tagger: SequenceTagger,
    batch: Batch,
    table: torch.Tensor,
    settings: TaggingSettings,
    optimizer: torch.optim.Optimizer,
    generator: np.random.Generator,
) -> float:
    """Take one optimiser step and return the loss."""
    dropped = torch.from_numpy(generator.random(batch.rows.shape) < settings.word_dropout)
    rows = batch.rows.masked_fill(dropped.to(batch.rows.device), 0)
    optimizer.zero_grad(set_to_none=True)
    loss = tagger.loss(table[rows], batch.tags, batch.mask)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(tagger.parameters(), settings.clip_norm)
    optimizer.step()
    return float(loss.detach())


def shuffled_copy(
    split: EncodedSplit, tag_set: TagSet, settings: TaggingSettings, epoch: int, seed: int
) -> EncodedSplit:
    """Return copy ``epoch mod shuffle_copies`` of the training sentences, each in a new order.

    A trial that trains as many epochs as there are copies sees each copy once. Spans of BIO tags
    stay whole; where tags are no BIO tags, every token is a unit. Copies depend on the seed, so
    that seeds differ in them too.
    """
    draw = np.random.default_rng([seed, epoch % settings.shuffle_copies])
    rows, tags = [], []
    for sentence_rows, sentence_tags in zip(split.rows, split.tags, strict=True):
        names = [tag_set.names[t] if t >= 0 else "O" for t in sentence_tags.tolist()]
        order = torch.tensor(shuffle_order(len(sentence_rows), settings.shuffle_k, draw, names))
        rows.append(sentence_rows[order])
        tags.append(sentence_tags[order])
    return replace(split, rows=rows, tags=tags)


def predictions(tagger: SequenceTagger, split: EncodedSplit, device: str) -> list[torch.Tensor]:
    """Return the predicted tag numbers of each sentence of ``split``, in its order."""
    tagger.eval()
    table = split.table.to(device)
    found: dict[int, torch.Tensor] = {}
    for batch in ordered_batches(split, EVALUATION_TOKENS):
        moved = batch.to(device)
        with torch.inference_mode():
            best = tagger.predict(table[moved.rows], moved.mask).cpu()
        for index, row in zip(batch.indices, best, strict=True):
            found[index] = row[: len(split.rows[index])]
    return [found[i] for i in range(len(split))]
