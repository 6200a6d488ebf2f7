"""The four systems: loss, padding, decoding, what is shared, and how large they are."""

import pytest
import torch

from tests.papers.routing_nmt.small_models import RECURRENT, small_batch, small_model
from xlrepro.papers.routing_nmt.decoding import greedy
from xlrepro.papers.routing_nmt.model import END, START, MultiTaskModel, Sizes

SYSTEMS = list(RECURRENT)
CHOICES = [
    {},
    {"decoder_input": "word", "output_layer": "state_context"},
    {"bidirectional": False, "reset_gate": "after"},
    {"reset_gate": "unused"},
]


def step_by_step(model, source, lengths, target):
    """The loss of sentences of any lengths, the decoder's steps one after the other."""
    memory = model.encode("translation", source, lengths)
    decoder, readout = model.decoder.tied("translation", memory), model.readout("translation")
    words, state, total = readout.embedding(target[:, :-1].T), decoder.start(), 0.0
    for given, word, gold in zip(decoder.project(words), words, target[:, 1:].T, strict=True):
        state = decoder.step(given, state)
        scores = readout(decoder.output(state), state.context, word).log_softmax(-1)
        total = total - scores[torch.arange(len(gold)), gold][gold > 0].sum()
    return total


def one_by_one(model, *batch):
    """The sum of each sentence's loss, read alone."""
    return sum(
        step_by_step(model, *(tensor[row : row + 1] for tensor in batch))
        for row in range(len(batch[0]))
    )


