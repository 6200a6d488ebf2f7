"""Train a language model; a killed run resumes exactly where it would have been.

Everything random in a step follows from the seed and the number of the step, so a checkpoint needs
weights, sums of the optimisers, the LSTM's state and the step.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from xlrepro.papers.sense_alignment.language_model.bilm import BiLanguageModel, Window
from xlrepro.papers.sense_alignment.language_model.projected_lstm import State
from xlrepro.papers.sense_alignment.language_model.rows import RowTable
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.language_model.whole_word_bert import WholeWordBert
from xlrepro.papers.sense_alignment.language_model.word_encoder import character_ids
from xlrepro.papers.sense_alignment.pretraining.batches import Batches
from xlrepro.papers.sense_alignment.pretraining.text import SPECIAL, UNKNOWN, Corpus
from xlrepro.training.loop import compute_repeatably
from xlrepro.training.optimiser import warmup_then_linear
from xlrepro.training.steps import Progress, adamw, take_steps

LOOKS = 40  # at the senses alive, over the whole training
Model = BiLanguageModel | WholeWordBert


def build_model(settings: LanguageModelSettings, corpus: Corpus) -> Model:
    """Return the untrained model of a corpus; the seed decides its weights."""
    torch.manual_seed(settings.seed)
    network, senses, training = settings.network, settings.senses, settings.training
    if network.family == "bert":
        model: Model = WholeWordBert(
            network, senses, corpus.known, corpus.translations, training.optimiser
        )
    else:
        characters = character_ids(corpus.words, network.characters_per_word)
        model = BiLanguageModel(
            network,
            senses,
            characters,
            corpus.known,
            corpus.translations,
            training.accumulator,
            training.optimiser,
        )
    return model.double() if settings.precision == "double" else model


def pretrain(
    settings: LanguageModelSettings,
    corpus: Corpus,
    checkpoint: Path,
    device: str = "cpu",
    say: Callable[[str], None] = lambda line: None,
    stop_after: int | None = None,
) -> tuple["Run", Progress]:
    """Train from the checkpoint, if there is one, to the end.

    Args:
        settings: everything but the text.
        corpus: the text.
        checkpoint: file that is read first and written every so many steps.
        device: ``"cpu"`` or ``"cuda"``.
        say: gets a line at each checkpoint.
        stop_after: stop when so many steps are done, as if killed: for tests and timing.

    Returns:
        The model with what belongs to it, and how the training went; losses in nats per word.
    """
    compute_repeatably(device)
    run = Run(settings, corpus, device)
    steps, every = settings.training.steps, settings.training.checkpoint_every
    return run, take_steps(run, steps, every, checkpoint, say, stop_after)


class Run:
    """A training under way.

    Args:
        settings: everything but the text.
        corpus: the text.
        device: where to train.

    Attributes:
        model: the model.
        alive: ``[step, mean senses of frequent, middling and rare words]``, thirds of the
            vocabulary; of the forward direction.
    """

    def __init__(self, settings: LanguageModelSettings, corpus: Corpus, device: str) -> None:
        self.settings, self.device = settings, device
        self.batches = Batches(corpus, settings)
        self.model = build_model(settings, corpus).to(device).train()
        self.alive: list[list[float]] = []
        self.known = corpus.known
        self._targets = torch.arange(len(corpus.words), device=device)
        self._targets[corpus.known :] = SPECIAL.index(UNKNOWN)
        self._carried: list[State] | None = None
        self._optimizer = self._new_optimizer()

    def _new_optimizer(self) -> torch.optim.Optimizer:
        training, parameters = self.settings.training, list(self.model.parameters())
        if training.optimiser == "adagrad":
            return torch.optim.Adagrad(
                parameters,
                lr=training.learning_rate,
                initial_accumulator_value=training.accumulator,
            )
        return adamw(parameters, training.learning_rate)

    def tables(self) -> list[RowTable]:
        """Return the tables that are trained row by row."""
        return [t for part in self.model.parts() for t in (part.vectors, part.bias)]

    def step(self, number: int) -> float:
        """Take one step and return its loss, to six digits."""
        return round(self.update(number), 6)

    def update(self, number: int) -> float:
        """Take one step, counted from 0, and return its loss."""
        settings = self.settings
        self._begin(number)
        torch.manual_seed(settings.seed * 1_000_003 + number)
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._loss(number)
        factor = settings.training.unroll if settings.training.times_unroll else 1
        (loss * factor).backward()  # type: ignore[no-untyped-call]
        self._clip()
        rate = self._rate(number)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        for table in self.tables():
            table.step(rate)
        self._end(number + 1)
        return float(loss.detach())

    def _begin(self, number: int) -> None:
        """Switch the warm-up's senses where the warm-up ends; SaBERT starts its optimiser anew."""
        senses = self.settings.senses
        if senses.senses == 1 or number != senses.warmup_steps or number == 0:
            return
        for part in self.model.parts():
            part.begin(number)
            if senses.warmup == "tied" and isinstance(self.model, WholeWordBert):
                part.copy_to_all(self.model.encoder.pieces.weight.detach())
                part.vectors.forget()
        if senses.warmup == "tied":
            self._optimizer = self._new_optimizer()

    def _loss(self, number: int) -> Tensor:
        if isinstance(self.model, WholeWordBert):
            batch = self.batches.masked(number, self.known)
            for name in ("ids", "hidden", "gold"):
                setattr(batch, name, getattr(batch, name).to(self.device))
            return self.model.loss(batch)
        words = self.batches.window(number).to(self.device)
        window = Window(words, self._targets[words], self._carried, number, self.settings.seed)
        loss, carried = self.model.loss(window)
        self._carried = carried if self.settings.training.stateful else None
        return loss

    def _clip(self) -> None:
        """Cut the norm of the whole gradient, rows of sense vectors included."""
        dense = [p.grad for p in self.model.parameters() if p.grad is not None]
        rows = [g for t in self.tables() if (g := t.gradient) is not None]
        norm = nn.utils.get_total_norm([*dense, *rows])
        factor = (self.settings.training.clip_norm / (norm + 1e-6)).clamp(max=1.0)
        for gradient in (*dense, *rows):
            gradient.mul_(factor)

    def _rate(self, number: int) -> float:
        training, senses = self.settings.training, self.settings.senses
        if training.optimiser == "adagrad":
            return training.learning_rate
        first = 0
        if senses.senses > 1 and senses.warmup == "tied" and number >= senses.warmup_steps:
            first = senses.warmup_steps  # the schedule starts anew
        total = training.steps - first
        warmup = max(1, round(training.warmup_share * total))
        return training.learning_rate * warmup_then_linear(number - first, warmup, total)

    def _end(self, step: int) -> None:
        """Move centres by a fresh batch where the settings say so; update P; give senses up."""
        senses, steps = self.settings.senses, self.settings.training.steps
        if isinstance(self.model, WholeWordBert) and self.model.parts():
            if self.model.tied(step - 1):
                return
            if senses.fresh_batch:
                batch = self.batches.masked(step - 1, self.known, again=1)
                self.model.observe(batch)
        for part in self.model.parts():
            part.end(step)
        if senses.senses > 1 and step % max(1, steps // LOOKS) == 0:
            alive = self.model.parts()[0].alive()[len(SPECIAL) :].double()
            thirds = [float(third.mean()) for third in alive.tensor_split(3) if len(third)]
            self.alive.append([step, *(round(mean, 4) for mean in thirds)])

    def state(self) -> dict[str, Any]:
        """Return all that the next step depends on."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "carried": self._carried,
            "alive": self.alive,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        self.model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        carried = [(h.to(self.device), c.to(self.device)) for h, c in state["carried"] or ()]
        self._carried, self.alive = carried or None, state["alive"]
        for part in self.model.parts():
            part.refresh()
