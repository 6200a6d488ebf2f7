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
}
CACHES = (word_order.frozen_encoder, word_order.features, ramen._encoders)


@pytest.mark.parametrize("row", ROWS)
def test_the_sign_of_either_half_of_its_weights_moves_the_numbers(row, tmp_path, monkeypatch):
    module, name, key, system, part = ROWS[row]
    (trial,) = experiment(key).trials("smoke", [system], [0], {"parts": [part]} if part else {})
    find = getattr(module, name)

    def numbers(half):
        def read(*given, **more):
            found = find(*given, **more)
            encoder = found[0] if isinstance(found, tuple) else found.model
            with torch.no_grad():
                for parameter in [p for p in encoder.parameters() if p.dim() > 1][half]:
                    parameter.neg_()
            return found

        monkeypatch.setattr(module, name, read)
        monkeypatch.setenv("XLREPRO_DATA", str(tmp_path / str(half)))
        for cached in CACHES:
            cached.cache_clear()
        return [c.value for c in task(trial.task).load()(trial, TrialContext()).cells]

    plain = numbers(slice(0))
    assert numbers(slice(0, None, 2)) != plain
    assert numbers(slice(1, None, 2)) != plain
