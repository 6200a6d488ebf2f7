"""On the importance of word order in cross-lingual sequence labeling: tables, figures, tasks."""

HERE = "xlrepro.papers.word_order"
# The functions of the tasks. Code may move; the names on the left stand in records and do not.
TASKS = {
    "pos": f"{HERE}.pos_tagging:run",
    "spans": f"{HERE}.span_labelling:run",
    "spans_supplied": f"{HERE}.official_labelling:run",
    "mbert": f"{HERE}.mbert_labelling:run",
    "mbert_supplied": f"{HERE}.official_mbert:run",
    "pretraining": f"{HERE}.mbert_pretraining:run",
    "nlu": f"{HERE}.nlu_runner:run",
    "alignment": f"{HERE}.alignment_quality:run",
    "alignment_measure": f"{HERE}.alignment_quality:measure",
    "alignment_distances": f"{HERE}.alignment_quality:distances",
    "distances": f"{HERE}.distances:run",
    "vector_quality": f"{HERE}.vector_quality:run",
}
# How a witness shrinks a task's trials: path of a setting to the most it may be.
SHRINK = {
    task: {"epochs": 2, "train_sentences": 500, "test_sentences": 50}
    for task in ("pos", "spans", "spans_supplied", "mbert", "mbert_supplied", "nlu")
} | {
    "alignment": {
        "training.epochs": 2,
        "training.train_sentences": 500,
        "training.test_sentences": 50,
    },
    "vector_quality": {"languages": 2},
}
