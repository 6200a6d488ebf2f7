"""Experts, gates and mixtures against loops over experts and hand-worked numbers."""

import math

import pytest
import torch
from torch.nn import functional

from xlrepro.nn.mixture_of_experts import ExpertGate, Experts, mix, mix_log_probabilities


@pytest.fixture
def experts():
    torch.manual_seed(0)
    return Experts(3, 4, 5, 2, dropout=0.0)


def test_experts_equal_a_loop_over_perceptrons(experts):
    x = torch.randn(7, 4)
    for i in range(3):
        hidden = functional.relu(functional.linear(x, experts.inner[i], experts.inner_bias[i]))
        alone = functional.linear(hidden, experts.outer[i], experts.outer_bias[i])
        torch.testing.assert_close(experts(x)[:, i], alone)


def test_an_expert_without_weight_gets_no_gradient(experts):
    x, logits = torch.randn(7, 4), torch.tensor([[0.0, 0.0, -math.inf]]).expand(7, 3)
    mix(experts(x), logits).sum().backward()
    assert experts.outer.grad[:2].abs().sum() > 0
    assert experts.outer.grad[2].abs().sum() == 0


def test_mix_weighs_by_the_softmax_of_the_gate():
    outputs = torch.tensor([[[1.0], [5.0]]])
    logits = torch.tensor([[math.log(3.0), 0.0]])  # weights 3/4 and 1/4
    torch.testing.assert_close(mix(outputs, logits), torch.tensor([[2.0]]))


def test_a_mixture_of_probabilities_is_a_distribution():
    logits, gate = torch.randn(6, 3, 4), torch.randn(6, 3)
    mixed = mix_log_probabilities(logits, gate, "prob")
    expected = (logits.softmax(-1) * gate.softmax(-1).unsqueeze(-1)).sum(1)
    torch.testing.assert_close(mixed.exp(), expected)
    torch.testing.assert_close(mixed.exp().sum(-1), torch.ones(6))


def test_mixtures_agree_where_one_expert_has_all_the_weight():
    logits, gate = torch.randn(6, 3, 4), torch.tensor([[100.0, 0.0, 0.0]]).expand(6, 3)
    for mixture in ("log", "prob"):
        found = mix_log_probabilities(logits, gate, mixture)
        torch.testing.assert_close(found, logits[:, 0].log_softmax(-1))


def test_a_detached_gate_sends_no_gradient_to_its_input():
    x = torch.randn(5, 4, requires_grad=True)
    ExpertGate(4, 3, bias=True, detach=True)(x).sum().backward()
    assert x.grad is None
    ExpertGate(4, 3, bias=True, detach=False)(x).sum().backward()
    assert x.grad is not None
