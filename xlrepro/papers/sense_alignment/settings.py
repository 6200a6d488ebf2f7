"""What decides the language models and the trials, typed; read without torch.

Where the paper's text and the authors' code differ and no experiment runs both, one reading is a
constant: a comment at the line that takes it says what the other one is.
"""

from typing import Literal

from pydantic import Field, model_validator

from xlrepro.data.supplied import REVIEWS, review_file
from xlrepro.training.settings import (
    Count,
    Dropped,
    FromZero,
    HeadSettings,
    MixedPrecision,
    Rate,
    Some,
)
from xlrepro.values import Checked

SOURCE = "en"  # heads are trained on it; the monolingual models of Table 2 read it
# Columns of Tables 6 to 8: thirds of the vocabulary.
BANDS = ("frequent words", "middling words", "rare words")
CHINESE = ("panx-wikiann", "zh")  # whose dev set alone has labels, and serves as test
MODEL_TEXT = "language-model-text"  # {en,de,es,ja,zh}.txt: a tokenised sentence a line
# MultiNLI as released; heads are chosen on its matched dev pairs.
MULTINLI = {
    split: f"multinli_1.0/multinli_1.0_{name}.jsonl"
    for split, name in (("train", "train"), ("dev", "dev_matched"))
}
PAIR = "de"  # beside it in the models of two languages that Tables 6 to 8 and the figures look at


class BiLMSizes(Checked):
    """ELMo's network; the defaults are the printed ones (Table 6) and ELMo's own filters.

    Attributes:
        character_dim: width of a character's vector.
        filters: (width of the window, number of filters), as in the authors' code.
        highways: highway layers over the filters.
        dim: width of word vectors and of the projected states, per direction.
        cells: LSTM cells per direction.
        dropout: probability of zeroing an entry of a layer's input, and of the states that predict.
    """

    family: Literal["bilm"]
    character_dim: Count = 16
    filters: Some[tuple[int, int]] = (
        (1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024),
    )  # fmt: skip
    highways: FromZero = 2
    dim: Count = 512
    cells: Count = 4096
    dropout: Dropped = 0.1


class BertTinySizes(Checked):
    """BERT-Tiny over whole words; the defaults are the printed ones (Table 7), except positions.

    Attributes:
        dim, layers, heads, ff_dim: of the Transformer.
        positions: words of a sequence, ``<S>`` and ``</S>`` too. Table 7 prints 512; the authors'
            script trains on 128.
        dropout: 0.1 as in the authors' file; the "50" of Table 7 is a misprint.
    """

    family: Literal["bert"]
    dim: Count = 512
    layers: Count = 4
    heads: Count = 8
    ff_dim: Count = 2048
    positions: int = Field(128, ge=3)
    dropout: Dropped = 0.1

    @model_validator(mode="after")
    def _divides(self) -> "BertTinySizes":
        if self.dim % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.dim}")
        return self


class PruningSettings(Checked):
    """Which senses are given up, by the rule of the authors' code.

    Attributes:
        every: steps between two looks.
        after: steps before the first.
        window: the last so many choices of a word count; words with fewer keep all senses.
        frequency: a sense chosen more rarely than this loses half of its score.
    """

    every: Count
    after: FromZero
    window: Count = 100
    frequency: float = Field(0.01, ge=0, le=1)


class SenseSettings(Checked):
    """The senses of a language model; ``senses: 1`` is the model that the paper starts from.

    Attributes:
        senses: S, senses per word after the warm-up.
        negatives: senses in the denominator of Eq. 3 and 5, drawn a step and shared by its tokens
            (code); None: all senses of all words (text).
        warmup_steps: steps with one sense.
        warmup: what becomes of that sense. SaELMo's is dropped, so S + 1 sense vectors are kept;
            SaBERT's is an ordinary BERT. ``"own"``: it is one more, then switched off (SaELMo:
            6 contexts for 5 senses); ``"copied"``: all senses begin as copies of it; ``"tied"``:
            an ordinary BERT with tied weights is trained first, all senses begin as copies of its
            word vectors, and optimiser and schedule start anew (SaBERT).
        begin: where centres begin. ``"drawn"``: at random around zero (text, code); ``"states"``:
            at states of their word late in the warm-up, each sense at another (ours).
        sigma: standard deviation of the first centres; the text does not give it. 0: all begin at
            zero, as after the warm-up of the code, which shrinks them at every step.
        truncated: whether they are drawn within two standard deviations (SaBERT's code).
        rate: a, how far a centre moves to a state.
        temperature: in training a sense is drawn from the softmax of the cosines over it (ours); 0:
            the nearest is taken.
        projection_dim: d'.
        projection_every: M, steps between two updates of P.
        queue: Q, states that P is computed from.
        centred: whether states and centres are projected as differences from the queue's mean (what
            principal components usually are); the code projects them as they are.
        pruning: None: no sense is given up.
    """

    senses: Count = 1
    negatives: Count | None = 8192
    warmup_steps: FromZero = 20_000
    warmup: Literal["own", "copied", "tied"] = "own"
    begin: Literal["drawn", "states"] = "drawn"
    sigma: float = Field(16.0, ge=0, allow_inf_nan=False)
    truncated: bool = False
    rate: float = Field(0.01, gt=0, lt=1)
    temperature: float = Field(0.0, ge=0, allow_inf_nan=False)
    projection_dim: Count = 16
    projection_every: Count = 250
    queue: Count = 20_000
    centred: bool = False
    pruning: PruningSettings | None = None

    @property
    def slots(self) -> int:
        """Sense vectors per word: one more than S where the warm-up has its own."""
        return self.senses + (self.senses > 1 and self.warmup == "own")


