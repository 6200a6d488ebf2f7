"""The linear projection between languages (Appendix B, Eq. 8; Schuster et al. 2019).

An anchor is the mean of all contextual vectors of a word. W brings the anchors of the target
language nearest to those of their English translations, one W per layer.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from xlrepro.artefacts import built
from xlrepro.errors import DataError
from xlrepro.papers.sense_alignment import features
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.pretraining import artefacts, text

VERSION = 1  # raised when the code changes the maps
Kind = Literal["least-squares", "orthogonal"]
Anchors = dict[str, Tensor]


def anchors(model: artefacts.LanguageModel, sentences: features.Sentences) -> Anchors:
    """Return the mean states of each word of some sentences, ``(layers, dim)`` each."""
    number: dict[str, int] = {}
    rows = [[number.setdefault(word, len(number)) for word in s] for s in sentences]
    total, counts = None, torch.zeros(len(number))
    for row, states in zip(rows, features.layers_of(model, sentences), strict=True):
        place = torch.tensor(row)
        if total is None:
            layers, _, dim = states.shape
            # shape: (words, layers, dim)
            total = states.new_zeros(len(number), layers, dim)
        total.index_add_(0, place, states.transpose(0, 1).to(total.dtype))
        counts += torch.bincount(place, minlength=len(number))
    if total is None:
        raise DataError("anchors need text: there are no sentences")
    return dict(zip(number, total / counts[:, None, None].to(total.dtype)))


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
    source: LanguageModelSettings,
    target: LanguageModelSettings,
    languages: tuple[str, str],
    sentences: int,
    kind: Kind = "least-squares",
    device: str = "cpu",
) -> Tensor:
    """Return W from the target language into English, ``(layers, dim, dim)``; kept in the cache.

    Anchors come from the models' own training text.

    Args:
        source: the language model that reads English.
        target: the one that reads the target language; the same where it was trained on both.
        languages: English and the target language.
        sentences: of either language that anchors are computed from.
        kind: see :func:`fitted`.
        device: where a language model that is not in the cache is trained.
    """
    joined = source.model_copy(update={"languages": languages, "dictionary": True})
    recipe = {
        "version": VERSION,
        "models": [artefacts.recipe_hash(settings) for settings in (source, target)],
        "languages": list(languages),
        "sentences": sentences,
        "kind": kind,
        "pairs": text.recipe(joined),
    }

    def build(folder: Path) -> None:
        mean_states = []
        for settings, code in zip((source, target), languages, strict=True):
            train, _ = text.split(code, settings.text)
            mean_states.append(anchors(artefacts.load(settings, device), train[:sentences]))
        both = source.model_copy(update={"languages": languages})
        maps = fitted(mean_states[1], mean_states[0], text.pairs(both), kind)
        np.save(folder / "maps.npy", maps.numpy())

    folder = built("projection", "-".join(languages), recipe, build)
    return torch.from_numpy(np.load(folder / "maps.npy"))
