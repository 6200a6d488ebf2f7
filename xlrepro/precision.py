"""The precision of word vectors: that of torch's default dtype, which a trial's setting decides."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")
_DTYPES = {"single": "float32", "mixed": "float32", "double": "float64"}


def working_dtype() -> type[np.floating[Any]]:
    """Return NumPy's name of torch's default dtype; float32 where torch is not loaded.

    Example:
        >>> working_dtype()
        <class 'numpy.float32'>
    """
    torch = sys.modules.get("torch")
    double = torch is not None and torch.get_default_dtype() == torch.float64
    return np.float64 if double else np.float32


@contextmanager
def computing(precision: str) -> Iterator[None]:
    """Compute with floats of 32 or 64 bits inside the block, and as before after it.

    It sets torch's default dtype, and with it that of new parameters, tables of word vectors and
    NumPy's part of the work.

    Args:
        precision: ``"single"``, ``"double"``, or ``"mixed"``, which is single but for products.

    Example:
        >>> import torch
        >>> with computing("double"):
        ...     torch.zeros(1).dtype
        torch.float64
    """
    import torch  # only here: settings name a precision, and are read without torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, _DTYPES[precision]))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def cached_per_precision(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Cache a function's results as ``lru_cache`` does, those of each precision apart.

    The cached function has ``cache_clear`` too.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @lru_cache(maxsize)
        def remembered(_: type, *args: Any, **kwargs: Any) -> T:
            return function(*args, **kwargs)

        @wraps(function)
        def cached(*args: P.args, **kwargs: P.kwargs) -> T:
            return remembered(working_dtype(), *args, **kwargs)  # type: ignore[arg-type]

        cached.cache_clear = remembered.cache_clear  # type: ignore[attr-defined]
        return cached

    return decorate
