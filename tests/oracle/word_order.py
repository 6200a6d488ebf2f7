"""How the word-order paper's records of then are asked for today."""

GONE = {
    "word_order/alignment_quality": "an experiment of ours without a reported row",
    "word_order/pretraining": "an experiment of ours without a reported row",
}
RATES = {  # rows by their rates of then, which rows of their own have now
    ("word:ORT", 0.001): "rates:ORT, 0.001",
    ("word:BiLSTM", 0.004): "rates:BiLSTM, 0.004",
    ("mbert:TRS", 0.004): "rates:TRS on M-BERT, 0.004",
    ("mbert:TRS w/ M-BERT PE", 0.004): "rates:TRS w/ M-BERT PE, 0.004",
    ("mbert:ORT", 0.001): "rates:ORT on M-BERT, 0.001",
    ("word-encoder:ORT", 0.001): "rates:ORT on an encoder's vectors, 0.001",
}
# Settings that no experiment varies: constants since, at the value that all records have.
CONSTANTS = {
    "pos": ("clip_norm", "source", "shuffle_copies", "word_dropout"),
    "spans": ("clip_norm", "source", "shuffle_copies", "word_dropout"),
    "mbert": ("clip_norm", "source", "shuffle_copies", "word_dropout", "shuffle", "shuffle_k",
              "test_shuffles", "few_shot_language", "few_shot_share",
              "evaluate_targets"),  # the last six: not read
    "nlu": ("clip_norm", "source", "slot_head", "latent_dim", "latent_scale", "noise",
            "input_dropout", "delexicalise"),
    "distances": ("sentences",),
    "vector_quality": ("profile",),
}  # fmt: skip


def migrate(record: dict) -> dict | str:
    """Return a record with the settings' names of today, or why it is withdrawn."""
    if record["experiment"] in GONE:
        return GONE[record["experiment"]]
    if record["experiment"] == "word_order/learning_rates" and record["systems"][0][:5] == "mbert":
        return "one seed of a short training: M-BERT's rates were compared by longer ones"
    settings = record["settings"]
    if record["task"].startswith("man_moe/"):
        from tests.oracle.man_moe import CUT_OFF, without_constants

        without_constants(settings)
        return CUT_OFF if record["profile"] == "open" else record
    for name in CONSTANTS[record["task"].partition("/")[2]]:
        settings.pop(name, None)
    if "encoder" in settings:
        settings["encoder"].pop("max_distance")
    ablated = record["experiment"] == "word_order/table6" or (
        record["systems"] == ["word:TRS w/ shuffled data"] and record["columns"][0] == "SF/en"
    )
    if ablated and record["profile"] == "open" and settings["epochs"] == 4:
        return "cut off after 4 epochs: Table 6 trains until early stopping, as Table 1"
    is_open, figures = record["profile"] == "open", ("word_order/figure2", "word_order/figure3")
    short = is_open and settings.get("epochs") in (4, 6)
    if is_open and record["experiment"] in figures:
        return "cut off after 4 epochs: Figures 2 and 3 train until early stopping, as Table 1"
    if short and (slots_of(record) or record["systems"][0].startswith("word-mapped:")):
        return "cut off after 4 or 6 epochs: Figure 2 and mapped vectors train until early stopping"
    slots = slots_of(record)
    row = RATES.get((record["systems"][0], settings.get("learning_rate")))
    tables = ("word_order/table1", "word_order/table2")
    # Since rates of slots are tuned on their own dev set, and all Transformers have one.
    if row and (slots or ("BiLSTM" not in row and record["experiment"] in tables)):
        record["systems"] = [row]
    shuffled = slots and record["systems"] == ["word:BiLSTM w/ shuffled data"]
    if shuffled and settings.get("learning_rate") == 0.004:
        return "BiLSTM in order has twice the rate: shuffled training has the same now"
    if record["task"] == "word_order/vector_quality":  # shares of coverage first, then P@1
        kinds = ["coverage", "coverage with back-off", "P@1", "P@1 without same spelling"]
        by_kind = {c: kinds.index(c.partition("/")[2]) for c in record["columns"]}
        record["columns"] = sorted(record["columns"], key=by_kind.__getitem__)
    if settings.get("fine_tune") and record["profile"] == "open":
        return "cut off after 3 epochs: fine-tuning goes on until early stopping"
    if settings.get("fine_tune"):  # outdated: dropout draws other numbers since
        record |= {"task": "word_order/finetune", "version": 1}
    return record


def slots_of(record: dict) -> bool:
    """Tell whether a record is of Table 1's slots."""
    return record["experiment"] == "word_order/table1" and record["columns"][0] == "SF/en"
