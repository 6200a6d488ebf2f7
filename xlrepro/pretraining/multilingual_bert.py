"""The self-pretrained multilingual BERTs: built once into the cache, loaded from there.

A model is named by the hash of its recipe: text, settings, version. ``recipe_hash`` builds nothing.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from xlrepro.artefacts import built
from xlrepro.nn.bert import Bert, BertSizes
from xlrepro.pretraining.recipes import recipe
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
