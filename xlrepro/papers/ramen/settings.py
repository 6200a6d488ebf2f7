"""What decides a RAMEN trial, typed; the rest are constants beside the code that reads them."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from xlrepro.encoders import name_and_layer, supplied_files
from xlrepro.papers.ramen import supplied
from xlrepro.training.settings import Budget, Count, Dropped, FromZero, MixedPrecision, Rate, Some
from xlrepro.values import Checked

Corpus = Literal["artificial", "open", "supplied"]


class StageSettings(Checked):
    """One stage of tuning by masked language modelling.

    Attributes:
        updates: optimiser steps.
        sequences: sequences of a language in a step.
        length: subwords of a sequence, the first one ([CLS]) among them.
        accumulation: parts that a step's sequences are divided into, to save memory.
        learning_rate: at the end of the warm-up; inverse square root from there on.
        warmup_steps: steps of linear warm-up.
    """

    updates: FromZero
    sequences: Count
    length: Annotated[int, Field(ge=3)]
    accumulation: Count = 1
    learning_rate: Rate = 1e-4
    warmup_steps: Count = 4000


class EnglishSettings(Checked):
    """The English masked language model to begin with, and its stage 0.

    Attributes:
        model: an encoder's name, see :mod:`xlrepro.encoders`.
        dropout: while tuning, in all stages.
        head: fitting the prediction transform, the encoder frozen.
        all: tuning everything on English.
    """

    model: str
    dropout: Dropped = 0.1
    head: StageSettings
    all: StageSettings


class InitialisationSettings(Checked):
    """How the target embeddings begin (§2.1).

    Attributes:
        kind: ``"mono"`` (Eq. 3), ``"parallel"`` (Eq. 2) or ``"random"``.
        vectors: aligned word vectors of ``mono``: a set's name.
        random_rows: spread of rows that nothing is known of: ``"code"``: standard deviation
            d^-0.5; ``"text"``: N(0, 1/d²), read as a variance: 1/d.
    """

    kind: Literal["mono", "parallel", "random"]
    vectors: Literal["dictionary", "mapped", "fasttext-aligned"] = "dictionary"
    random_rows: Literal["code", "text"] = "code"


class AdaptationSettings(Checked):
    """Everything, besides the texts and the target, that decides a bilingual model.

    Attributes:
        corpus: where all text comes from.
        words: words of text at most, of each language.
        pairs: sentence pairs of parallel text at most.
        held_out: sequences kept out, for the masked-LM accuracy.
        vocabulary: subwords of the target language.
        characters: size of its alphabet at most.
        english: the English model.
        initialisation: of the target embeddings.
        embeddings: stage 1: the target's embeddings alone.
        bilingual: stage 2: everything, on both languages.
        precision: of all numbers; ``"mixed"`` on a GPU alone.
        seed: of text, weights, batches, masks and dropout.
    """

    corpus: Corpus
    words: Count
    pairs: Count
    held_out: Count
    vocabulary: Count
    characters: Count
    english: EnglishSettings
    initialisation: InitialisationSettings
    embeddings: StageSettings
    bilingual: StageSettings
    precision: MixedPrecision = "single"
    seed: FromZero = 0

    @model_validator(mode="after")
    def _vectors_and_model_are_there(self) -> Self:
        if (self.corpus == "supplied") != (self.initialisation.vectors == "fasttext-aligned"):
            raise ValueError("vectors: fasttext-aligned of a supplied corpus, of others not")
        if "@" in self.english.model:
            raise ValueError("english.model: it is adapted whole: leave out @ and the layer")
        return self


class HeadSettings(Budget):
    """What is trained on states: a classifier of pairs, or a parser.

    Attributes:
        train: English training examples at most; None: all.
        test: examples of each test set at most; None: all.
        dev: examples at most of the set that selects, and of the English test set, which is only
            told in the details; None: as many as ``test``.
        layer: whose states it reads, those above are cut off; None: the last.
        hidden: width of its hidden layer (of a parser: for arcs); a pair read as one has none.
        relation_hidden: of a parser: width for relations.
    """

    train: Count | None = None
    test: Count | None = None
    dev: Count | None = None
    layer: Count | None = None
    hidden: Count = 500
    relation_hidden: Count = 100


class EvaluationSettings(Checked):
    """Everything that decides the numbers of one trial, besides its seed.

    Attributes:
        task: inference (``"XNLI"``), parsing (``"UD"``), or parsing with training data of the
            target (``"UD supervised"``).
        corpus: where labelled data come from.
        targets: languages to test on.
        checkpoints: which states of the adaptation to test: before any update, after stage 1, at
            the end.
        model: of the rows on M-BERT: which multilingual encoder; None: a bilingual model.
        layers: how many layers of ``model`` are left, for the row "as shallow as the English
            model"; None: all.
        adaptation: of a bilingual model; None: ``model`` is read.
        head: what is trained.
        together: whether premise and hypothesis are read as one sequence, by its first subword, and
            the encoder is tuned with the head from the beginning, as in the paper.
        tuned_epochs: else, passes over the training examples with the encoder tuned too, after the
            head's own; 0: the encoder stays frozen.
        tuned_rate: Adam's learning rate of encoder and head in these.
        precision: of the head, and of the encoder while it is tuned; ``"mixed"`` on a GPU alone.
    """

    task: Literal["XNLI", "UD", "UD supervised"]
    corpus: Corpus
    targets: Some[Literal["ar", "fr", "hi", "ru", "vi", "zh"]]
    checkpoints: Some[Literal["start", "embeddings", "end"]] = ("end",)
    model: str | None = None
    layers: Count | None = None
    adaptation: AdaptationSettings | None = None
    head: HeadSettings
    together: bool = False
    tuned_epochs: FromZero = 0
    tuned_rate: Rate = 1e-5
    precision: MixedPrecision = "single"

    @model_validator(mode="after")
    def _encoder_has_the_layer(self) -> Self:
        name_and_layer(self.encoder, self.head.layer or self.layers)
        return self

    @property
    def encoder(self) -> str:
        """The encoder that is read: a multilingual one, or the English one that is adapted."""
        return self.adaptation.english.model if self.adaptation else self.model or ""

    @property
    def tuned(self) -> bool:
        """Whether the encoder is tuned with the head."""
        return self.together or self.tuned_epochs > 0

    def registered(self) -> list[tuple[str, str]]:
        """Return data set and file of what is read after training."""
        tested = {("XNLI", "open"): "xnli", ("XNLI", "supplied"): "xnli", ("UD", "open"): "ud-r2.2"}
        name = tested.get((self.task, self.corpus))
        return [(name, f"{target}/test") for target in self.targets if name]

    def supplied(self) -> list[str]:
        """Return the files that a trial reads below the folder of supplied files."""
        made, paths = self.adaptation, supplied_files(self.encoder)
        if self.corpus == "supplied":
            paths += supplied.labelled_files(self.task, self.targets)
        if made and made.corpus == "supplied":
            paths += supplied.text_files(made.initialisation.kind, self.targets)
        return paths
