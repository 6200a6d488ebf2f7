"""The feed-forward layer against torch's own convolution."""

import pytest
import torch

from xlrepro.nn.transformer import FeedForward


def by_convolution(layer, x):
    """Run torch's Conv1d with the layer's weights over one sentence."""
    h = layer.kernel_size
    weight = layer.expand.weight.view(-1, h, x.shape[-1]).transpose(1, 2)
    padded = torch.nn.functional.pad(x.T[None], ((h - 1) // 2, h - 1 - (h - 1) // 2))
    hidden = torch.nn.functional.conv1d(padded, weight, layer.expand.bias).relu()
    return layer.contract(hidden[0].T)


@pytest.mark.parametrize("kernel_size", [1, 2, 3, 4, 5, 9, 10])
def test_layer_equals_a_convolution(kernel_size):
    layer = FeedForward(4, 6, kernel_size).double()
    x = torch.randn(3, 7, 4, dtype=torch.float64)
    mask = torch.arange(7) < torch.tensor([7, 4, 1])[:, None]
    out = layer(x, mask)
    for row, sentence, n in zip(out, x, mask.sum(1).tolist(), strict=True):
        torch.testing.assert_close(row[:n], by_convolution(layer, sentence[:n]))


@pytest.mark.parametrize(
    ("kernel_size", "window"),
    [(None, [3]), (1, [3]), (2, [3, 4]), (3, [2, 3, 4]), (4, [2, 3, 4, 5]), (5, [1, 2, 3, 4, 5])],
)
def test_window_of_a_token(kernel_size, window):
    x = torch.randn(1, 7, 4, requires_grad=True)
    layer = FeedForward(4, 64, kernel_size)
    layer(x, torch.ones(1, 7, dtype=torch.bool))[0, 3].sum().backward()
    assert x.grad[0].abs().sum(-1).nonzero().flatten().tolist() == window
