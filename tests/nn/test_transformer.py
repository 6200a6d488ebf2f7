"""The Transformer encoders: parity, padding, order, gradients, seeds."""

import itertools
from functools import partial

import pytest
import torch

from xlrepro.errors import DataError, SettingsError
from xlrepro.nn.transformer import (
    LearnedPositions,
    RelativePositions,
    SinusoidalPositions,
    TransformerEncoder,
    TransformerLayer,
    sinusoidal_table,
)

pytestmark = pytest.mark.usefixtures("double_precision")

POSITIONS = {
    "sinusoidal": SinusoidalPositions,
    "learned": LearnedPositions,
    "relative": partial(RelativePositions, max_distance=2),
    "none": None,
}
KERNELS = (None, 1, 2, 3, 4, 5)


def build(positions="none", kernel_size=3, input_dim=5, dim=8, **options):
    torch.manual_seed(0)
    options = {"heads": 2, "layers": 2, "ff_dim": 16, "dropout": 0.0} | options
    encoder = TransformerEncoder(
        input_dim, dim, kernel_size=kernel_size, positions=POSITIONS[positions], **options
    )
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


@pytest.mark.parametrize("positions", POSITIONS)
def test_padding_does_not_change_gradients(positions):
    encoder = build(positions)
    x, mask = random_batch()
    wider = torch.nn.functional.pad(x, (0, 0, 0, 4), value=float("nan"))
    longer = torch.nn.functional.pad(mask, (0, 4), value=False)
    for a, b in zip(
        torch.autograd.grad(encoder(x, mask).square().sum(), list(encoder.parameters())),
        torch.autograd.grad(encoder(wider, longer).square().sum(), list(encoder.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel_size", [None, 1])
def test_without_order_a_permutation_of_tokens_permutes_outputs(kernel_size):
    encoder = build("none", kernel_size)
    x, mask = torch.randn(2, 6, 5), torch.ones(2, 6, dtype=torch.bool)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(
        encoder(x[:, order], mask), encoder(x, mask)[:, order], rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize(
    ("positions", "kernel_size"),
    [("sinusoidal", 1), ("learned", 1), ("relative", 1), ("none", 3), ("none", 2)],
)
def test_with_order_a_permutation_of_tokens_changes_outputs(positions, kernel_size):
    encoder = build(positions, kernel_size)
    x, mask = torch.randn(2, 6, 5), torch.ones(2, 6, dtype=torch.bool)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    difference = encoder(x[:, order], mask) - encoder(x, mask)[:, order]
    assert difference.abs().max() > 1e-2


def test_relative_positions_do_not_know_where_the_sentence_begins():
    """Same distances, same outputs: reversing a sentence reverses the outputs (no sign)."""
    encoder = build("relative", 1)
    x, mask = torch.randn(1, 6, 5), torch.ones(1, 6, dtype=torch.bool)
    torch.testing.assert_close(
        encoder(x.flip(1), mask), encoder(x, mask).flip(1), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("kernel_size", [None, 1])
def test_layer_equals_torch_encoder_layer(kernel_size):
    torch.manual_seed(0)
    ours = TransformerLayer(8, 2, 16, kernel_size, max_distance=None, dropout=0.0)
    twin = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    names = {
        "self_attn.in_proj_": ours.attention.project,
        "self_attn.out_proj.": ours.attention.output,
        "linear1.": ours.feed_forward.expand,
        "linear2.": ours.feed_forward.contract,
        "norm1.": ours.attention_norm,
        "norm2.": ours.feed_forward_norm,
    }
    state = {}
    for name, module in names.items():
        state |= {f"{name}weight": module.weight, f"{name}bias": module.bias}
    twin.load_state_dict(state)
    x, mask = random_batch(8)
    expected = twin(x, src_key_padding_mask=~mask)
    torch.testing.assert_close(ours(x, mask)[mask], expected[mask], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("kernel_size", [None, 3])
def test_gradients_equal_finite_differences(positions, kernel_size):
    encoder = build(positions, kernel_size, input_dim=3, dim=4, ff_dim=6, layers=1).double()
    x, mask = random_batch(3)
    x = x[:, :4].double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: encoder(x, mask[:, :4]), (x,))
    parameters = dict(encoder.named_parameters())

    def outputs(*values):
        chosen = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(encoder, chosen, (x.detach(), mask[:, :4]))

    assert torch.autograd.gradcheck(outputs, tuple(parameters.values()))


def test_the_input_map_is_there_only_where_widths_differ():
    assert isinstance(build(input_dim=8, dim=8).project, torch.nn.Identity)
    assert build(input_dim=5, dim=8).project.weight.shape == (8, 5)


@pytest.mark.parametrize("positions", POSITIONS)
def test_weights_and_dropout_follow_the_seed(positions):
    x, mask = random_batch()

    def run(seed):
        torch.manual_seed(seed)
        return TransformerEncoder(5, 8, 2, 1, 16, 3, POSITIONS[positions], dropout=0.5)(x, mask)

    assert torch.equal(run(1), run(1))
    assert not torch.equal(run(1), run(2))


def test_dropout_is_off_in_evaluation():
    encoder = build(dropout=0.5).eval()
    x, mask = random_batch()
    assert torch.equal(encoder(x, mask), encoder(x, mask))
    assert not torch.equal(encoder.train()(x, mask), encoder(x, mask))


def test_input_is_not_changed():
    x, mask = random_batch()
    before = x.clone()
    build("sinusoidal")(x, mask)
    assert torch.equal(x, before)


def test_sinusoidal_table_by_hand():
    table = sinusoidal_table(3, 4)
    expected = [0.9092974, -0.4161468, 0.0199987, 0.9998000]  # sin 2, cos 2, sin 0.02, cos 0.02
    assert table[2].tolist() == pytest.approx(expected, abs=1e-6)
    assert sinusoidal_table(2, 5).shape == (2, 5)


def test_sinusoidal_positions_have_no_longest_sentence():
    x, mask = torch.zeros(1, 700, 8), torch.ones(1, 700, dtype=torch.bool)
    encoder = build("sinusoidal", input_dim=8)
    torch.testing.assert_close(encoder.positions(x)[0], sinusoidal_table(700, 8))
    assert encoder(x, mask).shape == (1, 700, 8)


def test_learned_positions_refuse_a_longer_sentence():
    positions = LearnedPositions(5, max_positions=6)
    with pytest.raises(DataError, match="7 tokens is longer than the 6 learned positions"):
        positions(random_batch()[0])


def test_learned_positions_begin_with_the_given_table():
    table = torch.randn(9, 8)
    encoder = TransformerEncoder(8, 8, 2, 1, 16, positions=partial(LearnedPositions, table=table))
    assert torch.equal(encoder.positions(torch.zeros(1, 9, 8))[0], table)
    assert encoder.positions.table.requires_grad


def test_frozen_positions_are_not_trained():
    table = torch.randn(9, 8)
    frozen = partial(LearnedPositions, table=table, frozen=True)
    encoder = TransformerEncoder(8, 8, 2, 1, 16, positions=frozen)
    x, mask = random_batch(8)
    encoder(x, mask).square().sum().backward()
    assert encoder.positions.table.grad is None
    assert "positions.table" in encoder.state_dict()
    assert all(p.grad is not None for n, p in encoder.named_parameters() if "table" not in n)


def test_a_table_of_another_width_is_refused():
    with pytest.raises(SettingsError, match="the encoder is 8 wide"):
        LearnedPositions(8, table=torch.zeros(9, 7))


def test_a_negative_distance_is_refused():
    with pytest.raises(ValueError, match="max_distance must be"):
        TransformerEncoder(8, 8, 2, 1, 16, positions=partial(RelativePositions, max_distance=-1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heads": 3}, "3 heads do not divide a width of 8"),
        ({"kernel_size": 0}, "kernel_size must be 1 or more"),
    ],
)
def test_impossible_settings_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        build(**options)


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
