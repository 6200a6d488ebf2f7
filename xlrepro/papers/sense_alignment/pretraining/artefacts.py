"""Trained language models: built once into the cache, named by the hash of their recipe."""

import hashlib
import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from xlrepro.artefacts import built, hash_of, say
from xlrepro.nn.bert import Bert, BertSizes
from xlrepro.papers.sense_alignment.language_model.bilm import BiLM
from xlrepro.papers.sense_alignment.language_model.senses import SenseOutput
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.language_model.whole_word_bert import WholeWordBert
from xlrepro.papers.sense_alignment.pretraining import text
from xlrepro.papers.sense_alignment.pretraining.batches import FIRST, LAST
from xlrepro.papers.sense_alignment.pretraining.training import Model, Run, pretrain
from xlrepro.paths import cache_dir
from xlrepro.training.steps import Progress


@dataclass(frozen=True)
class LanguageModel:
    """A trained language model.

    Attributes:
        settings: what it was trained with.
        encoder: the network; ready for use, not for training.
        vocabulary: its words by their numbers, special ones first.
        log: how the training went: numbers alone.
        parts: the output layer of each direction (one for BERT, none where weights are tied).
        head: of a BERT, from its top state to the state that predicts; None of a biLM.
    """

    settings: LanguageModelSettings
    encoder: BiLM | Bert
    vocabulary: list[str]
    log: dict[str, Any]
    parts: list["Senses"]
    head: nn.Module | None = None

    @property
    def content(self) -> str:
        """Hash of the weights, 64 hex digits."""
        return str(self.log["content"])


@dataclass(frozen=True)
class Senses:
    """The senses of a direction after training.

    Attributes:
        vectors: sense vectors. ``(V, slots, dim)``
        alive: which senses are left. ``(V, slots)``
        centres: their centres; None with one sense. ``(V, slots, dim)``
        projection: P; None with one sense. ``(dim, d')``
        origin: what is subtracted before P. ``(dim,)``
    """

    vectors: Tensor
    alive: Tensor
    centres: Tensor | None
    projection: Tensor | None
    origin: Tensor | None

    def choose(self, words: Tensor, states: Tensor) -> Tensor:
        """Return the sense of each word, ``(tokens,)``, by Algorithm 1; 0 with one sense."""
        if self.centres is None or self.projection is None or self.origin is None:
            return torch.zeros_like(words)
        own = (self.centres[words] - self.origin) @ self.projection
        seen = (states - self.origin) @ self.projection
        cosines = torch.cosine_similarity(own, seen.unsqueeze(1), dim=-1)
        return cosines.masked_fill(~self.alive[words], -torch.inf).argmax(-1)


def recipe(settings: LanguageModelSettings) -> dict[str, Any]:
    """Return everything that decides a language model; trains and downloads nothing."""
    training = settings.training.model_dump(mode="json", exclude={"checkpoint_every"})
    values = settings.model_dump(mode="json", exclude={"training"})
    return {"settings": {**values, "training": training}, "text": text.recipe(settings)}


def recipe_hash(settings: LanguageModelSettings) -> str:
    """Return the hash of :func:`recipe`, 64 hex digits."""
    return hash_of(recipe(settings))


def load(settings: LanguageModelSettings, device: str = "cpu") -> LanguageModel:
    """Return a language model, training it first if it is not in the cache.

    Raises:
        DataError: if a text file cannot be had.
    """
    return _loaded(settings.model_dump_json(), device)


@lru_cache(maxsize=8)
def _loaded(settings_json: str, device: str) -> LanguageModel:
    settings = LanguageModelSettings.model_validate_json(settings_json)
    name = "-".join(settings.languages)
    inputs = recipe(settings)
    folder = built("language-model", name, inputs, lambda target: _build(settings, target, device))
    return read(settings, folder)


def checkpoint_path(settings: LanguageModelSettings) -> Path:
    """Return where an unfinished training keeps its checkpoint."""
    return cache_dir() / "pretraining" / f"senses-{recipe_hash(settings)[:16]}.pt"