class TrainingSettings(Checked):
    """How a language model is trained; a biLM by Adagrad, a BERT by AdamW.

    Attributes:
        steps: optimiser steps; 0: the weights stay random.
        streams: running texts (biLM) or sequences (BERT) a step.
        unroll: words of each running text a step.
        stateful: whether the LSTM's state is carried over; else each window starts from nothing.
        learning_rate: constant of Adagrad, the largest of AdamW.
        warmup_share: of AdamW's schedule, with linear decay to 0 after it.
    """

    steps: FromZero
    streams: Count = 256
    unroll: Count = 16
    stateful: bool = True
    learning_rate: Rate = 0.2
    warmup_share: float = Field(0.02, ge=0, lt=1)


class TextSettings(Checked):
    """What a language model reads.

    Attributes:
        source: registered open text, sentences of the artificial languages, lists of their nouns
            (``lists``), or a file of the user's per language (``supplied``: one tokenised sentence
            a line).
        ambiguous: of artificial languages: pairs of concepts that share a word in English.
        words: at most so many running words of each language.
        english_words: of English where it stands alone; None: ``words``.
        held_out: sentences per language kept for the perplexity.
        vocabulary: words of each language at most, the most frequent ones.
    """

    source: Literal["artificial", "lists", "open", "supplied"]
    ambiguous: FromZero = 0
    words: Count
    english_words: Count | None = None
    held_out: FromZero = 200
    vocabulary: int = Field(30_000, ge=10)

    @property
    def made_up(self) -> bool:
        """Whether it is of the artificial languages."""
        return self.source in ("artificial", "lists")


class LanguageModelSettings(Checked):
    """Everything, besides the text's content and its languages, that decides a language model.

    Attributes:
        joint: whether it reads two languages, their texts and vocabularies joined.
        dictionary: whether words must predict their translations too (Eq. 5 to 7).
        network, senses, training, text: see there.
        precision: of all numbers; ``"mixed"`` on a GPU alone, and not for what concerns senses.
        seed: of weights, batches and dropout; trials of one language model put their own here.
    """

    joint: bool = False
    dictionary: bool = False
    network: BiLMSizes | BertTinySizes = Field(discriminator="family")
    senses: SenseSettings = SenseSettings()  # type: ignore[call-arg]
    training: TrainingSettings
    text: TextSettings
    precision: MixedPrecision = "single"
    seed: FromZero = 0

    @model_validator(mode="after")
    def _fits(self) -> "LanguageModelSettings":
        if self.dictionary and not self.joint:
            raise ValueError("a dictionary needs two languages")
        if self.senses.warmup == "tied" and self.network.family != "bert":
            raise ValueError("only a BERT ties its weights in the warm-up")
        return self

    def reader(self, language: str, target: str) -> tuple[str, ...]:
        """Return what the model that reads a language reads, where ``target`` is the other one."""
        return self.languages(target if self.joint else language)

    def languages(self, other: str = SOURCE) -> tuple[str, ...]:
        """Return what it reads: English and ``other``, or ``other`` alone."""
        if not self.joint:
            return (other,)
        return (SOURCE, other if other != SOURCE else PAIR)

    def supplied(self, other: str = SOURCE) -> list[str]:
        """Return the supplied files that its training reads."""
        if self.text.source != "supplied":
            return []
        return [f"{MODEL_TEXT}/{code}.txt" for code in self.languages(other)]


# File of each test set, the layout of its columns, and how many instances count: totals of the
# unified framework; SemEval-2007 has 465 instances here and 455 there.
TEST_SETS = {
    "SE2": ("wsd-unified", "en/senseval2", "unified", 2282),
    "SE3": ("wsd-unified", "en/senseval3", "unified", 1850),
    "SE07": ("wsd-naf", "en/semeval2007", "naf", 465),
    "SE13": ("wsd-unified", "en/semeval2013", "unified", 1644),
    "SE15": ("wsd-unified", "en/semeval2015", "unified", 1022),
}


class OfOneModel(Checked):
    """A trial that looks at one language model, or at none; its seed is the trial's."""

    model: LanguageModelSettings | None = None

    def supplied(self) -> list[str]:
        """Return the supplied files that the trial reads."""
        return self.model.supplied() if self.model else []


