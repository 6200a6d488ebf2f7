"""Pooling against torch's own convolution and softmax, text by text."""

import pytest
import torch
from torch.nn import functional

from xlrepro.nn.pooling import AttentionPooling, ConvolutionPooling
from xlrepro.nn.recurrent import Packing

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


@pytest.mark.parametrize("groups", [[0, 0, 0], [0, 1, 2], [1, 1, 0]])
@pytest.mark.parametrize("bias", [0.0, 50.0, -50.0])
def test_padded_windows_equal_a_valid_convolution_over_padded_batches(convolution, groups, bias):
    # As in the authors' code: Conv2d without padding over a batch padded to at least the widest
    # window, ReLU, maximum over all windows. A high bias is found in windows of padding alone.
    torch.manual_seed(2)
    lengths, groups = torch.tensor([4, 1, 6]), torch.tensor(groups)
    tokens = torch.randn(11, 8, requires_grad=True)
    with torch.no_grad():
        for linear in convolution.maps:
            linear.bias.fill_(bias)
    padded_to = torch.stack([lengths[groups == g].max() for g in groups]).clamp(min=3)
    pooled = convolution(tokens, Packing(lengths), padded_to)
    expected = []
    for text, width_of_batch in zip(tokens.split(lengths.tolist()), padded_to.tolist()):
        padded = functional.pad(text, (0, 0, 0, width_of_batch - len(text)))
        found = []
        for width, linear in zip((2, 3), convolution.maps, strict=True):
            kernel = linear.weight.view(5, 1, width, 8)
            values = functional.conv2d(padded[None, None], kernel, linear.bias).relu()
            found.append(values.squeeze(3).amax(2)[0])
        expected.append(torch.cat(found))
    torch.testing.assert_close(pooled, torch.stack(expected))
    weights = torch.randn(3, 10)
    of = (torch.autograd.grad((p * weights).sum(), tokens) for p in (pooled, torch.stack(expected)))
    torch.testing.assert_close(*of)


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
