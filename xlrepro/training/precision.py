"""Single or double precision: one setting of a trial, applied in one place.

Training for seconds amplifies the last bit of a sum, which depends on the processor's vector
instructions. In double precision that bit is far below what a score can show, so numbers that a
test compares are computed so.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Literal

from xlrepro.errors import SettingsError

Precision = Literal["single", "double"]
SINGLE: Precision = "single"
_DTYPES = {"single": "float32", "double": "float64"}

Run = Callable[[Any, Any], Any]


@contextmanager
def computing(precision: str) -> Iterator[None]:
    """Compute with floats of 32 or 64 bits inside the block, and as before after it.

    It sets torch's default dtype, and with it that of new parameters, tables of word vectors and
    NumPy's part of the work (:mod:`xlrepro.precision`).

    Args:
        precision: ``"single"`` or ``"double"``.

    Raises:
        SettingsError: for another word.

    Example:
        >>> with computing("double"):
        ...     torch.zeros(1).dtype
        torch.float64
    """
    import torch  # only here: settings name a precision, and are read without torch

    if precision not in _DTYPES:
        raise SettingsError(f"no precision {precision!r}: use one of {', '.join(_DTYPES)}")
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, _DTYPES[precision]))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def in_its_precision(run: Run) -> Run:
    """Let a task's ``run(trial, context)`` compute as the trial's setting ``precision`` says.

    A trial that does not name one computes in single precision.
    """

    @wraps(run)
    def computed(trial: Any, context: Any) -> Any:
        with computing(trial.settings.get("precision", SINGLE)):
            return run(trial, context)

    return computed