class DisambiguationSettings(OfOneModel):
    """A trial of Table 2.

    Attributes:
        corpus: ``"artificial"``, or ``"wordnet"``: SemCor and the five test sets.
        model: the language model; None for the rows without one.
        train_sentences, test_sentences: use the first so many; None is all.
    """

    corpus: Literal["artificial", "wordnet"]
    train_sentences: Count | None = None
    test_sentences: Count | None = None

    def registered(self) -> list[tuple[str, str]]:
        """Return data set and file of the test sets."""
        files = [(name, file) for name, file, *_ in TEST_SETS.values()]
        return files if self.corpus == "wordnet" else []


class TransferSettings(Checked):
    """A trial of Tables 3 to 5: a head trained on English, tested on one other language.

    Attributes:
        corpus: artificial, registered, or supplied by the user; two each of the three tasks.
        target: language of the test.
        domains: of reviews; one head each.
        model: language model that reads English, and the target too where it is joint; else one of
            the same settings reads the target.
        map: W, for systems that have it: any matrix (text), or an orthogonal one.
        anchor_sentences: of each language that W is fitted on.
        head: the BiLSTM-CRF or the classifier.
        longest: words of a sentence that are read; the rest is cut off. None: all.
        train_sentences, test_sentences: use the first so many; the latter for dev and test.
        half_features: whether contextual vectors are kept in half precision.
    """

    corpus: Literal["artificial", "panx-wikiann", "conll-ner", "sentiment-umsab", "cls-acl10",
                    "xnli+sick", "multinli"]  # fmt: skip
    target: str
    domains: tuple[str, ...] = ()
    model: LanguageModelSettings
    map: Literal["least-squares", "orthogonal"] = "least-squares"
    anchor_sentences: Count = 20_000
    head: HeadSettings
    longest: Count | None = None
    train_sentences: Count | None = None
    test_sentences: Count | None = None
    half_features: bool = False

    def registered(self) -> list[tuple[str, str]]:
        """Return data set and file of what is read after training."""
        corpus = {"xnli+sick": "xnli", "multinli": "xnli"}.get(self.corpus, self.corpus)
        split = "dev" if (corpus, self.target) == CHINESE else "test"
        known = ("xnli", "panx-wikiann", "sentiment-umsab")
        return [(corpus, f"{self.target}/{split}")] if corpus in known else []

    def supplied(self) -> list[str]:
        """Return the supplied files that the trial reads."""
        files = [*self.model.supplied(SOURCE), *self.model.supplied(self.target)]
        parts = [(SOURCE, "train"), (SOURCE, "dev"), (self.target, "test")]
        if self.corpus == "conll-ner":
            files += [f"{self.corpus}/{language}/{split}" for language, split in parts]
        elif self.corpus == REVIEWS:
            files += [review_file(code, d, split) for d in self.domains for code, split in parts]
        elif self.corpus == "multinli":
            files += MULTINLI.values()
        return list(dict.fromkeys(files))


class OfSenses(OfOneModel):
    """A trial that looks at the senses of its model."""

    @model_validator(mode="after")
    def _has_senses(self) -> "OfSenses":
        if (self.model is None) == (getattr(self, "arithmetic", None) is None):
            raise ValueError("model: a row on senses needs a language model, one of numbers none")
        if self.model and (self.model.network.family, self.model.senses.senses) == ("bert", 1):
            raise ValueError("model.senses.senses: a BERT of one sense a word has none to look at")
        return self


class GrowthSettings(OfSenses):
    """A trial of Tables 6 to 8: how many senses are alive, and which steps the settings give.

    Attributes:
        model: the language model; None for the arithmetic.
        arithmetic: the printed numbers: tokens of the corpus, GPUs, streams, unrolled steps, and
            the stated steps and epochs.
    """

    arithmetic: dict[str, float] | None = None


class PuritySettings(OfSenses):
    """A trial of Figures 4 to 7 that counts known senses.

    Attributes:
        model: the language model whose senses are looked at, of artificial text.
        sentences: of annotated artificial text that senses are counted on.
    """

    model: LanguageModelSettings
    sentences: Count

    @model_validator(mode="after")
    def _senses_are_known(self) -> "PuritySettings":
        if not (self.model.text.made_up and self.model.text.ambiguous):
            raise ValueError("model.text.ambiguous: senses are known of artificial words alone")
        return self


class NeighbourSettings(OfSenses):
    """A trial of Figures 4 to 7 that lists nearest sense vectors.

    Attributes:
        model: the language model whose senses are looked at.
        words: whose nearest sense vectors are listed; none named: the first two ambiguous words of
            the artificial English.
        neighbours: of each sense.
    """

    model: LanguageModelSettings
    words: tuple[str, ...] = ()
    neighbours: Count = 8
