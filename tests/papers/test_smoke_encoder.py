"""Golden numbers see the encoder of smoke: each half of its weights moves them."""

import pytest
import torch

from xlrepro.encoders.pretrained import Encoder
from xlrepro.experiments import experiment, task
from xlrepro.papers.ramen import run as ramen
from xlrepro.papers.word_order.mbert import tagging as word_order
from xlrepro.trials import TrialContext

ROWS = {
    "word_order": (word_order, "word_order/table2", "mbert:ORT"),
    "ramen": (ramen, "ramen/table1", "prior:mBERT (Wu & Dredze, 2019) (mono)"),
}
CACHES = (word_order.frozen_encoder, word_order.features, ramen._encoders)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("paper", ROWS)
def test_the_sign_of_half_of_its_weights_moves_the_numbers(
    paper, half, tmp_path_factory, monkeypatch
):
    monkeypatch.setenv("XLREPRO_DATA", str(tmp_path_factory.getbasetemp() / "smoke encoder"))
    module, key, row = ROWS[paper]
    (trial,) = experiment(key).trials("smoke", [row], [0])
    find, found = module.load, []

    def turned(*given, **more):
        encoder = find(*given, **more)
        with torch.no_grad():
            for parameter in [p for p in encoder.model.parameters() if p.dim() > 1][half::2]:
                parameter.neg_()
        return Encoder("turned", encoder.model, encoder.subwords)

    for load in (find, turned):
        monkeypatch.setattr(module, "load", load)
        for cached in CACHES:
            cached.cache_clear()
        found.append([c.value for c in task(trial.task).load()(trial, TrialContext()).cells])
    assert found[0] != found[1]
