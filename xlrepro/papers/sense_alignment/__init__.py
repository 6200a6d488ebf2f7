"""Towards multi-sense cross-lingual alignment of contextual embeddings (Liu et al. 2022).

Eq. 1, 2      the language models         language_model/bilm.py, whole_word_bert.py
Eq. 3 to 7    the losses over senses      language_model/softmax.py, senses.py
Algorithm 1   choice of senses, centres   language_model/centres.py
Algorithm 2   the projection P            language_model/projection.py
pruning       §3.1                        language_model/pruning.py
Eq. 8         W between languages         anchors.py
Table 2       word sense disambiguation   wsd.py, disambiguation.py, sense_data.py
Table 3       entities                    transfer.py, tagger.py, transfer_data.py
Table 4, 5    sentiment, inference        transfer.py, xlrepro/tasks/classification.py
Tables 6-8    settings and what follows   growth.py, presets/
Figures 4-7   senses of words             purity.py, frozen_centres.py
"""

HERE = "xlrepro.papers.sense_alignment"
# The functions of the tasks. Code may move; the names on the left stand in records and do not.
TASKS = {
    "disambiguation": f"{HERE}.wsd:run",
    "entities": f"{HERE}.transfer:entities",
    "sentiment": f"{HERE}.transfer:sentiment",
    "inference": f"{HERE}.transfer:inference",
    "growth": f"{HERE}.growth:run",
    "purity": f"{HERE}.purity:run",
    "frozen_purity": f"{HERE}.frozen_centres:run",
}
# How a witness shrinks a task's trials: path of a setting to the most it may be. The warm-up ends
# after one step, so that senses are chosen, moved and given up in the others: the code's rule gives
# a sense up after four looks.
SHRINK = {
    task: {
        **{
            f"{model}.{path}": most
            for model in models
            for path, most in {
                "text.words.en": 20_000,
                "text.words.others": 20_000,
                "training.steps": 12,
                "senses.warmup_steps": 1,
                "senses.projection_every": 1,
                "senses.pruning.after": 1,
                "senses.pruning.every": 1,
                "senses.pruning.window": 2,
            }.items()
        },
        **others,
    }
    for task, models, others in (
        ("disambiguation", ("model",), {"train_sentences": 500, "draws": 50}),
        *(
            (
                task,
                ("source_model", "target_model"),
                {
                    "anchor_sentences": 500,
                    "train_sentences": 200,
                    "test_sentences": 50,
                    "tagger.epochs": 2,
                    "classifier.epochs": 2,
                },
            )
            for task in ("entities", "sentiment", "inference")
        ),
        *((task, ("model",), {"sentences": 50}) for task in ("growth", "purity", "frozen_purity")),
    )
}
# Which settings of a user's are refused beyond which bounds, see xlrepro/trials/overrides.py.
BOUNDS = {
    "count": ("batch_size", "train_sentences", "test_sentences"),
    "size": ("heads", "dim", "hidden_dim", "ff_dim"),
    "layers": ("layers",),
    "epochs": ("epochs",),
    "updates": ("steps", "warmup_steps"),
    "rate": ("learning_rate",),
    "dropped": ("dropout",),
}
