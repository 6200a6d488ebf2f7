"""Golden numbers see the encoder of smoke: each half of its weights moves them."""

import pytest
import torch

from xlrepro.experiments import experiment, task
from xlrepro.papers.ramen import model
from xlrepro.papers.ramen import run as ramen
from xlrepro.papers.word_order.mbert import tagging as word_order
from xlrepro.trials import TrialContext

# What reads the encoder; an experiment, its row, and one part of it.
ROWS = {
    "word_order": (word_order, "load", "word_order/table2", "mbert:ORT", None),
    "ramen": (ramen, "load", "ramen/table1", "prior:mBERT (Wu & Dredze, 2019) (mono)", None),
    "table3": (model, "read_model", "ramen/table3", "ud:RAMEN-BASE + RoBERTa, rnd", "fr"),
    "figure2": (
        model, "read_model", "ramen/figure2", "checkpoints:RAMEN-BASE + RoBERTa", "UD v2.4/fr",
    ),
}  # fmt: skip
CACHES = (word_order.frozen_encoder, word_order.features, ramen._encoders)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("row", ROWS)
def test_the_sign_of_half_of_its_weights_moves_the_numbers(
    row, half, tmp_path_factory, tmp_path, monkeypatch
):
    module, name, key, system, part = ROWS[row]
    (trial,) = experiment(key).trials("smoke", [system], [0], {"parts": [part]} if part else {})
    find, found = getattr(module, name), []

    def turned(*given, **more):
        read = find(*given, **more)
        encoder = read[0] if isinstance(read, tuple) else read.model
        with torch.no_grad():
            for parameter in [p for p in encoder.parameters() if p.dim() > 1][half::2]:
                parameter.neg_()
        return read

    plain = tmp_path_factory.getbasetemp() / "smoke encoder"  # built once
    for read, folder in ((find, plain), (turned, tmp_path)):
        monkeypatch.setattr(module, name, read)
        monkeypatch.setenv("XLREPRO_DATA", str(folder))
        for cached in CACHES:
            cached.cache_clear()
        found.append([c.value for c in task(trial.task).load()(trial, TrialContext()).cells])
    assert found[0] != found[1]
