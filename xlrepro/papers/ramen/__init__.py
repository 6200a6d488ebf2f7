"""From English to foreign languages: transferring pre-trained language models (RAMEN).

Where the paper's tables and figures are computed::

    §2.1, Eq. 1 to 4           stages/initialisation.py (word alignment: alignment.py)
    §2.2, §2.3, Fig. 1         model.py, stages/tuning.py, lookahead.py; adaptation.py runs them
    §3.1, data                 data/texts.py (without labels), as pieces stages/streams.py;
                               data/labelled.py (with); supplied_data.py (the paper's own)
    §3, English models         encoders/english.py; supplied.py (BERT, RoBERTa from folders)
    Tables 1 to 5, Figure 2    evaluation.py: heads.py on frozen states that reading.py gives
    with the encoder tuned     fine_tuning/
    which trials fill them     rows.py, experiments.py, presets/ramen.yaml
"""

HERE = "xlrepro.papers.ramen"
# The functions of the tasks. Code may move; the names on the left stand in records and do not.
TASKS = {
    "evaluation": f"{HERE}.evaluation:run",
    "fine-tuning": f"{HERE}.fine_tuning.trial:run",
}
# How a witness shrinks a task's trials: path of a setting to the most it may be.
SHRINK = {
    task: {
        **{
            f"adaptation.{stage}.{name}": most
            for stage in ("english.head", "english.all", "embeddings", "bilingual")
            for name, most in (
                ("updates", 2), ("sequences", 2), ("length", 64), ("checkpoint_every", 1)
            )
        },
        "adaptation.words": 8000,
        "adaptation.pairs": 500,
        "adaptation.held_out": 8,
        "adaptation.vocabulary": 1000,
        "head.train": 60,
        "head.dev": 30,
        "head.test": 30,
        "head.epochs": 2,
        "tuned_epochs": 1,
    }
    for task in TASKS
}  # fmt: skip
# Which settings of a user's are refused beyond which bounds, see xlrepro/trials/overrides.py.
BOUNDS = {
    "count": ("batch_size",),
    "size": ("heads", "dim", "ff_dim", "hidden", "relation_hidden"),
    "layers": ("layers",),
    "epochs": ("epochs", "tuned_epochs"),
    "updates": ("updates", "warmup_steps"),
    "rate": ("learning_rate", "tuned_rate"),
    "dropped": ("dropout",),
}
