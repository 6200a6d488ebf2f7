"""What decides a RAMEN trial, typed; and the presets of its profiles."""

from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from xlrepro.training.settings import validated as validated
from xlrepro.yaml_files import read_yaml

PAPER = "ramen"
Count = Annotated[int, Field(ge=1)]
FromZero = Annotated[int, Field(ge=0)]
Rate = Annotated[float, Field(gt=0)]
Dropped = Annotated[float, Field(ge=0, lt=1)]
Precision = Literal["double", "single", "mixed"]
Corpus = Literal["artificial", "open", "supplied"]


class Settings(BaseModel):
    """A group of settings: frozen, and closed to unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class StageSettings(Settings):
    """One stage of tuning by masked language modelling.

    Attributes:
        updates: optimiser steps.
        sequences: sequences of a language in a step.
        length: pieces of a sequence, the first one ([CLS]) among them.
        accumulation: parts that a step's sequences are divided into, to save memory.
        learning_rate: at the end of the warm-up; inverse square root from there on.
        first_rate: at the first step.
        warmup_steps: steps of linear warm-up.
        clip_norm: largest gradient norm.
        masking: ``"text"``: 15 % at random, of these 80 % masked, 10 % replaced, 10 % kept;
            ``"code"``: as many as make a multiple of 8, 90 % masked, 10 % kept, never the first.
        lookahead_k: fast steps to a slow one; 0: no Lookahead, as in the authors' code.
        lookahead_alpha: share of the way that slow weights go.
        checkpoint_every: steps between checkpoints.
    """

    updates: FromZero
    sequences: Count
    length: Annotated[int, Field(ge=3)]
    accumulation: Count = 1
    learning_rate: Rate = 1e-4
    first_rate: Annotated[float, Field(ge=0)] = 1e-7
    warmup_steps: Count = 4000
    clip_norm: Rate = 5.0
    masking: Literal["text", "code"] = "text"
    lookahead_k: FromZero = 5
    lookahead_alpha: Annotated[float, Field(gt=0, le=1)] = 0.5
    checkpoint_every: Count = 500


class EnglishSettings(Settings):
    """The English masked language model to begin with, and its stage 0.

    Attributes:
        model: ``"own"`` (drawn at random and pretrained here), a released encoder's name, or
            ``"supplied:FOLDER"``.
        vocabulary: pieces of an own model.
        dim, layers, heads, ff_dim, positions: sizes of an own model.
        dropout: while tuning.
        head: fitting the prediction transform, the encoder frozen.
        all: tuning everything on English.
    """

    model: str
    vocabulary: Count = 30522
    dim: Count = 384
    layers: Count = 6
    heads: Count = 12
    ff_dim: Count = 1536
    positions: Count = 512
    dropout: Dropped = 0.1
    head: StageSettings
    all: StageSettings


class InitialisationSettings(Settings):
    """How the target embeddings begin (§2.1).

    Attributes:
        kind: ``"mono"`` (Eq. 3), ``"parallel"`` (Eq. 2) or ``"random"``.
        vectors: aligned word vectors of ``mono``: a set's name.
        words: the most frequent words that give piece vectors (Eq. 4).
        unigram: p(w) of Eq. 4: ``"rank"`` (1/rank, as in the code) or ``"counts"`` (the text).
        scores: of Eq. 3: ``"cosine"`` (the code) or ``"product"`` of the vectors as they are (the
            text).
        bias: the output bias begins ``"mixed"`` by the same weights (the code) or at ``"zero"``;
            the text is silent.
        random_rows: spread of rows that nothing is known of, see ``initialisation.start``.
        alignment_rounds: rounds of EM of ``parallel``.
    """

    kind: Literal["mono", "parallel", "random"]
    vectors: str = "dictionary"
    words: Count = 50_000
    unigram: Literal["rank", "counts"] = "rank"
    scores: Literal["cosine", "product"] = "cosine"
    bias: Literal["mixed", "zero"] = "mixed"
    random_rows: Literal["code", "text"] = "code"
    alignment_rounds: Count = 5


class AdaptationSettings(Settings):
    """Everything, besides the texts, that decides a bilingual model.

    Attributes:
        version: raised when the code changes the result.
        corpus: where all text comes from.
        target: the language.
        words: words of text at most, of each language.
        pairs: sentence pairs of parallel text at most.
        held_out: sequences kept out, for the masked-piece accuracy.
        vocabulary: pieces of the target language.
        characters: size of its alphabet at most.
        english: the English model.
        initialisation: of the target embeddings.
        embeddings: stage 1: the target's embeddings alone.
        bilingual: stage 2: everything, on both languages.
        precision: of all numbers; ``"mixed"`` on a GPU alone.
        seed: of text, weights, batches, masks and dropout.
    """

    version: int = 2  # each stage has batches of its own
    corpus: Corpus
    target: str
    words: Count
    pairs: Count
    held_out: Count
    vocabulary: Count
    characters: Count
    english: EnglishSettings
    initialisation: InitialisationSettings
    embeddings: StageSettings
    bilingual: StageSettings
    precision: Precision = "single"
    seed: FromZero = 0


class HeadSettings(Settings):
    """A head that is trained on English, and tested on other languages.

    Attributes:
        train: English training examples at most; None: all.
        test: examples of each test set at most; None: all.
        dev: examples at most of the set that selects, and of the English test set, which is only
            told in the details; None: as many as ``test``.
        layer: whose states it reads; None: the last.
        hidden: width of its hidden layer (of a parser: for arcs).
        relation_hidden: of a parser: width for relations.
        dropout: in the head.
        learning_rate: Adam's.
        batch_size: examples a step.
        epochs: passes over the training examples at most.
        patience: stop after so many epochs without a better English dev score.
        subtypes: of a parser: keep the relations' subtypes (``nsubj:pass``).
    """

    train: Count | None = None
    test: Count | None = None
    dev: Count | None = None
    layer: Count | None = None
    hidden: Count
    relation_hidden: Count = 100
    dropout: Dropped = 0.33
    learning_rate: Rate
    batch_size: Count = 32
    epochs: Count
    patience: Count
    subtypes: bool = False


class EvaluationSettings(Settings):
    """Everything that decides the numbers of one trial, besides its seed and data.

    Attributes:
        task: inference (``"XNLI"``), parsing (``"UD"``), or parsing with training data of the
            target (``"UD supervised"``).
        corpus: where labelled data come from.
        targets: languages to test on.
        checkpoints: which states of the adaptation to test: ``"start"``, ``"embeddings"``,
            ``"end"``.
        model: of the rows on M-BERT: which multilingual encoder; None: a bilingual model.
        layers: of ``model``: its first so many layers; None: all.
        adaptation: of a bilingual model, its target left open.
        head: what is trained.
        precision: of the head.
    """

    task: Literal["XNLI", "UD", "UD supervised"]
    corpus: Corpus
    targets: tuple[str, ...]
    checkpoints: tuple[Literal["start", "embeddings", "end"], ...] = ("end",)
    model: str | None = None
    layers: Count | None = None
    adaptation: dict[str, Any] | None = None
    head: HeadSettings
    precision: Literal["double", "single"] = "single"


@cache
def presets() -> dict[str, Any]:
    """Return the presets: profile to settings, as the YAML has them."""
    folder = resources.files(f"xlrepro.papers.{PAPER}") / "presets"
    return dict(read_yaml(folder / f"{PAPER}.yaml"))
