"""Steps of Algorithm 1 against the plain loop, for every variant; no dropout.

A loss depends on all weights, so that of a later step shows what the steps before have done.
"""

from dataclasses import replace

import pytest
import torch

from tests.papers.man_moe.loop_variants import VariantLoop, VariantTrainer
from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.papers.man_moe.training import TransferLearner

pytestmark = pytest.mark.usefixtures("double_precision")


def with_a_class_each(texts):
    """Return the texts with one label each instead of one per token."""
    one = [replace(t, gold=[tags[:1] for tags in t.gold]) for t in texts.labelled]
    return replace(texts, labelled=one)


@pytest.mark.parametrize("task", ["NER", "reviews"])
@pytest.mark.parametrize("mixture", ["log", "prob"])
@pytest.mark.parametrize("detach", [True, False])
def test_losses_of_four_steps_are_those_of_the_plain_loop(texts, mixture, detach, task):
    settings = make_settings({"mixture": mixture, "detach_gate": detach}, task=task)
    pooled = task == "reviews"
    seen = with_a_class_each(texts) if pooled else texts
    model = make_model(settings, pooled=pooled).eval()
    start = {name: p.detach().clone() for name, p in model.named_parameters()}
    loop = VariantTrainer(VariantLoop(model, detach).eval(), texts.table, settings)
    ours = TransferLearner(model, seen, settings, 0, lambda: 0.0)
    for _ in range(4):
        batches = ours.drawn()
        parts = ours.step(batches).loss
        total = parts["task"] + 0.2 * parts["gates"] - 0.3 * parts["language"]
        assert total == pytest.approx(loop.step(batches), abs=1e-10)
    still = [name for name, p in model.named_parameters() if torch.equal(p, start[name])]
    assert still == ["words.char_cnn.embedding"]  # the only weights that are not to be trained
