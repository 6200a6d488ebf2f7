"""Word dropout reaches the training of a tagger, and its share is that of the settings."""

import pytest

from xlrepro.experiments import experiment, task
from xlrepro.trials import TrialContext

SMALL = {"targets": ("de",), "train_sentences": 24, "test_sentences": 4, "epochs": 1}


def losses(experiment_name, row, share):
    changes = {**SMALL, "word_dropout": share}
    if experiment_name == "table1":
        changes.pop("targets")
    trial = experiment(f"word_order/{experiment_name}").trials("smoke", [row], [0], changes)[0]
    return task(trial.task).load()(trial, TrialContext()).details["train_loss"]


@pytest.mark.parametrize(("name", "row"), [("table2", "word:ORT"), ("table1", "word:ORT")])
def test_words_are_dropped_in_training(name, row):
    without, few, many = (losses(name, row, share) for share in (0.0, 0.3, 0.9))
    assert without != few != many != without
