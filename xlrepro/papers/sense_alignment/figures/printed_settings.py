"""Tables 6 to 8: the settings that the paper prints for each model, beside those of our presets."""

from functools import reduce

from xlrepro.evidence.reported import ReportedCell, load_reported
from xlrepro.evidence.tables.printed import own_entry, printed_entry
from xlrepro.evidence.tables.table import Entry, Table, headings
from xlrepro.experiments import experiment
from xlrepro.papers.sense_alignment.settings import GrowthSettings, LanguageModelSettings

EXPERIMENT = "sense_alignment/tables6_8"
# As the tables name a model -> our name of it.
MODELS = {
    "SaELMo": "SaELMo",
    "SaBERT-Tiny": "SaBERT-Tiny",
    "Bi-SaELMo / Bi-SaELMo+Proj": "Bi-SaELMo",
}
# Ours is of one machine: the batch of all GPUs.
PRODUCTS = {"batch_size": "n_gpus"}
# Printed setting -> where ours stands.
SETTINGS = {
    # Tables 6 and 8
    "batch_size": "training.streams",
    "char_cnn:embedding_dim": "network.character_dim",
    "char_cnn:n_highway": "network.highways",
    "dropout": "network.dropout",
    "lstm:dim": "network.cells",
    "lstm:projection_dim": "network.dim",
    "unroll_steps": "training.unroll",
    "n_negative_samples_batch": "senses.negatives",
    "cluster_proj_dim": "senses.projection_dim",
    "pca_sample": "senses.queue",
    "learning_rate": "training.learning_rate",
    "sense_learning_rate": "senses.rate",
    # Table 7
    "attention_probs_dropout_prob": "network.dropout",
    "hidden_dropout_prob": "network.dropout",
    "hidden_size": "network.dim",
    "intermediate_size": "network.ff_dim",
    "max_position_embeddings": "network.positions",
    "num_attention_heads": "network.heads",
    "num_hidden_layers": "network.layers",
    "vocab_size": "text.vocabulary",
    "context_rep_lr": "senses.rate",
    "pca_dim": "senses.projection_dim",
    "contextual_warmup": "senses.warmup_steps",
    # all three
    "n_context": "senses.slots",
}
# Not set but so in the networks.
BUILT_IN: dict[str, float | str] = {
    "bidirectional": "True",
    "max_word_length": 50,
    "char_cnn:max_characters_per_token": 50,
    "char_cnn:n_characters": 261,
    "lstm:cell_clip": 3.0,
    "lstm:proj_clip": 3.0,
    "lstm:n_layers": 2,
    "all_clip_norm_val": 10.0,
    "remove_less_frequent_contexts": 0.1,
    "lstm:use_skip_connections": "True",
    "directionality": "bidi",
    "hidden_act": "gelu",
    "initializer_range": 0.02,
}
_NO_POOLER = "no pooler: nothing here reads one, as next sentences are not predicted"
NOT_HERE = {
    "n_epochs": "the steps are set that the text states; see the row of the arithmetic",
    **dict.fromkeys(
        (
            "pooler_fc_size",
            "pooler_num_attention_heads",
            "pooler_num_fc_layers",
            "pooler_size_per_head",
            "pooler_type",
        ),
        _NO_POOLER,
    ),
    "type_vocab_size": "no types: a text is one segment, as next sentences are not predicted",
}


def settings_table() -> Table:
    """Render the printed settings and ours: a row per model and setting, a column per profile."""
    profiles = list(experiment(EXPERIMENT).profiles)
    printed: dict[str, dict[str, ReportedCell]] = {}
    for cell in load_reported().cells(EXPERIMENT, context=True):
        printed.setdefault(cell.name, {})[cell.column] = cell
    rows = []
    for model, cells in printed.items():
        ours = {p: growing_model(p, MODELS[model]) for p in profiles}
        for name, cell in cells.items():
            if name in PRODUCTS.values():
                continue
            theirs = [cell, *(cells[n] for n in (PRODUCTS.get(name),) if n)]
            # At smaller profiles nearly nothing is as printed: it is marked where it should be.
            entries = (
                own_entry(own_value(ours[p], name), theirs * (p == "paper"), NOT_HERE.get(name, ""))
                for p in profiles
            )
            label = " × ".join(each.column for each in theirs)
            rows.append((Entry(model), Entry(label), printed_entry(theirs), *entries))
    caption = (
        "Settings as printed in Tables 6 to 8, and those of our presets. At smoke and open models "
        "are smaller and trained for less (SA02); at paper it is said where a setting is not the "
        "printed one (SA20, SA45, SA46)."
    )
    names = headings("model", "setting", "printed", *profiles, numeric=("printed", *profiles))
    return Table(caption, names, tuple(rows))


def growing_model(profile: str, name: str) -> LanguageModelSettings:
    """Return the settings of a language model of Tables 6 to 8."""
    (trial,) = experiment(EXPERIMENT).trials(profile, [f"alive:{name}"], seeds=[0])
    model = trial.typed(GrowthSettings).model
    assert model is not None
    return model


def own_value(settings: LanguageModelSettings, name: str) -> float | str | None:
    """Return ours of a printed setting; ``None`` where there is none."""
    if name in SETTINGS:
        value: float = reduce(getattr, SETTINGS[name].split("."), settings)  # type: ignore[assignment]
        return value
    return BUILT_IN.get(name)
