"""Steps of Algorithm 1 against the plain loop of the benchmark; no dropout.

A loss depends on all weights, so that of a later step shows what the steps before have done.
"""

import pytest
import torch

from benchmarks.man_moe_loop import LoopManMoe, LoopTrainer
from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.nn.mixture_of_experts import mix_log_probabilities
from xlrepro.papers.man_moe.training import TransferLearner

pytestmark = pytest.mark.usefixtures("double_precision")


def test_losses_of_four_steps_are_those_of_the_plain_loop(texts):
    settings = make_settings()
    model = make_model(settings).eval()
    start = {name: p.detach().clone() for name, p in model.named_parameters()}
    loop = LoopTrainer(LoopManMoe(model, 0.0).eval(), texts.table, settings)
    ours = TransferLearner(model, texts, settings, 0, lambda: 0.0)
    for _ in range(4):
        batches = ours.drawn()
        parts = ours.step(batches).loss
        total = parts["task"] + 0.2 * parts["gates"] - 0.3 * parts["language"]
        assert total == pytest.approx(loop.step(batches), abs=1e-10)
    still = [name for name, p in model.named_parameters() if torch.equal(p, start[name])]
    assert still == ["words.char_cnn.embedding"]  # the only weights that are not to be trained


def test_a_mixture_of_probabilities_is_their_weighted_mean():
    logits, gates = torch.randn(4, 3, 5), torch.randn(4, 3)
    found = mix_log_probabilities(logits, gates, "prob")
    mean = torch.einsum("ne,nec->nc", gates.softmax(-1), logits.softmax(-1))
    torch.testing.assert_close(found, mean.log())
