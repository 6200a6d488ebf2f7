"""What decides a tagging trial of the word-order paper, typed; and the presets of its profiles.

A profile is a YAML file of ``presets/``. Each setting is a plain value; which of them the paper
gives, and which the spec recommends because the paper is silent, stands in the YAML's comments and
in ``data/deviations/word_order.yaml``.
"""

from functools import cache
from importlib import resources
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from xlrepro.errors import SettingsError
from xlrepro.training.precision import SINGLE, Precision


class EncoderSettings(BaseModel):
    """One encoder and its sizes.

    Attributes:
        kind: BiLSTM or Transformer.
        positions: what a Transformer knows of positions.
        kernel_size: width h of the feed-forward convolution (Eq. 2); ``None`` is the linear layer.
        dim: width of a Transformer.
        heads: attention heads, each dim / heads wide.
        ff_dim: inner width of the feed-forward layer.
        hidden_dim: BiLSTM units per direction.
        layers: layers of either.
        max_distance: relative distances are clipped here (RPT).
        dropout: in both, and before the linear layer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["bilstm", "transformer"]
    positions: Literal["sinusoidal", "learned", "relative", "none"] = "none"
    kernel_size: int | None = 3
    dim: int = 256
    heads: int = 4
    ff_dim: int = 1024
    hidden_dim: int = 250
    layers: int = 2
    max_distance: int = 10
    dropout: float = 0.1


class TaggingSettings(BaseModel):
    """Everything that decides the numbers of one tagging trial, besides its seed and data.

    Attributes:
        corpus: name of the corpus; which names there are is the task's matter (``data.py``).
        vectors: name of the word vectors, likewise.
        source: language of training and model selection.
        targets: languages of zero-shot evaluation.
        encoder: the encoder and its sizes.
        head: CRF or softmax.
        shuffle: train on order-shuffled sentences: one new permutation per sentence and epoch.
        shuffle_copies: number of shuffled copies of a sentence; epoch e reads copy e mod copies.
        shuffle_k: largest move of a unit; ``None`` is ∞.
        learning_rate: Adam's.
        batch_size: sentences a step.
        epochs: passes over the training sentences at most.
        patience: stop after so many epochs without a better source dev score.
        warmup_steps: steps of linear warm-up; linear decay to 0 follows over all epochs.
        clip_norm: largest gradient norm.
        word_dropout: share of training tokens whose vector is replaced by zero.
        train_sentences: use the first so many; ``None`` is all.
        test_sentences: the same, for dev and each test set.
        evaluate_targets: False for a trial that only tunes on the source dev set.
        precision: of all floats, single or double.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: str
    vectors: str
    source: str = "en"
    targets: tuple[str, ...]
    encoder: EncoderSettings
    head: Literal["crf", "linear"] = "crf"
    shuffle: bool = False
    shuffle_copies: int = 10
    shuffle_k: int | None = None
    learning_rate: float
    batch_size: int = 32
    epochs: int
    patience: int
    warmup_steps: int = 200
    clip_norm: float = 5.0
    word_dropout: float = 0.05
    train_sentences: int | None = None
    test_sentences: int | None = None
    evaluate_targets: bool = True
    precision: Precision = SINGLE


@cache
def presets(experiment: str) -> dict[str, Any]:
    """Return the presets of an experiment: profile to settings, as the YAML has them.

    Args:
        experiment: name of a file in ``presets/``, such as ``"table2"``.
    """
    folder = resources.files("xlrepro.papers.word_order") / "presets"
    with (folder / f"{experiment}.yaml").open(encoding="utf-8") as file:
        return dict(yaml.safe_load(file))


S = TypeVar("S", bound=TaggingSettings)


def validated(values: dict[str, Any], where: str, kind: type[S] = TaggingSettings) -> S:  # type: ignore[assignment]
    """Return ``values`` as settings of the given kind.

    Raises:
        SettingsError: one line that names each unknown or impossible setting.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}" for e in error.errors()
        )
        raise SettingsError(f"settings of {where}: {problems}") from None
