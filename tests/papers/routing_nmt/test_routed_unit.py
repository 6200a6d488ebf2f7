"""The routed unit against plain formulas, torch's GRU cell, and its own gradients."""

import pytest
import torch

from xlrepro.papers.routing_nmt.routed_unit import RoutedUnit

INPUT, HIDDEN, SHARED = 5, 4, 3


def unit(reset_gate="before", shared=SHARED):
    torch.manual_seed(1)
    made = RoutedUnit(INPUT, HIDDEN, shared, ("a", "b"), 3, reset_gate).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-0.8, 0.8)
    return made


def words(length=6, batch=2):
    return torch.randn(length, batch, INPUT, generator=torch.Generator().manual_seed(2)).double()


def written_out(made, x, task, reset_gate):
    """The paper's equations for one sentence after the other, one block after the other."""
    blocks = [(made.shared, i) for i in range(SHARED)] + [(made.own[task], 0)]
    outputs = torch.zeros(x.shape[0], x.shape[1], 2 * HIDDEN, dtype=x.dtype)
    for sentence in range(x.shape[1]):
        h, states = torch.zeros(2 * HIDDEN).double(), [torch.zeros(HIDDEN).double()] * len(blocks)
        for t in range(x.shape[0]):
            s = torch.tanh(made.router_input(x[t, sentence]) + made.router_state(h))
            tau = torch.softmax(made.router_output(s), 0)
            for i, (part, row) in enumerate(blocks):
                seen = x[t, sentence] * (tau[i] if i < SHARED else 1.0)
                w, u = part.input_weight[row].split(HIDDEN, 1), part.recurrent_weight[row]
                u, b, last = u.split(HIDDEN, 1), part.bias[row, 0].split(HIDDEN), states[i]
                r = torch.sigmoid(seen @ w[0] + last @ u[0] + b[0])
                z = torch.sigmoid(seen @ w[1] + last @ u[1] + b[1])
                kept = {
                    "before": (r * last) @ u[2],
                    "after": r * (last @ u[2]),
                    "unused": last @ u[2],
                }[reset_gate]
                states[i] = z * last + (1 - z) * torch.tanh(seen @ w[2] + kept + b[2])
            h = torch.cat((sum(tau[i] * states[i] for i in range(SHARED)), states[-1]))
            outputs[t, sentence] = h
    return outputs


@pytest.mark.parametrize("reset_gate", ["before", "after", "unused"])
def test_the_fused_unit_computes_the_printed_equations(reset_gate):
    made, x = unit(reset_gate), words()
    found, _ = made.tied("b").scan(x)
    assert torch.allclose(found, written_out(made, x, "b", reset_gate))


@pytest.mark.parametrize("reset_gate", ["before", "after", "unused"])
def test_the_fused_unit_has_the_gradients_of_the_printed_equations(reset_gate):
    x, parameters = words(), dict(unit().named_parameters())
    gradients = []
    for compute in (lambda made: made.tied("a").scan(x)[0], None):
        made = unit(reset_gate)
        found = compute(made) if compute else written_out(made, x, "a", reset_gate)
        (found**2).sum().backward()
        gradients.append({name: p.grad for name, p in made.named_parameters()})
    for name in parameters:
        if not name.startswith("own.b"):
            assert torch.allclose(gradients[0][name], gradients[1][name]), name


def test_router_weights_sum_to_one():
    _, tau = unit().tied("a").scan(words())
    assert torch.allclose(tau.sum(-1), torch.ones(6, 2).double())
    assert (tau > 0).all()


def test_one_shared_block_is_torchs_gru_cell():
    """With one shared block the softmax makes tau 1."""
    made, x = unit("after", shared=1), words()
    cell = torch.nn.GRUCell(INPUT, HIDDEN).double()
    with torch.no_grad():
        cell.weight_ih.copy_(made.shared.input_weight[0].T)
        cell.weight_hh.copy_(made.shared.recurrent_weight[0].T)
        cell.bias_ih.copy_(made.shared.bias[0, 0])
        cell.bias_hh.zero_()
    found, tau = made.tied("a").scan(x)
    assert torch.equal(tau, torch.ones_like(tau))
    state = torch.zeros(2, HIDDEN).double()
    for t in range(len(x)):
        state = cell(x[t], state)
        assert torch.allclose(found[t, :, :HIDDEN], state)


def test_a_tasks_own_block_gets_no_gradient_from_another_task():
    made = unit()
    made.tied("a").scan(words())[0].sum().backward()
    assert all(p.grad is None for p in made.own["b"].parameters())
    assert all(p.grad.abs().sum() > 0 for p in made.own["a"].parameters())
    assert all(p.grad.abs().sum() > 0 for p in made.shared.parameters())


def test_input_known_in_two_parts_counts_like_input_known_at_once():
    tied, x = unit().tied("a"), words()
    parts = tied.project(x[..., :2]) + tied.project(x[..., 2:], first=2)
    assert torch.allclose(parts, tied.project(x))


@pytest.mark.parametrize("reset_gate", ["before", "after", "unused"])
def test_steps_written_out_agree_with_the_scan(reset_gate):
    made, x = unit(reset_gate), words()
    tied = made.tied("b")
    whole, state = tied.scan(x)[0], tied.start(x[0])
    for given, gold in zip(tied.project(x), whole, strict=True):
        state = tied.step(given, state)
        assert torch.allclose(tied.output(state), gold)
