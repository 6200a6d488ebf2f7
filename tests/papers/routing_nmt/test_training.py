"""The schedule, and a run that is killed."""

import signal
import subprocess
import sys

import pytest
import torch

from tests.conftest import ROOT
from tests.papers.routing_nmt.small_trials import small_settings, trainer
from xlrepro.papers.routing_nmt.batches import batch_of, batches_of_epoch
from xlrepro.papers.routing_nmt.data.encoding import Example
from xlrepro.papers.routing_nmt.training import loss_per_token, perplexity


def same_bits(first, second):
    states = first.state_dict(), second.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.fixture(scope="module")
def undisturbed():
    whole = trainer()
    whole.run()
    return whole


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, undisturbed):
    checkpoint = tmp_path / "broken.pt"
    command = [sys.executable, "-m", "tests.papers.routing_nmt.small_trials", str(checkpoint)]
    pipes = {"stdout": subprocess.PIPE, "stdin": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as run:
        try:
            assert run.stdout.readline() == "now\n"
        finally:
            run.send_signal(signal.SIGKILL)
    resumed = trainer(checkpoint)
    assert resumed.fit.epochs == 1
    fit = resumed.run()
    assert (fit.losses, fit.dev_losses) == (undisturbed.fit.losses, undisturbed.fit.dev_losses)
    assert same_bits(resumed.model, undisturbed.model)


def test_every_update_takes_one_translation_batch_and_one_auxiliary_batch(undisturbed):
    fit = undisturbed.fit
    assert fit.updates == 3 * 3  # 12 pairs in batches of 4, three epochs
    assert sum(fit.drawn.values()) == fit.updates


def test_the_kept_weights_are_those_of_the_best_dev_perplexity(undisturbed):
    fit, data = undisturbed.fit, undisturbed._data
    found = loss_per_token(undisturbed.model, "translation", data.tasks["translation"].dev)
    assert perplexity(found) == pytest.approx(min(fit.perplexities()), rel=1e-5)


def test_a_rate_is_halved_when_its_own_tasks_dev_loss_rises():
    one = trainer()
    one._epoch(lambda fraction, text: None)
    one._evaluate()
    rates = dict(one.fit.rates)
    one.fit.dev_losses[-1]["ner"] = -1.0  # whatever comes next is worse
    one.fit.dev_losses[-1]["translation"] = 1e9  # and better
    one._evaluate()
    assert one.fit.rates["ner"] == rates["ner"] / 2
    assert one.fit.rates["translation"] == rates["translation"]


def test_rates_stay_where_halving_is_off():
    one = trainer(settings=small_settings(halve=False))
    one._epoch(lambda fraction, text: None)
    one._evaluate()
    one.fit.dev_losses[-1] = dict.fromkeys(one.fit.dev_losses[-1], -1.0)
    one._evaluate()
    assert set(one.fit.rates.values()) == {one._settings.learning_rate}


def examples(lengths):
    return [Example([4] * n, [1, *[5] * n, 2]) for n in lengths]


def test_batches_of_an_epoch_hold_every_example_once():
    batches = batches_of_epoch(examples(range(1, 24)), 4, 2, (0, 1))
    assert sorted(i for batch in batches for i in batch) == list(range(23))
    assert all(len(batch) <= 4 for batch in batches)


def test_batches_depend_on_their_key_alone():
    some = examples(range(1, 24))
    assert batches_of_epoch(some, 4, 2, (0, 1)) == batches_of_epoch(some, 4, 2, (0, 1))
    assert batches_of_epoch(some, 4, 2, (0, 1)) != batches_of_epoch(some, 4, 2, (0, 2))


def test_a_batch_is_padded_on_the_right():
    batch = batch_of(examples([1, 3]), [0, 1])
    assert batch.source.tolist() == [[4, 0, 0], [4, 4, 4]]
    assert batch.target.tolist() == [[1, 5, 2, 0, 0], [1, 5, 5, 5, 2]]
    assert batch.lengths.tolist() == [1, 3]
