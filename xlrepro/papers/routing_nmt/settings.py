"""What decides a trial of the routing paper, typed; and the presets of its profiles.

Most points that the paper leaves open are settings with the default we chose; sources of the values
stand in the presets' comments, reasons in ``data/deviations/routing_nmt.yaml``.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from xlrepro.training import settings
from xlrepro.yaml_files import read_yaml

Count = Annotated[int, Field(ge=1)]
FromZero = Annotated[int, Field(ge=0)]
Task = Literal["ner", "syntax", "semantics"]
TRANSLATION = "translation"


class ModelSettings(BaseModel):
    """The recurrent part, its sizes, and the choices that the paper leaves open.

    Attributes:
        kind: stacked layers (NMT, full and partial sharing) or one routed unit.
        shared_encoder: of stacked layers from the lowest: whether all tasks share it.
        shared_decoder: the same of the decoder.
        shared_blocks: of a routed unit: n, blocks that all tasks share.
        hidden: width of a block or layer.
        embedding: width of embeddings; Mantis has that of the layers.
        attention: width of the attention's hidden layer.
        router: width of s_t.
        bidirectional: whether the encoder reads both ways.
        reset_gate: where the reset gate acts, see `next_states`; ``unused`` is the printed formula.
        decoder_input: whether a decoder step reads the context beside the last word.
        output_layer: whether the output layer reads the last word beside state and context.
        dropout: on the inputs and outputs of units.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["stacked", "routed"]
    shared_encoder: tuple[bool, ...] = (True, True, True)
    shared_decoder: tuple[bool, ...] = (True, True, True)
    shared_blocks: Count = 3
    hidden: Count = 400
    embedding: Count = 400
    attention: Count = 400
    router: Count = 400
    bidirectional: bool = True
    reset_gate: Literal["before", "after", "unused"] = "before"
    decoder_input: Literal["word_and_context", "word"] = "word_and_context"
    output_layer: Literal["state_context_word", "state_context"] = "state_context_word"
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.5


class TranslationSettings(BaseModel):
    """Everything that decides the numbers of one trial, besides its seed and data.

    Attributes:
        pair: the languages and, for what the paper does not have, the size: ``"en-de-10k"``.
        corpus: where sentences come from: artificial, open, or supplied by the user.
        auxiliary: tasks beside translation; none for NMT.
        model: the model.
        train_pairs: use the first so many training pairs; ``None`` is all.
        test_pairs: the same, for development and test.
        auxiliary_train: the same, for each auxiliary task.
        auxiliary_dev: the same, for development (which decides on halving) and test of each.
        bpe_operations: merges learned.
        joint_bpe: one set of merges for source and target.
        min_count: auxiliary target tokens seen fewer times are unknown.
        longest_words: training pairs with more tokens before BPE on a side are left out.
        longest_pieces: training pairs of any task with more pieces on a side are left out, of what
            is left after the cut to number.
        longest_auxiliary: auxiliary targets with more tokens are left out.
        learning_rate: Adam's at the start.
        halve: whether a task's rate is halved when its development loss rises.
        batch_size: sentences of a batch of one task.
        epochs: passes over the translation pairs.
        clip_norm: largest gradient norm.
        pool: batches are cut from so many batches' sentences in order of length.
        longest_output: translations end after so many pieces per source piece, plus ten.
        precision: of all computation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair: str
    corpus: Literal["artificial", "open", "supplied"]
    auxiliary: tuple[Task, ...] = ("ner", "syntax", "semantics")
    model: ModelSettings
    train_pairs: Count | None = None
    test_pairs: Count | None = None
    auxiliary_train: Count | None = None
    auxiliary_dev: Count = 500
    bpe_operations: FromZero = 30_000
    joint_bpe: bool = True
    min_count: Count = 2
    longest_words: Count | None = None
    longest_pieces: Count | None = None
    longest_auxiliary: Count | None = None
    learning_rate: Annotated[float, Field(gt=0)] = 0.003
    halve: bool = True
    batch_size: Count = 32
    epochs: Count = 50
    clip_norm: Annotated[float, Field(gt=0)] = 5.0
    pool: Count = 20
    longest_output: Annotated[float, Field(gt=0)] = 2.0
    precision: Literal["single", "double"] = "single"

    @property
    def tasks(self) -> tuple[str, ...]:
        """Translation, then the auxiliary tasks."""
        return (TRANSLATION, *self.auxiliary)


@cache
def presets(experiment: str = "table1") -> dict[str, Any]:
    """Return the presets of an experiment: profile to settings, as the YAML has them."""
    file = resources.files("xlrepro.papers.routing_nmt") / "presets" / f"{experiment}.yaml"
    return dict(read_yaml(file))


def validated(values: Mapping[str, Any], where: str) -> TranslationSettings:
    """Return ``values`` as settings; errors as `xlrepro.training.settings.validated`."""
    return settings.validated(values, where, TranslationSettings)
