"""Two steps of Algorithm 1 against the plain loop: every weight, for every variant; no dropout."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.papers.man_moe.loop_variants import VariantLoop, VariantTrainer, named_as_ours
from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.papers.man_moe.training import StepStream, Trainer

pytestmark = pytest.mark.usefixtures("double_precision")


def with_a_class_each(texts):
    """Return the texts with one label each instead of one per token."""
    one = [replace(t, gold=[tags[:1] for tags in t.gold]) for t in texts.labelled]
    return replace(texts, labelled=one)


@pytest.mark.parametrize("task", ["NER", "reviews"])
@pytest.mark.parametrize("mixture", ["log", "prob"])
@pytest.mark.parametrize("detach", [True, False])
def test_two_steps_leave_every_weight_where_the_plain_loop_does(texts, mixture, detach, task):
    settings = make_settings({"mixture": mixture, "detach_gate": detach}, task=task)
    pooled = task == "reviews"
    seen = with_a_class_each(texts) if pooled else texts
    model = make_model(settings, pooled=pooled).eval()
    start = {name: p.detach().clone() for name, p in model.named_parameters()}
    loop = VariantTrainer(VariantLoop(model, detach).eval(), texts.table, settings)
    ours = Trainer(model, texts.table, settings, 3)
    stream = StepStream(seen, settings, np.random.default_rng(0))
    for _ in range(2):
        batches = next(stream)
        parts = ours.step(batches)
        total = parts["task"] + 0.2 * parts["gates"] - 0.3 * parts["language"]
        assert total == pytest.approx(loop.step(batches), abs=1e-12)
    own = dict(model.named_parameters())
    torch.testing.assert_close(own, named_as_ours(loop.model), atol=1e-10, rtol=0)
    still = [name for name in own if torch.equal(own[name], start[name])]
    assert still == ["words.char_cnn.embedding"]  # the only weights that are not to be trained
