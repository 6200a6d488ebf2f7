"""Train a masked language model; a killed run resumes exactly where it would have been.

Everything random in a step follows from the seed and the number of the step, so a checkpoint needs
weights, optimiser state and the step alone. On a CPU an interrupted and resumed run ends with the
same bits as one without a break (a test compares). On CUDA it runs in bfloat16 where the GPU has
it, else in float16 with loss scaling.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.pretraining.masking import mask_pieces
from xlrepro.pretraining.settings import PretrainingSettings
from xlrepro.pretraining.wordpiece import MASK, SPECIAL
from xlrepro.training.checkpoints import Checkpoints
from xlrepro.training.repeatable import compute_repeatably

CURVE_POINTS = 40  # of the loss curve that the record shows


@dataclass
class Progress:
    """How far training is.

    Attributes:
        step: steps done.
        losses: loss of each step, nats per hidden piece.
        seconds: wall time of all steps, over all runs that it took.
    """

    step: int = 0
    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0


def pretrain(
    sequences: np.ndarray,
    vocabulary: int,
    settings: PretrainingSettings,
    checkpoint: Path,
    device: str = "cpu",
    say: Callable[[str], None] = lambda line: None,
    stop_after: int | None = None,
) -> tuple[MaskedLanguageModel, Progress]:
    """Train from the checkpoint, if there is one, to the end.

    Args:
        sequences: numbers of pieces, no padding. ``(sequences, positions)``
        vocabulary: number of pieces.
        settings: everything else.
        checkpoint: file that is read first and written every so many steps.
        device: ``"cpu"`` or ``"cuda"``.
        say: gets a line at each checkpoint.
        stop_after: stop when so many steps are done, as if killed: for tests and timing.

    Returns:
        The model and how the training went.
    """
    torch.manual_seed(settings.seed)
    compute_repeatably(device)
    model = MaskedLanguageModel(BertSizes(vocabulary, **settings.sizes.model_dump())).to(device)
    optimizer = _optimizer(model, settings)
    precision = _Precision(device)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    checkpoints = Checkpoints(checkpoint)
    progress = _resumed(checkpoints.load(), model, optimizer, precision)
    end = settings.steps if stop_after is None else min(stop_after, settings.steps)
    model.train()
    started = time.perf_counter() - progress.seconds
    while progress.step < end:
        step = progress.step
        _set_rate(optimizer, settings, step)
        loss = _step(
            model, optimizer, precision, batch_of(sequences, vocabulary, settings, step), step
        )
        progress.losses.append(loss)
        progress.step += 1
        progress.seconds = time.perf_counter() - started
        if progress.step % settings.checkpoint_every == 0 and progress.step < settings.steps:
            checkpoints.save(_resumable(model, optimizer, precision, progress))
            recent = float(np.mean(progress.losses[-settings.checkpoint_every :]))
            say(f"step {progress.step} of {settings.steps}, loss {recent:.3f}")
    return model, progress


def batch_of(
    sequences: np.ndarray, vocabulary: int, settings: PretrainingSettings, step: int
) -> "Batch":
    """Return the masked batch of a step; it follows from the seed and the step alone."""
    per_epoch = len(sequences) // settings.sequences
    epoch, place = divmod(step, max(1, per_epoch))
    order = np.random.default_rng([settings.seed, 0, epoch]).permutation(len(sequences))
    rows = order[place * settings.sequences : (place + 1) * settings.sequences]
    draw = np.random.default_rng([settings.seed, 1, step])
    ids = sequences[rows].astype(np.int64)
    # shape of each: (batch, positions), and (hidden positions,) of gold
    masked = mask_pieces(ids, len(SPECIAL), SPECIAL.index(MASK), vocabulary, draw)
    seen, hidden, gold = (torch.from_numpy(array) for array in masked)
    return Batch(seen, hidden, gold, settings.seed)


@dataclass(frozen=True)
class Batch:
    """What the model sees, where it must name pieces, and which; and the seed of the run."""

    ids: torch.Tensor
    hidden: torch.Tensor
    gold: torch.Tensor
    seed: int


class _Precision:
    """Mixed precision on CUDA; full precision, and nothing to do, on a CPU."""

    def __init__(self, device: str) -> None:
        self.device = device
        cuda = device != "cpu"
        self.type = torch.bfloat16 if cuda and torch.cuda.is_bf16_supported() else torch.float16
        self.scaler = torch.amp.GradScaler(enabled=cuda and self.type == torch.float16)

    def autocast(self) -> AbstractContextManager[Any]:
        if self.device == "cpu":
            return nullcontext()
        return torch.autocast("cuda", dtype=self.type)


def _optimizer(model: torch.nn.Module, settings: PretrainingSettings) -> torch.optim.Optimizer:
    """AdamW; biases and normalisation are not decayed (Devlin et al. 2019)."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    return torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
        lr=settings.learning_rate,
        betas=(0.9, 0.98),
    )


def _set_rate(optimizer: torch.optim.Optimizer, settings: PretrainingSettings, step: int) -> None:
    warmup = max(1, round(settings.warmup_share * settings.steps))
    factor = min((step + 1) / warmup, (settings.steps - step) / max(1, settings.steps - warmup))
    for group in optimizer.param_groups:
        group["lr"] = settings.learning_rate * min(1.0, factor)


def _step(
    model: MaskedLanguageModel,
    optimizer: torch.optim.Optimizer,
    precision: _Precision,
    batch: Batch,
    step: int,
) -> float:
    """Take one step; the seed of its dropout follows from its number."""
    torch.manual_seed(batch.seed * 1_000_003 + step)
    ids, hidden, gold = (t.to(precision.device) for t in (batch.ids, batch.hidden, batch.gold))
    optimizer.zero_grad(set_to_none=True)
    with precision.autocast():
        # shape: (hidden positions, vocabulary)
        scores = model(ids, hidden)
    loss = functional.cross_entropy(scores.to(torch.get_default_dtype()), gold)
    precision.scaler.scale(loss).backward()
    precision.scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    precision.scaler.step(optimizer)
    precision.scaler.update()
    return round(float(loss.detach()), 5)


def _resumable(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    precision: _Precision,
    progress: Progress,
) -> dict[str, Any]:
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": precision.scaler.state_dict(),
        "progress": vars(progress),
    }


def _resumed(
    state: Mapping[str, Any] | None,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    precision: _Precision,
) -> Progress:
    """Go on from a checkpoint; start anew where there is none."""
    if state is None:
        return Progress()
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    precision.scaler.load_state_dict(state["scaler"])
    return Progress(**state["progress"])


def loss_curve(losses: list[float], tokens_per_step: int) -> list[list[float]]:
    """Return at most 40 points ``[tokens seen, mean loss since the last point]``.

    Example:
        >>> loss_curve([4.0, 2.0], 10)
        [[10, 4.0], [20, 2.0]]
    """
    width = -(-len(losses) // CURVE_POINTS)
    return [
        [min(i + width, len(losses)) * tokens_per_step, round(float(np.mean(part)), 4)]
        for i in range(0, len(losses), max(1, width))
        if (part := losses[i : i + width])
    ]
