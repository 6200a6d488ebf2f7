"""From an English model to a bilingual one, stage by stage (§2); built once, kept in the cache.

    0  English: fit the prediction head, then tune everything            → ``english.pt``
    1  target embeddings alone (from their initialisation ``start.pt``)   → ``embeddings.pt``
    2  both languages, everything                                        → ``end.pt``

Stage 0 is shared by all targets of a profile. A killed stage goes on from its last checkpoint.
"""

import json
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xlrepro.artefacts import built, hash_of, say
from xlrepro.errors import DeviceError
from xlrepro.nn.bert import BertSizes, MaskedLanguageModel
from xlrepro.papers.ramen.data import texts
from xlrepro.papers.ramen.encoders import english
from xlrepro.papers.ramen.encoders.pieces import Pieces
from xlrepro.papers.ramen.model import ENGLISH, BilingualModel
from xlrepro.papers.ramen.recipes import english_recipe, recipe, recipe_hash
from xlrepro.papers.ramen.settings import AdaptationSettings, StageSettings
from xlrepro.papers.ramen.stages import alignment, initialisation, streams
from xlrepro.papers.ramen.stages.masking import sequences
from xlrepro.papers.ramen.stages.tuning import Text, accuracy, tune
from xlrepro.paths import cache_dir

CHECKPOINTS = ("start", "embeddings", "end")
STAGES = ("english.head", "english.all", "embeddings", "bilingual")  # as the settings name them


def english_folder(settings: AdaptationSettings, device: str = "cpu") -> Path:
    """Return the folder of the English model after stage 0, building it first if need be."""
    write = partial(_write_english, settings, device)
    return built("ramen-english", ENGLISH, english_recipe(settings), write)


def folder(settings: AdaptationSettings, device: str = "cpu") -> Path:
    """Return the folder of a bilingual model, building it first if it is not in the cache."""
    write = partial(_write_bilingual, settings, device)
    return built("ramen", settings.target, recipe(settings), write)


def _check(settings: AdaptationSettings, device: str) -> None:
    if settings.precision == "mixed" and device == "cpu":
        raise DeviceError(
            "mixed precision needs a CUDA GPU: run it there, or take --set precision=single"
        )


def _typed(model: torch.nn.Module, settings: AdaptationSettings) -> None:
    if settings.precision == "double":
        model.double()


