"""What decides a trial with M-BERT, typed."""

from typing import Literal

from xlrepro.encoders import supplied_files
from xlrepro.papers.word_order.settings import EncoderSettings, LabellingSettings


class MbertSettings(LabellingSettings):
    """Settings of a trial with M-BERT.

    Attributes:
        task: part-of-speech tags, entities or slots.
        checkpoint: an encoder's name, see :mod:`xlrepro.encoders`.
        fine_tune: train M-BERT itself with a linear layer, instead of an encoder on its states.
        freeze_positions: fine-tuning: leave its position table as it is.
    """

    task: Literal["POS", "NER", "SF"]
    vectors: Literal["M-BERT"] = "M-BERT"
    encoder: EncoderSettings = EncoderSettings(kind="transformer")
    checkpoint: str
    fine_tune: bool = False
    freeze_positions: bool = False

    def supplied(self) -> list[str]:
        """Return the files that a trial reads below the folder of supplied files."""
        return [*super().supplied(), *supplied_files(self.checkpoint)]
