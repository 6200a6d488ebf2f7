"""The CharCNN against an embedding, torch's convolution and a maximum, values and gradients."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from xlrepro.nn import char_cnn
from xlrepro.nn.char_cnn import CharCNN


class Plain(nn.Module):
    """One word at a time, through nn.Conv1d."""

    def __init__(self, ours):
        super().__init__()
        self.ours = ours
        self.weights = nn.ParameterList(m.weight.detach().clone() for m in ours.maps)

    def forward(self, words):
        found = []
        for word in words:
            x = self.ours.embedding[word[word > 0] - 1]  # (length, dim)
            parts = []
            for width, weight, linear in zip(
                self.ours.kernel_sizes, self.weights, self.ours.maps, strict=True
            ):
                kernel = weight.view(len(weight), width, -1).transpose(1, 2)
                padded = functional.pad(x.T[None], (0, width - 1))
                parts.append(functional.conv1d(padded, kernel, linear.bias).relu().amax(2)[0])
            found.append(torch.cat(parts))
        return functional.relu(self.ours.output(torch.stack(found)))


@pytest.fixture
def cnn():
    torch.manual_seed(0)
    return CharCNN(characters=9, embedding_dim=6, filters=4, kernel_sizes=(2, 3, 5), output_dim=3)


@pytest.fixture
def words():
    generator = torch.Generator().manual_seed(1)
    found = torch.randint(1, 10, (30, 11), generator=generator)
    lengths = torch.randint(1, 12, (30,), generator=generator)
    return found * (torch.arange(11) < lengths[:, None])


def test_values_equal_a_convolution_word_by_word(cnn, words, monkeypatch):
    monkeypatch.setattr(char_cnn, "CHUNK", 7)
    torch.testing.assert_close(cnn(words), Plain(cnn)(words))


def test_gradients_equal_those_of_a_convolution(cnn, words):
    plain = Plain(cnn)
    weights = torch.randn(30, 3)
    (plain(words) * weights).sum().backward()
    expected = [p.grad for p in plain.weights] + [cnn.maps[0].bias.grad.clone()]
    cnn.zero_grad()
    (cnn(words) * weights).sum().backward()
    found = [m.weight.grad for m in cnn.maps] + [cnn.maps[0].bias.grad]
    torch.testing.assert_close(found, expected)


def test_character_vectors_are_unit_vectors_and_fixed_unless_asked(cnn):
    torch.testing.assert_close(cnn.embedding.norm(dim=1), torch.ones(9))
    assert not cnn.embedding.requires_grad
    assert CharCNN(9, trainable=True).embedding.requires_grad


@pytest.mark.parametrize("bias", [0.0, 50.0, -50.0])
def test_padded_windows_equal_a_valid_convolution_over_padded_words(cnn, words, bias, monkeypatch):
    # As in the authors' code: Conv2d without padding over words padded to the longest of their
    # batch, at least the widest window; ReLU, maximum over all windows, linear, ReLU.
    monkeypatch.setattr(char_cnn, "CHUNK", 7)
    with torch.no_grad():
        for linear in cnn.maps:
            linear.bias.fill_(bias)
    lengths = (words > 0).sum(1)
    half = torch.arange(len(words)) % 2  # two batches
    longest = torch.stack([lengths[half == h].max() for h in half])
    longest[lengths < 3] = 5  # and some words of a batch of short ones
    vectors = functional.pad(cnn.embedding, (0, 0, 1, 0))
    expected = []
    for word, width_of_batch in zip(words, longest.tolist(), strict=True):
        padded = vectors[functional.pad(word, (0, 5))[:width_of_batch]]
        found = []
        for width, linear in zip((2, 3, 5), cnn.maps, strict=True):
            kernel = linear.weight.view(4, 1, width, 6)
            values = functional.conv2d(padded[None, None], kernel, linear.bias).relu()
            found.append(values.squeeze(3).amax(2)[0])
        expected.append(torch.cat(found))
    plain = functional.relu(cnn.output(torch.stack(expected)))
    ours = cnn(words, padded_to=longest)
    torch.testing.assert_close(ours, plain)
    weights = torch.randn(30, 3)
    of = [
        torch.autograd.grad((x * weights).sum(), [m.weight for m in cnn.maps], retain_graph=True)
        for x in (ours, plain)
    ]
    torch.testing.assert_close(*of)


def test_dropout_is_drawn_for_each_token_and_not_in_evaluation(words):
    torch.manual_seed(0)
    cnn = CharCNN(9, 6, 40, (2, 3), 30, dropout=0.5)
    twice = torch.tensor([0, 0])
    first, second = cnn.train()(words, twice)
    assert not torch.equal(first, second)
    first, second = cnn.eval()(words, twice)
    assert torch.equal(first, second)
    torch.testing.assert_close(first, cnn(words)[0])
