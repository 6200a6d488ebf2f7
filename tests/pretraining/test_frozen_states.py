"""Frozen states: those of the network, kept in half precision, computed once."""

import numpy as np
import pytest
import torch

from xlrepro.nn.bert import Bert, BertSizes
from xlrepro.pretraining import frozen_states as module
from xlrepro.pretraining.frozen_states import frozen_states

SEQUENCES = [[1, 5, 6, 2], [1, 7, 2], [1, 8, 8, 8, 8, 2]]
READS = [[1, 2], [1], [4, 1]]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path))


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Bert(BertSizes(9, dim=8, layers=3, heads=2, ff_dim=16, positions=8, dropout=0.5))


def test_states_are_those_of_the_network_in_half_precision(network):
    found = frozen_states(network, "w" * 64, SEQUENCES, READS, [0, 2])
    for layer in (0, 2):
        expected = []
        for ids, places in zip(SEQUENCES, READS, strict=True):
            with torch.inference_mode():
                states = network.eval().hidden_states(torch.tensor([ids]))[layer][0]
            expected += [states[place].numpy() for place in places]
        np.testing.assert_allclose(found[layer], np.array(expected), atol=2e-3)
        assert found[layer].dtype == np.float16
        assert isinstance(found[layer], np.memmap)


def test_double_precision_is_kept(network):
    from xlrepro.training.settings import computing

    single = frozen_states(network, "weights", SEQUENCES, READS, [1])[1]
    with computing("double"):
        double = frozen_states(network.double(), "weights", SEQUENCES, READS, [1])[1]
    assert double.dtype == np.float64
    np.testing.assert_allclose(double, single, atol=2e-3)


def test_padding_and_batches_change_nothing(network, monkeypatch):
    together = frozen_states(network, "together", SEQUENCES, READS, [3])[3]
    monkeypatch.setattr(module, "BATCH_PIECES", 1)
    np.testing.assert_allclose(
        frozen_states(network, "one by one", SEQUENCES, READS, [3])[3], together, atol=2e-3
    )


def test_a_second_call_computes_nothing(network, monkeypatch):
    first = frozen_states(network, "weights", SEQUENCES, READS, [1])[1]

    def fail(*arguments):
        raise AssertionError("computed again")

    monkeypatch.setattr(Bert, "hidden_states", fail)
    np.testing.assert_array_equal(
        frozen_states(network, "weights", SEQUENCES, READS, [1])[1], first
    )


@pytest.mark.parametrize(
    "change",
    [
        {"weights": "other"},
        {"sequences": [[1, 5, 7, 2], *SEQUENCES[1:]]},
        {"reads": [[1, 3], *READS[1:]]},
        {"layers": [2]},
    ],
)
def test_other_weights_text_places_or_layers_are_other_states(network, change, monkeypatch):
    asked = {"weights": "weights", "sequences": SEQUENCES, "reads": READS, "layers": [1]}
    frozen_states(network, **asked)
    calls = []
    write = module._write
    monkeypatch.setattr(module, "_write", lambda *a: calls.append(1) or write(*a))
    frozen_states(network, **{**asked, **change})
    assert calls == [1]


def test_means_are_those_of_the_states_at_the_places(network):
    every = frozen_states(network, "weights", SEQUENCES, READS, [2])[2].astype(float)
    means = frozen_states(network, "weights", SEQUENCES, READS, [2], mean=True)[2]
    expected = [every[:2].mean(0), every[2], every[3:].mean(0)]
    np.testing.assert_allclose(means, expected, atol=2e-3)


def test_only_the_layers_below_are_computed(network, monkeypatch):
    def fail(*arguments):
        raise AssertionError("computed a layer that nobody asked for")

    network.layers[2].forward = fail
    assert frozen_states(network, "weights", SEQUENCES, READS, [2])[2].shape == (5, 8)
