"""Train a language model, and keep it in the cache, named by the hash of its recipe.

Everything random in a step follows from the seed and the number of the step, so that a killed
training resumes exactly where it would have been: a checkpoint needs weights, sums of the
optimisers, the LSTM's state and the step.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from xlrepro.artefacts import built, say
from xlrepro.nn.recurrent import mirrored_steps
from xlrepro.papers.sense_alignment import text
from xlrepro.papers.sense_alignment.bert import WholeWordBert, WordBert
from xlrepro.papers.sense_alignment.network import BiLanguageModel, BiLM, State, character_ids
from xlrepro.papers.sense_alignment.senses import SenseOutput
from xlrepro.papers.sense_alignment.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.text import BEGIN, END, UNKNOWN_ID, Batches, Corpus
from xlrepro.paths import cache_dir
from xlrepro.training import loop
from xlrepro.training.batches import cut, ordered
from xlrepro.training.optimiser import adamw, schedule
from xlrepro.trials import Cell, Trial, TrialContext, TrialResult
from xlrepro.values import hash_of
from xlrepro.vectors.encoding import padded

VERSION = 4  # raised when the code changes the trained models
LOOKS = 40  # at the senses alive, over the whole training
CHECKPOINT_EVERY = 1000  # steps
# Largest norm of the whole gradient [paper, Table 6; BERT's own].
CLIP_NORM = {"bilm": 10.0, "bert": 1.0}
WORDS_AT_ONCE = 4096  # padded words of a batch that a finished model reads
NEW_WORDS_AT_ONCE = 1024  # words whose characters are read together
LOSSES_AT_ONCE = 256  # held-out words whose losses over all senses are computed together

Model = BiLanguageModel | WholeWordBert
Sentences = Sequence[Sequence[str]]


def build_model(settings: LanguageModelSettings, corpus: Corpus) -> Model:
    """Return the untrained model of a corpus; the seed decides its weights."""
    torch.manual_seed(settings.seed)
    network, senses = settings.network, settings.senses
    if network.family == "bert":
        model: Model = WholeWordBert(network, senses, corpus.known, corpus.translations)
    else:
        characters = character_ids(corpus.words)
        model = BiLanguageModel(network, senses, characters, corpus.known, corpus.translations)
    return model.double() if settings.precision == "double" else model


def pretrain(
    settings: LanguageModelSettings, corpus: Corpus, checkpoint: Path, device: str = "cpu"
) -> tuple["Run", loop.Fit]:
    """Train from the checkpoint, if there is one, to the end.

    Args:
        settings: everything but the text.
        corpus: the text.
        checkpoint: file that is read first and written every so many steps.
        device: ``"cpu"`` or ``"cuda"``.

    Returns:
        The model with what belongs to it, and how the training went; losses in nats per word.
    """
    run = Run(settings, corpus, device)
    rounds = -(-settings.training.steps // CHECKPOINT_EVERY)
    with loop.fast_products(device):
        return run, loop.fit(
            run, rounds, None, lambda _, text: say(text), loop.Checkpoints(checkpoint)
        )


class Run:
    """A training under way; see :class:`xlrepro.training.loop.Learner`.

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
        self.text = Batches(corpus, settings)
        self.model = build_model(settings, corpus).to(device).train()
        self.alive: list[list[float]] = []
        # Words outside the vocabulary are read as they are and predicted as unknown.
        self._targets = torch.arange(len(corpus.words), device=device)
        self._targets[corpus.known :] = UNKNOWN_ID
        self._carried: list[State] | None = None
        self._optimizer = self._new_optimizer()

    def _new_optimizer(self) -> torch.optim.Optimizer:
        rate, parameters = self.settings.training.learning_rate, list(self.model.parameters())
        if self.settings.network.family == "bert":
            return adamw(parameters, rate)
        return torch.optim.Adagrad(parameters, lr=rate, initial_accumulator_value=1.0)

    def batches(self, round_: int) -> range:
        """Return the numbers of the steps up to the next checkpoint."""
        first = round_ * CHECKPOINT_EVERY
        return range(first, min(first + CHECKPOINT_EVERY, self.settings.training.steps))

    def dev_score(self) -> None:
        """No dev set: the last weights stay."""

    def step(self, number: int) -> loop.Step:
        """Take one step, counted from 0."""
        settings = self.settings
        self._begin(number)
        torch.manual_seed(settings.seed * 1_000_003 + number)
        self._optimizer.zero_grad(set_to_none=True)
        with loop.mixed_products(self.device, settings.precision == "mixed"):
            loss = self._loss(number)
        # The code multiplies a biLM's mean loss by the words of a window, which the clipping feels.
        factor = settings.training.unroll if settings.network.family == "bilm" else 1
        (loss * factor).backward()  # type: ignore[no-untyped-call]
        tables = [part.vectors for part in self.model.parts()]  # trained row by row
        used = [table.used for table in tables if table.used is not None]
        weights = [*self.model.parameters(), *used]
        nn.utils.clip_grad_norm_(weights, CLIP_NORM[settings.network.family])
        rate = self._rate(number)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        for table in tables:
            table.step(rate)
        self._end(number + 1)
        return loop.Step(float(loss.detach()))

    def _begin(self, number: int) -> None:
        """Switch the warm-up's senses where the warm-up ends; SaBERT starts its optimiser anew."""
        senses = self.settings.senses
        if senses.senses == 1 or number != senses.warmup_steps or number == 0:
            return
        for part in self.model.parts():
            part.begin(number)
            if senses.warmup == "tied" and isinstance(self.model, WholeWordBert):
                part.copy_to_all(self.model.encoder.words.weight.detach())
                part.vectors.forget()
        if senses.warmup == "tied":
            self._optimizer = self._new_optimizer()

    def _loss(self, number: int) -> Tensor:
        if isinstance(self.model, WholeWordBert):
            ids, hidden, gold = (part.to(self.device) for part in self.text.masked(number))
            return self.model.loss(ids, hidden, gold, number, self.settings.seed)
        words = self.text.window(number).to(self.device)
        window = words, self._targets[words], self._carried
        loss, carried = self.model.loss(*window, number, self.settings.seed)
        self._carried = carried if self.settings.training.stateful else None
        return loss

    def _rate(self, number: int) -> float:
        training, senses = self.settings.training, self.settings.senses
        if self.settings.network.family == "bilm":
            return training.learning_rate
        first = 0
        if senses.senses > 1 and senses.warmup == "tied" and number >= senses.warmup_steps:
            first = senses.warmup_steps  # the schedule starts anew
        total = training.steps - first
        warmup = max(1, round(training.warmup_share * total))
        return training.learning_rate * schedule("linear", warmup, total)(number - first)

    def _end(self, step: int) -> None:
        """Update P, give senses up, look at how many are alive."""
        steps, parts = self.settings.training.steps, self.model.parts()
        if isinstance(self.model, WholeWordBert) and self.model.tied(step - 1):
            return
        for part in parts:
            part.end(step)
        if self.settings.senses.senses > 1 and step % max(1, steps // LOOKS) == 0:
            self.alive.append([step, *(round(mean, 4) for mean in alive_by_thirds(parts[0].on))])

    def state(self) -> dict[str, Any]:
        """Return what the next step depends on besides its number and the model."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "carried": self._carried,
            "alive": self.alive,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        self._optimizer.load_state_dict(state["optimizer"])
        carried = [(h.to(self.device), c.to(self.device)) for h, c in state["carried"] or ()]
        self._carried, self.alive = carried or None, state["alive"]
        for part in self.model.parts():
            part.refresh()


def alive_by_thirds(on: Tensor) -> list[float]:
    """Return the mean number of senses of frequent, middling and rare words.

    Args:
        on: which senses are left, special words first. ``(V, slots)``
    """
    left = on[len(text.SPECIAL) :].sum(1).double()
    return [float(third.mean()) for third in left.tensor_split(3) if len(third)]


# -- finished models


@dataclass(frozen=True)
class LanguageModel:
    """A trained language model.

    Attributes:
        settings: what it was trained with.
        languages: what it reads.
        model: with its output layers, on its device; ready for use, not for training.
        vocabulary: its words by their numbers, special ones first.
        log: how the training went: numbers alone.
    """

    settings: LanguageModelSettings
    languages: tuple[str, ...]
    model: Model
    vocabulary: list[str]
    log: dict[str, Any]

    @property
    def content(self) -> str:
        """Hash of the weights, 64 hex digits."""
        return str(self.log["content"])

    @property
    def curves(self) -> dict[str, Any]:
        """What a record tells of the training; a model of no steps has no curve."""
        return {name: v for name, v in self.log.items() if name != "content" and v != []}

    def result(
        self, cells: list[Cell], details: dict[str, Any], signatures: dict[str, str], **more: Any
    ) -> TrialResult:
        """Return the result of a trial that looks at this model alone, with how it was trained."""
        return TrialResult(
            cells,
            details,
            signatures,
            training_tokens=self.log["tokens"],
            training_seconds=self.log["seconds"],
            artefacts={"language model": self.content},
            **more,
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word of the vocabulary."""
        return {word: i for i, word in enumerate(self.vocabulary)}

    @property
    def encoder(self) -> BiLM | WordBert:
        """The network without its output layers."""
        return self.model.encoder

    @property
    def parts(self) -> list[SenseOutput]:
        """The output layer of each direction: one of a BERT, none where weights are tied."""
        return self.model.parts()

    @property
    def device(self) -> torch.device:
        """Where it reads."""
        return next(self.encoder.parameters()).device

    def states(self, sentences: Sentences) -> Iterator[tuple[int, Tensor]]:
        """Yield each sentence's number and its states of every layer, longest sentences first.

        Words are read as they are: bring them into the form of the model's text first
        (:func:`xlrepro.papers.sense_alignment.text.as_read`). Each sentence is read for itself,
        between ``<S>`` and ``</S>``.

        Yields:
            ``(layers, length, dim)`` on the model's device. biLM: layer 0 is the word's vector
            twice, the others are forward and backward states side by side. BERT: the top layer
            alone.
        """
        find: Callable[[Sentences], list[Tensor]] = self._bert_states
        if isinstance(self.encoder, BiLM):
            find = self._bilm_states(sentences)
        for rows in ordered([len(s) + 2 for s in sentences], WORDS_AT_ONCE):
            with torch.no_grad():
                yield from zip(rows, find([sentences[i] for i in rows]), strict=True)

    @torch.no_grad()
    def _bilm_states(self, sentences: Sentences) -> Callable[[Sentences], list[Tensor]]:
        """Return what reads batches of some sentences; their words are encoded first, once each."""
        assert isinstance(self.encoder, BiLM)
        encoder, words = self.encoder, {BEGIN: 0, END: 1}
        for sentence in sentences:
            for word in sentence:
                words.setdefault(word, len(words))
        parts = map(character_ids, cut(list(words), NEW_WORDS_AT_ONCE))
        # shape: (distinct words, dim)
        table = torch.cat([encoder.words(part.to(self.device)) for part in parts])

        def read(batch: Sentences) -> list[Tensor]:
            rows = [torch.tensor([words[w] for w in (BEGIN, *s, END)]) for s in batch]
            return bilm_layers(encoder, table, rows)

        return read

    def _bert_states(self, sentences: Sentences) -> list[Tensor]:
        """Return top states; a sentence longer than the positions is read in parts."""
        assert isinstance(self.encoder, WordBert)
        number = self.numbers
        unknown, first, last = UNKNOWN_ID, text.FIRST, text.LAST
        room = self.encoder.sizes.positions - 2
        parts: list[list[int]] = []
        counts = []
        for sentence in sentences:
            ids = [number.get(word, unknown) for word in sentence]
            own = [[first, *ids[i : i + room], last] for i in range(0, len(ids), room)]
            parts += own
            counts.append(len(own))
        by_length: dict[int, list[int]] = {}
        for row, part in enumerate(parts):
            by_length.setdefault(len(part), []).append(row)
        states_of: dict[int, Tensor] = {}
        for rows in by_length.values():
            # shape: (parts of one length, length - 2, dim)
            ids_of = torch.tensor([parts[row] for row in rows], device=self.device)
            states_of |= zip(rows, self.encoder(ids_of)[:, 1:-1], strict=True)
        states = iter([states_of[row] for row in range(len(parts))])
        return [torch.cat([next(states) for _ in range(count)])[None] for count in counts]


def bilm_layers(encoder: BiLM, table: Tensor, rows: Sequence[Tensor]) -> list[Tensor]:
    """Return the states of sentences without their ends, ``(layers, length, 2 * dim)`` each.

    Args:
        encoder: the network.
        table: vectors of words. ``(words, dim)``
        rows: numbers of each sentence's words, ``<S>`` and ``</S>`` among them.
    """
    # shape: (batch, length), all
    ids, there = padded(rows)
    # Place t of a mirrored sentence; padding stays on the right, where neither direction meets it.
    mirrored = mirrored_steps(there.sum(1), ids.shape[1]).T
    # shape: (2, batch, length), then (2, batch, length, dim)
    both = torch.stack((ids, ids.gather(1, mirrored))).to(table.device)
    x = functional.embedding(both, table)
    layers, _ = encoder(x)
    back = mirrored.unsqueeze(-1).to(table.device)
    joined = [
        torch.cat((ahead, behind.gather(1, back.expand_as(behind))), -1)
        for ahead, behind in (layer.unbind(0) for layer in (x, *layers))
    ]
    # shape: (batch, layers, length, 2 * dim)
    states = torch.stack(joined, 1)
    return [states[i, :, 1 : len(row) - 1] for i, row in enumerate(rows)]


def recipe(settings: LanguageModelSettings, languages: tuple[str, ...]) -> dict[str, Any]:
    """Return everything that decides a language model; trains nothing."""
    values = settings.model_dump(mode="json")
    return {"version": VERSION, "settings": values, "text": text.recipe(settings, languages)}


def of_trial(settings: LanguageModelSettings, trial: Trial, context: TrialContext) -> LanguageModel:
    """Return the language model of a trial whose seed is the model's own."""
    chosen = settings.model_copy(update={"seed": trial.seed})
    return load(chosen, chosen.languages(), context.device)


@lru_cache(maxsize=8)
def load(
    settings: LanguageModelSettings, languages: tuple[str, ...], device: str = "cpu"
) -> LanguageModel:
    """Return a language model on its device, training it first if it is not in the cache.

    Raises:
        DataError: if a text file cannot be had, or what is kept is damaged.
    """
    made = recipe(settings, languages)
    checkpoint = cache_dir() / "pretraining" / f"senses-{hash_of(made)[:16]}.pt"
    write = partial(_build, settings, languages, checkpoint, device)
    folder = built("language-model", "-".join(languages), made, write, [checkpoint])
    kept = loop.Checkpoints(folder / "model.pt").load()
    assert kept is not None
    words = kept["words"]
    model = build_model(settings, Corpus.of(["<S>"], len(words), [[0]]))
    model.load_state_dict(kept["model"])
    model = model.to(device).eval().requires_grad_(False)
    for part in model.parts():
        part.refresh()
    return LanguageModel(settings, languages, model, words, kept["log"])


def _build(
    settings: LanguageModelSettings,
    languages: tuple[str, ...],
    checkpoint: Path,
    device: str,
    target: Path,
) -> None:
    corpus = text.read(settings, languages)
    run, progress = pretrain(settings, corpus, checkpoint, device)
    model, training, network = run.model.eval(), settings.training, settings.network
    each = network.positions if network.family == "bert" else training.unroll
    log = {
        "words": len(corpus.tokens),
        "vocabulary": corpus.known,
        "parameters": sum(p.numel() for p in model.encoder.parameters()),
        "held_out": {code: held_out(model, corpus, code) for code in languages},
        "steps": progress.iterations,
        "tokens": progress.iterations * training.streams * each,
        "seconds": round(progress.seconds, 1),
        "loss_curve": progress.curve(),
        "alive": run.alive,
        "content": _content(model.encoder.state_dict()),
    }
    kept = {"model": model.state_dict(), "words": corpus.words[: corpus.known], "log": log}
    loop.Checkpoints(target / "model.pt").save(kept)


def _content(state: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(state):
        digest.update(name.encode())
        digest.update(state[name].cpu().numpy().tobytes())
    return digest.hexdigest()


@torch.inference_mode()
def held_out(model: Model, corpus: Corpus, language: str) -> list[float]:
    """Return ``[sum of the words' losses, words]`` of held-out text, whatever their senses.

    A biLM's is the mean of both directions; of a BERT it is not computed: ``[0, 0]``.
    """
    sentences = corpus.held_out.get(language, [])
    if isinstance(model, WholeWordBert) or not sentences:
        return [0.0, 0]
    device = model.characters.device
    total, parts = torch.zeros((), dtype=torch.double, device=device), model.parts()
    for chosen in ordered([len(s) + 1 for s in sentences], WORDS_AT_ONCE):
        rows = [torch.tensor([text.FIRST, *sentences[i], text.LAST]) for i in chosen]
        # shape: (2, batch, length), padded on the right
        words = nn.utils.rnn.pad_sequence([*rows, *(row.flip(0) for row in rows)], batch_first=True)
        words = words.unflatten(0, (2, -1)).to(device)
        layers, _ = model.encoder(model.encoder.vectors(words[:, :, :-1], model.characters))
        # shape: (batch, length - 1); True where there is a word to predict
        there = padded([row[1:] for row in rows])[1].to(device)
        targets = words[:, :, 1:].masked_fill(words[:, :, 1:] >= corpus.known, UNKNOWN_ID)
        both = zip(parts, layers[-1][:, there], targets[:, there], strict=True)
        for part, states, gold in both:
            for some in zip(states.split(LOSSES_AT_ONCE), gold.split(LOSSES_AT_ONCE), strict=True):
                total += part.word_losses(*some).sum() / 2
    return [round(float(total), 4), sum(len(s) + 1 for s in sentences)]
