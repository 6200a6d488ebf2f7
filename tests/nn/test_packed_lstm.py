"""The packed LSTM against torch's own, values and gradients."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from xlrepro.nn.recurrent import PackedBiLSTM, Packing, inverse

LENGTHS = torch.tensor([3, 1, 6, 3, 5])


@pytest.fixture
def packing():
    return Packing(LENGTHS)


@pytest.fixture
def tokens():
    torch.manual_seed(0)
    return torch.randn(int(LENGTHS.sum()), 7, dtype=torch.float64)


def torchs(layer, tokens, packing):
    packed = pack_padded_sequence(
        packing.padded(tokens), LENGTHS, batch_first=True, enforce_sorted=False
    )
    states, _ = layer.lstm(packed)
    return pad_packed_sequence(states, batch_first=True)[0][packing.mask]


@pytest.mark.parametrize("fixed", [0, 3, 7])
def test_values_and_gradients_equal_torchs(tokens, packing, fixed):
    torch.manual_seed(1)
    layer = PackedBiLSTM(7, 4, fixed).double()
    x = tokens.requires_grad_()
    weights = torch.randn(len(tokens), 8, dtype=torch.float64)
    inputs = [x, *layer.parameters()]
    found, expected = layer(x, packing), torchs(layer, x, packing)
    torch.testing.assert_close(found, expected)
    own = torch.autograd.grad((found * weights).sum(), inputs, allow_unused=True)
    theirs = torch.autograd.grad((expected * weights).sum(), inputs)
    torch.testing.assert_close(own[1:], theirs[1:])
    if fixed < 7:
        torch.testing.assert_close(own[0][:, fixed:], theirs[0][:, fixed:])
        assert not own[0][:, :fixed].any()
    else:
        assert own[0] is None or not own[0].any()


def test_the_path_of_a_gpu_gives_the_same(tokens, packing):
    layer = PackedBiLSTM(7, 4).double()
    torch.testing.assert_close(layer.reference(tokens, packing), layer(tokens, packing))


def test_without_a_graph_the_values_are_the_same(tokens, packing):
    layer = PackedBiLSTM(7, 4).double()
    with torch.no_grad():
        found = layer(tokens, packing)
    assert not found.requires_grad
    torch.testing.assert_close(found, layer(tokens, packing))


def test_weights_begin_as_torchs():
    torch.manual_seed(0)
    ours = PackedBiLSTM(7, 4)
    torch.manual_seed(0)
    theirs = nn.LSTM(7, 4, bidirectional=True)
    assert torch.equal(ours.lstm.weight_hh_l0_reverse, theirs.weight_hh_l0_reverse)


def test_windows_end_with_their_text():
    places = Packing(torch.tensor([2, 3])).windows(3)
    assert places.tolist() == [[0, 1, 5], [1, 5, 5], [2, 3, 4], [3, 4, 5], [4, 5, 5]]


def test_texts_and_padding_follow_the_lengths(packing, tokens):
    assert packing.texts.bincount().tolist() == LENGTHS.tolist()
    padded = packing.padded(tokens)
    assert torch.equal(padded[packing.mask], tokens)
    assert not padded[~packing.mask].any()


def test_groups_of_similar_length_hold_every_token_once(packing):
    groups = packing.similar()
    assert [own.sizes for _, own in groups] == [[6, 5], [3, 3], [1]]
    places = torch.cat([places for places, _ in groups])
    assert places.tolist() == [*range(4, 10), *range(13, 18), *range(3), *range(10, 13), 3]


def test_an_inverse_undoes_its_order(packing, tokens):
    assert torch.equal(tokens[packing.behind][inverse(packing.behind)], tokens)


@pytest.mark.parametrize("lengths", [[], [2, 0]])
def test_texts_without_tokens_are_refused(lengths):
    with pytest.raises(ValueError, match="without tokens"):
        Packing(torch.tensor(lengths, dtype=torch.long))
