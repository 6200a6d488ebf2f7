"""What decides a transfer trial of the MAN-MoE paper, typed; values stand in ``experiments.yaml``.

Where the paper's text and the authors' code differ and an experiment runs both, the difference is a
setting. Elsewhere the choice stands at the line that makes it, and ``data/deviations/man_moe.yaml``
names those that matter.
"""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from xlrepro.data.named import DOMAINS, check_source, corpus
from xlrepro.data.supplied import REVIEWS, read_by, review_file
from xlrepro.training.settings import (
    SINGLE,
    Count,
    Dropped,
    FromZero,
    Languages,
    Precision,
    Rate,
    VectorName,
    Weight,
)
from xlrepro.values import Checked

Task = Literal["NER", "SF", "reviews"]


class ModelSettings(Checked):
    """The parts of a model and their sizes.

    Attributes:
        adversarial: there is a discriminator, and the shared features try to fool it (MAN).
        private_experts: there is a private extractor with its experts (the private MoE).
        tagger_experts: the predictor mixes experts; else it is one perceptron.
        characters: a CharCNN's vector stands beside each word vector.
        extractor: what F_s is: the paper's BiLSTM, or a Transformer of the word order paper with
            sinusoidal positions (TRS) or none (ORT). F_p stays a BiLSTM.
        extractor_dim: LSTM units per direction of either extractor.
        extractor_layers: LSTM layers of either extractor.
        expert_dim: width of the private experts' layers.
        character_embedding: width of a character's vector.
        character_filters: CharCNN filters of each width.
        character_dim: width of a CharCNN word vector.
        discriminator_filters: filters of each width of the discriminator.
        discriminator_dim: width of its two layers above the filters.
        dropout: probability, the same wherever there is dropout.
        mixture: of the predictor's experts: weighted mean of log-probabilities (the code) or of
            probabilities (the text).
        detach_gate: gates train themselves alone, not the layers below (the code).
    """

    adversarial: bool = True
    private_experts: bool = True
    tagger_experts: bool = True
    characters: bool = False
    extractor: Literal["BiLSTM", "TRS", "ORT"] = "BiLSTM"
    extractor_dim: Count = 64
    extractor_layers: Count = 2
    expert_dim: Count = 128
    character_embedding: Count = 128
    character_filters: Count = 200
    character_dim: Count = 128
    discriminator_filters: Count = 200
    discriminator_dim: Count = 128
    dropout: Dropped = 0.5
    mixture: Literal["log", "prob"] = "log"
    detach_gate: bool = True

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.extractor != "BiLSTM" and self.extractor_dim % 2:
            raise ValueError(f"4 heads do not divide a width of {2 * self.extractor_dim}")
        return self


class TransferSettings(Checked):
    """Everything that decides the numbers of one trial, besides its seed and data.

    A trial trains one model per target language and domain.

    Attributes:
        task: named entities, slots, or the polarity of reviews.
        corpus: name of the corpus.
        vectors: name of the word vectors.
        languages: all languages; a target's sources are the others.
        targets: the targets of this trial.
        domains: the domains of this trial, each an experiment of its own; none for NER.
        single_source: train on one source instead of all.
        single_sources: target to its single source where that is not ``en``.
        model: the parts of the model and their sizes.
        lambda1: weight of the discriminator's loss (Eq. 6).
        lambda2: weight of the gates' losses.
        discriminator_steps: k, updates of the discriminator per main iteration.
        batch_size: sentences per language and step.
        learning_rate: of both optimisers.
        epochs: how long a training lasts, unless the next four say otherwise; an epoch has as many
            iterations as the geometric mean of the sources' batches.
        min_iterations: epochs are added until so many iterations are done (the code: 15,000 for
            tagging).
        evaluate_every: iterations between two looks at dev; ``None`` is an epoch.
        max_iterations: at most so many, where dev is looked at between epochs; ``None`` is as many
            as the epochs have.
        patience: stop after so many looks at dev without a better score; ``None`` is never.
        word_vectors: ``standardised`` in each dimension, found by all of our look-up's rules, and a
            fixed random vector of their scale for an unknown word; or ``raw`` (the code): as they
            are, by the word's lower-case form alone, and a random vector of length 1.
        left_out: what sentences begin with that a second score of the test set leaves out.
        gate_accuracy: whether to count how often a gate is right on the sources' dev text.
        train_sentences: use the first so many of each language; ``None`` is all.
        test_sentences: the same, for dev and test.
        precision: of all floats, single or double.
    """

    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")
    task: Task
    corpus: str
    vectors: Literal[VectorName, "muse", "umwe"]
    languages: Languages
    targets: Languages
    domains: tuple[str, ...] = ()
    single_source: bool = False
    single_sources: dict[str, str] = {}  # noqa: RUF012 # pydantic copies it
    model: ModelSettings = ModelSettings()
    lambda1: Weight
    lambda2: Weight
    discriminator_steps: FromZero
    batch_size: Count
    learning_rate: Rate = 0.001
    epochs: Count
    min_iterations: FromZero = 0
    evaluate_every: Count | None = None
    max_iterations: Count | None = None
    patience: Count | None = None
    word_vectors: Literal["standardised", "raw"] = "standardised"
    left_out: tuple[str, ...] = ()
    gate_accuracy: bool = False
    train_sentences: Count | None = None
    test_sentences: Count | None = None
    precision: Precision = SINGLE

    @model_validator(mode="after")
    def _sources_are_there(self) -> Self:
        check_source(self, self.task)
        for target in self.targets:
            of = self.sources(target)
            if not of or len({target, *of} & {*self.languages}) <= len(of):
                raise ValueError(f"languages: {target} has the sources {of}: others, each once")
        if bool(self.domains) == (self.task == "NER"):
            raise ValueError("domains: name one or more of slots or reviews, none of entities")
        known = DOMAINS.get(self.corpus, self.domains)
        if not {*self.domains} <= {*known}:
            raise ValueError(f"domains: {self.corpus} has {', '.join(known)}")
        return self

    def sources(self, target: str) -> tuple[str, ...]:
        """Return the source languages of a target."""
        if self.single_source:
            return (self.single_sources.get(target, "en"),)
        return tuple(code for code in self.languages if code != target)

    def limit(self, split: str) -> int | None:
        """Return how many texts of a split are read at most; ``None`` is all."""
        return self.train_sentences if split == "train" else self.test_sentences

    def registered(self) -> list[tuple[str, str]]:
        """Return data set and file of the sources' dev sets and of what is read after training."""
        named = corpus(self.corpus, self.task)  # tweets have no English test set
        return named.files(self.languages, "dev") + named.files(self.targets)

    def supplied(self) -> list[str]:
        """Return the files that a trial reads below the folder of supplied files."""
        parts = [(c, s) for t in self.targets for c in self.sources(t) for s in ("train", "dev")]
        parts += [(target, split) for target in self.targets for split in self.splits]
        files = read_by(self.corpus, self.vectors, self.languages, parts)
        if self.corpus == REVIEWS:
            files += [review_file(code, d, split) for d in self.domains for code, split in parts]
        return list(dict.fromkeys(files))
