"""Trials of Table 1, which are those of Figure 2."""

import pytest

from tests.papers.routing_nmt.small import TABLE1, settings_of
from xlrepro.engine import measure_trial
from xlrepro.errors import SettingsError
from xlrepro.papers.routing_nmt import training
from xlrepro.papers.routing_nmt.blocks import FIGURE_TASKS
from xlrepro.papers.routing_nmt.run import translation
from xlrepro.paths import build_dir, checkpoint_of
from xlrepro.training.loop import Checkpoints
from xlrepro.trials import TrialContext


def test_an_unknown_pair_is_refused_with_the_known_ones():
    with pytest.raises(SettingsError, match="of open text there is en-de-5k"):
        settings_of("open", "NMT", "en-de-5k", {"pair": "en-xx"})


def test_a_trial_fills_its_cells_and_its_checkpoint_waits_for_the_record(monkeypatch, tmp_path):
    monkeypatch.setenv("XLREPRO_BUILD", str(tmp_path))
    small = {"train_pairs": 8, "test_pairs": 3, "auxiliary_train": 6, "auxiliary_dev": 3}
    changes = {**small, "epochs": 1, "model.hidden": 4}
    trial = TABLE1.trials("smoke", ["MTL (Routing)"], (0,), changes)[0]
    asked, loss = [], training.loss_per_token
    monkeypatch.setattr(training, "loss_per_token", lambda *g: asked.append(g[2]) or loss(*g))
    result = translation(trial, TrialContext())
    assert asked[0] == asked[-2] != asked[-1]  # dev after the epoch; dev and test at the end
    assert {cell.column for cell in result.cells} == set(trial.columns)
    assert list((build_dir() / "checkpoints").iterdir()) == [checkpoint_of(trial.key)]
    assert len(result.details["test_counts"]) == 3
    for direction in ("forward", "backward"):
        for use in result.details["routers"][direction].values():
            assert set(use) == set(FIGURE_TASKS)
            assert all(sum(u["shares"]) == pytest.approx(1, abs=1e-5) for u in use.values())
            assert all(u["largest"] >= max(u["shares"]) - 1e-6 for u in use.values())
    checkpoints = Checkpoints(checkpoint_of(trial.key))
    kept = checkpoints.load()
    assert kept["fit"]["earlier"] > kept["fit"]["seconds"]
    checkpoints.save(kept | {"fit": kept["fit"] | {"earlier": 1000.0}})
    assert measure_trial(trial, "cpu").wall_seconds > 1000  # of the process cut off, too
