"""A trial's precision: set for its run, undone after it, and that of its word vectors too."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from xlrepro.precision import cached_per_precision, computing, working_dtype
from xlrepro.training.settings import in_its_precision


@in_its_precision
def dtype_of(trial, context):
    return torch.nn.Linear(1, 1).weight.dtype, working_dtype()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({}, (torch.float32, np.float32)), ({"precision": "double"}, (torch.float64, np.float64))],
)
def test_a_trial_computes_as_its_settings_say(settings, expected):
    assert dtype_of(SimpleNamespace(settings=settings), None) == expected
    assert torch.get_default_dtype() == torch.float32


def test_precision_is_undone_when_a_trial_fails():
    with pytest.raises(ZeroDivisionError), computing("double"):
        raise ZeroDivisionError
    assert torch.get_default_dtype() == torch.float32


def test_a_cache_keeps_precisions_apart():
    calls = []

    @cached_per_precision(maxsize=4)
    def ones(n):
        calls.append(n)
        return torch.ones(n)

    with computing("double"):
        assert ones(2).dtype == torch.float64
    assert ones(2).dtype == ones(2).dtype == torch.float32
    assert calls == [2, 2]
