"""Tune a bilingual model by masked language modelling; a killed run goes on as if unbroken.

Everything random in a step follows from the key of the stage and the number of the step, so a
checkpoint needs weights, optimiser and slow weights: the place in the data follows from the two as
well. A step takes a batch of each of the stage's languages (§3.3: balanced), adds up their
gradients, and moves once.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from xlrepro.papers.ramen.encoders.pieces import Special
from xlrepro.papers.ramen.model import BilingualModel
from xlrepro.papers.ramen.settings import Precision, StageSettings
from xlrepro.papers.ramen.stages.lookahead import Lookahead
from xlrepro.papers.ramen.stages.masking import hidden_pieces
from xlrepro.training.masking import Masked
from xlrepro.training.steps import Progress, rows_of_step, take_steps


class Text(NamedTuple):
    """A language's text as sequences of pieces: ``(sequences, length)``, and its special pieces."""

    sequences: np.ndarray
    special: Special
    vocabulary: int


def rate(step: int, settings: StageSettings) -> float:
    """Return the learning rate of a step, from 0 on: linear warm-up, then inverse square root.

    Example:
        >>> stage = StageSettings(updates=9, sequences=1, length=9)
        >>> rate(0, stage), rate(4000, stage), rate(16000, stage)
        (1e-07, 0.0001, 5e-05)
    """
    peak, first, warmup = settings.learning_rate, settings.first_rate, settings.warmup_steps
    if step < warmup:
        return first + step * (peak - first) / warmup
    return float(peak * (warmup / step) ** 0.5)


def tune(
    model: BilingualModel,
    texts: Mapping[str, Text],
    what: str,
    target: str,
    settings: StageSettings,
    key: Sequence[int],
    checkpoint: Path | None = None,
    precision: Precision = "single",
    device: str = "cpu",
    say: Callable[[str], None] = lambda line: None,
    stop_after: int | None = None,
) -> Progress:
    """Tune in place, from the checkpoint if there is one.

    Args:
        model: what to tune.
        texts: the languages whose batches make a step.
        what: which parameters, see ``BilingualModel.parts``.
        target: the language that ``what`` speaks of.
        settings: of the stage.
        key: of batches, masks and dropout: the seed, and what no other stage has.
        checkpoint: file that is read first and written every so many steps.
        precision: ``"mixed"`` computes the model in half precision on a GPU.
        device: where to compute.
        say: gets a line at each checkpoint.
        stop_after: stop when so many steps are done, as if killed: for tests and timing.

    Returns:
        How the stage went: losses of each language, nats per hidden piece.
    """
    chosen = list(model.parts(what, target))
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parameter in chosen:
        parameter.requires_grad_(True)
    run = _Run(model.to(device).train(), chosen, texts, settings, key, precision, device)

    def tell(line: str) -> None:
        say(f"{target} {what}: {line}")

    progress = take_steps(
        run, settings.updates, settings.checkpoint_every, checkpoint, tell, stop_after
    )
    model.eval().requires_grad_(True)
    return progress


class _Run:
    """A model with its texts and its optimisers."""

    def __init__(
        self,
        model: BilingualModel,
        chosen: Sequence[torch.nn.Parameter],
        texts: Mapping[str, Text],
        settings: StageSettings,
        key: Sequence[int],
        precision: Precision,
        device: str,
    ) -> None:
        self.model, self.chosen, self.settings = model, chosen, settings
        self.texts, self.key, self.device = texts, tuple(key), device
        self.adam = torch.optim.Adam(chosen, lr=settings.learning_rate)
        k = settings.lookahead_k
        self.slow = Lookahead(chosen, k, settings.lookahead_alpha) if k else None
        self.mixed = precision == "mixed" and device != "cpu"

    def step(self, number: int) -> dict[str, float]:
        """Take one step and return the loss of each language."""
        drawn = np.random.SeedSequence([*self.key, number]).generate_state(1, np.uint64)
        torch.manual_seed(int(drawn[0]))
        for group in self.adam.param_groups:
            group["lr"] = rate(number, self.settings)
        self.adam.zero_grad(set_to_none=True)
        losses = {}
        for language, text in self.texts.items():
            masked = batch_of(text, language, self.settings, self.key, number)
            losses[language] = self._gradients(language, masked)
        torch.nn.utils.clip_grad_norm_(self.chosen, self.settings.clip_norm)
        self.adam.step()
        if self.slow is not None:
            self.slow.step()
        return losses

    def _gradients(self, language: str, masked: Masked) -> float:
        """Add the gradients of a batch, part by part, to those that are there."""
        total = max(1, len(masked.gold))
        summed = 0.0
        for rows in np.array_split(np.arange(len(masked.ids)), self.settings.accumulation):
            hidden = masked.hidden[rows]
            if not hidden.any():
                continue
            before = int(masked.hidden[: rows[0]].sum())
            # shape: (hidden,); ids and where (sequences, length)
            gold = torch.from_numpy(masked.gold[before : before + int(hidden.sum())])
            ids, where = torch.from_numpy(masked.ids[rows]), torch.from_numpy(hidden)
            with self._autocast():
                # shape: (hidden, pieces)
                scores = self.model(language, ids.to(self.device), where.to(self.device))
            scores = scores.float() if self.mixed else scores
            loss = functional.cross_entropy(scores, gold.to(self.device), reduction="sum") / total
            loss.backward()
            summed += float(loss.detach())
        return round(summed, 5)

    def _autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast("cuda", torch.bfloat16) if self.mixed else nullcontext()

    def state(self) -> dict[str, Any]:
        return {name: part.state_dict() for name, part in self._parts().items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        for name, part in self._parts().items():
            part.load_state_dict(state[name])

    def _parts(self) -> dict[str, Any]:
        slow = {"slow": self.slow} if self.slow is not None else {}
        return {"model": self.model, "adam": self.adam, **slow}


def batch_of(
    text: Text, language: str, settings: StageSettings, key: Sequence[int], step: int
) -> Masked:
    """Return a language's masked batch of a step; it follows from key and step alone."""
    code = int.from_bytes(language.encode(), "big")
    rows = rows_of_step(step, len(text.sequences), settings.sequences, [*key, code, 0])
    draw = np.random.default_rng([*key, code, 1, step])
    ids = text.sequences[rows].astype(np.int64)
    return hidden_pieces(ids, text.special, text.vocabulary, settings.masking, draw)


@torch.inference_mode()
def accuracy(model: BilingualModel, language: str, text: Text, device: str = "cpu") -> list[int]:
    """Return ``[right, hidden]`` over a text, masked as the text says, always alike."""
    model = model.to(device).eval()
    draw = np.random.default_rng(0)
    masked = hidden_pieces(
        text.sequences.astype(np.int64), text.special, text.vocabulary, "text", draw
    )
    right = 0
    for start in range(0, len(masked.ids), 32):
        part = slice(start, start + 32)
        # shape: (sequences, length), then (hidden,)
        hidden = torch.from_numpy(masked.hidden[part]).to(device)
        best = model(language, torch.from_numpy(masked.ids[part]).to(device), hidden).argmax(-1)
        gold = torch.from_numpy(text.sequences[part].astype(np.int64)[masked.hidden[part]])
        right += int((best.cpu() == gold).sum())
    return [right, int(masked.hidden.sum())]
