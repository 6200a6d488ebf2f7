"""The BiLSTMs against torch's own, packed, values and gradients."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from xlrepro.nn.recurrent import BiLSTM, PackedBiLSTM, Packing

pytestmark = pytest.mark.usefixtures("double_precision")


def random_batch(batch=4, length=7, dim=5):
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, length + 1, (batch,), generator=generator)
    lengths[0] = length
    x = torch.randn(batch, length, dim, generator=generator)
    return x, torch.arange(length) < lengths[:, None]


def torch_twin(encoder, input_dim, layers):
    """Copy the weights into torch's bidirectional LSTM."""
    how = {"batch_first": True, "bidirectional": True}
    twin = torch.nn.LSTM(input_dim, encoder.output_dim // 2, layers, **how)
    for layer in range(layers):
        for suffix, ours in (("", encoder.forwards[layer]), ("_reverse", encoder.backwards[layer])):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                target = getattr(twin, f"{name}_l{layer}{suffix}")
                target.data.copy_(getattr(ours, f"{name}_l0"))
    return twin


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_outputs_equal_torch_packed(layers):
    x, mask = random_batch()
    encoder = BiLSTM(5, 6, layers, dropout=0.3).eval()
    packed = pack_padded_sequence(x, mask.sum(1), batch_first=True, enforce_sorted=False)
    states, _ = torch_twin(encoder, 5, layers)(packed)
    expected, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
    found = encoder(x.masked_fill(~mask.unsqueeze(-1), float("nan")), mask)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


def test_dropout_takes_its_share_of_a_layers_output():
    torch.manual_seed(0)
    x, mask = torch.ones(50, 8, 5), torch.ones(50, 8, dtype=torch.bool)
    zeros = BiLSTM(5, 20, 1, dropout=0.3)(x, mask) == 0
    assert float(zeros.double().mean()) == pytest.approx(0.3, abs=0.02)


LENGTHS = torch.tensor([3, 1, 6, 3, 5])


@pytest.fixture
def packing():
    return Packing(LENGTHS)


@pytest.fixture
def tokens():
    torch.manual_seed(0)
    return torch.randn(int(LENGTHS.sum()), 7, dtype=torch.float64)


def torchs(layer, tokens, packing):
    padded = packing.padded(tokens)
    packed = pack_padded_sequence(padded, LENGTHS, batch_first=True, enforce_sorted=False)
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
