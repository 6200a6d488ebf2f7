"""The loop, on models of one number whose scores and steps are worked out by hand."""

import numpy as np
import pytest
import torch

from xlrepro.errors import DataError
from xlrepro.training import loop
from xlrepro.training.optimiser import ScheduledAdam, schedule


class Learner(loop.BatchLearner):
    """Three noisy steps a round; both generators draw."""

    def __init__(self, scores, cut_off=None):
        torch.manual_seed(0)
        model, self.cut_off, self.weights = torch.nn.Linear(3, 1), cut_off, []
        self.adam = ScheduledAdam(model, 0.1, schedule("constant", 1, 12))
        self.generator = np.random.default_rng(0)
        super().__init__(model, self.drawn, self.noisy, iter(scores).__next__)

    def state(self):
        return {"adam": self.adam.adam.state_dict(), "draws": self.generator.bit_generator.state}

    def restore(self, state):
        self.adam.adam.load_state_dict(state["adam"])
        self.generator.bit_generator.state = state["draws"]

    def drawn(self, round_):
        self.weights.append(self.model.weight.detach().clone())
        if round_ == self.cut_off:
            raise KeyboardInterrupt
        for _ in range(3):
            yield torch.from_numpy(self.generator.normal(size=(4, 3))).float()

    def noisy(self, batch):
        assert self.model.training  # dropout inside a model is on
        noisy = torch.nn.functional.dropout(batch, 0.5)
        return loop.Step(self.adam.step((self.model(noisy) - 1).square().mean()), tokens=4)


def test_the_best_round_is_kept_and_not_the_last():
    learner = Learner([10.0, 30.0, 20.0, 30.0])
    result = loop.fit(learner, rounds=4)
    assert (result.iterations, result.tokens, len(result.losses)) == (12, 48, 4)
    assert (result.best_epoch, result.stopped, len(result.dev_scores)) == (1, False, 4)
    assert torch.equal(learner.model.weight, learner.weights[2])  # as the third round begins
    assert not torch.equal(learner.model.weight, learner.weights[3])


@pytest.mark.parametrize(("patience", "done"), [(1, 3), (2, 6), (None, 6)])
def test_patience_counts_rounds_without_a_better_score(patience, done):
    result = loop.fit(Learner([1.0, 3.0, 2.0, 4.0, 4.0, 0.0]), 6, patience)
    assert len(result.dev_scores) == done
    assert result.stopped == (patience is not None)


def test_a_cut_off_fit_goes_on_to_the_same_bits(tmp_path):
    scores = [1.0, 3.0, 2.0, 4.0]
    whole = Learner(scores)
    wanted = loop.fit(whole, 4)
    kept = loop.Checkpoints(tmp_path / "state.pt")
    with pytest.raises(KeyboardInterrupt):
        loop.fit(Learner(scores, cut_off=2), 4, checkpoints=kept)
    rest = Learner(scores[2:])
    torch.rand(5)  # another process has drawn other numbers
    result = loop.fit(rest, 4, checkpoints=kept)
    assert (result.losses, result.dev_scores) == (wanted.losses, wanted.dev_scores)
    assert torch.equal(rest.model.weight, whole.model.weight)
    assert result.tokens == wanted.tokens


def test_a_kept_fit_that_is_over_is_not_trained_further(tmp_path):
    kept = loop.Checkpoints(tmp_path / "state.pt")
    scores = [3.0, 2.0, 1.0]
    first = Learner(scores)
    loop.fit(first, 3, patience=1, checkpoints=kept)
    again = Learner(scores)
    assert len(loop.fit(again, 3, patience=1, checkpoints=kept).dev_scores) == 2
    assert torch.equal(again.model.weight, first.model.weight)


def test_a_mean_over_items_weighs_batches_by_their_items():
    assert loop.mean_loss([loop.Step(6.0, count=3), loop.Step(1.0, count=1)]) == 1.75
    with pytest.raises(DataError, match="diverged"):
        loop.mean_loss([loop.Step({"task": float("nan")}), loop.Step({"task": 1.0})])


class Harmful:
    """A pickle that writes a file where it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("damage", ["cut", "harmful"])
def test_a_damaged_checkpoint_is_named_in_one_line_and_runs_no_code(tmp_path, damage):
    kept, victim = loop.Checkpoints(tmp_path / "state.pt"), tmp_path / "victim"
    kept.save({"weight": torch.ones(50)})
    if damage == "harmful":
        torch.save({"weight": Harmful(victim)}, kept.file)
    else:
        kept.file.write_bytes(kept.file.read_bytes()[:700])
    with pytest.raises(DataError, match=r"state\.pt is no whole checkpoint: remove it") as error:
        kept.load()
    assert "\n" not in str(error.value)
    assert not victim.exists()


def test_a_kill_while_a_checkpoint_is_written_leaves_the_one_before(tmp_path, monkeypatch):
    kept = loop.Checkpoints(tmp_path / "state.pt")
    kept.save({"step": 1})

    def dies(state, file):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", dies)
    with pytest.raises(KeyboardInterrupt):
        kept.save({"step": 2})
    assert kept.load() == {"step": 1}


class Broken:
    """What cannot be copied from where it lies."""

    def __reduce__(self):
        raise RuntimeError("no disk's")


def test_a_full_disk_is_told_in_one_line_and_leaves_the_checkpoint_before(tmp_path):
    kept, beside = loop.Checkpoints(tmp_path / "state.pt"), tmp_path / "state.pt.part"
    kept.save({"step": 1})
    beside.symlink_to("/dev/full")
    with pytest.raises(DataError, match=r"state\.pt cannot be written \(.*No space left on device"):
        kept.save({"weight": torch.ones(50_000)})
    assert (kept.load(), beside.is_symlink()) == ({"step": 1}, False)
    with pytest.raises(RuntimeError, match="no disk's"):  # a device may break, too
        kept.save({"weight": Broken()})


def test_without_dev_set_the_last_weights_stay(tmp_path):
    learner = Learner([None] * 4)
    result = loop.fit(learner, 3, checkpoints=loop.Checkpoints(tmp_path / "new" / "state.pt"))
    assert not torch.equal(learner.model.weight, learner.weights[2])
    assert len(result.step_losses) == result.iterations == 9
    assert (result.best_epoch, result.dev_scores, result.stopped) == (-1, [], False)


def test_a_curve_has_at_most_forty_points_and_ends_at_the_last_step():
    points = loop.Fit(step_losses=[float(n) for n in range(90)]).curve()
    assert len(points) == 30
    assert points[0] == [3, 1.0]
    assert points[-1] == [90, 88.0]


@pytest.mark.parametrize(("device", "inside"), [("cpu", "highest"), ("cuda", "high")])
def test_products_are_fast_inside_a_training_on_a_gpu_alone(device, inside):
    with loop.fast_products(device):
        assert torch.get_float32_matmul_precision() == inside
    assert torch.get_float32_matmul_precision() == "highest"
