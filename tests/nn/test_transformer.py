"""The Transformer encoders: attention by a loop, torch's layer and convolution, padding, order."""

import itertools
import math

import pytest
import torch

from xlrepro.errors import DataError
from xlrepro.nn import transformer

pytestmark = pytest.mark.usefixtures("double_precision")

POSITIONS = {"sinusoidal": transformer.SinusoidalPositions, "learned": transformer.LearnedPositions}
POSITIONS |= dict.fromkeys(("relative", "none"))
KERNELS = (None, 1, 2, 3, 4, 5)


def build(positions="none", kernel_size=3, input_dim=5, dim=8, **options):
    torch.manual_seed(0)
    options = {"heads": 2, "layers": 2, "ff_dim": 16, "dropout": 0.0} | options
    options |= {"positions": POSITIONS[positions], "kernel_size": kernel_size}
    options["max_distance"] = 2 if positions == "relative" else None
    encoder = transformer.TransformerEncoder(input_dim, dim, **options)
    with torch.no_grad():  # biases and norms away from 0 and 1, so that no leak through them hides
        for parameter in encoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return encoder


def random_batch(dim=5):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(3, 7, dim, generator=generator)
    return x, torch.arange(7) < torch.tensor([7, 4, 1])[:, None]


@pytest.mark.parametrize(("positions", "kernel_size"), itertools.product(POSITIONS, KERNELS))
def test_padding_does_not_change_outputs(positions, kernel_size):
    encoder = build(positions, kernel_size)
    x, mask = random_batch()
    clean = encoder(x, mask)
    garbage = x.masked_fill(~mask.unsqueeze(-1), float("nan"))
    assert torch.equal(encoder(garbage, mask), clean)
    for row, kept, sentence in zip(clean, mask, x, strict=True):
        n = int(kept.sum())
        alone = encoder(sentence[None, :n], kept[None, :n])[0]
        torch.testing.assert_close(row[:n], alone, rtol=1e-5, atol=1e-5)
        assert row[n:].abs().sum() == 0


@pytest.mark.parametrize(
    ("positions", "kernel_size", "sees_order"),
    [("none", None, False), ("none", 1, False), ("none", 2, True), ("none", 3, True),
     ("sinusoidal", 1, True), ("learned", 1, True), ("relative", 1, True)],
)  # fmt: skip
def test_permuted_tokens_permute_outputs_where_no_order_is_seen(positions, kernel_size, sees_order):
    encoder, order = build(positions, kernel_size), torch.tensor([3, 0, 5, 1, 4, 2])
    x, mask = torch.randn(2, 6, 5), torch.ones(2, 6, dtype=torch.bool)
    difference = (encoder(x[:, order], mask) - encoder(x, mask)[:, order]).abs().max()
    assert difference > 1e-2 if sees_order else difference < 1e-10


@pytest.mark.parametrize("kernel_size", [None, 1])
def test_layer_equals_torch_encoder_layer(kernel_size):
    torch.manual_seed(0)
    ours = transformer.TransformerLayer(8, 2, 16, kernel_size, max_distance=None, dropout=0.0)
    twin = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    names = {
        "self_attn.in_proj_": ours.attention.project, "self_attn.out_proj.": ours.attention.output,
        "linear1.": ours.feed_forward.expand, "linear2.": ours.feed_forward.contract,
        "norm1.": ours.attention_norm, "norm2.": ours.feed_forward_norm,
    }  # fmt: skip
    state = {}
    for name, module in names.items():
        state |= {f"{name}weight": module.weight, f"{name}bias": module.bias}
    twin.load_state_dict(state)
    x, mask = random_batch(8)
    expected = twin(x, src_key_padding_mask=~mask)
    torch.testing.assert_close(ours(x, mask)[mask], expected[mask], rtol=1e-5, atol=1e-5)


def test_sinusoidal_table_by_hand():
    table = transformer.sinusoidal_table(3, 4)
    expected = [0.9092974, -0.4161468, 0.0199987, 0.9998000]  # sin 2, cos 2, sin 0.02, cos 0.02
    assert table[2].tolist() == pytest.approx(expected, abs=1e-6)
    assert transformer.sinusoidal_table(2, 5).shape == (2, 5)


