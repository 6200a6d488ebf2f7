"""What decides a trial of the routing paper, typed; values stand in ``experiments.yaml``."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from xlrepro.training.settings import Count, Dropped, FromZero, Precision, Rate, Some
from xlrepro.values import Checked

AuxiliaryTask = Literal["ner", "syntax", "semantics"]
TRANSLATION = "translation"
SHARED_BLOCKS = 3  # n [paper §3.3]
DIRECTIONS = ("forward", "backward")  # in which the encoder reads
SPLITS = ("train", "dev", "test")


class ModelSettings(Checked):
    """The recurrent part and its size.

    Attributes:
        kind: stacked layers (NMT, full and partial sharing) or one routed unit.
        shared_encoder: of stacked layers from the lowest: whether all tasks share it.
        shared_decoder: the same of the decoder.
        hidden: width of blocks, layers, embeddings, the attention's and the router's hidden layer.
            The paper gives that of blocks and layers alone; in Mantis embeddings have it too.
        dropout: on the inputs and outputs of units.
    """

    kind: Literal["stacked", "routed"]
    shared_encoder: Some[bool] = (True, True, True)
    shared_decoder: Some[bool] = (True, True, True)
    hidden: Count = 400
    dropout: Dropped = 0.5


class TranslationSettings(Checked):
    """Everything that decides the numbers of one trial, besides its seed and data.

    Attributes:
        pair: the languages and, of the open proxy, the size: ``"en-de-5k"``.
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
        longest_pieces: training pairs of any task with more subwords on a side are left out, of
            what is left after the cut to number.
        longest_auxiliary: auxiliary targets with more tokens are left out.
        learning_rate: Adam's at the start.
        batch_size: sentences of a batch of one task.
        epochs: passes over the translation pairs, at most.
        patience: stop after so many without a better dev perplexity; null: never.
        longest_output: translations end after so many subwords per subword read, tag too, plus ten.
        precision: of all computation.
    """

    pair: str
    corpus: Literal["artificial", "open", "supplied"]
    auxiliary: tuple[AuxiliaryTask, ...] = ("ner", "syntax", "semantics")
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
    learning_rate: Rate = 0.003
    batch_size: Count = 32
    epochs: Count = 50
    patience: Count | None = None
    longest_output: Annotated[float, Field(gt=0, le=100)] = 2.0
    precision: Precision = "single"

    @model_validator(mode="after")
    def _pair_is_there(self) -> Self:
        known = ("en-de-5k",) if self.corpus == "open" else ("en-vi", "en-fa")
        if self.pair not in known:
            raise ValueError(f"pair: of {self.corpus} text there is {', '.join(known)}")
        return self

    @property
    def tasks(self) -> tuple[str, ...]:
        """Translation, then the auxiliary tasks."""
        return (TRANSLATION, *self.auxiliary)

    def registered(self) -> list[tuple[str, str]]:
        """Return data set and file of the sentences that are translated after training."""
        return [("multi30k", f"{c}/test") for c in ("en", "de") if self.corpus == "open"]

    def supplied(self) -> list[str]:
        """Return the files that the user must supply, below the folder of supplied files."""
        if self.corpus != "supplied":
            return []
        endings = {
            "ner": "conll-ner/en/{}",
            "syntax": "routing-nmt/ptb/{}.mrg",
            "semantics": "routing-nmt/amr-2.0/{}.txt",
        }
        names = [f"routing-nmt/{self.pair}/{{}}.{code}" for code in self.pair.split("-")]
        names += [endings[task] for task in self.auxiliary]
        return [name.format(split) for name in names for split in SPLITS]
