"""On the importance of word order in cross-lingual sequence labeling: which module computes what.

Liu, Winata, Cahyawijaya, Madotto, Lin, Fung, AAAI 2021 (arXiv 2001.11164).

| in the paper | trained and tested by | rows and columns |
|---|---|---|
| Eq. 1, Eq. 2, the encoders | ``model.py``, ``xlrepro/nn`` | |
| shuffled training data | ``shuffling.py``, ``data.py`` | |
| Table 1 (entities, slots), word level | ``tagging.py`` | ``experiments/spans.py`` |
| Table 2 (parts of speech), word level | ``tagging.py`` | ``experiments/table2.py`` |
| Tables 1 and 2, rows on M-BERT | ``mbert/`` | ``experiments/mbert.py`` |
| Tables 1 and 2, distances | ``measures/distances.py`` | ``experiments/measures.py`` |
| Table 3 (NLU model) | ``nlu/`` | ``experiments/table3.py`` |
| Table 4 (MAN-MoE) | ``papers/man_moe`` | ``experiments/table4.py`` |
| Tables 5 and 6, Figures 2 and 3 | ``tagging.py`` | ``experiments/spans.py`` |
| Figure 1 (by part of speech) | Table 2's trials | ``experiments/figure1.py`` |
| open vectors, learning rates (ours) | ``measures/``, ``tagging.py`` | ``experiments/`` |

Settings are typed in ``settings.py``, their values per profile in ``presets/``; ``figures/`` draws
what the pages show besides tables.
"""

HERE = "xlrepro.papers.word_order"
# The functions of the tasks. Code may move; the names on the left stand in records and do not.
TASKS = {
    "pos": f"{HERE}.tagging:run",
    "spans": f"{HERE}.tagging:run",
    "mbert": f"{HERE}.mbert.tagging:run",
    "nlu": f"{HERE}.nlu.training:run",
    "distances": f"{HERE}.measures.distances:run",
    "vector_quality": f"{HERE}.measures.vectors:run",
}
# How a witness shrinks a task's trials: path of a setting to the most it may be.
SHRINK = {
    task: {"epochs": 2, "train_sentences": 500, "test_sentences": 50, "targets": 4}
    for task in ("pos", "spans", "mbert", "nlu")
} | {
    "vector_quality": {"languages": 2},
}
# Which settings of a user's are refused beyond which bounds, see xlrepro/trials/overrides.py.
BOUNDS = {
    "count": ("batch_size", "train_sentences", "test_sentences"),
    "size": ("heads", "dim", "hidden_dim", "ff_dim", "latent_dim", "kernel_size"),
    "layers": ("layers",),
    "epochs": ("epochs",),
    "rate": ("learning_rate",),
    "dropped": ("dropout",),
    "empty": ("test_shuffles",),  # no disturbed test set beside the plain one
}
