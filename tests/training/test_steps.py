"""Training by steps, on a weight whose steps are worked out by hand; papers' tests kill theirs."""

import numpy as np
import torch

from xlrepro.training.loop import Checkpoints
from xlrepro.training.steps import Progress, adamw, rows_of_step, take_steps


class Stepper:
    """Adds its number to a weight at each step; loses half of it and, told so, of two languages."""

    def __init__(self, languages=()):
        self.weight, self.numbers, self.languages = 0.0, [], languages

    def step(self, number):
        self.weight += number
        self.numbers.append(number)
        loss = number / 2
        return dict.fromkeys(self.languages, loss) or loss

    def state(self):
        return {"weight": self.weight}

    def restore(self, state):
        self.weight = state["weight"]


def test_a_training_goes_on_from_its_last_checkpoint(tmp_path):
    checkpoint, broken, resumed = tmp_path / "new" / "state.pt", Stepper(), Stepper()
    take_steps(broken, 10, 3, checkpoint, stop_after=5)
    progress = take_steps(resumed, 10, 3, checkpoint)
    assert resumed.numbers == [3, 4, 5, 6, 7, 8, 9]
    assert resumed.weight == sum(range(10))
    assert progress.losses == [number / 2 for number in range(10)]


def test_seconds_of_all_runs_are_summed(tmp_path):
    first = take_steps(Stepper(), 4, 2, tmp_path / "state.pt", stop_after=2)
    kept = Checkpoints(tmp_path / "state.pt").load()
    Checkpoints(tmp_path / "state.pt").save(kept | {"progress": {**vars(first), "seconds": 100.0}})
    assert 100 < take_steps(Stepper(), 4, 2, tmp_path / "state.pt").seconds < 110


def test_a_checkpoint_of_an_older_form_does_not_count(tmp_path):
    Checkpoints(tmp_path / "state.pt").save({"model": {}, "progress": {"step": 2}})
    assert take_steps(Stepper(), 4, 2, tmp_path / "state.pt").step == 4


def test_each_checkpoint_says_the_mean_loss_since_the_last(tmp_path):
    lines = []
    take_steps(Stepper(), 2000, 1000, tmp_path / "a.pt", lines.append)
    take_steps(Stepper(("en", "fr")), 2, 2, tmp_path / "b.pt", lines.append)
    assert lines == [
        "step 1,000 of 2,000, loss 249.75",
        "step 2,000 of 2,000, loss 749.75",
        "step 2 of 2, loss {'en': 0.25, 'fr': 0.25}",
    ]


def test_a_curve_has_at_most_forty_points_and_ends_at_the_last_token():
    points = Progress([float(n) for n in range(90)]).curve(tokens_per_step=10)
    assert len(points) == 30
    assert points[0] == [30, 1.0]
    assert points[-1] == [900, 88.0]


def test_an_epoch_takes_every_row_once_and_the_next_in_another_order():
    steps = [rows_of_step(step, 9, 3, [1, 0]) for step in range(6)]
    first, second = np.concatenate(steps[:3]).tolist(), np.concatenate(steps[3:]).tolist()
    assert sorted(first) == sorted(second) == list(range(9))
    assert first != second
    assert rows_of_step(2, 9, 3, [2, 0]).tolist() != steps[2].tolist()


def test_a_step_larger_than_the_text_takes_all_of_it():
    assert sorted(rows_of_step(5, 4, 9, [1])) == [0, 1, 2, 3]


def test_biases_and_normalisation_are_not_decayed():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LayerNorm(2))
    before = [p.detach().clone() for p in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    adamw(model.parameters(), learning_rate=0.5).step()
    # with no gradient AdamW's step is its decay: 1 - 0.5 * 0.01
    for old, new in zip(before, model.parameters(), strict=True):
        factor = 0.995 if new.dim() > 1 else 1.0
        np.testing.assert_allclose(new.detach(), factor * old, rtol=1e-6)