def test_sinusoidal_positions_have_no_longest_sentence():
    x, mask = torch.zeros(1, 700, 8), torch.ones(1, 700, dtype=torch.bool)
    encoder = build("sinusoidal", input_dim=8)
    torch.testing.assert_close(encoder.positions(x)[0], transformer.sinusoidal_table(700, 8))
    assert encoder(x, mask).shape == (1, 700, 8)


def test_learned_positions_refuse_a_longer_sentence():
    positions = transformer.LearnedPositions(5, torch.zeros(6, 5))
    with pytest.raises(DataError, match="7 tokens is longer than the 6 learned positions"):
        positions(random_batch()[0])


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_dropout_falls_on_the_input_after_its_positions(positions):
    encoder = build(positions, dropout=0.5, layers=0, input_dim=8).train()
    torch.manual_seed(3)
    states = encoder(*random_batch(8))
    assert 0.3 < float((states[0] == 0).float().mean()) < 0.7


@pytest.mark.parametrize("positions", ["relative", "none"])
def test_dropout_leaves_the_weights_of_attention_alone(positions):
    """Each part's output is dropped, in RPT too, and nothing within attention (W92)."""
    encoder = build(positions, dropout=0.5).train()
    x, mask = random_batch(8)
    for layer in encoder.layers:
        once, again = layer.attention(x, mask)[mask], layer.attention(x, mask)[mask]
        assert torch.equal(once, again)
        assert not torch.equal(layer(x, mask), layer(x, mask))


def by_loop(attention, x, mask):
    """Compute attention token by token and head by head, as the equations stand in the paper."""
    dim, width = x.shape[-1], attention.head_dim
    w_q, w_k, w_v = attention.project.weight.split(dim)
    b_q, b_k, b_v = attention.project.bias.split(dim)
    out = torch.zeros_like(x)
    for sentence, n in enumerate(mask.sum(1).tolist()):
        tokens = x[sentence, :n]
        for head in range(attention.heads):
            part = slice(head * width, (head + 1) * width)
            q = tokens @ w_q[part].T + b_q[part]
            k = tokens @ w_k[part].T + b_k[part]
            v = tokens @ w_v[part].T + b_v[part]
            for i in range(n):
                scores, values = [], []
                for j in range(n):
                    key, value = k[j], v[j]
                    if attention.max_distance is not None:
                        r = min(abs(i - j), attention.max_distance)
                        key = key + attention.distance_keys[r]
                        value = value + attention.distance_values[r]
                    scores.append(q[i] @ key / math.sqrt(width))
                    values.append(value)
                weights = torch.stack(scores).softmax(0)
                mixed = sum(w * value for w, value in zip(weights, values, strict=True))
                out[sentence, i, part] = mixed
    return out @ attention.output.weight.T + attention.output.bias


@pytest.mark.parametrize("max_distance", [None, 0, 1, 3, 10])
def test_attention_equals_an_explicit_loop(max_distance):
    torch.manual_seed(0)
    attention = transformer.SelfAttention(8, 2, max_distance).double()
    x = torch.randn(3, 6, 8, dtype=torch.float64)
    mask = torch.arange(6) < torch.tensor([6, 4, 1])[:, None]
    found = attention(x, mask)[mask]
    torch.testing.assert_close(found, by_loop(attention, x, mask)[mask], rtol=1e-10, atol=1e-10)


def by_convolution(layer, x):
    """Run torch's Conv1d with the layer's weights over one sentence."""
    h = layer.kernel_size
    weight = layer.expand.weight.view(-1, h, x.shape[-1]).transpose(1, 2)
    padded = torch.nn.functional.pad(x.T[None], ((h - 1) // 2, h - 1 - (h - 1) // 2))
    hidden = torch.nn.functional.conv1d(padded, weight, layer.expand.bias).relu()
    return layer.contract(hidden[0].T)


@pytest.mark.parametrize("kernel_size", [1, 2, 3, 4, 5, 9, 10])
def test_layer_equals_a_convolution(kernel_size):
    layer = transformer.FeedForward(4, 6, kernel_size).double()
    x = torch.randn(3, 7, 4, dtype=torch.float64)
    mask = torch.arange(7) < torch.tensor([7, 4, 1])[:, None]
    out = layer(x, mask)
    for row, sentence, n in zip(out, x, mask.sum(1).tolist(), strict=True):
        torch.testing.assert_close(row[:n], by_convolution(layer, sentence[:n]))
