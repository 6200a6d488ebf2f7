"""Settings that every training by the one loop has; read without torch."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from xlrepro.training.precision import SINGLE, Precision

Schedule = Literal["linear", "constant", "root"]
Count = Annotated[int, Field(ge=1)]
FromZero = Annotated[int, Field(ge=0)]  # 0 has a meaning: no warm-up, no patience
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Dropped = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class FitSettings(BaseModel):
    """How long and how fast a model is trained.

    Attributes:
        learning_rate: Adam's.
        batch_size: sentences a step.
        epochs: passes over the training sentences at most.
        patience: stop after so many epochs without a better source dev score.
        schedule: of the learning rate after its warm-up: ``"linear"`` decay to 0 over all epochs,
            or one that does not need to know the last: ``"constant"``, or 1 over the ``"root"`` of
            the step.
        warmup_steps: steps of linear warm-up.
        clip_norm: largest gradient norm.
        precision: of all floats, single or double.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    learning_rate: Rate
    batch_size: Count = 32
    epochs: Count
    patience: FromZero
    schedule: Schedule = "linear"
    warmup_steps: FromZero = 200
    clip_norm: Rate = 5.0
    precision: Precision = SINGLE
