"""Algorithm 1: against a plain loop, and what each step may change."""

from dataclasses import replace

import pytest
import torch

from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.papers.man_moe.training import TransferLearner, schedule
from xlrepro.training.loop import fit

pytestmark = pytest.mark.usefixtures("double_precision")


def snapshot(parameters):
    return [p.detach().clone() for p in parameters]


def trained(model, texts, settings, seed, dev_score):
    learner = TransferLearner(model, texts, settings, seed, dev_score)
    return fit(learner, learner.rounds, settings.patience)


def test_a_step_sees_every_language_in_every_part(texts):
    settings = make_settings()
    batches = TransferLearner(make_model(settings), texts, settings, 0, lambda: 0.0).drawn()
    assert batches.labelled.languages.unique().tolist() == [0, 1, 2]
    for batch in (batches.unlabelled, *batches.critics):
        assert batch.languages.unique().tolist() == [0, 1, 2, 3]
        assert len(batch.gold) == 0


def test_an_epoch_has_the_geometric_mean_of_the_sources_batches(texts):
    longer = replace(texts.labelled[0], rows=texts.labelled[0].rows * 4)
    uneven = replace(texts, labelled=[longer, *texts.labelled[1:]])
    assert schedule(uneven, make_settings())[1] == round((8 * 2 * 2) ** (1 / 3))


def test_epochs_are_added_until_the_iterations_suffice(texts):
    settings = make_settings(min_iterations=7)  # 2 an epoch
    curve = trained(make_model(settings), texts, settings, 0, lambda: 0.0)
    assert curve.iterations == 8
    assert len(curve.dev_scores) == 4


def test_dev_may_be_looked_at_between_epochs_until_patience_ends(texts):
    settings = make_settings(evaluate_every=3, max_iterations=14, patience=2)
    scores = iter([1.0, 2.0, 1.5, 2.0, 9.0])
    curve = trained(make_model(settings), texts, settings, 0, lambda: next(scores))
    assert (curve.iterations, curve.best_epoch, curve.stopped) == (12, 1, True)
    without = settings.model_copy(update={"patience": None})
    curve = trained(make_model(settings), texts, without, 0, lambda: 0.0)
    assert (curve.iterations, curve.stopped) == (15, False)  # 14, rounded up to whole looks


def test_the_order_of_texts_follows_from_the_seed(texts):
    settings, found = make_settings(), []
    for seed in (0, 0, 1):
        torch.manual_seed(0)
        model = make_model(settings, 0)
        trained(model, texts, settings, seed, lambda: 0.0)
        found.append(torch.cat([p.flatten() for p in snapshot(model.parameters())]))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
