"""Settings of tasks, apart from what they set: trials are named without torch."""

from pydantic import Field

from xlrepro.checked import Checked


class ClassifierSettings(Checked):
    """What decides a classifier, besides its features and its seed.

    Attributes:
        hidden_dim: width of the ReLU layer, and of the BiLSTM per direction.
        dropout: probability of zeroing an entry before either linear layer.
        learning_rate: Adam's.
        batch_size: texts, or pairs, a step.
        epochs: passes over the training texts at most.
        patience: stop after so many epochs without a better source dev accuracy.
        clip_norm: largest gradient norm.
        longest: words of a text that are read; the rest is cut off. None: all.
    """

    hidden_dim: int = Field(256, ge=1)
    dropout: float = Field(0.5, ge=0, lt=1)
    learning_rate: float = Field(4e-4, gt=0)
    batch_size: int = Field(32, ge=1)
    epochs: int = Field(10, ge=1)
    patience: int = Field(5, ge=1)
    clip_norm: float = Field(5.0, gt=0)
    longest: int | None = Field(None, ge=1)
