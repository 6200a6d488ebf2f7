"""The schedule, and a run that is cut off."""

import pytest
import torch

from tests.papers.routing_nmt.small import learner, small_settings, trained
from xlrepro.papers.routing_nmt import training
from xlrepro.papers.routing_nmt.training import batch_of, loss_per_token, perplexity


def same_bits(first, second):
    states = first.state_dict(), second.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.fixture(scope="module")
def undisturbed():
    return trained()


def test_a_training_that_was_cut_off_goes_on_to_the_same_bits(tmp_path, undisturbed):
    cut, checkpoint, seeds = learner(), tmp_path / "cut.pt", set()
    whole_step = cut.step

    def step(indices):
        seeds.add(torch.initial_seed())
        if cut.course.updates == 7:  # in the middle of the third epoch
            raise KeyboardInterrupt
        return whole_step(indices)

    cut.step = step
    with pytest.raises(KeyboardInterrupt):
        trained(checkpoint, cut)
    assert len(seeds) == 8  # each update has its own dropout
    assert set(cut.course.rates.values()) == {0.3, 0.6}
    (resumed, fit), (whole, wanted) = trained(checkpoint), undisturbed
    assert vars(resumed.course) == vars(whole.course)
    assert (fit.best_epoch, fit.tokens) == (wanted.best_epoch, wanted.tokens)
    assert same_bits(resumed.model, whole.model)


def test_the_seed_decides_initial_weights_and_the_order_of_pairs():
    first, again, other = (learner(seed=seed) for seed in (5, 5, 6))
    assert same_bits(first.model, again.model)
    assert not same_bits(first.model, other.model)
    assert first.batches(0) == again.batches(0) != other.batches(0)


def test_every_update_takes_a_translation_batch_and_one_of_a_task_drawn_at_random(undisturbed):
    learner, fit = undisturbed
    drawn = learner.course.drawn
    assert fit.iterations == 3 * 3  # 12 pairs in batches of 4, three epochs
    assert learner.course.updates == sum(drawn.values()) == fit.iterations
    assert set(drawn) == {"ner", "syntax", "semantics"}
    assert min(drawn.values()) > 0
    assert len(set(drawn.values())) > 1
    assert learner._order("translation", 0) != learner._order("translation", 1)


def test_an_update_adds_up_the_gradients_of_both_batches_each_at_its_own_rate(monkeypatch):
    monkeypatch.setattr(training, "CLIP_NORM", 1e9)
    settings = small_settings(model__dropout=0.0)
    one, other = learner(settings), learner(settings)
    for task in settings.auxiliary:
        one.course.rates[task] /= 4
    indices = one.batches(0)[0]
    one.step(indices)
    task, auxiliary = other._auxiliary_batch()
    assert one.course.drawn[task] == 1
    translation = batch_of(other._data.tasks["translation"].train, indices)
    for name, batch, share in (("translation", translation, 1.0), (task, auxiliary, 0.25)):
        loss = other.model.loss(name, batch.source, batch.lengths, batch.target)
        (share * loss / len(batch.indices)).backward()
    wanted = {name: p.grad for name, p in other.model.named_parameters()}
    assert wanted[f"readouts.{task}.output.weight"].abs().max() > 0
    for name, parameter in one.model.named_parameters():
        if wanted[name] is None:
            assert parameter.grad is None, name
        else:
            torch.testing.assert_close(parameter.grad, wanted[name], msg=name)


def test_the_kept_weights_are_those_of_the_best_dev_perplexity(undisturbed):
    learner, fit = undisturbed
    perplexities = learner.course.perplexities()
    assert perplexities[fit.best_epoch] < perplexities[-1]
    assert min(learner.course.rates.values()) < learner._settings.learning_rate
    nats = loss_per_token(learner.model, "translation", learner._data.tasks["translation"].dev)
    assert perplexity(nats) == pytest.approx(min(perplexities), rel=1e-5)
    assert perplexity(2.0) == pytest.approx(7.389, rel=1e-4)


def test_a_rate_is_halved_when_its_own_tasks_dev_loss_rises():
    one = learner()
    one.dev_score()
    rates = dict(one.course.rates)
    one.course.dev_losses[-1]["ner"] = -1.0  # whatever comes next is worse
    one.course.dev_losses[-1]["translation"] = 1e9  # and better
    one.dev_score()
    assert one.course.rates["ner"] == rates["ner"] / 2
    assert one.course.rates["translation"] == rates["translation"]
