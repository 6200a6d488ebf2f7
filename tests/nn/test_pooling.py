"""Pooling against torch's own convolution and softmax, text by text."""

import pytest
import torch

from tests.nn.convolutions import by_torch, gradients
from xlrepro.nn.pooling import AttentionPooling, ConvolutionPooling
from xlrepro.nn.recurrent import Packing

LENGTHS = [4, 1, 6]
WIDTHS = (2, 3)


# A high bias is found in padding alone; windows with the same value share the gradient.
@pytest.mark.parametrize(("bias", "fill"), [(0.0, torch.randn), (50.0, torch.randn),
                                            (-50.0, torch.randn), (0.0, torch.ones)])  # fmt: skip
def test_values_and_gradients_equal_a_convolution_text_by_text(bias, fill):
    torch.manual_seed(1)
    pooling, tokens = ConvolutionPooling(8, 5, WIDTHS), fill(11, 8, requires_grad=True)
    for linear in pooling.maps:
        torch.nn.init.constant_(linear.bias, bias)
    found = pooling(tokens, Packing(torch.tensor(LENGTHS)))
    texts = tokens.split(LENGTHS)
    expected = torch.stack([by_torch(text, pooling.maps, WIDTHS) for text in texts])
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(*gradients(found, expected, tokens))


def test_attention_equals_a_softmax_over_each_text_alone():
    torch.manual_seed(0)
    x, pooling = torch.randn(3, 6, 8), AttentionPooling(8)
    mask = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
    alone = [(text @ pooling.vector).softmax(0) @ text for text in x[mask].split(LENGTHS)]
    padded = x.masked_fill(~mask.unsqueeze(-1), float("nan"))
    torch.testing.assert_close(pooling(padded, mask), torch.stack(alone))
