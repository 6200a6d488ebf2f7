"""What decides a trial of Liu et al. (2019)'s NLU model, typed (Table 3)."""

from collections.abc import Mapping
from typing import Any, Literal

from xlrepro.checked import Checked
from xlrepro.papers.word_order.settings import EncoderSettings, presets, with_encoder
from xlrepro.training.settings import SINGLE, Count, Dropped, FromZero, Precision, Rate, Weight


class NLUSettings(Checked):
    """Everything that decides the numbers of one trial, besides its seed and data.

    Defaults are those of the authors' code where it has them.

    Attributes:
        corpus: name of the corpus, with slots and intents.
        vectors: name of the word vectors.
        source: language of training and model selection.
        targets: languages of zero-shot evaluation.
        encoder: the encoder and its sizes: all that differs between the rows.
        slot_head: softmax per token, or a CRF.
        latent_dim: width of both latent variables.
        latent_scale: factor on the latent variable's standard deviation in training.
        noise: standard deviation of the noise on the word vectors in training.
        input_dropout: share of entries of the word vectors that are dropped in training.
        delexicalise: write times, dates and numbers as marks.
        learning_rate: Adam's, constant.
        batch_size: sentences a batch; a batch takes two optimiser steps.
        epochs: passes over the training sentences at most.
        patience: stop after so many epochs without a better source dev slot F1.
        train_sentences: use the first so many; ``None`` is all.
        test_sentences: the same, for dev and each test set.
        precision: of all floats, single or double.
    """

    corpus: str
    vectors: str
    source: str = "en"
    targets: tuple[str, ...]
    encoder: EncoderSettings
    slot_head: Literal["linear", "crf"] = "linear"
    latent_dim: Count = 100
    latent_scale: Weight = 0.5
    noise: Weight = 0.05
    input_dropout: Dropped = 0.1
    delexicalise: bool = True
    learning_rate: Rate = 0.0005
    batch_size: Count = 32
    epochs: Count
    patience: FromZero
    train_sentences: Count | None = None
    test_sentences: Count | None = None
    precision: Precision = SINGLE


def nlu_settings(
    profile: str, encoder: Mapping[str, Any], overrides: Mapping[str, Any]
) -> NLUSettings:
    """Return the settings of one row.

    Args:
        profile: the profile in ``presets/nlu.yaml``.
        encoder: the kind of encoder; its sizes are the preset's.
        overrides: what the user changes; names of encoder settings go to the encoder.

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    values = dict(presets("nlu")[profile])
    sizes = {**values.pop("sizes"), **encoder}
    return with_encoder(NLUSettings, f"NLU {profile}", values, sizes, overrides)
