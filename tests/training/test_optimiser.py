import itertools

import numpy as np
import pytest
import torch

from xlrepro.training.optimiser import ScheduledAdam, adamw, schedule


@pytest.mark.parametrize("name", ["linear", "constant", "root"])
def test_a_schedule_rises_to_one_and_reaches_zero_where_it_has_an_end(name):
    factors = [schedule(name, warmup=4, total=400)(step) for step in range(401)]
    assert factors[:4] == [0.25, 0.5, 0.75, 1.0]
    assert all(a >= b for a, b in itertools.pairwise(factors[3:]))
    assert factors[399] > 0
    of_203 = {"linear": 0.5, "constant": 1, "root": (4 / 203) ** 0.5}
    assert factors[202] == pytest.approx(of_203[name])
    assert (factors[400] == 0) == (name == "linear")


def test_gradients_together_are_clipped_to_the_largest_norm_and_the_rate_follows_its_schedule():
    model = torch.nn.Linear(2, 1)
    adam = ScheduledAdam(model, 0.1, schedule("linear", 2, 4))
    adam.step(100 * model(torch.ones(1, 2)).sum())
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    assert float(norm) == pytest.approx(5.0, rel=1e-4)
    assert adam.adam.param_groups[0]["lr"] == pytest.approx(0.1)  # of step 1


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
