"""The routed unit and the four systems: equations, padding, decoding, sharing, sizes."""

from itertools import pairwise

import pytest
import torch

from tests.papers.routing_nmt.small import SHARED, small_batch, small_model
from xlrepro.papers.routing_nmt.model import END, START
from xlrepro.papers.routing_nmt.recurrent import RoutedUnit, scan

SYSTEMS = list(SHARED)
INPUT, HIDDEN, BLOCKS = 5, 4, 3


def unit():
    torch.manual_seed(1)
    made = RoutedUnit(INPUT, HIDDEN, BLOCKS, ("a", "b")).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.uniform_(-0.8, 0.8)
    return made


def words(length=6, batch=2):
    return torch.randn(length, batch, INPUT, generator=torch.Generator().manual_seed(2)).double()


def written_out(made, x, task):
    """The equations for one sentence after the other, one block after the other."""
    blocks = [(made.shared, i) for i in range(BLOCKS)] + [(made.own[task], 0)]
    outputs = torch.zeros(x.shape[0], x.shape[1], 2 * HIDDEN, dtype=x.dtype)
    for sentence in range(x.shape[1]):
        h, states = torch.zeros(2 * HIDDEN).double(), [torch.zeros(HIDDEN).double()] * len(blocks)
        for t in range(x.shape[0]):
            s = torch.tanh(made.router_input(x[t, sentence]) + made.router_state(h))
            tau = torch.softmax(made.router_output(s), 0)
            for i, (part, row) in enumerate(blocks):
                seen = x[t, sentence] * (tau[i] if i < BLOCKS else 1.0)
                w, u = part.input_weight[row].split(HIDDEN, 1), part.recurrent_weight[row]
                u, b, last = u.split(HIDDEN, 1), part.bias[row, 0].split(HIDDEN), states[i]
                r = torch.sigmoid(seen @ w[0] + last @ u[0] + b[0])
                z = torch.sigmoid(seen @ w[1] + last @ u[1] + b[1])
                candidate = torch.tanh(seen @ w[2] + (r * last) @ u[2] + b[2])
                states[i] = z * last + (1 - z) * candidate
            h = torch.cat((sum(tau[i] * states[i] for i in range(BLOCKS)), states[-1]))
            outputs[t, sentence] = h
    return outputs


def test_the_routed_unit_computes_the_equations_for_its_task():
    made, x = unit(), words()
    found, tau = scan(made.tied("b"), x)
    assert torch.allclose(found, written_out(made, x, "b"))
    assert torch.allclose(tau.sum(-1), torch.ones(6, 2).double())
    assert (tau > 0).all()


def test_dropout_between_layers_is_that_of_the_step():
    tied, x = small_model("NMT", dropout=0.5).train().directions[0].tied("translation"), words(2)
    second, outputs = tied.start(x[0], 2)._replace(step=1), []
    for kept in (0.0, 1.0):
        tied._kept[0][1] = kept
        outputs.append(tied.step(tied.project(x)[1], second).output)
    assert not torch.equal(*outputs)


def test_a_tasks_own_block_gets_no_gradient_from_another_task():
    made = unit()
    scan(made.tied("a"), words())[0].sum().backward()
    assert all(p.grad is None for p in made.own["b"].parameters())
    assert all(p.grad.abs().sum() > 0 for p in made.own["a"].parameters())
    assert all(p.grad.abs().sum() > 0 for p in made.shared.parameters())


def attended(model, source, target):
    """The loss of one sentence: the decoder's unit, attention and readout by their equations."""
    memory = model.encode("translation", source[None], torch.tensor([len(source)]))
    m, decoder, readout = memory.states[0], model.decoder, model.readout("translation")
    tied, total = decoder.unit.tied("translation"), 0.0
    state = tied.start(memory.states[:, 0], 0)
    for last, gold in pairwise(target):
        word = readout.embedding(last)
        energies = torch.stack(
            [
                decoder.weight[0] @ torch.tanh(decoder.query(state.output[0]) + decoder.key(j))
                for j in m
            ]
        )
        context = energies.softmax(0) @ m
        given = tied.project(torch.cat((word, context)).view(1, 1, -1))[0]
        state = tied.step(given, state)
        total = total - readout(state.output[0], context, word).log_softmax(-1)[gold]
    return total


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_loss_is_that_of_each_sentence_by_the_attentions_equations(system):
    model, (source, lengths, target) = small_model(system).eval(), small_batch()
    single = [attended(model, s[:n], t[t > 0]) for s, n, t in zip(source, lengths, target)]
    assert torch.allclose(model.loss("translation", source, lengths, target), sum(single))


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_direction_has_read_its_side_of_the_sentence(system):
    model, (source, lengths, _) = small_model(system).eval(), small_batch()
    plain, changed = source.clone(), source.clone()
    changed[:, 1] = 16 - (plain[:, 1] == 16).long()
    before, after = (model.encode("translation", s, lengths).states for s in (plain, changed))
    width = before.shape[-1] // 2
    moved = (before != after).view(3, 5, 2, width).any(-1)
    # rows: tokens; the first direction passes a change on to the right, the second to the left
    assert moved[0].T.tolist() == [[False] + [True] * 4, [True, True] + [False] * 3]


@pytest.mark.parametrize("system", SYSTEMS)
def test_greedy_decoding_in_a_batch_equals_one_by_one(system):
    model, (source, lengths, _) = small_model(system, seed=3).eval(), small_batch()
    limits = [9, 4, 7]
    batch = model.greedy("translation", source, lengths, limits)
    single = [
        model.greedy("translation", source[i : i + 1], lengths[i : i + 1], limits[i : i + 1])[0]
        for i in range(3)
    ]
    assert batch == single
    assert [len(row) <= limit for row, limit in zip(batch, limits)] == [True] * 3


def test_greedy_decoding_takes_the_likeliest_token_after_each_other():
    model, (source, lengths, _) = small_model(seed=3).eval(), small_batch()
    (found,) = model.greedy("ner", source[:1], lengths[:1], [6])
    memory = model.encode("ner", source[:1], lengths[:1])
    scores = model.scores("ner", memory, torch.tensor([[START, *found]]))
    scores[..., [0, START]] = -torch.inf
    best = scores.argmax(-1)[:, 0].tolist()
    assert best[: len(found)] == found
    assert len(found) == 6 or best[len(found)] == END


def test_only_shared_layers_get_gradients_from_every_task():
    model, (source, lengths, target) = small_model("MTL (Partial)"), small_batch()
    model.loss("ner", source, lengths, target).backward()
    touched = {name for name, p in model.named_parameters() if p.grad is not None}
    assert not any("translation" in name or "syntax" in name for name in touched)
    assert {n for n, _ in model.named_parameters() if "every_task" in n} <= touched
