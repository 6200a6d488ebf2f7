"""What became of RAMEN's records: settings that only ever had one value are constants now."""

GONE = {
    "embeddings": ("first_rate", "clip_norm", "masking", "lookahead_k", "lookahead_alpha"),
    "head": ("dropout", "subtypes"),
    "initialisation": ("words", "unigram", "scores", "bias", "alignment_rounds"),
    "english": ("vocabulary", "dim", "layers", "heads", "ff_dim", "positions"),
}


def migrate(record: dict) -> dict | str:
    """Return a record of 7f094e65 as today's rows ask for it."""
    settings = record["settings"]
    made = settings.get("adaptation")
    if made:
        made.pop("version", None)
        made.pop("target", None)
        english = made["english"]
        stages = [english["head"], english["all"], made["embeddings"], made["bilingual"]]
        for stage in stages:
            _without(stage, (*GONE["embeddings"], "checkpoint_every"))
        _without(english, GONE["english"])
        _without(made["initialisation"], GONE["initialisation"])
    _without(settings["head"], GONE["head"])
    record["task"] = "ramen/evaluation" if made else "ramen/multilingual"
    if record["experiment"] == "ramen/table2":  # LAS of all languages, then UAS
        record["columns"] = sorted(record["columns"], key=lambda c: c.startswith("UAS"))
    return record


def _without(settings: dict, names: tuple[str, ...]) -> None:
    for name in names:
        settings.pop(name, None)
