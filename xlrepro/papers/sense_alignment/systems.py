"""The systems of the tables, and the language models that they need."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from xlrepro.errors import SettingsError
from xlrepro.papers.sense_alignment.language_model.settings import (
    LanguageModelSettings,
    SenseSettings,
    TrainingSettings,
)
from xlrepro.papers.sense_alignment.pretraining.text import SOURCE
from xlrepro.papers.sense_alignment.settings import presets, validated

SCHUSTER, WANG = " (Schuster et al., 2019)", " (Wang et al., 2020)"
# Additions of ours: senses are chosen in centred components; centres begin at states of their word;
# one sense of each word, whose translations are predicted all the same.
CENTRED, FROM_STATES, ONE_SENSE = " (centred)", " (from states)", " (one sense)"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    CENTRED: {"centred": True},
    FROM_STATES: {"begin": "states"},
    ONE_SENSE: {"senses": 1},
}
ORTHOGONAL = " (orthogonal W)"  # likewise, of Tables 3 to 5: W may turn vectors, not shrink them
# System of Tables 3 to 5 -> language model, and whether W is applied.
TRANSFER = {
    "ELMo": ("ELMo", False),
    "Joint-ELMo": ("Joint-ELMo", False),
    f"ELMo+Proj{SCHUSTER}": ("ELMo", True),
    f"Joint-ELMo+Proj{WANG}": ("Joint-ELMo", True),
    "Bi-SaELMo": ("Bi-SaELMo", False),
    "Bi-SaELMo+Proj": ("Bi-SaELMo", True),
    f"Bi-SaELMo{FROM_STATES}": (f"Bi-SaELMo{FROM_STATES}", False),
    f"Bi-SaELMo+Proj{FROM_STATES}": (f"Bi-SaELMo{FROM_STATES}", True),
    f"Bi-SaELMo{ONE_SENSE}": (f"Bi-SaELMo{ONE_SENSE}", False),
    f"Bi-SaELMo+Proj{ONE_SENSE}": (f"Bi-SaELMo{ONE_SENSE}", True),
    f"ELMo+Proj{ORTHOGONAL}": (f"ELMo{ORTHOGONAL}", True),
    f"Joint-ELMo+Proj{ORTHOGONAL}": (f"Joint-ELMo{ORTHOGONAL}", True),
    f"Bi-SaELMo+Proj{ORTHOGONAL}": (f"Bi-SaELMo{ORTHOGONAL}", True),
}
AFTERWARDS = " (centres afterwards)"  # likewise: they follow a finished model
# Language model -> (network, senses of the preset, whether it reads two languages).
MODELS = {
    "ELMo": ("bilm", "plain", False),
    "SaELMo": ("bilm", "SaELMo", False),
    "BERT-Tiny": ("bert", "plain", False),
    "SaBERT-Tiny": ("bert", "SaBERT-Tiny", False),
    "Joint-ELMo": ("bilm", "plain", True),
    "Bi-SaELMo": ("bilm", "Bi-SaELMo", True),
}


class Changes(NamedTuple):
    """Changed settings by name, told apart by what they belong to."""

    training: dict[str, Any]
    senses: dict[str, Any]
    others: dict[str, Any]


def changes(overrides: Mapping[str, Any]) -> Changes:
    """Tell changes of a language model's training and senses from those of a trial."""
    training = {k: v for k, v in overrides.items() if k in TrainingSettings.model_fields}
    senses = {
        k: v for k, v in overrides.items() if k in SenseSettings.model_fields and k not in training
    }
    others = {k: v for k, v in overrides.items() if k not in training and k not in senses}
    return Changes(training, senses, others)


def language_model(
    profile: str, name: str, language: str = SOURCE, changed: Changes | None = None
) -> LanguageModelSettings:
    """Return the settings of a language model.

    Args:
        profile: of ``presets/language_models.yaml``.
        name: key of ``MODELS``, followed by one of ``VARIANTS`` or by nothing.
        language: what a monolingual model reads, or what one of two languages reads beside English.
        changed: settings instead of the preset's.

    Raises:
        SettingsError: for an unknown name, or an unknown or impossible setting.
    """
    variant = next((v for v in VARIANTS if name.endswith(v)), "")
    plain = name.removesuffix(variant)
    if plain not in MODELS:
        raise SettingsError(f"no language model is called {name!r}: use {', '.join(MODELS)}")
    network, kind, joint = MODELS[plain]
    values = presets("language_models")[profile]
    changed = changed or Changes({}, {}, {})
    training = values["training"][network]
    senses = {**values["senses_of_all"], **values["senses"][kind], **VARIANTS.get(variant, {})}
    known = set(SenseSettings.model_fields)
    if senses["senses"] == 1:  # nothing but the softmax matters with one sense
        senses, known = {"senses": 1, "softmax": senses["softmax"]}, {"softmax"}
    text = dict(values["text"])
    if joint and "en" in text["words"]:  # as many words of each language
        text["words"] = {"others": text["words"]["others"]}
    return validated(
        {
            "languages": (SOURCE, language) if joint else (language,),
            "dictionary": plain == "Bi-SaELMo",
            "network": {"family": network, **values[network]},
            "senses": {**senses, **{k: v for k, v in changed.senses.items() if k in known}},
            "training": {**training, **changed.training},
            "text": text,
            "precision": values["precision"],
            # 2: the warm-up's sense has no lead where it stays
            "version": 2 if senses.get("warmup") == "copied" else 1,
        },
        f"language model {name} {profile}",
        LanguageModelSettings,
    )


# The columns of Figures 4 to 7: purities (percent), and the share of own senses (percent).
PURITY, MAJORITY, DEALT = "purity", "majority sense", "purity of senses dealt out"
OWN = "own senses among the nearest"
LABELLED = "told apart with labels"
