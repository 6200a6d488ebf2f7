"""Dropout that draws several decisions at once."""

import pytest
import torch

from xlrepro.nn.dropout import Dropout, kept


@pytest.mark.parametrize("p", [0.5, 0.25, 0.1, 0.9])
def test_the_share_of_zeros_is_the_probability(p):
    torch.manual_seed(0)
    share = 1 - float(kept(torch.Size([1000, 1003]), p).float().mean())
    assert share == pytest.approx(p, abs=4 * (p * (1 - p) / 1_003_000) ** 0.5 + 1e-5)


@pytest.mark.parametrize("p", [0.5, 0.1])
def test_decisions_of_one_random_number_do_not_depend_on_each_other(p):
    torch.manual_seed(0)
    drawn = kept(torch.Size([100_000, 8]), p).float()
    assert float((torch.corrcoef(drawn.T) - torch.eye(8)).abs().max()) < 0.02


def test_what_is_kept_is_scaled_up_and_the_gradient_follows():
    torch.manual_seed(0)
    x = torch.randn(7, 5, requires_grad=True)
    y = Dropout(0.2)(x)
    y.sum().backward()
    assert torch.equal(y != 0, x.grad != 0)
    torch.testing.assert_close(x.grad[x.grad != 0], torch.full_like(x.grad[x.grad != 0], 1.25))
    torch.testing.assert_close(y, x * x.grad)


def test_evaluation_and_probability_0_change_nothing():
    x = torch.randn(3)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x
