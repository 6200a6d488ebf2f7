"""What decides the trials of the tables, typed; and the presets of their profiles."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.tasks.settings import ClassifierSettings
from xlrepro.training.settings import validated as validated
from xlrepro.yaml_files import read_yaml


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DisambiguationSettings(_Settings):
    """A trial of Table 2.

    Attributes:
        corpus: ``"artificial"``, or ``"wordnet"``: SemCor and the five test sets.
        model: the language model; its seed is the trial's. None for the rows without one.
        layer: whose states are compared; the script takes the top one.
        train_sentences, test_sentences: use the first so many; None is all.
        draws: of the bootstrap over instances.
    """

    corpus: Literal["artificial", "wordnet"]
    model: LanguageModelSettings | None = None
    layer: Literal["top", "mean"] = "top"
    train_sentences: int | None = Field(None, ge=1)
    test_sentences: int | None = Field(None, ge=1)
    draws: int = Field(1000, ge=1)


class TaggerSettings(_Settings):
    """The BiLSTM-CRF on frozen features (Table 3).

    Attributes:
        hidden_dim: LSTM units per direction.
        dropout: before and behind the BiLSTM.
        learning_rate: Adam's.
        batch_size: sentences a step.
        epochs: passes over the training sentences at most.
        patience: stop after so many epochs without a better English dev F1.
        clip_norm: largest gradient norm.
    """

    hidden_dim: int = Field(256, ge=1)
    dropout: float = Field(0.3, ge=0, lt=1)
    learning_rate: float = Field(1e-3, gt=0)
    batch_size: int = Field(32, ge=1)
    epochs: int = Field(20, ge=1)
    patience: int = Field(5, ge=1)
    clip_norm: float = Field(5.0, gt=0)


class TransferSettings(_Settings):
    """A trial of Tables 3 to 5: a head trained on English, tested on one other language.

    Attributes:
        corpus: ``"artificial"``, a registered corpus, or one that the user supplies.
        source: language of training and selection.
        target: language of the test.
        domains: of reviews; one head each.
        source_model: language model that reads the source.
        target_model: the one that reads the target; None: the same.
        map: W, for systems that have it: any matrix (text), or an orthogonal one.
        anchor_sentences: of each language that W is fitted on.
        layer: the mean of all layers, or the top one.
        tagger, classifier: the head.
        longest: words of a sentence that are read; the rest is cut off. None: all.
        train_sentences, test_sentences: use the first so many; the latter for dev and test.
    """

    corpus: str
    source: str = "en"
    target: str
    domains: tuple[str, ...] = ()
    source_model: LanguageModelSettings
    target_model: LanguageModelSettings | None = None
    map: Literal["least-squares", "orthogonal"] = "least-squares"
    anchor_sentences: int = Field(20_000, ge=1)
    layer: Literal["top", "mean"] = "mean"
    tagger: TaggerSettings | None = None
    classifier: ClassifierSettings | None = None
    longest: int | None = Field(None, ge=1)
    train_sentences: int | None = Field(None, ge=1)
    test_sentences: int | None = Field(None, ge=1)

    @property
    def target_reader(self) -> LanguageModelSettings:
        """The language model that reads the target language."""
        return self.target_model or self.source_model


class GrowthSettings(_Settings):
    """A trial of Tables 6 to 8: how many senses are alive, and which steps the settings give.

    Attributes:
        model: the language model; None for the arithmetic.
        arithmetic: the printed numbers: tokens of the corpus, GPUs, streams, unrolled steps, and
            the stated steps and epochs.
    """

    model: LanguageModelSettings | None = None
    arithmetic: Mapping[str, float] | None = None


class PuritySettings(_Settings):
    """A trial of Figures 4 to 7.

    Attributes:
        model: the language model whose senses are looked at.
        sentences: of annotated artificial text that senses are counted on; 0: none, as the text is
            real.
        words: whose nearest sense vectors are listed.
        neighbours: of each sense.
    """

    model: LanguageModelSettings
    sentences: int = Field(0, ge=0)
    words: tuple[str, ...] = ()
    neighbours: int = Field(8, ge=1)


@cache
def presets(experiment: str) -> dict[str, Any]:
    """Return a file of ``presets/``, profile to settings."""
    folder = resources.files("xlrepro.papers.sense_alignment") / "presets"
    return dict(read_yaml(folder / f"{experiment}.yaml"))
