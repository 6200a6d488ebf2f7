"""Train a tagger on the source language, keep its best epoch on source dev, test it everywhere.

No sentence of a target language is read before training and model selection are over.
"""

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from xlrepro import metrics
from xlrepro.embeddings.encoding import Batch, EncodedSplit, ordered_batches, shuffled_batches
from xlrepro.papers.word_order import data
from xlrepro.papers.word_order.model import SequenceTagger
from xlrepro.papers.word_order.settings import TaggingSettings, validated
from xlrepro.papers.word_order.shuffling import shuffle_order
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

EVALUATION_TOKENS = 8192  # padded tokens of an evaluation batch


@dataclass
class Fit:
    """What training leaves behind besides the weights.

    Attributes:
        dev_scores: source dev accuracy after each epoch, percent.
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


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial of ``word_order/table2`` or ``word_order/learning_rates``.

    Cells: accuracy per language (percent), and ``avg``, the mean over the targets without the
    source. Details: the learning curve, and per language how often each tag was right.
    """
    settings = validated(trial.settings, trial.label)
    (system,) = trial.systems
    torch.manual_seed(trial.seed)
    torch.use_deterministic_algorithms(context.device == "cpu")
    tagger, fit = train(settings, trial.seed, context.device, context.progress)
    details: dict[str, Any] = {
        "dev_accuracy": fit.dev_scores,
        "train_loss": fit.losses,
        "best_epoch": fit.best_epoch,
        "parameters": sum(p.numel() for p in tagger.parameters()),
    }
    if settings.evaluate_targets:
        scores, breakdown = evaluate(tagger, settings, context.device)
        details["by_tag"] = breakdown
    else:
        (column,) = trial.columns
        scores = {column: fit.dev_scores[fit.best_epoch]}
    return TrialResult(
        cells=[Cell(system, column, value, "accuracy") for column, value in scores.items()],
        details=details,
        signatures={"accuracy": metrics.accuracy_signature()},
        training_tokens=fit.tokens,
        training_seconds=fit.seconds,
    )


def train(
    settings: TaggingSettings,
    seed: int,
    device: str = "cpu",
    progress: Callable[[float, str], None] = lambda fraction, text: None,
) -> tuple[SequenceTagger, Fit]:
    """Train on the source language; return the tagger with the weights of its best dev epoch."""
    shared = data.data_settings(settings)
    train_split = data.encoded(shared, settings.source, "train")
    dev_split = data.encoded(shared, settings.source, "dev")
    generator = np.random.default_rng(seed)
    tagger = SequenceTagger(
        settings.encoder, train_split.table.shape[1], len(data.UPOS), settings.head
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
        split = shuffled_copy(train_split, settings, epoch, seed) if settings.shuffle else train_split
        total, count = 0.0, 0
        tagger.train()
        for batch in shuffled_batches(split, settings.batch_size, generator):
            total += _step(tagger, batch.to(device), table, settings, optimizer, generator)
            schedule.step()
            count += 1
        fit.seconds += time.perf_counter() - started
        fit.tokens += split.tokens
        fit.losses.append(round(total / max(count, 1), 4))
        fit.dev_scores.append(accuracy(tagger, dev_split, device))
        if fit.best_epoch < 0 or fit.dev_scores[-1] > fit.dev_scores[fit.best_epoch]:
            fit.best_epoch, best = epoch, copy.deepcopy(tagger.state_dict())
        progress((epoch + 1) / (settings.epochs + 1), f"dev {fit.dev_scores[-1]:.2f}")
        if epoch - fit.best_epoch >= settings.patience:
            break
    tagger.load_state_dict(best)
    return tagger, fit


def warmup_then_linear(step: int, warmup: int, total: int) -> float:
    """Return the factor of the learning rate at ``step``: up to 1 over ``warmup``, down to 0 at ``total``."""
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
    split: EncodedSplit, settings: TaggingSettings, epoch: int, seed: int
) -> EncodedSplit:
    """Return copy ``epoch mod shuffle_copies`` of the training sentences, each in a new order.

    A trial that trains as many epochs as there are copies sees each copy once. In POS tagging every
    token is a unit; copies depend on the seed, so that seeds differ in them too.
    """
    draw = np.random.default_rng([seed, epoch % settings.shuffle_copies])
    rows, tags = [], []
    for sentence_rows, sentence_tags in zip(split.rows, split.tags, strict=True):
        order = torch.tensor(shuffle_order(len(sentence_rows), settings.shuffle_k, draw))
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


def accuracy(tagger: SequenceTagger, split: EncodedSplit, device: str) -> float:
    """Return the share of right tags over all tokens of ``split``, percent."""
    gold = torch.cat(split.tags).tolist()
    return metrics.accuracy(gold, torch.cat(predictions(tagger, split, device)).tolist())


def evaluate(
    tagger: SequenceTagger, settings: TaggingSettings, device: str
) -> tuple[dict[str, float], dict[str, dict[str, list[int]]]]:
    """Test on the source and on every target.

    Returns:
        Accuracy per language and ``avg``, percent; and per language and tag ``[right, total]``.
    """
    shared = data.data_settings(settings)
    scores: dict[str, float] = {}
    breakdown: dict[str, dict[str, list[int]]] = {}
    for language in (settings.source, *settings.targets):
        split = data.encoded(shared, language, "test")
        gold = torch.cat(split.tags)
        predicted = torch.cat(predictions(tagger, split, device))
        scores[language] = metrics.accuracy(gold.tolist(), predicted.tolist())
        breakdown[language] = {
            name: [int(((gold == n) & (predicted == n)).sum()), int((gold == n).sum())]
            for n, name in enumerate(data.UPOS.names)
            if bool((gold == n).any())
        }
    scores["avg"] = sum(scores[code] for code in settings.targets) / len(settings.targets)
    return scores, breakdown
