"""What decides a trial of the word-order paper, typed; values stand in ``experiments.yaml``.

What no experiment varies is a constant here: of the paper or its authors' code where they say it,
else usual or ours, as its comment says.
"""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from xlrepro.data.named import check_source, corpus
from xlrepro.data.supplied import read_by
from xlrepro.encoders import supplied_files
from xlrepro.training.settings import (
    SINGLE,
    Budget,
    Count,
    Dropped,
    FitSettings,
    FromZero,
    Languages,
    Precision,
    Rate,
    Share,
    VectorName,
)
from xlrepro.values import Checked

SOURCE = "en"  # language of training and model selection, in all of the paper
MAX_DISTANCE = 10  # at which relative positions are clipped (RPT), as in Ahmad et al. (2019)
SHUFFLED_COPIES = 10  # of a sentence [paper]; epoch e reads copy e mod 10
WORD_DROPOUT = 0.05  # share of training tokens whose vector is replaced by zero [usual]
TAGS = ("NOUN", "VERB", "ADJ", "ADV", "PRON")  # the classes of Figure 1
# Languages of Table 2 that MUSE has a test dictionary for.
WITH_TEST_DICTIONARY = ("fr", "es", "it", "bg", "ru", "de", "zh", "ar", "hi")


class EncoderSettings(Checked):
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
        dropout: in both, and before the linear layer.
    """

    kind: Literal["bilstm", "transformer"]
    positions: Literal["sinusoidal", "learned", "relative", "none"] = "none"
    kernel_size: Count | None = 3
    dim: Count = 256
    heads: Count = 4
    ff_dim: Count = 1024
    hidden_dim: Count = 250
    layers: Count = 2
    dropout: Dropped = 0.1

    @model_validator(mode="after")
    def _heads_divide_dim(self) -> Self:
        if self.kind == "transformer" and self.dim % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.dim}")
        if self.kind == "bilstm" and self.positions != "none":
            raise ValueError("positions: a BiLSTM takes none")
        return self


class TransferSettings(Checked):
    """What is trained on one language and tested on others.

    Attributes:
        corpus: name of the corpus, see ``xlrepro/data/named.py``.
        vectors: name of the word vectors, see ``xlrepro/tasks/source.py``.
        targets: languages of zero-shot evaluation.
        encoder: the encoder and its sizes.
        train_sentences: use the first so many; ``None`` is all.
        test_sentences: the same, for dev and each test set.
    """

    source: ClassVar[str] = SOURCE
    corpus: str
    vectors: str
    targets: tuple[str, ...]
    encoder: EncoderSettings
    train_sentences: Count | None = None
    test_sentences: Count | None = None

    @model_validator(mode="after")
    def _source_and_targets_are_there(self) -> Self:
        check_source(self, getattr(self, "task", "SF"))  # which Table 3 labels
        if bool(self.targets) != getattr(self, "evaluate_targets", True):
            raise ValueError("targets: name one or more, none with evaluate_targets=false")
        return self

    def supplied(self) -> list[str]:
        """Return the files that a trial reads below the folder of supplied files."""
        parts = [(self.source, "train"), (self.source, "dev"), *self.also_read()]
        parts += [(code, "test") for code in (self.source, *self.targets)]
        return read_by(self.corpus, self.vectors, (self.source, *self.targets), parts)

    def registered(self) -> list[tuple[str, str]]:
        """Return data set and file of what is read after training."""
        tested = (self.source, *self.targets, *(code for code, _ in self.also_read()))
        return corpus(self.corpus, getattr(self, "task", "SF")).files(tested)

    def also_read(self) -> list[tuple[str, str]]:
        """Return what else of the corpus a trial reads, languages and splits."""
        return []


class LabellingSettings(FitSettings, TransferSettings):
    """What words of any encoder are labelled with, and by which head.

    Attributes:
        task: which layer is labelled: parts of speech, named entities or slots.
        head: CRF or softmax.
    """

    figure1_tags: ClassVar[tuple[str, ...]] = TAGS
    task: Literal["POS", "NER", "SF"] = "POS"
    head: Literal["crf", "linear"] = "crf"  # [paper]


class TaggingSettings(LabellingSettings):
    """Everything that decides the numbers of a trial on word vectors, besides its seed and data.

    Attributes:
        shuffle: train on order-shuffled sentences: one new permutation per sentence and epoch.
        shuffle_k: largest move of a unit; ``None`` is ∞.
        test_shuffles: also score the source test set with its order disturbed by each k (Table 5).
        few_shot_language: target language whose training sentences are added (Figure 2).
        few_shot_share: share of its training sentences, 0 to 1.
        evaluate_targets: False for a trial that only tunes on the source dev set.
    """

    vectors: VectorName
    shuffle: bool = False
    shuffle_k: FromZero | None = None
    test_shuffles: tuple[FromZero, ...] = ()
    few_shot_language: str | None = None
    few_shot_share: Share = 0.0
    evaluate_targets: bool = True

    @model_validator(mode="after")
    def _share_is_of_a_language(self) -> Self:
        if bool(self.few_shot_share) != bool(self.few_shot_language):
            raise ValueError("few_shot_share and few_shot_language: give both or neither")
        return self

    def registered(self) -> list[tuple[str, str]]:
        """Return no test set where none is read."""
        return super().registered() if self.evaluate_targets else []

    def also_read(self) -> list[tuple[str, str]]:
        """Return the few-shot language's training sentences, if there is one."""
        return [(self.few_shot_language, "train")] if self.few_shot_language else []


class MbertSettings(LabellingSettings):
    """Settings of a trial with M-BERT.

    Attributes:
        task: part-of-speech tags, entities or slots.
        checkpoint: an encoder's name, see :mod:`xlrepro.encoders`.
        fine_tune: train M-BERT itself with a linear layer, instead of an encoder on its states.
        freeze_positions: fine-tuning: leave its position table as it is.
    """

    task: Literal["POS", "NER", "SF"]
    vectors: Literal["M-BERT"] = "M-BERT"
    encoder: EncoderSettings = EncoderSettings(kind="transformer")
    checkpoint: str
    fine_tune: bool = False
    freeze_positions: bool = False

    def supplied(self) -> list[str]:
        """Return the files that a trial reads below the folder of supplied files."""
        return [*super().supplied(), *supplied_files(self.checkpoint)]


class NLUSettings(TransferSettings, Budget):
    """Everything that decides a trial of Liu et al. (2019)'s NLU model (Table 3), besides its seed.

    The encoder is all that differs between the rows. A batch takes two optimiser steps, at a
    constant rate; the dev score is the slot F1.

    Attributes:
        precision: of all floats, single or double.
    """

    metrics: ClassVar[tuple[str, ...]] = ("intent accuracy", "slot F1")
    vectors: VectorName
    learning_rate: Rate = 0.0005
    precision: Precision = SINGLE


class DistanceSettings(Checked):
    """Where word-order features come from: ``"artificial"`` texts, or a registered data set.

    Attributes:
        source: name of the data set.
    """

    source: Literal["artificial", "word-order-distance"]


class VectorSettings(Checked):
    """Which vectors are measured: at smoke artificial ones, else the open set of that name.

    Attributes:
        vectors: name of the set.
        languages: codes, English among them.
        precision: of all floats, single or double.
    """

    tested: ClassVar[tuple[str, ...]] = WITH_TEST_DICTIONARY
    vectors: VectorName
    languages: Languages
    precision: Precision = SINGLE
