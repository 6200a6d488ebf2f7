"""Train a masked language model; a killed run resumes exactly where it would have been.

On CUDA it runs in bfloat16 where the GPU has it, else in float16 with loss scaling.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.pretraining.settings import PretrainingSettings
from xlrepro.pretraining.wordpiece import MASK, SPECIAL
from xlrepro.training.loop import compute_repeatably
from xlrepro.training.masking import Masked, mask_pieces
from xlrepro.training.optimiser import warmup_then_linear
from xlrepro.training.steps import Progress, adamw, rows_of_step, take_steps


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
        The model and how the training went; losses in nats per hidden piece.
    """
    run = _Run(sequences, vocabulary, settings, device)
    every = settings.checkpoint_every
    return run.model, take_steps(run, settings.steps, every, checkpoint, say, stop_after)


def batch_of(
    sequences: np.ndarray, vocabulary: int, settings: PretrainingSettings, step: int
) -> Masked:
    """Return the masked batch of a step; it follows from the seed and the step alone."""
    rows = rows_of_step(step, len(sequences), settings.sequences, [settings.seed, 0])
    draw = np.random.default_rng([settings.seed, 1, step])
    ids = sequences[rows].astype(np.int64)
    return mask_pieces(ids, len(SPECIAL), SPECIAL.index(MASK), vocabulary, draw)


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


class _Run:
    """A model with its text and its optimiser; on CUDA in mixed precision."""

    def __init__(
        self, sequences: np.ndarray, vocabulary: int, settings: PretrainingSettings, device: str
    ) -> None:
        torch.manual_seed(settings.seed)
        compute_repeatably(device)
        sizes = BertSizes(vocabulary, **settings.sizes.model_dump())
        self.model = MaskedLanguageModel(sizes).to(device).train()
        self._sequences, self._vocabulary, self._settings = sequences, vocabulary, settings
        self._device, self._precision = device, _Precision(device)
        self._optimizer = adamw(self.model.parameters(), settings.learning_rate, (0.9, 0.98))

    def step(self, number: int) -> float:
        """Take one step; the seed of its dropout follows from its number."""
        settings, scaler = self._settings, self._precision.scaler
        warmup = max(1, round(settings.warmup_share * settings.steps))
        for group in self._optimizer.param_groups:
            factor = warmup_then_linear(number, warmup, settings.steps)
            group["lr"] = settings.learning_rate * factor
        masked = batch_of(self._sequences, self._vocabulary, settings, number)
        torch.manual_seed(settings.seed * 1_000_003 + number)
        # shape: (batch, positions), (batch, positions), (hidden positions,)
        ids, hidden, gold = (torch.from_numpy(array).to(self._device) for array in masked)
        self._optimizer.zero_grad(set_to_none=True)
        with self._precision.autocast():
            # shape: (hidden positions, vocabulary)
            scores = self.model(ids, hidden)
        loss = functional.cross_entropy(scores.to(torch.get_default_dtype()), gold)
        scaler.scale(loss).backward()
        scaler.unscale_(self._optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        scaler.step(self._optimizer)
        scaler.update()
        return round(float(loss.detach()), 5)

    def state(self) -> dict[str, Any]:
        return {name: part.state_dict() for name, part in self._parts().items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        for name, part in self._parts().items():
            part.load_state_dict(state[name])

    def _parts(self) -> dict[str, Any]:
        scaler = self._precision.scaler
        return {"model": self.model, "optimizer": self._optimizer, "scaler": scaler}
