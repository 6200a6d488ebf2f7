from pydantic import BaseModel

from xlrepro.trials import Cell, Record
from xlrepro.trials.experiment import shared_cells
from xlrepro.trials.per_seed import Run, per_row


class Sizes(BaseModel):
    layers: int = 2
    dim: int


def run(system, settings, **more):
    return Run("p/table1", (system,), ("de", "es"), settings, {}, "p/task", **more)


def test_a_run_gives_a_trial_per_seed_without_settings_at_their_default():
    trials = run("a:x", Sizes(dim=4)).trials("smoke", [5, 3])
    assert [(t.seed, t.settings, t.profile) for t in trials] == [
        (5, {"dim": 4}, "smoke"),
        (3, {"dim": 4}, "smoke"),
    ]


def test_what_is_not_random_has_its_own_seed_whichever_are_asked_for():
    (trial,) = run("a:x", {"dim": 4}, seeds=(0,)).trials("smoke", [5, 3])
    assert (trial.seed, trial.settings) == (0, {"dim": 4})


def test_a_run_that_two_rows_share_is_made_once():
    make = per_row(lambda identifier, profile, overrides: [run("a:both", {}), run(identifier, {})])
    trials = make("open", ("a:x", "a:y"), (0, 1), {})
    assert [(*t.systems, t.seed) for t in trials] == [
        ("a:both", 0), ("a:both", 1), ("a:x", 0), ("a:x", 1), ("a:y", 0), ("a:y", 1),
    ]  # fmt: skip


def test_shared_cells_stand_where_they_are_placed_and_keep_their_number():
    read = shared_cells(
        lambda _, system, column: ("b:ours", f"{column}/0") if column == "de" else None
    )
    theirs = (Cell("a:x", "de", 1.5, "F1", "fraction"), Cell("a:x", "es", 2.5, "F1", "fraction"))
    assert read["cells"](Record.model_construct(cells=theirs)) == [
        Cell("b:ours", "de/0", 1.5, "F1", "fraction")
    ]
    (trial,) = run("a:x", {}).trials("open", [0])
    assert read["fills"](trial) == [("b:ours", "de/0")]
