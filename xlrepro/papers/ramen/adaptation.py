"""From an English model to a bilingual one, stage by stage (§2); built once, kept in the cache.

    0  English: fit the prediction head, then tune everything            → ``english.pt``
    1  target embeddings alone (from their initialisation ``start.pt``)   → ``embeddings.pt``
    2  both languages, everything                                        → ``end.pt``

Stage 0 is shared by all targets of a profile. A killed stage goes on from its last checkpoint:
everything random in a step follows from the key of the stage and the number of the step, so a
checkpoint needs weights, optimiser and slow weights alone. A step takes a batch of each of the
stage's languages (§3.3: balanced), adds up their gradients, and moves once. Under `torchrun` each
process computes a part of every batch (`data_parallel`).
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import distributed, nn
from torch.nn import functional

from xlrepro.artefacts import built, is_built, say
from xlrepro.encoders import identity, subwords
from xlrepro.encoders.pretrained import Encoder, folder_of, subwords_of
from xlrepro.encoders.subwords import Special, Subwords
from xlrepro.errors import DataError, DeviceError
from xlrepro.papers.ramen import data, initialisation
from xlrepro.papers.ramen.model import ENGLISH, BilingualModel, english_model
from xlrepro.papers.ramen.settings import AdaptationSettings, EvaluationSettings, StageSettings
from xlrepro.paths import cache_dir
from xlrepro.precision import computing
from xlrepro.training.batches import rows_of_step
from xlrepro.training.loop import Checkpoints, Fit, Step, fit, mixed_products
from xlrepro.training.masking import Masked, mask_pieces
from xlrepro.trials import Trial
from xlrepro.values import hash_of
from xlrepro.vectors.tables import VectorSet

VERSION = 4  # raised when the code changes the result
CHECKPOINTS = {"start": "0k", "embeddings": "25k", "end": "175k"}  # as Figure 2 names its points
FIRST_RATE = 1e-7  # of the warm-up [paper]
CLIP_NORM = 5.0  # [code]
LOOKAHEAD = (5, 0.5)  # k and alpha of stages 1 and 2 [paper]; the authors' code has no Lookahead
FREQUENT_WORDS = 50_000  # that give subword vectors (Eq. 4) [paper]


# ---- text as subwords


def recipe_of_stream(settings: AdaptationSettings, language: str) -> dict[str, Any]:
    """Return everything that decides a language's stream of subwords."""
    learnt = [settings.vocabulary, settings.characters]
    return {
        "version": VERSION,
        "text": data.recipe_of_text(settings, language),
        "words": settings.words,
        "seed": settings.seed,
        "subwords": identity(settings.english.model) if language == ENGLISH else learnt,
    }


def stream_folder(settings: AdaptationSettings, language: str) -> Path:
    """Return the folder of a language's text as one stream of subwords, ``numbers.npy``, and of its
    subwords, ``subwords.json``, where they are learnt here; building it first if need be.
    """
    write = partial(_write_stream, settings, language)
    return built("ramen-text", language, recipe_of_stream(settings, language), write)


def _write_stream(settings: AdaptationSettings, language: str, target: Path) -> None:
    lines = data.words(settings, language)
    if language == ENGLISH:
        split = _of_english(settings.english.model)
    else:
        split = subwords.learnt(lines, settings.vocabulary, settings.characters)
        split.engine.save(str(target / "subwords.json"))
    np.save(target / "numbers.npy", np.fromiter(stream(lines, split), dtype=np.int32))


def stream(lines: Iterable[Sequence[str]], split: Subwords) -> Iterator[int]:
    """Yield the numbers of the subwords of lines, each line ended by ``[SEP]``."""
    for line in lines:
        yield from chain.from_iterable(map(split.numbers, line))
        yield split.special.end


def subwords_in(settings: AdaptationSettings, language: str) -> Subwords:
    """Return a language's subwords: learnt from its text, or those of the English model."""
    if language == ENGLISH:
        return _of_english(settings.english.model)
    return subwords.read(stream_folder(settings, language) / "subwords.json")


@lru_cache(maxsize=1)
def _of_english(name: str) -> Subwords:
    return subwords_of(folder_of(name))


