"""What decides a self-pretrained BERT, typed; the presets are in ``presets.yaml``."""

from functools import cache
from importlib import resources
from typing import Literal

from xlrepro.checked import Checked
from xlrepro.errors import SettingsError
from xlrepro.training.settings import SINGLE, Precision
from xlrepro.yaml_files import read_yaml

SOURCE = "en"
# The 31 languages of the word-order paper's Table 2, and Thai for its slots.
LANGUAGES = (
    "en", "no", "sv", "fr", "pt", "da", "es", "it", "hr", "ca", "pl", "uk", "sl", "nl", "bg", "ru",
    "de", "he", "cs", "ro", "sk", "id", "lv", "fi", "et", "zh", "ar", "la", "ko", "hi", "ja", "th",
)  # fmt: skip


class Sizes(Checked):
    """Sizes of the network; see :class:`xlrepro.nn.bert.BertSizes`."""

    dim: int
    layers: int
    heads: int
    ff_dim: int
    positions: int
    dropout: float


class PretrainingSettings(Checked):
    """Everything, besides the text, that decides a pretrained model.

    Attributes:
        version: raised when the code changes the result.
        text: registered open text, or the artificial languages.
        device: ``"cuda"`` where a CPU would take days; building then fails without one.
        words: at most so many words of English, and of every other language.
        held_out: lines per language kept out of training, for the masked-piece accuracy.
        vocabulary: number of word pieces at most.
        characters: size of the alphabet at most.
        sizes: of the network.
        tokens: pieces seen in training, repeats included.
        sequences: sequences a step, each ``sizes.positions`` pieces long.
        learning_rate: AdamW's, after linear warm-up, then linear decay to 0.
        warmup_share: share of the steps that warm up.
        checkpoint_every: steps between checkpoints.
        seed: of text, weights, batches, masks and dropout.
        precision: of all floats on a CPU, single or double.
    """

    version: int
    text: Literal["artificial", "open"]
    device: Literal["any", "cuda"]
    words: dict[Literal["en", "others"], int]
    held_out: int
    vocabulary: int
    characters: int
    sizes: Sizes
    tokens: int
    sequences: int
    learning_rate: float
    warmup_share: float
    checkpoint_every: int
    seed: int
    precision: Precision = SINGLE

    @property
    def steps(self) -> int:
        """Number of optimiser steps."""
        return self.tokens // (self.sequences * self.sizes.positions)


@cache
def presets() -> dict[str, PretrainingSettings]:
    """Return the presets by name."""
    file = resources.files("xlrepro.pretraining") / "presets.yaml"
    return {
        name: PretrainingSettings.model_validate(values) for name, values in read_yaml(file).items()
    }


def preset(name: str) -> PretrainingSettings:
    """Return a preset.

    Raises:
        SettingsError: for an unknown name.
    """
    if name not in presets():
        raise SettingsError(f"no BERT is called {name!r}: use one of {', '.join(presets())}")
    return presets()[name]
