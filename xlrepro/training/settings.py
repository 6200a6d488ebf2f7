"""Settings that every training has, and the precision of its numbers; read without torch.

Training for seconds amplifies the last bit of a sum, which depends on the processor's vector
instructions. In double precision that bit is far below what a score can show, so numbers that a
test compares are computed so.
"""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from xlrepro.precision import computing
from xlrepro.values import Checked

Precision = Literal["single", "double"]
MixedPrecision = Literal["single", "double", "mixed"]  # mixed: see training.loop.mixed_products
SINGLE: Precision = "single"

Run = Callable[[Any, Any], Any]


def in_its_precision(run: Run) -> Run:
    """Let a task's ``run(trial, context)`` compute as the trial's setting ``precision`` says.

    A trial that does not name one computes in single precision.
    """

    @wraps(run)
    def computed(trial: Any, context: Any) -> Any:
        with computing(trial.settings.get("precision", SINGLE)):
            return run(trial, context)

    return computed


Schedule = Literal["linear", "constant", "root"]
Count = Annotated[int, Field(ge=1)]
FromZero = Annotated[int, Field(ge=0)]  # 0 has a meaning: no warm-up
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Dropped = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Each = TypeVar("Each")
Some = Annotated[tuple[Each, ...], Field(min_length=1)]
Languages = Some[str]  # codes
VectorName = Literal["dictionary", "mapped", "encoder", "distributional", "fasttext-aligned"]


class Budget(Checked):
    """How long and how fast something is trained.

    Attributes:
        learning_rate: Adam's.
        batch_size: examples a step.
        epochs: passes over the training examples at most.
        patience: stop after so many epochs without a better source dev score.
    """

    learning_rate: Rate
    batch_size: Count = 32
    epochs: Count
    patience: Count


class FitSettings(Budget):
    """The schedule of a whole model's training.

    Attributes:
        schedule: of the learning rate after its warm-up: ``"linear"`` decay to 0 over all epochs,
            or one that does not need to know the last: ``"constant"``, or 1 over the ``"root"`` of
            the step.
        warmup_steps: steps of linear warm-up.
        precision: of all floats, single or double.
    """

    schedule: Schedule = "linear"
    warmup_steps: FromZero = 200
    precision: Precision = SINGLE


class HeadSettings(Budget):
    """A head on frozen features; its learning rate is constant.

    Attributes:
        hidden_dim: width of the ReLU layer, and of a BiLSTM per direction.
        dropout: probability of zeroing an entry before and behind the hidden layer.
    """

    hidden_dim: Count = 256
    dropout: Dropped = 0.3
    learning_rate: Rate = 1e-3
    patience: Count = 5
