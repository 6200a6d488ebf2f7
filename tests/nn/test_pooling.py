"""Pooling against torch's own convolution and softmax, text by text."""

import pytest
import torch
from torch.nn import functional

from xlrepro.nn.packing import Packing
from xlrepro.nn.pooling import AttentionPooling, ConvolutionPooling

LENGTHS = (4, 1, 6)


@pytest.fixture
def texts():
    torch.manual_seed(0)
    mask = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
    return torch.randn(3, 6, 8), mask


@pytest.fixture
def convolution():
    torch.manual_seed(1)
    return ConvolutionPooling(8, filters=5, kernel_sizes=(2, 3))


def test_convolution_equals_torchs_on_each_text_alone(texts, convolution):
    x, mask = texts
    pooled = convolution(x[mask], Packing(mask.sum(1)))
    for i, length in enumerate(LENGTHS):
        found = []
        for width, linear in zip((2, 3), convolution.maps, strict=True):
            weight = linear.weight.view(5, width, 8).transpose(1, 2)
            alone = functional.pad(x[i, :length].T[None], (0, width - 1))
            found.append(functional.conv1d(alone, weight, linear.bias).relu().amax(2)[0])
        torch.testing.assert_close(pooled[i], torch.cat(found))


@pytest.mark.parametrize("equal", [False, True])
def test_gradients_equal_those_of_a_padded_maximum(texts, convolution, equal):
    x, mask = texts
    tokens = x[mask]
    if equal:  # windows with the same value share the gradient
        tokens = torch.ones_like(tokens)
    weights = torch.randn(3, 10)
    found, expected = tokens.clone().requires_grad_(), tokens.clone().requires_grad_()
    (convolution(found, Packing(mask.sum(1))) * weights).sum().backward()
    padded = torch.zeros_like(x)
    padded[mask] = expected
    parts = []
    for width, linear in zip((2, 3), convolution.maps, strict=True):
        weight = linear.weight.view(5, width, 8).transpose(1, 2)
        windows = functional.pad(padded.transpose(1, 2), (0, width - 1))
        values = functional.conv1d(windows, weight, linear.bias)
        parts.append(values.masked_fill(~mask[:, None], -torch.inf).amax(2))
    (torch.cat(parts, -1).relu() * weights).sum().backward()
    torch.testing.assert_close(found.grad, expected.grad)


def test_with_all_windows_padding_is_seen(texts, convolution):
    x, mask = texts
    packing = Packing(mask.sum(1))
    tokens = x.abs()[mask]
    with torch.no_grad():
        for linear in convolution.maps:
            linear.bias.fill_(50.0)
            linear.weight.mul_(-1).abs_().neg_()
    shown = convolution(tokens, packing, all_windows=True)
    # A window of zeros keeps the bias, which is more than any window with a token has.
    torch.testing.assert_close(shown[:2], torch.full((2, 10), 50.0))
    # The longest text has no padding.
    torch.testing.assert_close(shown[2], convolution(tokens, packing)[2])
    assert bool((convolution(tokens, packing)[:2] < 50).all())


def test_attention_is_a_mean_weighted_by_the_dot_product():
    pooling = AttentionPooling(2)
    with torch.no_grad():
        pooling.vector.copy_(torch.tensor([1.0, 0.0]))
    x = torch.tensor([[[0.0, 2.0], [0.0, 4.0]]])  # equal scores
    torch.testing.assert_close(
        pooling(x, torch.ones(1, 2, dtype=torch.bool)), torch.tensor([[0.0, 3.0]])
    )


def test_attention_equals_masking_after_the_softmax(texts):
    x, mask = texts
    pooling = AttentionPooling(8)
    weights = (x @ pooling.vector).softmax(1) * mask
    weights = weights / weights.sum(1, keepdim=True)
    torch.testing.assert_close(pooling(x, mask), (weights.unsqueeze(-1) * x).sum(1))


def test_attention_ignores_what_stands_at_padding(texts):
    x, mask = texts
    pooling = AttentionPooling(8)
    changed = x.masked_fill(~mask.unsqueeze(-1), float("nan"))
    torch.testing.assert_close(pooling(changed, mask), pooling(x, mask))