@pytest.mark.parametrize("choices", CHOICES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_teacher_forced_loss_is_that_of_the_step_by_step_decoder(system, choices):
    model, batch = small_model(system, **choices), small_batch()
    whole = model.loss("translation", *batch)
    assert torch.allclose(whole, one_by_one(model, *batch), rtol=1e-10, atol=0)


def test_so_it_is_at_the_papers_width():
    model = small_model(hidden=400, embedding=400, attention=400, router=400)
    batch = (
        torch.tensor([[5, 6, 7], [8, 9, 0]]),
        torch.tensor([3, 2]),
        torch.tensor([[1, 4, 5, 6, 2], [1, 7, 8, 2, 0]]),
    )
    whole = model.loss("translation", *batch)
    assert torch.allclose(whole, one_by_one(model, *batch), rtol=1e-12, atol=0)


@pytest.mark.parametrize("choices", CHOICES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_way_back_by_hand_has_autograds_gradients(system, choices):
    model, batch = small_model(system, **choices), small_batch()
    found = []
    for loss in (model.loss("translation", *batch), step_by_step(model, *batch)):
        model.zero_grad()
        loss.backward()
        found.append({n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None})
    assert found[0].keys() == found[1].keys()
    for name, gradient in found[0].items():
        assert torch.allclose(gradient, found[1][name], rtol=1e-9, atol=1e-12), name


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_gradient_is_that_of_small_differences(system):
    """Encoder and decoder together, dropout between layers included."""
    torch.manual_seed(0)
    model, batch = small_model(system, dropout=0.25), small_batch()

    def loss():
        torch.manual_seed(1)
        return model.loss("translation", *batch)

    loss().backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is None or parameter.grad.abs().max() < 1e-6:
            continue
        place = parameter.grad.abs().argmax()
        with torch.no_grad():
            kept, found = parameter.view(-1)[place].item(), []
            for change in (1e-5, -1e-5):
                parameter.view(-1)[place] = kept + change
                found.append(loss().item())
            parameter.view(-1)[place] = kept
        difference = (found[0] - found[1]) / 2e-5
        assert difference == pytest.approx(parameter.grad.view(-1)[place].item(), rel=1e-4), name


@pytest.mark.parametrize("system", SYSTEMS)
def test_padding_changes_nothing(system):
    model, (source, lengths, target) = small_model(system), small_batch()
    wider = torch.cat((source, torch.zeros(3, 4, dtype=torch.long)), 1)
    longer = torch.cat((target, torch.zeros(3, 2, dtype=torch.long)), 1)
    plain = model.loss("translation", source, lengths, target)
    assert torch.allclose(model.loss("translation", wider, lengths, longer), plain)
    single = sum(
        model.loss(
            "translation", source[i : i + 1, : lengths[i]], lengths[i : i + 1], target[i : i + 1]
        )
        for i in range(3)
    )
    assert torch.allclose(single, plain)


@pytest.mark.parametrize("system", SYSTEMS)
def test_greedy_decoding_in_a_batch_equals_one_by_one(system):
    model, (source, lengths, _) = small_model(system, seed=3).eval(), small_batch()
    limits = [9, 4, 7]
    batch = greedy(model, "translation", source, lengths, limits)
    single = [
        greedy(model, "translation", source[i : i + 1], lengths[i : i + 1], limits[i : i + 1])[0]
        for i in range(3)
    ]
    assert batch == single
    assert [len(row) <= limit for row, limit in zip(batch, limits)] == [True] * 3


def test_greedy_decoding_takes_the_likeliest_token_after_each_other():
    model, (source, lengths, _) = small_model(seed=3).eval(), small_batch()
    (found,) = greedy(model, "ner", source[:1], lengths[:1], [6])
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


def test_every_parameter_of_full_sharing_but_readouts_serves_every_task():
    model, (source, lengths, target) = small_model("MTL (Full)"), small_batch()
    model.loss("ner", source, lengths, target).backward()
    untouched = {name for name, p in model.named_parameters() if p.grad is None}
    assert untouched
    assert all(name.startswith("readouts.") for name in untouched)


def by_hand(width):
    """Parameters of the recurrent parts: of all four tasks, and of those that translation uses."""

    def gru(inputs):  # three gates: matrices of input and state, and a bias
        return 3 * width * (inputs + width + 1)

    # the encoder's layers read the width of an embedding or layer; the decoder's lowest one reads
    # a word and the context of both directions
    full = 2 * 3 * gru(width) + gru(3 * width) + 2 * gru(width)
    partial = 2 * (4 + 2) * gru(width) + 4 * gru(3 * width) + (4 + 1) * gru(width)

    def routing(blocks):
        # W_h, b_s, W_tau and b_tau; W_x is as wide as the input
        router = 2 * width * width + width + 3 * (width + 1)
        encoder = blocks * gru(width) + router + width * width
        decoder = blocks * gru(5 * width) + router + 5 * width * width
        return 2 * encoder + decoder

    return {
        "NMT": (full, full),
        "MTL (Full)": (full, full),
        "MTL (Partial)": (partial, full),
        "MTL (Routing)": (routing(3 + 4), routing(3 + 1)),
    }


def test_numbers_of_parameters_side_by_side():
    width, tasks = 8, dict.fromkeys(("translation", "ner", "syntax", "semantics"), 10)
    counted = {}
    for system, recurrent in RECURRENT.items():
        names = {"translation": 10} if system == "NMT" else tasks
        model = MultiTaskModel(10, names, recurrent, Sizes(width, width, width, width))
        units = (*model.directions, model.decoder.unit)
        every = [(name, p.numel()) for unit in units for name, p in unit.named_parameters()]
        used = [n for name, n in every if not set(name.split(".")) & set(list(tasks)[1:])]
        counted[system] = (sum(n for _, n in every), sum(used))
    assert counted == by_hand(width)


def test_routing_has_more_parameters_than_its_baselines_at_the_papers_sizes():
    """The paper chose three layers "for fair comparison" of numbers of parameters (§3.3)."""
    counts = by_hand(400)
    ratios = [a / b for a, b in zip(counts["MTL (Routing)"], counts["MTL (Full)"], strict=True)]
    assert ratios == [pytest.approx(3.7, abs=0.05), pytest.approx(2.2, abs=0.05)]
