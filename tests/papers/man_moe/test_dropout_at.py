"""Where dropout stands, against the order of layers in the authors' code, on the same weights.

In dropout's place stands a function that can be told from none and from itself elsewhere.
"""

import pytest
import torch
from torch.nn import functional

from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.nn.dropout import Dropout
from xlrepro.nn.recurrent import Packing

pytestmark = pytest.mark.usefixtures("double_precision")

LENGTHS = (4, 6)


def marked(x):
    return 3 * x + 1


@pytest.fixture(autouse=True)
def marks(monkeypatch):
    """Put the mark where dropout is drawn."""

    def forward(self, x):
        return marked(x) if self.p else x

    monkeypatch.setattr(Dropout, "forward", forward)


def model_with(**more):
    model = {"dropout": 0.5, **more}
    return make_model(make_settings(model)).train()


def flat(dim):
    torch.manual_seed(1)
    return torch.randn(sum(LENGTHS), dim), Packing(torch.tensor(LENGTHS))


def test_dropout_in_an_extractor_stands_before_each_layer():
    f = model_with().shared
    x, packing = flat(f.layers[0].lstm.input_size)
    first, second = f.layers
    expected = second(marked(first(marked(x), packing)), packing)
    torch.testing.assert_close(f(x, packing), expected)


def test_dropout_in_the_discriminator_stands_where_the_code_has_it():
    # The code (models.py, CNNSequencePooling and LanguageDiscriminator): pooled, dropout, linear,
    # ReLU, dropout, linear, ReLU, linear.
    d = model_with().discriminator
    x, packing = flat(8)
    first, hidden, last = (d.classify[i] for i in (0, 3, 5))
    pooled = marked(d.pool(x, packing))
    vector = functional.relu(hidden(marked(functional.relu(first(pooled)))))
    torch.testing.assert_close(d(x, packing), last(vector).log_softmax(-1))


@pytest.mark.parametrize("experts", [True, False])
def test_dropout_in_the_predictor_stands_where_the_code_has_it(experts):
    # The code (MlpTagger, SpMlpTagger with one layer): dropout, linear, ReLU, linear.
    c = model_with(tagger_experts=experts).predictor
    x, packing = flat(c.experts.inner.shape[2])
    logits = []
    for i in range(c.experts.experts):
        hidden = functional.relu(marked(x) @ c.experts.inner[i].T + c.experts.inner_bias[i])
        logits.append((hidden @ c.experts.outer[i].T + c.experts.outer_bias[i]).log_softmax(-1))
    if not experts:
        torch.testing.assert_close(c(x, packing)[0], logits[0])
        return
    weights = c.gate(x).softmax(-1)
    mixed = sum(weights[:, i : i + 1] * one for i, one in enumerate(logits))
    torch.testing.assert_close(c(x, packing)[0], mixed)
