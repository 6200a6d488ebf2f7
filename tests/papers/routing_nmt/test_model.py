"""The four systems: loss, padding, decoding, what is shared, and how large they are."""

from itertools import pairwise

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
]


@pytest.mark.parametrize("choices", CHOICES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_teacher_forced_loss_is_that_of_the_step_by_step_decoder(system, choices):
    model, (source, lengths, target) = small_model(system, **choices), small_batch()
    whole = model.loss("translation", source, lengths, target)
    total = 0.0
    for row in range(len(source)):
        memory = model.encode("translation", source[row : row + 1], lengths[row : row + 1])
        decoder = model.decoder.tied("translation", memory)
        readout, state = model.readout("translation"), decoder.start()
        tokens = target[row][target[row] > 0]
        for last, gold in pairwise(tokens):
            words = readout.embedding(last.view(1, 1))
            state = decoder.step(decoder.project(words)[0], state)
            scores = readout(decoder.output(state), state.context, words[0])
            total -= scores.log_softmax(-1)[0, gold]
    assert torch.allclose(whole, total)


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


def gru(inputs, hidden):
    return 3 * hidden * (inputs + hidden + 1)


def test_numbers_of_parameters_at_the_papers_sizes():
    """Counted by hand, recurrent parts alone: of all tasks, and of those that translation uses."""
    width, tasks = 400, dict.fromkeys(("translation", "ner", "syntax", "semantics"), 10)
    counted = {}
    for system, recurrent in RECURRENT.items():
        names = {"translation": 10} if system == "NMT" else tasks
        with torch.device("meta"):
            model = MultiTaskModel(10, names, recurrent, Sizes())
        units = (*model.directions, model.decoder.unit)
        every = [(name, p.numel()) for unit in units for name, p in unit.named_parameters()]
        used = [
            n
            for name, n in every
            if not any(task in name for task in tasks if task != "translation")
        ]
        counted[system] = (sum(n for _, n in every), sum(used))
    layer, low = gru(width, width), gru(3 * width, width)
    full = 2 * 3 * layer + low + 2 * layer
    partial = 2 * (4 + 2) * layer + 4 * low + 4 * layer + layer
    router = width + 3 * (width + 1) + width * 2 * width
    routing = [
        2 * (blocks * layer + router + width * width)
        + blocks * gru(5 * width, width)
        + router
        + 5 * width * width
        for blocks in (7, 4)
    ]
    assert counted["NMT"] == counted["MTL (Full)"] == (full, full)
    assert counted["MTL (Partial)"] == (partial, full)
    assert counted["MTL (Routing)"] == tuple(routing)
