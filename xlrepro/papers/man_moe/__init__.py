"""Zero-resource multilingual model transfer (MAN-MoE): which module computes what.

Chen, Hassan Awadallah, Hassan, Wang, Cardie, ICLR 2019 submission.

| in the paper | trained and tested by | rows and columns |
|---|---|---|
| §3.1, Eq. 1 and 2, the model | ``model.py``; words: ``words.py``, ``texts/encoding.py`` | |
| Algorithm 1, Eq. 4 to 6 | ``training.py``, ``transfer.py`` | |
| Table 1 (sizes of the corpora) | ``statistics.py`` | ``experiments.py`` |
| Tables 2 and 3 (slots) | ``transfer.py``, ``texts/data.py`` | ``experiments.py``, ``systems.py`` |
| Table 4 (entities) | ``transfer.py``, ``texts/data.py`` | ``experiments.py``, ``systems.py`` |
| Table 5 (reviews) | ``transfer.py``, ``texts/reviews.py`` | ``experiments.py``, ``systems.py`` |
| Table 6, our sweep | ``figures/printed_settings.py``, ``sweep.py`` | ``experiments.py`` |
| Figure 4 (gates) | the trials of Tables 4 and 5, ``gates.py`` | ``experiments.py`` |

Settings are typed in ``settings.py``, their values per profile in ``presets/``; ``figures/`` draws
what the pages show besides tables.
"""

HERE = "xlrepro.papers.man_moe"
# The functions of the tasks. Code may move; the names on the left stand in records and do not.
TASKS = {
    "transfer": f"{HERE}.transfer:run",
    "sweep": f"{HERE}.sweep:run",
    "statistics": f"{HERE}.statistics:run",
}
# How a witness shrinks a task's trials: path of a setting to the most it may be.
SHRINK = {
    task: {
        "epochs": 2,
        "min_iterations": 50,
        "evaluate_every": 20,
        "max_iterations": 40,
        "train_sentences": 200,
        "test_sentences": 50,
    }
    for task in ("transfer", "sweep", "statistics")
}
# Which settings of a user's are refused beyond which bounds, see xlrepro/trials/overrides.py.
BOUNDS = {
    "count": ("batch_size", "train_sentences", "test_sentences"),
    "size": (
        "kernel_sizes", "transformer_heads", "extractor_dim", "expert_dim",
        "predictor_dim", "character_embedding", "character_filters", "character_dim",
        "discriminator_filters", "discriminator_dim",
    ),
    "layers": ("extractor_layers",),
    "epochs": ("epochs",),
    "updates": ("max_iterations",),
    "rate": ("learning_rate",),
    "dropped": ("dropout", "transformer_dropout"),
}  # fmt: skip
