"""What decides a language model, typed: its network, its senses, its training.

Each row where the paper's text and the authors' code differ is a setting here, with the reading
that we take by default; ``data/deviations/sense_alignment.yaml`` says why.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BiLMSizes(_Settings):
    """ELMo's network; the defaults are the printed ones (Table 6) and ELMo's own filters.

    Attributes:
        characters_per_word: longer words are cut; two of them mark begin and end.
        character_dim: width of a character's vector.
        filters: (width of the window, number of filters), as in the authors' code.
        highways: highway layers over the filters.
        dim: width of word vectors and of the projected states, per direction.
        cells: LSTM cells per direction.
        layers: LSTM layers; from the second on the input is added to the output.
        cell_clip, projection_clip: largest absolute value of a cell and of a projected state.
        dropout: probability of zeroing an entry of a layer's input, and of the states that predict.
    """

    family: Literal["bilm"]
    characters_per_word: int = Field(50, ge=3)
    character_dim: int = Field(16, ge=1)
    filters: tuple[tuple[int, int], ...] = (
        (1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024),
    )  # fmt: skip
    highways: int = Field(2, ge=0)
    dim: int = Field(512, ge=1)
    cells: int = Field(4096, ge=1)
    layers: int = Field(2, ge=1)
    cell_clip: float = Field(3.0, gt=0)
    projection_clip: float = Field(3.0, gt=0)
    dropout: float = Field(0.1, ge=0, lt=1)


class BertTinySizes(_Settings):
    """BERT-Tiny over whole words; the defaults are the printed ones (Table 7), except positions.

    Attributes:
        dim, layers, heads, ff_dim: of the Transformer.
        positions: words of a sequence, ``<S>`` and ``</S>`` too. Table 7 prints 512; the authors'
            script trains on 128.
        dropout: 0.1 as in the authors' file; the "50" of Table 7 is a misprint.
    """

    family: Literal["bert"]
    dim: int = Field(512, ge=1)
    layers: int = Field(4, ge=1)
    heads: int = Field(8, ge=1)
    ff_dim: int = Field(2048, ge=1)
    positions: int = Field(128, ge=3)
    dropout: float = Field(0.1, ge=0, lt=1)


class SoftmaxSettings(_Settings):
    """What stands in the denominator of Eq. 3 and 5.

    Attributes:
        kind: ``"full"``, all senses of all words, as in the text; ``"sampled"``, as in the code.
        negatives: senses drawn a step and shared by its tokens.
        sampler: ``"uniform"`` over the enabled senses without repetition (code), or
            ``"log-uniform"`` over the ranks of the words with repetition (ELMo's own).
        corrected: subtract the logarithm of each negative's expected count, so that the sampled sum
            estimates the full one. The code does not; ELMo's own does, from the true word's logit
            too.
        own_senses: whether the other senses of the true word are in the sum (text, Eq. 3) or
            only where they are drawn (code).
        all_translations: whether all senses of all translations are in the sampled sum (code), or
            the chosen one alone.
        bias: a bias per sense (code); the text has none.
    """

    kind: Literal["full", "sampled"] = "sampled"
    negatives: int = Field(8192, ge=1)
    sampler: Literal["uniform", "log-uniform"] = "uniform"
    corrected: bool = False
    own_senses: Literal["sum", "dropped"] = "sum"
    all_translations: bool = False
    bias: bool = False


class PruningSettings(_Settings):
    """Which senses are given up.

    Attributes:
        rule: ``"text"``: relative frequency below ``threshold``; ``"code"``: see below.
        every: steps between two looks.
        after: steps before the first.
        threshold: of the text's rule.
        window: the code looks at the last so many choices of a word; words with fewer stay.
        frequency: a sense chosen more rarely than this loses: its score is multiplied by ``decay``;
            any other has score 1.
        decay, floor: a sense whose score falls below ``floor`` is given up.
        warmup_sense_returns: the sense of the warm-up may come back, where a rare word's window
            still holds choices of it (a side effect of the code).
    """

    rule: Literal["none", "text", "code"] = "code"
    every: int = Field(20_000, ge=1)
    after: int = Field(40_000, ge=0)
    threshold: float = Field(0.1, ge=0, le=1)
    window: int = Field(100, ge=1)
    frequency: float = Field(0.01, ge=0, le=1)
    decay: float = Field(0.5, gt=0, lt=1)
    floor: float = Field(0.1, ge=0, le=1)
    warmup_sense_returns: bool = False


class SenseSettings(_Settings):
    """The senses of a language model; ``senses: 1`` is the model that the paper starts from.

    Attributes:
        senses: S, senses per word after the warm-up.
        warmup_steps: steps with one sense.
        warmup: what becomes of that sense. ``"own"``: it is one more, then switched off (SaELMo:
            6 contexts for 5 senses); ``"copied"``: all senses begin as copies of it; ``"tied"``:
            an ordinary BERT with tied weights is trained first, all senses begin as copies of its
            word vectors, and optimiser and schedule start anew (SaBERT).
        rate: a, how far a centre moves to a state.
        centres: ``"selected"``: the chosen centre alone moves, once per token (text, Algorithm 1);
            ``"decayed"``: all centres shrink at every step, and the chosen ones get a times the
            mean of their states (code).
        begin: where centres begin. ``"drawn"``: at random around zero (text, code); ``"states"``:
            at states of their word late in the warm-up, each sense at another (ours).
        sigma: standard deviation of the first centres; the text does not give it.
        truncated: whether they are drawn within two standard deviations (SaBERT's code).
        moving_share: share of the batch whose states move centres; the code has the first GPU's.
        fresh_batch: states of another batch move them (SaBERT's code).
        last_state: the state that chooses for the last token of a window. ``"own"``: the token's
            own, as for all others (text); ``"shifted"``: that of the token before it (code).
        choose_after_dropout: whether dropout hits the states that choose (code).
        projection: ``"queue"``: Algorithm 2; ``"fixed"``: P stays random (SaBERT's code, by a
            comparison that is never true).
        projection_dim: d'.
        centred: whether states and centres are projected as differences from the queue's mean (what
            principal components usually are); the code projects them as they are.
        projection_every: M, steps between two updates of P.
        queue: Q, states that P is computed from.
        queue_all: all states enter the queue (text) or those of the updating steps alone (code).
        translations: at most so many of a word; None: all (text); the code has 4.
        softmax, pruning: see there.
    """

    senses: int = Field(1, ge=1)
    warmup_steps: int = Field(20_000, ge=0)
    warmup: Literal["own", "copied", "tied"] = "own"
    rate: float = Field(0.01, gt=0, lt=1)
    centres: Literal["selected", "decayed"] = "selected"
    # Named in the recipes of models that have it alone: those made before it stay what they are.
    begin: Literal["drawn", "states"] = Field("drawn", exclude_if=lambda value: value == "drawn")
    sigma: float = Field(16.0, gt=0)
    truncated: bool = False
    moving_share: float = Field(1.0, gt=0, le=1)
    fresh_batch: bool = False
    last_state: Literal["own", "shifted"] = "own"
    choose_after_dropout: bool = False
    projection: Literal["queue", "fixed"] = "queue"
    projection_dim: int = Field(16, ge=1)
    centred: bool = False
    projection_every: int = Field(250, ge=1)
    queue: int = Field(20_000, ge=1)
    queue_all: bool = True
    translations: int | None = Field(None, ge=1)
    softmax: SoftmaxSettings = SoftmaxSettings()  # type: ignore[call-arg]
    pruning: PruningSettings = PruningSettings()  # type: ignore[call-arg]

    @property
    def slots(self) -> int:
        """Sense vectors per word: one more than S where the warm-up has its own."""
        return self.senses + (self.senses > 1 and self.warmup == "own")


class TrainingSettings(_Settings):
    """How a language model is trained.

    Attributes:
        steps: optimiser steps.
        streams: running texts (biLM) or sequences (BERT) a step.
        unroll: words of each running text a step; the LSTM's state is carried over.
        stateful: False starts each window from nothing.
        optimiser: Adagrad (ELMo) or AdamW (BERT).
        learning_rate: its rate.
        accumulator: Adagrad's first sum of squares.
        warmup_share: of AdamW's schedule, with linear decay to 0 after it; Adagrad's is constant.
        clip_norm: largest norm of the whole gradient.
        times_unroll: multiply the mean loss by ``unroll`` (code), which the clipping feels.
        mixing: of two languages: ``"joined"``: both texts as one; ``"coin"``: each next sentence
            is of either language with probability one half (code).
        checkpoint_every: steps between checkpoints.
    """

    steps: int = Field(ge=1)
    streams: int = Field(256, ge=1)
    unroll: int = Field(16, ge=1)
    stateful: bool = True
    optimiser: Literal["adagrad", "adamw"] = "adagrad"
    learning_rate: float = Field(0.2, gt=0)
    accumulator: float = Field(1.0, ge=0)
    warmup_share: float = Field(0.02, ge=0, lt=1)
    clip_norm: float = Field(10.0, gt=0)
    times_unroll: bool = False
    mixing: Literal["joined", "coin"] = "joined"
    checkpoint_every: int = Field(1000, ge=1)


class TextSettings(_Settings):
    """What a language model reads.

    Attributes:
        source: registered open text, sentences of the artificial languages, lists of their nouns
            (``ambiguity.lists``), or a file of the user's per language (``supplied``: one tokenised
            sentence a line).
        ambiguous: of artificial languages: pairs of concepts that share a word in the source.
        words: at most so many running words of each language.
        held_out: sentences per language kept for the perplexity.
        vocabulary: words of each language at most, the most frequent ones.
        seed: of which lines are read.
    """

    source: Literal["artificial", "lists", "open", "supplied"]
    ambiguous: int = Field(0, ge=0)
    words: dict[str, int]
    held_out: int = Field(200, ge=0)
    vocabulary: int = Field(30_000, ge=10)
    seed: int = 0


class LanguageModelSettings(_Settings):
    """Everything, besides the text's content, that decides a language model.

    Attributes:
        version: raised when the code changes the result.
        languages: one, or two whose texts and vocabularies are joined.
        dictionary: whether words must predict their translations too (Eq. 5 to 7).
        network, senses, training, text: see there.
        precision: ``"double"`` at smoke.
        seed: of weights, batches and dropout.
    """

    version: int = 1
    languages: tuple[str, ...] = Field(min_length=1, max_length=2)
    dictionary: bool = False
    network: BiLMSizes | BertTinySizes = Field(discriminator="family")
    senses: SenseSettings = SenseSettings()  # type: ignore[call-arg]
    training: TrainingSettings
    text: TextSettings
    precision: Literal["single", "double"] = "single"
    seed: int = 0

    @model_validator(mode="after")
    def _fits(self) -> "LanguageModelSettings":
        if self.dictionary and len(self.languages) != 2:
            raise ValueError("a dictionary needs two languages")
        if self.senses.warmup == "tied" and self.network.family != "bert":
            raise ValueError("only a BERT ties its weights in the warm-up")
        return self