class Text(NamedTuple):
    """A language's text as sequences of subwords: ``(sequences, length)``; its special subwords,
    and how many there are.
    """

    sequences: np.ndarray
    special: Special
    vocabulary: int


def sequences(numbers: np.ndarray, begin: int, length: int) -> np.ndarray:
    """Return a stream of subwords as sequences: ``[CLS]`` and the next ``length - 1`` subwords.

    Sentences, each ended by ``[SEP]``, run on from one sequence to the next [code]. What is left at
    the end and fills no sequence is dropped.

    Returns:
        ``(sequences, length)``

    Example:
        >>> sequences(np.array([5, 6, 7, 8, 9]), begin=1, length=3).tolist()
        [[1, 5, 6], [1, 7, 8]]
    """
    body = length - 1
    count = len(numbers) // body
    rows = np.full((count, length), begin, dtype=numbers.dtype)
    rows[:, 1:] = numbers[: count * body].reshape(count, body)
    return rows


def text_of(settings: AdaptationSettings, language: str, length: int) -> tuple[Text, Text]:
    """Return a language's text and its held-out part, as sequences of ``length`` subwords."""
    numbers = np.load(stream_folder(settings, language) / "numbers.npy", mmap_mode="r")
    split = subwords_in(settings, language)
    rows = sequences(numbers, split.special.begin, length)
    if len(rows) < 2:
        raise DataError(
            f"the text of {language} has {len(numbers)} subwords: training and held-out text need "
            f"a sequence of {length} each; raise adaptation.words, or supply more text"
        )
    cut = min(settings.held_out, len(rows) // 2)
    return Text(rows[cut:], split.special, len(split)), Text(rows[:cut], split.special, len(split))


# ---- a stage


class Lookahead:
    """Slow weights around any optimiser of the fast ones (Zhang et al. 2019, Alg. 1).

        every k fast steps:  φ ← φ + α (θ - φ),  θ ← φ

    Call :meth:`step` after each step of the fast optimiser.

    Args:
        parameters: the fast weights θ; the slow ones φ begin as they are.
        k: fast steps to a slow one.
        alpha: share of the way that the slow weights go.

    Example:
        >>> theta = nn.Parameter(torch.tensor([0.0]))
        >>> slow = Lookahead([theta], k=2, alpha=0.5)
        >>> for value in (1.0, 4.0):
        ...     theta.data = torch.tensor([value])
        ...     slow.step()
        >>> theta.item()
        2.0
    """

    def __init__(self, parameters: Iterable[nn.Parameter], k: int, alpha: float) -> None:
        self._fast = list(parameters)
        self._slow = [p.detach().clone() for p in self._fast]
        self._k, self._alpha = k, alpha
        self._steps = 0

    @torch.no_grad()
    def step(self) -> None:
        """Count a fast step; move slow and fast weights if it was the k-th."""
        self._steps += 1
        if self._steps % self._k:
            return
        for fast, slow in zip(self._fast, self._slow, strict=True):
            slow.lerp_(fast, self._alpha)
            fast.copy_(slow)

    def state_dict(self) -> dict[str, Any]:
        """Return the slow weights and the number of steps."""
        return {"slow": self._slow, "steps": self._steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over what :meth:`state_dict` returned."""
        for slow, saved in zip(self._slow, state["slow"], strict=True):
            slow.copy_(saved)
        self._steps = state["steps"]


def rate(step: int, settings: StageSettings) -> float:
    """Return the learning rate of a step, from 0 on: linear warm-up, then inverse square root.

    Example:
        >>> stage = StageSettings(updates=9, sequences=1, length=9)
        >>> rate(0, stage), rate(4000, stage), rate(16000, stage)
        (1e-07, 0.0001, 5e-05)
    """
    peak, warmup = settings.learning_rate, settings.warmup_steps
    if step < warmup:
        return FIRST_RATE + step * (peak - FIRST_RATE) / warmup
    return float(peak * (warmup / step) ** 0.5)


def masked(text: Text, ids: np.ndarray, draw: np.random.Generator) -> Masked:
    """Hide subwords as the source model was trained to find them, 80/10/10 [paper]; the authors'
    code hides a multiple of 8 positions, of which 90 % are masked and none is replaced.
    """
    return mask_pieces(ids, text.special.first_ordinary, text.special.mask, text.vocabulary, draw)


def batch_of(
    text: Text, language: str, settings: StageSettings, key: Sequence[int], step: int
) -> Masked:
    """Return a language's masked batch of a step; it follows from key and step alone."""
    code = int.from_bytes(language.encode(), "big")
    rows = rows_of_step(step, len(text.sequences), settings.sequences, [*key, code, 0])
    draw = np.random.default_rng([*key, code, 1, step])
    return masked(text, text.sequences[rows].astype(np.int64), draw)


class Stage:
    """A model with the texts and the optimisers of a stage.

    Args:
        model: tuned in place.
        texts: the languages whose batches make a step.
        what: which parameters, see ``BilingualModel.parts``.
        target: the language that ``what`` speaks of.
        settings: of the stage.
        key: of batches, masks and dropout: the seed, and what no other stage has.
        mixed: compute the model in half precision, on a GPU.
        device: where to compute.
    """

    def __init__(
        self,
        model: BilingualModel,
        texts: Mapping[str, Text],
        what: str,
        target: str,
        settings: StageSettings,
        key: Sequence[int],
        mixed: bool = False,
        device: str = "cpu",
    ) -> None:
        self.model = model.to(device).requires_grad_(False)
        self.chosen = list(model.parts(what, target))
        for parameter in self.chosen:
            parameter.requires_grad_(True)
        self.texts, self.settings, self.key = texts, settings, tuple(key)
        self.mixed, self.device, self.name = mixed, device, f"{target} {what}"
        self.every = min(500, max(20, settings.updates // 50))  # steps between checkpoints
        self.adam = torch.optim.Adam(self.chosen, lr=settings.learning_rate, fused=True)
        self.slow = Lookahead(self.chosen, *LOOKAHEAD) if target != ENGLISH else None
        self.rank, self.ranks = _rank()

    def run(self, checkpoint: Path) -> Fit:
        """Tune, from the checkpoint if there is one; it is written every so many steps."""
        rounds = -(-self.settings.updates // self.every)

        def tell(fraction: float, text: str) -> None:
            if self.rank == 0:
                say(f"{self.name}: {text} ({fraction:.0%})")

        fitted = fit(self, rounds, None, tell, Checkpoints(checkpoint, self.rank > 0))
        self.model.eval().requires_grad_(True)
        return fitted

    def batches(self, round_: int) -> range:
        """Return the numbers of the steps up to the next checkpoint."""
        return range(round_ * self.every, min((round_ + 1) * self.every, self.settings.updates))

    def dev_score(self) -> None:
        """No dev set: the last weights stay."""

    def step(self, number: int) -> Step:
        """Take one step, counted from 0; its loss is that of each language."""
        drawn = np.random.SeedSequence([*self.key, number]).generate_state(1, np.uint64)
        torch.manual_seed(int(drawn[0]) + self.rank)
        for group in self.adam.param_groups:
            group["lr"] = rate(number, self.settings)
        self.adam.zero_grad(set_to_none=True)
        losses: dict[str, float] = {}
        for language, text in self.texts.items():
            batch = batch_of(text, language, self.settings, self.key, number)
            losses[language] = self._gradients(language, batch)
        if self.ranks > 1:
            for each in self.chosen:
                each.grad = torch.zeros_like(each) if each.grad is None else each.grad
                distributed.all_reduce(each.grad)
        nn.utils.clip_grad_norm_(self.chosen, CLIP_NORM)
        self.adam.step()
        if self.slow is not None:
            self.slow.step()
        return Step(losses)

    def _gradients(self, language: str, batch: Masked) -> float:
        """Add the gradients of a batch, part by part, to those that are there."""
        total, losses = max(1, len(batch.gold)), []
        parts = max(self.settings.accumulation, self.ranks)
        for rows in np.array_split(np.arange(len(batch.ids)), parts)[self.rank :: self.ranks]:
            hidden = batch.hidden[rows]
            if not hidden.any():
                continue
            before = int(batch.hidden[: rows[0]].sum())
            # shape: (hidden,); ids and where (sequences, length)
            gold = torch.from_numpy(batch.gold[before : before + int(hidden.sum())])
            ids, where = torch.from_numpy(batch.ids[rows]), torch.from_numpy(hidden)
            with mixed_products(self.device, self.mixed):
                # shape: (hidden, subwords)
                scores = self.model(language, ids.to(self.device), where.to(self.device))
            scores = scores.float() if self.mixed else scores
            loss = functional.cross_entropy(scores, gold.to(self.device), reduction="sum") / total
            loss.backward()
            losses.append(loss.detach())
        summed = torch.tensor(sum(map(float, losses)), dtype=torch.double, device=self.device)
        if self.ranks > 1:
            distributed.all_reduce(summed)
        return round(float(summed), 5)

    def state(self) -> dict[str, Any]:
        """Return what the next step depends on besides its number and the model."""
        return {name: part.state_dict() for name, part in self._parts().items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        for name, part in self._parts().items():
            part.load_state_dict(state[name])

    def _parts(self) -> dict[str, Any]:
        slow = {"slow": self.slow} if self.slow is not None else {}
        return {"adam": self.adam, **slow}


@torch.inference_mode()
def accuracy(model: BilingualModel, language: str, text: Text, device: str = "cpu") -> list[int]:
    """Return ``[right, hidden]`` over the subwords of a text, masked always alike."""
    model = model.to(device).eval()
    right = hidden = 0
    batch = masked(text, text.sequences.astype(np.int64), np.random.default_rng(0))
    for start in range(0, len(batch.ids), 32):
        part = slice(start, start + 32)
        # shape: (sequences, length), then (hidden,)
        where = torch.from_numpy(batch.hidden[part]).to(device)
        best = model(language, torch.from_numpy(batch.ids[part]).to(device), where).argmax(-1)
        gold = torch.from_numpy(text.sequences[part].astype(np.int64)[batch.hidden[part]])
        right += int((best.cpu() == gold).sum())
        hidden += len(gold)
    return [right, hidden]


def unigram_accuracy(text: Text, held_out: Text) -> list[int]:
    """Return ``[right, hidden]`` where the most frequent ordinary subword of the text stands for
    every hidden one of the held-out text: what an adaptation has to beat.
    """
    counts = np.bincount(text.sequences.ravel(), minlength=text.vocabulary)
    first = text.special.first_ordinary
    best = first + counts[first:].argmax()
    ids = held_out.sequences.astype(np.int64)
    gold = masked(held_out, ids, np.random.default_rng(0)).gold
    return [int((gold == best).sum()), len(gold)]


# ---- the models


def _rank() -> tuple[int, int]:
    """Return the number of this process and how many train one model together."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def data_parallel(trials: Iterable[Trial], device: str) -> None:
    """Build the bilingual models of trials, each by all processes that `torchrun` has started.

    Each process computes its part of a batch, gradients are added up, and all take the same step:
    dropout apart, that of one process. The first alone writes, to the cache, which all have.

    Raises:
        DeviceError: for mixed precision without a GPU.
    """
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    for settings in (t.typed(EvaluationSettings) for t in trials if t.task == "ramen/evaluation"):
        if made := settings.adaptation:
            if made.precision == "mixed" and device == "cpu":
                raise DeviceError("no GPU for mixed precision: --set adaptation.precision=single")
            for target in settings.targets:
                folder(made, target, device)
    distributed.destroy_process_group()


def _built(
    kind: str, language: str, made: Any, write: Callable[[Path], None], stages: Iterable[str]
) -> Path:
    """Do as `built`, with all processes that train together; all but the first forget what they
    have written.
    """
    rank, ranks = _rank()
    if ranks > 1:
        distributed.barrier()
        there = is_built(kind, language, made)
        distributed.barrier()  # all have looked before one writes
        if rank and not there:
            with TemporaryDirectory() as at, computing("single"):
                write(Path(at))
    return built(kind, language, made, write, [_work(made, stage) for stage in stages])


def _decisive(settings: AdaptationSettings) -> dict[str, Any]:
    """Return settings as recipes have them: a step that is computed in parts is the same step."""
    values = settings.model_dump(mode="json")
    english = values["english"]
    for stage in (english["head"], english["all"], values["embeddings"], values["bilingual"]):
        stage["accumulation"] = 1
    return values


def english_recipe(settings: AdaptationSettings) -> dict[str, Any]:
    """Return everything that decides the English model after stage 0. Builds nothing."""
    plain = _decisive(settings)
    names = ("corpus", "words", "held_out", "english", "precision", "seed")
    kept = {name: plain[name] for name in names}
    return {"version": VERSION, "settings": kept, "stream": recipe_of_stream(settings, ENGLISH)}


def recipe(settings: AdaptationSettings, target: str) -> dict[str, Any]:
    """Return everything that decides a bilingual model. Builds nothing."""
    return {
        "target": target,  # artificial text is named alike in all languages
        "settings": _decisive(settings),
        "stream": recipe_of_stream(settings, target),
        "initialisation": data.recipe_of_initialisation(settings, target),
        "english": hash_of(english_recipe(settings)),
    }


def english_folder(settings: AdaptationSettings, device: str = "cpu") -> Path:
    """Return the folder of the English model after stage 0, building it first if need be."""
    write = partial(_write_english, settings, device)
    return _built("ramen-english", ENGLISH, english_recipe(settings), write, ("head", "all"))


def folder(settings: AdaptationSettings, target: str, device: str = "cpu") -> Path:
    """Return the folder of a bilingual model, building it first if it is not in the cache."""
    write = partial(_write_bilingual, settings, target, device)
    return _built("ramen", target, recipe(settings, target), write, ("embeddings", "all"))


def _new_english(settings: AdaptationSettings) -> BilingualModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        model = BilingualModel(english_model(settings.english.model, settings.english.dropout))
    return model.double() if settings.precision == "double" else model


def _write_english(settings: AdaptationSettings, device: str, at: Path) -> None:
    model, english = _new_english(settings), settings.english
    log = {}
    for number, (what, stage) in enumerate((("head", english.head), ("all", english.all))):
        log[what] = _tuned(settings, model, ENGLISH, what, stage, number, device)
    torch.save(model.cpu().state_dict(), at / "english.pt")
    _write_log(log, at)


def _work(made: Any, what: str) -> Path:
    """Return where a stage of what a recipe makes keeps its checkpoint while it is tuned."""
    return cache_dir() / "ramen" / f"{hash_of(made)[:16]}-{what}.pt"


def _tuned(
    settings: AdaptationSettings,
    model: BilingualModel,
    target: str,
    what: str,
    stage: StageSettings,
    number: int,
    device: str,
) -> dict[str, Any]:
    """Run a stage and return its log: steps, subwords seen, losses, seconds, accuracy after it."""
    text, held_out = text_of(settings, target, stage.length)
    texts = {target: text}
    if what == "all" and target != ENGLISH:
        texts[ENGLISH] = text_of(settings, ENGLISH, stage.length)[0]
    key, mixed = [settings.seed, number], settings.precision == "mixed"
    made = english_recipe(settings) if target == ENGLISH else recipe(settings, target)
    fitted = Stage(model, texts, what, target, stage, key, mixed, device).run(_work(made, what))
    tail = fitted.step_losses[-max(1, fitted.iterations // 10) :]
    return {
        "updates": fitted.iterations,
        "pieces": fitted.iterations * len(texts) * stage.sequences * stage.length,
        "seconds": round(fitted.seconds, 1),
        "loss": {c: round(float(np.mean([x[c] for x in tail])), 4) for c in texts if tail},
        "held_out": accuracy(model, target, held_out, device),
    }


def _write_bilingual(settings: AdaptationSettings, target: str, device: str, at: Path) -> None:
    model = _read(settings, english_folder(settings, device) / "english.pt")
    begin = initial(settings, target, model)
    model.add(target, torch.from_numpy(begin.embeddings), torch.from_numpy(begin.bias))
    torch.save(model.state_dict(), at / "start.pt")
    text, held_out = text_of(settings, target, settings.embeddings.length)
    log: dict[str, Any] = {
        "unigram": {"held_out": unigram_accuracy(text, held_out)},
        "estimated": int(begin.estimated.sum()),
        "vocabulary": len(begin.bias),
        "start": {"held_out": accuracy(model, target, held_out, device)},
    }
    stages = (("embeddings", "embeddings", settings.embeddings), ("all", "end", settings.bilingual))
    for number, (what, name, stage) in enumerate(stages, start=2):
        log[name] = _tuned(settings, model, target, what, stage, number, device)
        torch.save(model.cpu().state_dict(), at / f"{name}.pt")
    _write_log(log, at)


def _write_log(log: Mapping[str, Any], at: Path) -> None:
    (at / "log.json").write_text(json.dumps(log, indent=1, sort_keys=True) + "\n", "utf-8")


def initial(
    settings: AdaptationSettings, target: str, model: BilingualModel
) -> initialisation.Start:
    """Return the target's embeddings and output bias before any update (§2.1)."""
    source, split = (subwords_in(settings, code) for code in (ENGLISH, target))
    side, kind = model.side(ENGLISH), settings.initialisation
    shape = (len(split), len(side.bias))
    if kind.kind == "parallel":
        pairs = (
            [[n for w in words for n in by.numbers(w)] for words, by in zip(pair, (source, split))]
            for pair in data.pairs(settings, target)
        )
        counts = initialisation.parallel_counts([(one, two) for one, two in pairs], shape)
        weights = initialisation.parallel_weights(counts)
    elif kind.kind == "mono":
        weights = _mono(data.vectors(settings, target), target, split, source, shape)
    else:
        weights = initialisation.sparse.csr_matrix(shape)
    special = dict(zip(split.special[:5], source.special[:5], strict=True))
    weights = initialisation.with_special(weights, special)
    english = side.embeddings.weight.detach().numpy(), side.bias.detach().numpy()
    draw = np.random.default_rng([settings.seed, 2])
    return initialisation.start(weights, *english, kind.random_rows, draw)


def _mono(
    vectors: VectorSet, target: str, split: Subwords, source: Subwords, shape: tuple[int, int]
) -> Any:
    """Return A of Eq. 3, of subword vectors by Eq. 4."""
    both = []
    for language, by, size in ((target, split, shape[0]), (ENGLISH, source, shape[1])):
        words = list(vectors.words(language)[:FREQUENT_WORDS])
        matrix = np.asarray(vectors.matrix(language)[: len(words)], dtype=np.float64)
        both.append(initialisation.subword_vectors(matrix, map(by.numbers, words), size))
    foreign, english = both
    return initialisation.mono_weights(foreign, english)


def _read(settings: AdaptationSettings, path: Path, target: str | None = None) -> BilingualModel:
    """Return the English model with the weights of a file, or the bilingual one."""
    model = _new_english(settings)
    state = torch.load(path, map_location="cpu", weights_only=True)
    if target is not None:
        side = f"sides.{target}"
        model.add(target, state[f"{side}.embeddings.weight"], state[f"{side}.bias"])
    model.load_state_dict(state)
    return model.eval()


def logs(settings: AdaptationSettings, target: str, device: str = "cpu") -> dict[str, Any]:
    """Return the log of an adaptation, with that of its English model."""
    folders = folder(settings, target, device), english_folder(settings, device)
    log, english = (json.loads((at / "log.json").read_text("utf-8")) for at in folders)
    return {**log, "english": english}


def readers(
    settings: AdaptationSettings, target: str, checkpoint: str, layer: int | None, device: str
) -> dict[str, Encoder]:
    """Return the bilingual model at a checkpoint as an encoder of English, and one of the target.

    Both share the layers; the first so many alone, None: all. It is built first if need be.
    """
    at = folder(settings, target, device)
    model = _read(settings, at / f"{checkpoint}.pt", target).to(device)
    encoder = model.encoder
    encoder.encoder.layer = encoder.encoder.layer[:layer]
    found = {}
    for language in (ENGLISH, target):
        of = recipe(settings, target)
        if language == ENGLISH and checkpoint != "end":  # stage 1 changes no English state
            of, name = english_recipe(settings), f"english {layer}"
        else:
            name = f"{checkpoint} {language} {layer}"
        split, side = subwords_in(settings, language), model.side(language)
        found[language] = Encoder(f"{hash_of(of)} {name}", encoder, split, side.embeddings, device)
    return found