def _build(settings: LanguageModelSettings, target: Path, device: str) -> None:
    corpus = text.read(settings)
    checkpoint = checkpoint_path(settings)
    run, progress = pretrain(settings, corpus, checkpoint, device, say)
    model = run.model.cpu().eval()
    log = {
        "words": corpus.tokens,
        "vocabulary": corpus.known,
        "parameters": sum(p.numel() for p in model.encoder.parameters()),
        "held_out": {
            code: _held_out(model, corpus, sentences) for code, sentences in corpus.held_out.items()
        },
        **_curves(run, progress),
    }
    state = model.encoder.state_dict()
    log["content"] = _content(state)
    parts = [_senses(part) for part in model.parts()]
    saved: dict[str, Any] = {"encoder": state, "parts": parts}
    if isinstance(model, WholeWordBert):
        saved["head"] = head_of(model).state_dict()
    torch.save(saved, target / "model.pt")
    (target / "vocabulary.txt").write_text("\n".join(corpus.words[: corpus.known]) + "\n", "utf-8")
    (target / "log.json").write_text(json.dumps(log, indent=1, sort_keys=True) + "\n", "utf-8")
    checkpoint.unlink(missing_ok=True)


def head_of(model: WholeWordBert) -> nn.Module:
    """Return what stands between the top state of a BERT and the state that predicts."""
    return nn.Sequential(model.transform, nn.GELU(), model.norm)


def _senses(part: SenseOutput) -> dict[str, Tensor | None]:
    several = part.settings.senses > 1
    return {
        "vectors": part.vectors.values.view(part.words, part.slots, -1),
        "alive": part.on,
        "centres": part.centres.centres() if several else None,
        "projection": part.projection.matrix if several else None,
        "origin": part.projection.origin if several else None,
    }


def _content(state: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(state):
        digest.update(name.encode())
        digest.update(state[name].cpu().numpy().tobytes())
    return digest.hexdigest()


def _curves(run: Run, progress: Progress) -> dict[str, Any]:
    training, network = run.settings.training, run.settings.network
    each = network.positions if network.family == "bert" else training.unroll
    return {
        "steps": progress.step,
        "tokens": progress.step * training.streams * each,
        "seconds": round(progress.seconds, 1),
        "loss_curve": progress.curve(),
        "alive": run.alive,
    }


@torch.inference_mode()
def _held_out(model: Model, corpus: text.Corpus, sentences: list[Any]) -> list[float]:
    """Return ``[sum of the words' losses, words]`` of held-out text, whatever their senses.

    A biLM's is the mean of both directions; of a BERT it is not computed: ``[0, 0]``.
    """
    if isinstance(model, WholeWordBert) or not sentences:
        return [0.0, 0]
    total, count = 0.0, 0
    for sentence in sentences:
        numbers = torch.tensor([FIRST, *sentence.tolist(), LAST])
        words = torch.stack((numbers, numbers.flip(0)))[:, None]
        layers, _ = model.encoder(model.encoder.vectors(words[:, :, :-1], model.characters))
        targets = words[:, 0, 1:].clone()
        targets[targets >= corpus.known] = text.SPECIAL.index(text.UNKNOWN)
        for d, part in enumerate(model.parts()):
            total += float(part.word_losses(layers[-1][d, 0], targets[d]).sum()) / 2
        count += len(sentence) + 1
    return [round(total, 4), count]


def perplexity(held_out: list[float]) -> float:
    """Return the perplexity of ``[sum of losses, words]``.

    Example:
        >>> round(perplexity([20.0, 10]), 4)
        7.3891
    """
    return math.exp(held_out[0] / held_out[1])


def read(settings: LanguageModelSettings, folder: Path) -> LanguageModel:
    """Return the language model that lies in a folder."""
    state = torch.load(folder / "model.pt", map_location="cpu", weights_only=True)
    vocabulary = (folder / "vocabulary.txt").read_text("utf-8").split("\n")[:-1]
    log = json.loads((folder / "log.json").read_text("utf-8"))
    network = settings.network
    encoder: nn.Module
    if network.family == "bert":
        encoder = Bert(BertSizes(len(vocabulary), **network.model_dump(exclude={"family"})))
    else:
        encoder = BiLM(network)
    if settings.precision == "double":
        encoder = encoder.double()
    encoder.load_state_dict(state["encoder"])
    encoder.eval().requires_grad_(False)
    assert isinstance(encoder, BiLM | Bert)
    parts = [Senses(**part) for part in state["parts"]]
    head: nn.Module | None = None
    if "head" in state:
        head = nn.Sequential(
            nn.Linear(network.dim, network.dim), nn.GELU(), nn.LayerNorm(network.dim, eps=1e-12)
        )
        head = (head.double() if settings.precision == "double" else head).eval()
        head.load_state_dict(state["head"])
    return LanguageModel(settings, encoder, vocabulary, log, parts, head)
