"""The BiLSTM against torch's own, packed, and against padding."""

import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from xlrepro.nn.recurrent import BiLSTM, mirrored_steps

pytestmark = pytest.mark.usefixtures("double_precision")


def random_batch(batch=4, length=7, dim=5):
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, length + 1, (batch,), generator=generator)
    lengths[0] = length
    x = torch.randn(batch, length, dim, generator=generator)
    return x, torch.arange(length) < lengths[:, None]


def torch_twin(encoder, input_dim, layers):
    """Copy the weights into torch's bidirectional LSTM."""
    twin = torch.nn.LSTM(
        input_dim, encoder.output_dim // 2, layers, batch_first=True, bidirectional=True
    )
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
    torch.testing.assert_close(encoder(x, mask), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("garbage", [1e6, float("nan")])
def test_padding_does_not_change_outputs(garbage):
    x, mask = random_batch()
    encoder = BiLSTM(5, 6, 2, dropout=0.0)
    clean = encoder(x, mask)
    assert torch.equal(encoder(x.masked_fill(~mask.unsqueeze(-1), garbage), mask), clean)
    for row, kept, sentence in zip(clean, mask, x, strict=True):
        n = int(kept.sum())
        alone = encoder(sentence[None, :n], kept[None, :n])[0]
        torch.testing.assert_close(row[:n], alone, rtol=1e-10, atol=1e-12)
        assert row[n:].abs().sum() == 0


def test_gradients_equal_finite_differences():
    x, mask = random_batch(3, 4, 3)
    encoder = BiLSTM(3, 2, 2, dropout=0.0).double()
    x = x.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: encoder(x, mask), (x,))


def test_both_directions_see_the_whole_sentence():
    x, mask = torch.randn(1, 5, 3, requires_grad=True), torch.ones(1, 5, dtype=torch.bool)
    BiLSTM(3, 4, 1, dropout=0.0)(x, mask)[0, 2].sum().backward()
    assert (x.grad[0].abs().sum(-1) > 0).all()


def test_reversing_twice_gives_the_batch_back():
    lengths = torch.tensor([4, 1, 3])
    mirrored, column = mirrored_steps(lengths, 4), torch.arange(3)
    x = torch.arange(12).view(4, 3)
    assert x[mirrored, column][:, 2].tolist() == [8, 5, 2, 11]
    assert torch.equal(x[mirrored, column][mirrored, column], x)
