import itertools

import numpy as np
import pytest
import torch

from xlrepro.training.optimiser import ScheduledAdam, adamw, schedule, warmup_then_linear


def test_warm_up_rises_to_one_and_decays_to_zero():
    factors = [warmup_then_linear(s, 4, 20) for s in range(21)]
    assert factors[:4] == [0.25, 0.5, 0.75, 1.0]
    assert factors[4] == 1.0
    assert factors[20] == 0.0
    assert all(a >= b for a, b in itertools.pairwise(factors[4:]))


@pytest.mark.parametrize("name", ["constant", "root"])
def test_a_schedule_without_an_end_rises_to_one_and_never_reaches_zero(name):
    factor = schedule(name, warmup=4, total=0)
    assert [factor(step) for step in range(4)] == [0.25, 0.5, 0.75, 1.0]
    after = [factor(step) for step in range(4, 400)]
    assert all(a >= b > 0 for a, b in itertools.pairwise(after))


def test_a_frozen_parameter_stays():
    model = torch.nn.Linear(2, 1)
    model.bias.requires_grad_(False)
    before = [p.detach().clone() for p in model.parameters()]
    adam = ScheduledAdam(model, 0.1, lambda step: 1.0, clip_norm=1.0)
    adam.step(model(torch.ones(1, 2)).sum())
    weight, bias = model.parameters()
    assert not torch.equal(weight, before[0])
    assert torch.equal(bias, before[1])


def test_all_gradients_together_are_clipped_to_the_largest_norm():
    model = torch.nn.Linear(2, 1)
    adam = ScheduledAdam(model, 0.1, lambda step: 1.0, clip_norm=0.5)
    adam.step(100 * model(torch.ones(1, 2)).sum())
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    assert float(norm) == pytest.approx(0.5, rel=1e-4)


def test_biases_and_normalisation_are_not_decayed():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LayerNorm(2))
    before = [p.detach().clone() for p in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    adamw(model.parameters(), learning_rate=0.5).step()
    # with no gradient AdamW's step is its decay: 1 - 0.5 * 0.01
    for old, new in zip(before, model.parameters(), strict=True):
        factor = 0.995 if new.dim() > 1 else 1.0
        np.testing.assert_allclose(new.detach(), factor * old, rtol=1e-6)
