"""Contextual vectors of words from a trained language model, and the map between languages.

Vectors are computed once per split, on the device of the trial, and kept in the cache. An anchor is
the mean of all contextual vectors of a word; W brings the anchors of the target language nearest to
those of their English translations, one W per layer (Appendix B, Eq. 8; Schuster et al. 2019).
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from xlrepro.artefacts import built
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment import text, training
from xlrepro.papers.sense_alignment.settings import SOURCE, LanguageModelSettings
from xlrepro.papers.sense_alignment.training import LanguageModel, Sentences
from xlrepro.values import hash_of

Layer = Literal["top", "mean"]
Kind = Literal["least-squares", "orthogonal"]
Anchors = dict[str, Tensor]
VERSION = 2  # raised when the code changes vectors or maps


def mixed(states: Tensor, layer: Layer, maps: Tensor | None = None) -> Tensor:
    """Return one vector per word, ``(length, dim)``.

    Args:
        states: of all layers. ``(layers, length, dim)``
        layer: the top one, or the mean of all.
        maps: W of each layer, which is applied before the mean. ``(layers, dim, dim)``
    """
    if maps is not None:
        # shape: (layers, length, dim)
        states = torch.einsum("kld,ked->kle", states, maps.to(states.device))
    return states[-1] if layer == "top" else states.mean(0)


def kept(
    settings: LanguageModelSettings,
    languages: tuple[str, ...],
    sentences: Sentences,
    layer: Layer,
    maps: Tensor | None = None,
    device: str = "cpu",
    half: bool = False,
) -> list[Tensor]:
    """Return :func:`mixed` vectors of sentences, from the cache if there, memory-mapped.

    Args:
        settings: of the language model, which is trained first if it is not in the cache.
        languages: that it reads.
        sentences: words as the model reads them.
        layer: see :func:`mixed`.
        maps: likewise.
        device: where the language model reads, and is trained if need be.
        half: whether they are kept in half precision.
    """
    recipe = {
        "version": VERSION,
        "model": hash_of(training.recipe(settings, languages)),
        "sentences": _digest("\n".join("\t".join(s) for s in sentences).encode("utf-8")),
        "layer": layer,
        "maps": None if maps is None else _digest(maps.numpy().tobytes()),
        **({"half": True} if half else {}),
    }
    ends = np.cumsum([0, *map(len, sentences)])

    def build(target: Path) -> None:
        table: np.ndarray | None = None
        for i, states in training.load(settings, languages, device).states(sentences):
            rows = mixed(states, layer, maps).to(torch.half if half else states.dtype).cpu().numpy()
            if table is None:
                shape = (int(ends[-1]), rows.shape[1])
                table = np.lib.format.open_memmap(target / "vectors.npy", "w+", rows.dtype, shape)
            table[ends[i] : ends[i + 1]] = rows

    folder = built("features", "-".join(languages), recipe, build)
    # Copied where it is written to, which nobody does: torch wants an array that may be written.
    table = torch.from_numpy(np.load(folder / "vectors.npy", mmap_mode="c"))
    return list(table.split(np.diff(ends).tolist()))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def anchors(model: LanguageModel, sentences: Sentences) -> Anchors:
    """Return the mean states of each word of some sentences, ``(layers, dim)`` each.

    Sums per word are kept, not the states of all words.

    Raises:
        DataError: where there is no sentence.
    """
    number: dict[str, int] = {}
    rows = [[number.setdefault(word, len(number)) for word in s] for s in sentences]
    total, counts = None, torch.zeros(len(number))
    for i, states in model.states(sentences):
        place = torch.tensor(rows[i])
        if total is None:
            layers, _, dim = states.shape
            # shape: (words, layers, dim)
            total = states.new_zeros(len(number), layers, dim)
        total.index_add_(0, place.to(total.device), states.transpose(0, 1))
        counts += torch.bincount(place, minlength=len(number))
    if total is None:
        raise DataError("anchors need text: there are no sentences")
    return dict(zip(number, total.cpu().div_(counts[:, None, None].to(total.dtype))))


def fitted(
    target: Anchors, source: Anchors, pairs: Sequence[tuple[str, str]], kind: Kind
) -> Tensor:
    """Return W of each layer, ``(layers, dim, dim)``: ``W a_target`` is near ``a_source``.

    Args:
        target: anchors of the target language.
        source: anchors of English.
        pairs: (source word, target word); words that both languages have are added as pairs of
            themselves (footnote 6).
        kind: any matrix, as in the text, or an orthogonal one.

    Raises:
        DataError: if no pair has both anchors.
    """
    same = [(word, word) for word in source if word in target]
    known = [(a, b) for a, b in dict.fromkeys([*pairs, *same]) if a in source and b in target]
    if not known:
        raise DataError("no pair of the dictionary occurs in both texts: use more text")
    # shape: (layers, pairs, dim), both
    wanted = torch.stack([source[a] for a, _ in known], 1)
    given = torch.stack([target[b] for _, b in known], 1)
    if kind == "orthogonal":
        # shape: (layers, dim, dim), all
        left, _, right = torch.linalg.svd(wanted.transpose(1, 2) @ given)
        return left @ right
    # shape: (layers, dim, dim)
    solution = torch.linalg.lstsq(given, wanted, driver="gelsd").solution
    return solution.transpose(1, 2).contiguous()


def projection(
    settings: LanguageModelSettings, target: str, sentences: int, kind: Kind, device: str
) -> Tensor:
    """Return W from the target language into English, ``(layers, dim, dim)``; kept in the cache.

    Anchors come from the models' own training text.

    Args:
        settings: of the language models: one of both languages, or one of each.
        target: language.
        sentences: of either language that anchors are computed from.
        kind: see :func:`fitted`.
        device: where the language models read.
    """
    both = settings.model_copy(update={"joint": True, "dictionary": True})
    readers = {code: settings.reader(code, target) for code in (SOURCE, target)}
    recipe = {
        "version": VERSION,
        "models": [hash_of(training.recipe(settings, reads)) for reads in readers.values()],
        "sentences": sentences,
        "kind": kind,
        "pairs": text.recipe(both, both.languages(target)),
    }

    def build(folder: Path) -> None:
        means = []
        for code, reads in readers.items():
            read = text.training_sentences(code, settings.text, not settings.joint, sentences)
            means.append(anchors(training.load(settings, reads, device), read))
        english, other = means
        maps = fitted(other, english, text.seed_dictionary(settings.text, target), kind)
        np.save(folder / "maps.npy", maps.numpy())

    folder = built("projection", f"{SOURCE}-{target}", recipe, build)
    return torch.from_numpy(np.load(folder / "maps.npy"))
