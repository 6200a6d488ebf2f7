"""The self-pretrained multilingual BERTs: built once into the cache, loaded from there.

A model is named by the hash of its recipe: text, settings, version. ``recipe_hash`` builds nothing.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xlrepro.artefacts import built
from xlrepro.nn.bert import Bert, BertSizes
from xlrepro.paths import cache_dir
from xlrepro.pretraining.recipes import recipe, recipe_hash
from xlrepro.pretraining.wordpiece import WordPiece


@dataclass(frozen=True)
class PretrainedBert:
    """A trained model.

    Attributes:
        bert: the network; ready for use, not for training.
        wordpiece: words to pieces.
        log: how the training went: tokens, loss curve, seconds, held-out accuracy per language.
    """

    bert: Bert
    wordpiece: WordPiece
    log: dict[str, Any]


def work_folder(name: str) -> Path:
    """Return where an unfinished training keeps its text and its checkpoint."""
    return cache_dir() / "pretraining" / f"{name}-{recipe_hash(name)[:16]}"


def load(name: str) -> PretrainedBert:
    """Return a model, training it first if it is not in the cache.

    Args:
        name: ``"smoke"`` (seconds), ``"cpu"`` (minutes) or ``"gpu"``.

    Raises:
        SettingsError: for an unknown name.
        DeviceError: if it needs a GPU and there is none.
        DataError: if a text file cannot be had.
    """
    from xlrepro.pretraining.building import build  # only here: to train is not to use

    folder = built("bert", name, recipe(name), lambda target: build(name, target))
    return read(folder)


def read(folder: Path) -> PretrainedBert:
    """Return the model that lies in a folder."""
    log = json.loads((folder / "log.json").read_text("utf-8"))
    vocabulary = (folder / "vocab.txt").read_text("utf-8").split("\n")[:-1]
    bert = Bert(BertSizes(**log["sizes"]))
    bert.load_state_dict(torch.load(folder / "bert.pt", map_location="cpu", weights_only=True))
    return PretrainedBert(bert.eval(), WordPiece(vocabulary), log)


def packed(lines: list[list[str]], wordpiece: WordPiece, length: int) -> np.ndarray:
    """Return lines as full sequences: ``[CLS]``, pieces of line after line, ``[SEP]``.

    A line that does not fit goes on in the next sequence; the rest that fills none is left out.

    Returns:
        ``(sequences, length)`` of the smallest integer type
    """
    body = length - 2
    pieces = [n for line in lines for word in line for n in wordpiece.numbers(word)]
    count = len(pieces) // body
    kind = np.uint16 if len(wordpiece) < 2**16 else np.uint32
    sequences = np.empty((count, length), dtype=kind)
    sequences[:, 0] = wordpiece.cls
    sequences[:, 1:-1] = np.array(pieces[: count * body], dtype=kind).reshape(count, body)
    sequences[:, -1] = wordpiece.sep
    return sequences
