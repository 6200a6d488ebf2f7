"""What decides a transfer trial of the MAN-MoE paper, typed; and the presets of its profiles.

Where the paper's text and the authors' code differ, the difference is a setting: its default is
what the spec recommends, and ``data/deviations/man_moe.yaml`` says which side that is.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, Self

from pydantic import model_validator

from xlrepro.checked import Checked
from xlrepro.training import settings
from xlrepro.training.settings import SINGLE, Count, Precision
from xlrepro.yaml_files import read_yaml

Task = Literal["NER", "SF", "reviews"]
# Where dropout stands besides the words, the layers of LSTMs, the experts' inputs and their hidden
# layers in F_p, and D's hidden layer: there it stands in each of these.
DROPOUT_AT: dict[str, tuple[str, ...]] = {
    "code": ("characters", "pooled"),
    "text": ("characters", "pooled", "last layers"),
}


class ModelSettings(Checked):
    """The parts of a model and their sizes.

    Attributes:
        adversarial: there is a discriminator, and the shared features try to fool it (MAN).
        private_experts: there is a private extractor with its experts (the private MoE).
        tagger_experts: the predictor mixes experts; else it is one perceptron.
        characters: a CharCNN's vector stands beside each word vector.
        extractor: what F_s is: the paper's BiLSTM, or a Transformer of the word order paper with
            sinusoidal positions (TRS) or none (ORT). F_p stays a BiLSTM.
        transformer_heads: attention heads of such an F_s.
        transformer_dropout: within its layers; on the words it is ``dropout``.
        extractor_dim: LSTM units per direction of either extractor.
        extractor_layers: LSTM layers of either extractor.
        expert_dim: width of the private experts' layers.
        predictor_dim: width of the predictor's hidden layers; ``None`` is that of its input.
        character_embedding: width of a character's vector.
        character_filters: CharCNN filters of each width.
        character_dim: width of a CharCNN word vector.
        discriminator_filters: filters of each width of the discriminator.
        discriminator_dim: width of its two layers above the filters.
        kernel_sizes: widths of both convolutions.
        dropout: probability, the same wherever there is dropout.
        dropout_at: the ``code`` has it on what the filters of CharCNN and of D found, and not
            before the last layers of D and C; the ``text`` in all components, so in these too. It
            has no default: every preset names its choice.
        mixture: of the predictor's experts: weighted mean of log-probabilities (the code) or of
            probabilities (the text).
        gate_bias: gates have a bias (the code); the text has a matrix alone.
        detach_gate: gates train themselves alone, not the layers below (the code).
        train_character_vectors: else they stay random unit vectors (the code).
        character_windows: what the CharCNN's filters see: a window that begins at each of a word's
            ``characters``, or those of a valid convolution over the padded words of a language's
            ``batch`` (the code), which lie in padding too and end within it.
        discriminator_windows: the same of the discriminator: ``tokens`` or ``batch`` (the code).
    """

    adversarial: bool = True
    private_experts: bool = True
    tagger_experts: bool = True
    characters: bool = False
    extractor: Literal["BiLSTM", "TRS", "ORT"] = "BiLSTM"
    transformer_heads: int = 4
    transformer_dropout: float = 0.1
    extractor_dim: int = 64
    extractor_layers: int = 2
    expert_dim: int = 128
    predictor_dim: int | None = None
    character_embedding: int = 128
    character_filters: int = 200
    character_dim: int = 128
    discriminator_filters: int = 200
    discriminator_dim: int = 128
    kernel_sizes: tuple[int, ...] = (3, 4, 5)
    dropout: float = 0.5
    dropout_at: Literal["code", "text"]
    mixture: Literal["log", "prob"] = "log"
    gate_bias: bool = True
    detach_gate: bool = True
    train_character_vectors: bool = False
    character_windows: Literal["characters", "batch"] = "characters"
    discriminator_windows: Literal["tokens", "batch"] = "tokens"

    def dropout_on(self, place: str) -> float:
        """Return the probability at ``characters``, ``pooled`` (of D) or ``last layers``."""
        return self.dropout if place in DROPOUT_AT[self.dropout_at] else 0.0

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        width = 2 * self.extractor_dim
        if self.extractor != "BiLSTM" and width % max(self.transformer_heads, 1):
            raise ValueError(f"{self.transformer_heads} heads do not divide a width of {width}")
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
        weight_decay: of both.
        epochs: an epoch has as many iterations as the geometric mean of the sources' batches.
        min_iterations: epochs are added until so many iterations are done (the code: 15,000 for
            tagging).
        evaluate_every: iterations between two looks at dev; ``None`` is an epoch.
        max_iterations: at most so many, where dev is looked at between epochs; ``None`` is as many
            as the epochs have.
        patience: stop after so many looks at dev without a better score; ``None`` is never.
        token_loss: the loss of a sentence is the mean over tokens (the code) or their sum (Eq. 2).
        select_on: whose dev set chooses the epoch: the sources' (zero-resource) or the target's
            (the code).
        lowercase_characters: whose characters lose their case: all of a run whose target is German
            (the code), German ones alone (one reading of the text), or none.
        word_vectors: ``standardised`` in each dimension and found by all of our look-up's rules, or
            ``raw``: as they are, by the word's lower-case form alone (the code).
        unknown: the vector of a word without one: fixed ``random`` normal numbers, the scale of
            standardised vectors; a random vector of length 1, the ``unit`` (the code); or ``zero``.
        left_out: what sentences begin with that a second score of the test set leaves out.
        gate_accuracy: whether to count how often a gate is right on the sources' dev text.
        train_sentences: use the first so many of each language; ``None`` is all.
        test_sentences: the same, for dev and test.
        precision: of all floats, single or double.
    """

    task: Task
    corpus: str
    vectors: str
    languages: tuple[str, ...]
    targets: tuple[str, ...]
    domains: tuple[str, ...] = ()
    single_source: bool = False
    single_sources: dict[str, str] = {}  # noqa: RUF012 # pydantic copies it
    model: ModelSettings
    lambda1: float
    lambda2: float
    discriminator_steps: int
    batch_size: int
    learning_rate: float = 0.001
    weight_decay: float = 1e-8
    epochs: int
    min_iterations: int = 0
    evaluate_every: Count | None = None
    max_iterations: Count | None = None
    patience: Count | None = None
    token_loss: Literal["mean", "sum"] = "mean"
    select_on: Literal["source_dev", "target_dev"] = "source_dev"
    lowercase_characters: Literal["german_target", "german", "none"] = "german_target"
    word_vectors: Literal["standardised", "raw"] = "standardised"
    unknown: Literal["random", "unit", "zero"] = "random"
    left_out: tuple[str, ...] = ()
    gate_accuracy: bool = False
    train_sentences: int | None = None
    test_sentences: int | None = None
    precision: Precision = SINGLE

    def sources(self, target: str) -> tuple[str, ...]:
        """Return the source languages of a target."""
        if self.single_source:
            return (self.single_sources.get(target, "en"),)
        return tuple(code for code in self.languages if code != target)


