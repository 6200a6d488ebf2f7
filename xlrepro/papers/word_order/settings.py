"""What decides a trial of the word-order paper, typed; and the presets of its profiles.

A profile is a YAML file of ``presets/``. Each setting is a plain value; which of them the paper
gives, and which the spec recommends because the paper is silent, stands in the YAML's comments and
in ``data/deviations/word_order.yaml``.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, model_validator

from xlrepro.checked import Checked
from xlrepro.training.settings import Count, Dropped, FitSettings, FromZero, Share
from xlrepro.training.settings import validated as validated
from xlrepro.yaml_files import read_yaml

# The encoders of the paper's word-level rows. Sizes come from the presets; "w/ shuffled data"
# changes the data alone.
ENCODERS: dict[str, dict[str, Any]] = {
    "BiLSTM": {"kind": "bilstm"},
    "TRS": {"kind": "transformer", "positions": "sinusoidal"},
    "RPT": {"kind": "transformer", "positions": "relative"},
    "ORT": {"kind": "transformer", "positions": "none"},
}
SHUFFLED = " w/ shuffled data"
# Keys of presets that some trials alone read, as changes.
NOT_OF_A_ROW = {"tuning", "until_dev_stops", "word-mapped"}
WORD_ROWS = ("BiLSTM", f"BiLSTM{SHUFFLED}", "TRS", f"TRS{SHUFFLED}", "RPT", "ORT")


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
        max_distance: relative distances are clipped here (RPT).
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
    max_distance: FromZero = 10
    dropout: Dropped = 0.1

    @model_validator(mode="after")
    def _heads_divide_dim(self) -> Self:
        if self.kind == "transformer" and (self.heads < 1 or self.dim % self.heads):
            raise ValueError(f"{self.heads} heads do not divide a width of {self.dim}")
        return self


class TaggingSettings(FitSettings):
    """Everything that decides the numbers of one tagging trial, besides its seed and data.

    Attributes:
        task: which layer is labelled: parts of speech, named entities or slots.
        corpus: name of the corpus, see ``xlrepro/data/named.py``.
        vectors: name of the word vectors, see ``xlrepro/tasks/source.py``.
        source: language of training and model selection.
        targets: languages of zero-shot evaluation.
        encoder: the encoder and its sizes.
        head: CRF or softmax.
        shuffle: train on order-shuffled sentences: one new permutation per sentence and epoch.
        shuffle_copies: number of shuffled copies of a sentence; epoch e reads copy e mod copies.
        shuffle_k: largest move of a unit; ``None`` is ∞.
        word_dropout: share of training tokens whose vector is replaced by zero.
        train_sentences: use the first so many; ``None`` is all.
        test_sentences: the same, for dev and each test set.
        evaluate_targets: False for a trial that only tunes on the source dev set.
        test_shuffles: also score the source test set with its order disturbed by each k (Table 5).
        few_shot_language: target language whose training sentences are added (Figure 2).
        few_shot_share: share of its training sentences, 0 to 1.
    """

    task: Literal["POS", "NER", "SF"] = "POS"
    corpus: str
    vectors: str
    source: str = "en"
    targets: tuple[str, ...]
    encoder: EncoderSettings
    head: Literal["crf", "linear"] = "crf"
    shuffle: bool = False
    shuffle_copies: Count = 10
    shuffle_k: FromZero | None = None
    word_dropout: Dropped = 0.05
    train_sentences: Count | None = None
    test_sentences: Count | None = None
    evaluate_targets: bool = True
    test_shuffles: tuple[FromZero, ...] = ()
    few_shot_language: str | None = None
    few_shot_share: Share = 0.0


@cache
def presets(experiment: str) -> dict[str, Any]:
    """Return the presets of an experiment: profile to settings, as the YAML has them.

    Args:
        experiment: name of a file in ``presets/``, such as ``"table2"``.
    """
    folder = resources.files("xlrepro.papers.word_order") / "presets"
    return dict(read_yaml(folder / f"{experiment}.yaml"))


S = TypeVar("S", bound=BaseModel)


def with_encoder(
    kind: type[S],
    where: str,
    values: Mapping[str, Any],
    encoder: Mapping[str, Any],
    *changes: Mapping[str, Any],
) -> S:
    """Return the settings of a row of a table.

    Args:
        kind: of the settings.
        where: names the row in errors.
        values: the row's, as its preset has them.
        encoder: the row's encoder and its sizes.
        changes: what else is changed; names of encoder settings go to the encoder, later ones win.

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    values, encoder = dict(values), dict(encoder)
    for name, value in (pair for each in changes for pair in each.items()):
        (encoder if name in EncoderSettings.model_fields else values)[name] = value
    return validated({**values, "encoder": encoder}, where, kind)


def row_settings(
    preset: Mapping[str, Any], task: str, row: str, *changes: Mapping[str, Any]
) -> TaggingSettings:
    """Return the settings of a word-level row in one task.

    Args:
        preset: of the profile: ``sizes`` of the encoders, ``learning_rate`` of each, the rest.
        task: ``"POS"``, ``"NER"`` or ``"SF"``.
        row: a name of ``WORD_ROWS``: it decides encoder and learning rate.
        changes: as in :func:`with_encoder`; a learning rate may be given per encoder.

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    values = {**preset, **preset.get("both", {}), **preset.get(task, {}), "task": task}
    for name in {"both", "NER", "SF", "sizes"} | NOT_OF_A_ROW:
        values.pop(name, None)
    encoder = row.removesuffix(SHUFFLED)
    values |= {
        "learning_rate": preset["learning_rate"][encoder],
        "shuffle": row.endswith(SHUFFLED),
    }
    sizes = {**preset["sizes"], **ENCODERS[encoder]}
    changes = tuple(_of_encoder(each, encoder) for each in changes)
    return with_encoder(TaggingSettings, f"{task} {row}", values, sizes, *changes)


def _of_encoder(change: Mapping[str, Any], encoder: str) -> Mapping[str, Any]:
    rate = change.get("learning_rate")
    return {**change, "learning_rate": rate[encoder]} if isinstance(rate, Mapping) else change
