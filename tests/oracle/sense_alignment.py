"""Records of 7f094e65: what their settings are called today."""

GONE = {  # of every model: one value in all records, which is a constant now
    "network": ("characters_per_word", "cell_clip", "projection_clip"),
    "senses": (
        "centres", "moving_share", "fresh_batch", "last_state", "choose_after_dropout",
        "projection", "queue_all", "translations", "softmax",
    ),
    "training": (
        "optimiser", "accumulator", "clip_norm", "times_unroll", "mixing", "checkpoint_every",
    ),
    "text": ("seed",),
}  # fmt: skip


def migrate(record: dict) -> dict | str:
    """Return a record with today's names, or why it is withdrawn."""
    settings = record["settings"]
    if "source_model" in settings:
        source, target = settings.pop("source_model"), settings.pop("target_model")
        model = _model(source)
        if target is not None:
            assert _model(target) == model
        settings["model"] = model
        settings["head"] = settings.pop("tagger") or settings.pop("classifier")
        settings.pop("classifier", None)
        for name in ("source", "layer"):
            del settings[name]
        for name in ("clip_norm", "longest"):
            settings["head"].pop(name, None)
    elif settings.get("model"):
        settings["model"] = _model(settings["model"])
    if record["task"].endswith("/disambiguation"):
        del settings["layer"], settings["draws"]
    if record["task"].endswith("/frozen_purity"):
        return "centres that follow a finished model: a row of ours that nothing was judged on"
    if record["systems"][0].startswith("vectors:"):
        record["task"] = "sense_alignment/neighbours"
    return record


def _model(model: dict) -> dict:
    bilm = model["network"]["family"] == "bilm"
    if bilm:
        assert model["network"].pop("layers") == 2
    model["joint"] = len(model.pop("languages")) == 2
    del model["version"]
    senses = model["senses"]
    softmax, pruning = senses["softmax"], senses["pruning"]
    senses["negatives"] = None if softmax["kind"] == "full" else softmax["negatives"]
    names = ("every", "after", "window", "frequency")
    pruned = pruning["rule"] != "none" and senses["senses"] > 1
    senses["pruning"] = {name: pruning[name] for name in names} if pruned else None
    words = model["text"].pop("words")
    model["text"]["words"] = words["others"]
    if model["text"]["source"] == "open":
        model["text"]["english_words"] = words.get("en", 4_000_000)
    for group, gone in GONE.items():
        for name in gone:
            model[group].pop(name, None)
    return model
