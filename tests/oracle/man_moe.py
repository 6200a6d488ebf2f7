"""How the MAN-MoE paper's records of then are asked for today."""

# Settings that no experiment varies: constants since, at the value that all records have.
CONSTANTS = ("weight_decay", "token_loss", "lowercase_characters", "unknown", "select_on")
CUT_OFF = "cut off after 375 or 3,000 iterations: entities train until early stopping"
OF_MODEL = (
    "transformer_heads", "transformer_dropout", "predictor_dim", "kernel_sizes", "dropout_at",
    "gate_bias", "train_character_vectors",
)  # fmt: skip


def without_constants(settings: dict) -> None:
    """Bring settings of a transfer trial to today's names."""
    for name in CONSTANTS:
        settings.pop(name, None)
    model = settings["model"]
    for name in OF_MODEL:
        model.pop(name, None)
    windows = model.pop("character_windows"), model.pop("discriminator_windows")
    assert windows == ("characters", "tokens")  # no record is of profile paper


def migrate(record: dict) -> dict | str:
    """Return a record with the settings' names of today, or why it is withdrawn."""
    if record["experiment"] == "man_moe/mappings":
        return "an experiment of ours without a reported row"
    if record["settings"].get("max_iterations") == 1000:
        return "cut off after 1,000 iterations: trained again until the sources' dev sets stop"
    if record["profile"] == "open" and record["experiment"] == "man_moe/table4":
        return CUT_OFF
    without_constants(record["settings"])
    return record
