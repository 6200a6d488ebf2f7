"""What decides a trial with M-BERT, typed."""

from typing import ClassVar, Literal

from xlrepro.encoders import supplied_files
from xlrepro.papers.word_order.settings import TAGS, EncoderSettings, TransferSettings
from xlrepro.training.settings import FitSettings


class MbertSettings(FitSettings, TransferSettings):
    """Settings of a trial with M-BERT.

    Attributes:
        task: part-of-speech tags, entities or slots.
        head: CRF or softmax.
        evaluate_targets: False for a trial that only tunes on the source dev set.
        checkpoint: an encoder's name, see :mod:`xlrepro.encoders`.
        fine_tune: train M-BERT itself with a linear layer, instead of an encoder on its states.
        freeze_positions: fine-tuning: leave its position table as it is.
    """

    figure1_tags: ClassVar[tuple[str, ...]] = TAGS
    task: Literal["POS", "NER", "SF"]
    head: Literal["crf", "linear"] = "crf"  # [paper]
    evaluate_targets: bool = True
    vectors: str = "M-BERT"
    encoder: EncoderSettings = EncoderSettings(kind="transformer")
    checkpoint: str
    fine_tune: bool = False
    freeze_positions: bool = False

    def supplied(self) -> list[str]:
        """Return the files that a trial reads below the folder of supplied files."""
        return [*super().supplied(), *supplied_files(self.checkpoint)]
