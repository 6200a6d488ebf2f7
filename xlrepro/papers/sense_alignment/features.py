"""Contextual vectors of words from a trained language model, computed once per split and kept."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from xlrepro.artefacts import built
from xlrepro.nn.bert import Bert
from xlrepro.papers.sense_alignment.language_model.bilm import BiLM
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.language_model.word_encoder import character_ids
from xlrepro.papers.sense_alignment.pretraining import artefacts
from xlrepro.papers.sense_alignment.pretraining.artefacts import LanguageModel
from xlrepro.papers.sense_alignment.pretraining.text import BEGIN, END, SPECIAL, UNKNOWN
from xlrepro.vectors.normalise import word_form

Layer = Literal["top", "mean"]
TOKENS_AT_ONCE = 4096  # padded words of a batch
WORDS_AT_ONCE = 1024  # words whose characters are read together
VERSION = 1  # raised when the code changes the vectors

Sentences = Sequence[Sequence[str]]
Finish = Callable[[Tensor], Tensor]


def _as_they_are(states: Tensor) -> Tensor:
    return states


def layers_of(
    model: LanguageModel, sentences: Sentences, finish: Finish = _as_they_are
) -> list[Tensor]:
    """Return the states of every layer for each word of each sentence.

    Words are read as they are: bring them into the form of the model's text first
    (:func:`as_read`). Each sentence is read for itself, between ``<S>`` and ``</S>``.

    Args:
        model: what reads.
        sentences: words.
        finish: what is kept of a sentence's states, so that not all layers of all are in memory.

    Returns:
        Per sentence ``(layers, length, dim)``. biLM: layer 0 is the word's vector twice, the others
        are forward and backward states side by side. BERT: the top layer alone.
    """
    find = _bilm_layers if isinstance(model.encoder, BiLM) else _bert_layers
    order = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
    layers: list[Tensor] = [torch.empty(0)] * len(sentences)
    vectors = _word_vectors(model, sentences)
    start = 0
    while start < len(order):
        count = max(1, TOKENS_AT_ONCE // (len(sentences[order[start]]) + 2))
        rows = order[start : start + count]
        for row, states in zip(rows, find(model, [sentences[i] for i in rows], vectors)):
            layers[row] = finish(states)
        start += count
    return layers


def as_read(tokens: Sequence[str], language: str, artificial: bool = False) -> list[str]:
    """Return words in the form of the text that language models read: lower case, digits as 0."""
    if artificial:
        return list(tokens)
    return [word_form(token, language) or token for token in tokens]


@torch.no_grad()
def _word_vectors(model: LanguageModel, sentences: Sentences) -> dict[str, int] | Any:
    """Return numbers of words and, for a biLM, the vectors of their characters."""
    if not isinstance(model.encoder, BiLM):
        return {word: i for i, word in enumerate(model.vocabulary)}, None
    words = dict.fromkeys([BEGIN, END, *(w for sentence in sentences for w in sentence)])
    number = {word: i for i, word in enumerate(words)}
    listed, longest = list(words), model.encoder.sizes.characters_per_word
    parts = [
        model.encoder.words(character_ids(listed[i : i + WORDS_AT_ONCE], longest))
        for i in range(0, len(listed), WORDS_AT_ONCE)
    ]
    return number, torch.cat(parts)


@torch.no_grad()
def _bilm_layers(model: LanguageModel, sentences: Sentences, vectors: Any) -> list[Tensor]:
    assert isinstance(model.encoder, BiLM)
    number, table = vectors
    rows = [torch.tensor([number[w] for w in (BEGIN, *s, END)]) for s in sentences]
    lengths = torch.tensor([len(row) for row in rows])
    # shape: (batch, length)
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    # Place t of a mirrored sentence; padding stays on the right, where neither direction meets it.
    places = torch.arange(ids.shape[1])
    mirrored = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    # shape: (2, batch, length), then (2, batch, length, dim)
    both = torch.stack((ids, ids.gather(1, mirrored)))
    x = functional.embedding(both, table)
    layers, _ = model.encoder(x)
    back = mirrored.unsqueeze(-1)
    joined = [
        torch.cat((ahead, behind.gather(1, back.expand_as(behind))), -1)
        for ahead, behind in (layer.unbind(0) for layer in (x, *layers))
    ]
    # shape: (batch, layers, length, 2 * dim)
    states = torch.stack(joined, 1)
    return [states[i, :, 1 : len(row) - 1].clone() for i, row in enumerate(rows)]


@torch.no_grad()
def _bert_layers(model: LanguageModel, sentences: Sentences, vectors: Any) -> list[Tensor]:
    """Return top states; a sentence longer than the positions is read in pieces."""
    assert isinstance(model.encoder, Bert)
    number, _ = vectors
    unknown, first, last = (SPECIAL.index(name) for name in (UNKNOWN, BEGIN, END))
    room = model.encoder.sizes.positions - 2
    pieces: list[list[int]] = []
    counts = []
    for sentence in sentences:
        ids = [number.get(word, unknown) for word in sentence]
        own = [[first, *ids[i : i + room], last] for i in range(0, len(ids), room)]
        pieces += own
        counts.append(len(own))
    states = _encoded(model.encoder, pieces)
    return [torch.cat([next(states) for _ in range(count)])[None] for count in counts]


def _encoded(encoder: Bert, pieces: list[list[int]]) -> Iterator[Tensor]:
    """Return the states of pieces without their ends; those of one length are read together."""
    by_length: dict[int, list[int]] = {}
    for row, piece in enumerate(pieces):
        by_length.setdefault(len(piece), []).append(row)
    states_of: dict[int, Tensor] = {}
    for rows in by_length.values():
        # shape: (pieces of one length, length - 2, dim)
        states = encoder(torch.tensor([pieces[row] for row in rows]))[:, 1:-1]
        states_of |= zip(rows, states, strict=True)
    return iter([states_of[row] for row in range(len(pieces))])


def mixed(states: Sequence[Tensor], layer: Layer, maps: Tensor | None = None) -> list[Tensor]:
    """Return one vector per word, ``(length, dim)`` per sentence.

    Args:
        states: :func:`layers_of`.
        layer: the top one, or the mean of all.
        maps: W of each layer, which is applied before the mean. ``(layers, dim, dim)``
    """
    return [_mix(layers, layer=layer, maps=maps) for layers in states]


def _mix(states: Tensor, layer: Layer, maps: Tensor | None) -> Tensor:
    """Return ``(length, dim)`` for ``(layers, length, dim)``."""
    if maps is not None:
        # shape: (layers, length, dim)
        states = torch.einsum("kld,ked->kle", states, maps)
    return states[-1].clone() if layer == "top" else states.mean(0)


def kept(
    settings: LanguageModelSettings,
    sentences: Sentences,
    layer: Layer,
    maps: Tensor | None = None,
    device: str = "cpu",
) -> list[Tensor]:
    """Return :func:`mixed` vectors of sentences from a language model, from the cache if there.

    Args:
        settings: of the language model, which is trained first if it is not in the cache.
        sentences: words as the model reads them.
        layer: see :func:`mixed`.
        maps: likewise.
        device: where a language model that is not in the cache is trained.
    """
    recipe = {
        "version": VERSION,
        "model": artefacts.recipe_hash(settings),
        "sentences": _digest("\n".join("\t".join(s) for s in sentences).encode("utf-8")),
        "layer": layer,
        "maps": None if maps is None else _digest(maps.numpy().tobytes()),
    }

    def build(target: Any) -> None:
        model = artefacts.load(settings, device)
        vectors = layers_of(model, sentences, partial(_mix, layer=layer, maps=maps))
        np.save(target / "vectors.npy", torch.cat(vectors).numpy())

    folder = built("features", "-".join(settings.languages), recipe, build)
    rows = torch.from_numpy(np.load(folder / "vectors.npy"))
    return list(rows.split([len(s) for s in sentences]))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
