"""Adaptive knowledge sharing in multi-task learning (Zaremoodi et al. 2018): where things are.

| of the paper | here |
|---|---|
| §2.1 routing, Figure 1 | ``routed_unit`` |
| §2.2 blocks | ``gru_blocks`` (and ``loops``: encoder and decoder over time) |
| §2, §3.3 the model, the baselines | ``model``, ``stacked_unit``, ``decoding`` |
| §2.3 objective and schedule | ``training``, ``batches`` |
| §3.1 bilingual corpora, BPE | ``data``, ``text`` |
| §3.2 auxiliary tasks | ``data``, ``linearisers`` |
| Table 1 | ``translation``, trials in ``experiments`` |
| Figure 2 | ``usage``, read in ``block_order`` and ``block_chances`` |
"""

HERE = "xlrepro.papers.routing_nmt"
# The functions of the tasks. Code may move; the names on the left stand in records and do not.
TASKS = {"translation": f"{HERE}.translation:run"}
# Setting by setting, how large a witness may make it.
SHRINK = {
    "translation": {
        "epochs": 2,
        "train_pairs": 500,
        "test_pairs": 50,
        "auxiliary_train": 200,
        "auxiliary_dev": 30,
    }
}
# Which settings of a user's are refused beyond which bounds, see xlrepro/trials/overrides.py.
BOUNDS = {
    "count": ("batch_size",),
    "size": ("hidden",),
    "epochs": ("epochs",),
    "rate": ("learning_rate",),
    "dropped": ("dropout",),
}