def text_of(
    settings: AdaptationSettings, language: str, pieces: Pieces, length: int
) -> tuple[Text, Text]:
    """Return a language's text and its held-out part, as sequences of ``length`` pieces."""
    rows = sequences(streams.numbers(settings, language), pieces.special.begin, length)
    cut = min(settings.held_out, len(rows) // 2)
    return (
        Text(rows[cut:], pieces.special, pieces.size),
        Text(rows[:cut], pieces.special, pieces.size),
    )


def _write_english(settings: AdaptationSettings, device: str, target: Path) -> None:
    _check(settings, device)
    torch.manual_seed(settings.seed)
    pieces = streams.pieces(settings, ENGLISH)
    whole = english.model(settings.english, pieces)
    _typed(whole, settings)
    sizes = whole.bert.sizes
    model = BilingualModel(whole)
    log: dict[str, Any] = {"sizes": sizes._asdict()}
    works = []
    for what, stage in (("head", settings.english.head), ("all", settings.english.all)):
        key = [settings.seed, STAGES.index(f"english.{what}")]
        train, held_out = text_of(settings, ENGLISH, pieces, stage.length)
        work = cache_dir() / "ramen" / f"{what}-{hash_of(english_recipe(settings))[:16]}.pt"
        works.append(work)
        log[what] = _tuned(
            model, {ENGLISH: train}, what, ENGLISH, stage, key, work, settings, device, held_out
        )
    _save(model.cpu(), target / "english.pt")
    _finish(log, target, works)


def _tuned(
    model: BilingualModel,
    train: dict[str, Text],
    what: str,
    target: str,
    stage: StageSettings,
    key: Sequence[int],
    work: Path,
    settings: AdaptationSettings,
    device: str,
    held_out: Text,
) -> dict[str, Any]:
    """Run a stage and return its log: steps, pieces seen, losses, seconds, accuracy after it."""
    progress = tune(model, train, what, target, stage, key, work, settings.precision, device, say)
    tail = progress.losses[-max(1, progress.step // 10) :]
    return {
        "updates": progress.step,
        "pieces": progress.step * len(train) * stage.sequences * stage.length,
        "seconds": round(progress.seconds, 1),
        "loss": {c: round(float(np.mean([x[c] for x in tail])), 4) for c in train if tail},
        "held_out": _held_out(model, target, held_out, device),
    }


def _held_out(model: BilingualModel, target: str, text: Text, device: str) -> list[int]:
    """Return ``[right, hidden]`` over the pieces of a held-out text."""
    return accuracy(model, target, text, device) if len(text.sequences) else [0, 0]


def _write_bilingual(settings: AdaptationSettings, device: str, target: Path) -> None:
    _check(settings, device)
    english_at = english_folder(settings, device)
    source, pieces = (streams.pieces(settings, code) for code in (ENGLISH, settings.target))
    model = _read(settings, english_at, {})
    started = time.perf_counter()
    begin = initial(settings, model, source, pieces)
    log: dict[str, Any] = {
        "estimated": int(begin.estimated.sum()),
        "vocabulary": pieces.size,
        "initialisation_seconds": round(time.perf_counter() - started, 1),
    }
    model.add(settings.target, torch.from_numpy(begin.embeddings), torch.from_numpy(begin.bias))
    _save(model, target / "start.pt")
    work = cache_dir() / "ramen" / recipe_hash(settings)[:16]
    works = []
    for what, name, stage, named in (
        ("embeddings", "embeddings", settings.embeddings, "embeddings"),
        ("all", "end", settings.bilingual, "bilingual"),
    ):
        key = [settings.seed, STAGES.index(named)]
        text, held_out = text_of(settings, settings.target, pieces, stage.length)
        train = {settings.target: text}
        if what == "all":
            train[ENGLISH] = text_of(settings, ENGLISH, source, stage.length)[0]
        file = work.with_name(f"{work.name}-{what}.pt")
        works.append(file)
        if "start" not in log:
            log["start"] = {"held_out": _held_out(model, settings.target, held_out, device)}
        log[name] = _tuned(
            model, train, what, settings.target, stage, key, file, settings, device, held_out
        )
        _save(model.cpu(), target / f"{name}.pt")
    _finish(log, target, works)


def _finish(log: dict[str, Any], target: Path, works: list[Path]) -> None:
    """Write the log; only now are the stages' checkpoints of no more use."""
    (target / "log.json").write_text(json.dumps(log, indent=1, sort_keys=True) + "\n", "utf-8")
    for work in works:
        work.unlink(missing_ok=True)


def initial(
    settings: AdaptationSettings,
    model: BilingualModel,
    source: Pieces,
    pieces: Pieces,
) -> initialisation.Start:
    """Return the target's embeddings and output bias before any update (§2.1).

    Args:
        settings: of the adaptation.
        model: the English model.
        source: English pieces.
        pieces: the target's.
    """
    kind = settings.initialisation
    if kind.kind == "parallel":
        pairs = [
            (
                [n for w in one for n in source.numbers(w)],
                [n for w in two for n in pieces.numbers(w)],
            )
            for one, two in texts.pairs(settings)
        ]
        counts = alignment.link_counts(pairs, source.size, pieces.size, kind.alignment_rounds)
        weights = initialisation.parallel_weights(counts)
    elif kind.kind == "mono":
        weights = _mono(settings, source, pieces)
    else:
        weights = initialisation.no_weights(pieces.size, source.size)
    special = dict(zip(pieces.special[:5], source.special[:5], strict=True))
    weights = initialisation.with_special(weights, special)
    side = model.side(ENGLISH)
    bias = side.bias.detach().numpy()
    return initialisation.start(
        weights,
        side.pieces.weight.detach().numpy(),
        bias if kind.bias == "mixed" else np.zeros_like(bias),
        kind.random_rows,
        np.random.default_rng([settings.seed, 2]),
    )


def _mono(settings: AdaptationSettings, source: Pieces, pieces: Pieces) -> Any:
    """Return A of Eq. 3, of piece vectors by Eq. 4."""
    kind, vectors = settings.initialisation, texts.vectors(settings)
    both = []
    for language, split in ((settings.target, pieces), (ENGLISH, source)):
        words = list(vectors.words(language)[: kind.words])
        counts = None
        if kind.unigram == "counts":
            seen = Counter(word for line in texts.words(settings, language) for word in line)
            counts = [seen[word] + 1 for word in words]
        weights = initialisation.word_weights(len(words), counts)
        matrix = np.asarray(vectors.matrix(language)[: len(words)], dtype=np.float64)
        split_words = [split.numbers(word) for word in words]
        both.append(initialisation.piece_vectors(matrix, weights, split_words, split.size))
    foreign, ours = both
    return initialisation.mono_weights(foreign, ours, cosine=kind.scores == "cosine")


def _save(model: BilingualModel, path: Path) -> None:
    torch.save(model.state_dict(), path)


def _read(settings: AdaptationSettings, english_at: Path, state: dict[str, Any]) -> BilingualModel:
    """Return the English model of a folder, or with the state of a bilingual one."""
    log = json.loads((english_at / "log.json").read_text("utf-8"))
    whole = MaskedLanguageModel(BertSizes(**log["sizes"]))
    _typed(whole, settings)
    model = BilingualModel(whole)
    if not state:
        state = torch.load(english_at / "english.pt", map_location="cpu", weights_only=True)
    else:
        name = f"sides.{settings.target}"
        model.add(settings.target, state[f"{name}.pieces.weight"], state[f"{name}.bias"])
    model.load_state_dict(state)
    return model.eval()


def load(
    settings: AdaptationSettings, checkpoint: str, device: str = "cpu"
) -> tuple[BilingualModel, dict[str, Pieces], dict[str, Any]]:
    """Return a bilingual model at a checkpoint, the pieces of its languages, and its log.

    Args:
        settings: of the adaptation; built first if it is not in the cache.
        checkpoint: one of ``CHECKPOINTS``.
        device: where to build it.
    """
    at, english_at = folder(settings, device), english_folder(settings, device)
    state = torch.load(at / f"{checkpoint}.pt", map_location="cpu", weights_only=True)
    model = _read(settings, english_at, state)
    pieces = {code: streams.pieces(settings, code) for code in (ENGLISH, settings.target)}
    log = json.loads((at / "log.json").read_text("utf-8"))
    log["english"] = json.loads((english_at / "log.json").read_text("utf-8"))
    return model, pieces, log
