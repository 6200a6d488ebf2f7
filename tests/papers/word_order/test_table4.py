"""Table 4 uses MAN-MoE's models and trials, and changes the shared extractor alone."""

import pytest

from xlrepro.experiments import experiment
from xlrepro.papers.man_moe.settings import TransferSettings


@pytest.mark.parametrize("profile", ["smoke", "open", "paper"])
def test_the_first_row_is_man_moes_and_the_others_change_the_shared_extractor_alone(profile):
    at_open = {"learning_rate": 0.001}  # Transformers have a rate of their own there
    first, *others = experiment("word_order/table4").trials(profile, seeds=[3], overrides=at_open)
    assert [first] == experiment("man_moe/table4").trials(
        profile, ["without:MAN-MOE+CharCNN"], [3], at_open
    )
    base = first.typed(TransferSettings).model_dump()
    assert base["model"].pop("extractor") == "BiLSTM"
    for trial, name in zip(others, ("TRS", "ORT"), strict=True):
        assert trial.experiment == "word_order/table4"
        changed = trial.typed(TransferSettings).model_dump()
        assert changed["model"].pop("extractor") == name
        assert changed == base
        assert (trial.task, trial.columns) == (first.task, first.columns)
