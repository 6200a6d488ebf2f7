"""The CharCNN against torch's convolution of each word alone, values and gradients."""

import pytest
import torch
from torch.nn import functional

from tests.nn.convolutions import by_torch, gradients
from xlrepro.nn import char_cnn
from xlrepro.nn.char_cnn import CharCNN

WIDTHS = (2, 3, 5)


@pytest.fixture
def cnn():
    torch.manual_seed(0)
    return CharCNN(characters=9, embedding_dim=6, filters=4, kernel_sizes=WIDTHS, output_dim=3)


@pytest.fixture
def words():
    generator = torch.Generator().manual_seed(1)
    found = torch.randint(1, 10, (30, 11), generator=generator)
    lengths = torch.randint(1, 12, (30,), generator=generator)
    return found * (torch.arange(11) < lengths[:, None])


@pytest.mark.parametrize("bias", [None, 0.0, 50.0, -50.0])  # a high one is found in padding alone
def test_values_and_gradients_equal_a_convolution_word_by_word(cnn, words, bias, monkeypatch):
    monkeypatch.setattr(char_cnn, "CHUNK", 7)
    if bias is not None:
        for linear in cnn.maps:
            torch.nn.init.constant_(linear.bias, bias)
    parts = [by_torch(cnn.embedding[word[word > 0] - 1], cnn.maps, WIDTHS) for word in words]
    expected = functional.relu(cnn.output(torch.stack(parts)))
    found = cnn(words)
    torch.testing.assert_close(found, expected)
    inputs = [p for linear in cnn.maps for p in linear.parameters()]
    torch.testing.assert_close(*gradients(found, expected, inputs))


def test_character_vectors_are_unit_vectors_and_fixed(cnn):
    torch.testing.assert_close(cnn.embedding.norm(dim=1), torch.ones(9))
    assert not cnn.embedding.requires_grad


def test_dropout_is_drawn_for_each_token_and_not_in_evaluation(words):
    torch.manual_seed(0)
    cnn = CharCNN(9, 6, 40, (2, 3), 30, dropout=0.5)
    twice = torch.tensor([0, 0])
    first, second = cnn.train()(words, twice)
    assert not torch.equal(first, second)
    first, second = cnn.eval()(words, twice)
    assert torch.equal(first, second)
    torch.testing.assert_close(first, cnn(words)[0])