@cache
def presets(experiment: str) -> dict[str, Any]:
    """Return the presets of an experiment: profile to settings, as the YAML has them.

    Args:
        experiment: name of a file in ``presets/``, such as ``"ner"``.
    """
    folder = resources.files("xlrepro.papers.man_moe") / "presets"
    return dict(read_yaml(folder / f"{experiment}.yaml"))


def validated(values: Mapping[str, Any], where: str) -> TransferSettings:
    """Return ``values`` as settings; errors as `xlrepro.training.settings.validated`."""
    return settings.validated(values, where, TransferSettings)


def transfer_settings(
    preset: str,
    profile: str,
    changes: Mapping[str, Any],
    overrides: Mapping[str, Any],
    block: str = "",
) -> TransferSettings:
    """Return a preset with a row's changes and a user's overrides, which win.

    Names of model settings may stand among the others; they go to the model.

    Args:
        preset: name of a file in ``presets/``.
        profile: the profile.
        changes: of the row.
        overrides: of the user.
        block: of the row; what the preset has for it alone is changed first.

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    values = dict(presets(preset)[profile])
    model = dict(values.pop("model", {}))
    of_block = dict(values.pop("blocks", {})).get(block, {})
    for name, value in (*of_block.items(), *changes.items(), *overrides.items()):
        target = model if name in ModelSettings.model_fields else values
        target[name] = value
    return validated({**values, "model": model}, f"{preset} {profile}")
