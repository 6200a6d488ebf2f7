"""Algorithm 1: against a plain loop, and what each step may change."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.papers.man_moe.small_models import make_model, make_settings
from xlrepro.papers.man_moe.training import (
    StepStream,
    Trainer,
    TransferLearner,
    gate_losses,
    iterations_per_epoch,
)
from xlrepro.training.loop import Checkpoints, fit

pytestmark = pytest.mark.usefixtures("double_precision")


def draw(texts, settings, seed=0):
    return next(StepStream(texts, settings, np.random.default_rng(seed)))


def snapshot(parameters):
    return [p.detach().clone() for p in parameters]


def changed(before, parameters):
    return [not torch.equal(old, new) for old, new in zip(before, parameters, strict=True)]


def trained(model, texts, settings, seed, dev_score):
    learner = TransferLearner(model, texts, settings, seed, dev_score)
    return fit(learner, learner.rounds, settings.patience)


def features(trainer, batches):
    return trainer.words(batches)


def test_discriminator_steps_update_the_discriminator_alone_and_k_times(texts):
    settings = make_settings()
    model = make_model(settings)
    trainer = Trainer(model, texts.table, settings, 3)
    batches = draw(texts, settings)
    _, words = features(trainer, batches)
    before, own = snapshot(model.main_parameters()), snapshot(model.discriminator.parameters())
    trainer.discriminator_steps(batches.critics, words)
    assert len(batches.critics) == 2
    assert not any(changed(before, model.main_parameters()))
    assert any(changed(own, model.discriminator.parameters()))
    steps = {int(s["step"]) for s in trainer.critic_optimizer.state.values()}
    assert steps == {2}
    assert all(p.grad is None for p in model.main_parameters())


def test_the_main_step_leaves_the_discriminator_alone(texts):
    settings = make_settings(discriminator_steps=0)
    model = make_model(settings)
    trainer = Trainer(model, texts.table, settings, 3)
    before, rest = snapshot(model.discriminator.parameters()), snapshot(model.main_parameters())
    trainer.step(draw(texts, settings))
    assert not any(changed(before, model.discriminator.parameters()))
    assert all(p.requires_grad for p in model.discriminator.parameters())
    assert sum(changed(rest, model.main_parameters())) > 20


def test_features_are_pushed_against_the_discriminator(texts):
    # With the task's loss left out, J's gradient is -lambda1 times that of L_D.
    settings = make_settings(lambda2=0.0)
    model = make_model(settings)
    trainer = Trainer(model, texts.table, settings, 3)
    batches = draw(texts, settings)
    weight = model.shared.layers[0].lstm.weight_ih_l0

    def gradient(lambda1):
        trainer.settings = settings.model_copy(update={"lambda1": lambda1})
        loss, _ = trainer.main_loss(batches, features(trainer, batches)[0])
        return torch.autograd.grad(loss, weight)[0]

    unlabelled = batches.unlabelled
    words = model.words(unlabelled.flat, texts.table)
    shared = model.shared(words, unlabelled.packing)
    expected = torch.autograd.grad(trainer.language_loss(shared, unlabelled), weight)[0]
    torch.testing.assert_close(
        gradient(0.5) - gradient(0.0), -0.5 * expected, atol=1e-12, rtol=1e-9
    )


def test_gate_loss_is_that_of_the_expert_of_the_texts_language(texts):
    batch = draw(texts, make_settings()).labelled
    tokens = int(batch.mask.sum())
    logits = torch.randn(tokens, 3)
    of_token = [int(n) for n, size in zip(batch.languages, batch.mask.sum(1)) for _ in range(size)]
    expected = [-float(logits[i].log_softmax(-1)[n]) for i, n in enumerate(of_token)]
    torch.testing.assert_close(gate_losses(logits, batch), torch.tensor(expected))
    per_text = torch.randn(len(batch.mask), 3)
    torch.testing.assert_close(
        gate_losses(per_text, batch),
        functional.cross_entropy(per_text, batch.languages, reduction="none"),
    )


@pytest.mark.parametrize("detach", [True, False])
def test_gate_loss_reaches_the_layers_below_only_if_not_detached(texts, detach):
    settings = make_settings({"detach_gate": detach})
    model = make_model(settings)
    batch = draw(texts, settings).labelled
    words = model.words(batch.flat, texts.table)
    prediction = model.predict(words, batch.packing)
    below = model.private.extract.layers[0].lstm.weight_ih_l0
    own = model.private.gate.linear.weight
    grads = torch.autograd.grad(
        gate_losses(prediction.private_gate, batch).sum(), [own, below], allow_unused=True
    )
    assert grads[0] is not None
    assert (grads[1] is None) == detach


def test_a_step_sees_every_language_in_every_part(texts):
    batches = draw(texts, make_settings())
    assert batches.labelled.languages.unique().tolist() == [0, 1, 2]
    for batch in (batches.unlabelled, *batches.critics):
        assert batch.languages.unique().tolist() == [0, 1, 2, 3]
        assert len(batch.gold) == 0


def test_without_a_discriminator_no_text_without_labels_is_drawn(texts):
    batches = draw(texts, make_settings({"adversarial": False}))
    assert batches.unlabelled is None
    assert batches.critics == ()


def test_an_epoch_has_the_geometric_mean_of_the_sources_batches(texts):
    longer = replace(texts.labelled[0], rows=texts.labelled[0].rows * 4)
    uneven = replace(texts, labelled=[longer, *texts.labelled[1:]])
    assert iterations_per_epoch(uneven, 3) == round((8 * 2 * 2) ** (1 / 3))


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


def test_a_training_that_was_cut_off_goes_on_to_the_same_weights(texts, tmp_path):
    settings = make_settings({"dropout": 0.3}, epochs=4)
    kept = Checkpoints(tmp_path / "state.pt")

    def weights(epochs, checkpoints):
        torch.manual_seed(0)
        model = make_model(settings)
        learner = TransferLearner(model, texts, settings, 0, iter([1.0, 2.0, 3.0, 4.0]).__next__)
        fit(learner, epochs, checkpoints=checkpoints)
        return snapshot(model.parameters())

    whole = weights(4, None)
    weights(2, kept)
    model = make_model(settings, seed=1)
    learner = TransferLearner(model, texts, settings, 7, iter([3.0, 4.0]).__next__)
    fit(learner, 4, checkpoints=kept)
    assert all(torch.equal(a, b) for a, b in zip(whole, snapshot(model.parameters()), strict=True))


def test_the_order_of_texts_follows_from_the_seed(texts):
    settings, found = make_settings(), []
    for seed in (0, 0, 1):
        torch.manual_seed(0)
        model = make_model(settings, 0)
        trained(model, texts, settings, seed, lambda: 0.0)
        found.append(torch.cat([p.flatten() for p in snapshot(model.parameters())]))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
