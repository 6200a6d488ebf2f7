"""The experiments of the word-order paper: systems, columns, and the trials that fill them."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.corpora import registry
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.errors import SettingsError
from xlrepro.papers.word_order import data
from xlrepro.papers.word_order.alignment_experiments import alignment_quality
from xlrepro.papers.word_order.breakdown import figure1
from xlrepro.papers.word_order.mbert_experiments import (
    PRETRAINING_EXPERIMENT,
    TABLE2_ROWS,
    is_mbert,
    mbert_trials,
    of_word_rows,
)
from xlrepro.papers.word_order.ner_transfer_experiments import NER_TRANSFER_EXPERIMENTS
from xlrepro.papers.word_order.nlu_experiments import NLU_EXPERIMENTS
from xlrepro.papers.word_order.settings import EncoderSettings, TaggingSettings, presets, validated
from xlrepro.papers.word_order.span_experiments import SPAN_EXPERIMENTS
from xlrepro.papers.word_order.systems import ENCODERS, SHUFFLED, WORD_ROWS
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import per_seed
from xlrepro.trials.trial import Trial

TRAIN = "word_order/pos"
DISTANCES = "word_order/distances"
VECTORS = "word_order/vector_quality"

# The 31 languages of Table 2 in the order of their distance to English.
LANGUAGES = (
    "en", "no", "sv", "fr", "pt", "da", "es", "it", "hr", "ca", "pl", "uk", "sl", "nl", "bg", "ru",
    "de", "he", "cs", "ro", "sk", "id", "lv", "fi", "et", "zh", "ar", "la", "ko", "hi", "ja",
)  # fmt: skip
TUNING_EPOCHS = 2  # a third of the open preset's: enough to rank the rates
LEARNING_RATES = (0.0005, 0.001, 0.002, 0.004, 0.008)


def tagging_settings(
    experiment: str, profile: str, row: str, vectors: str | None, overrides: Mapping[str, Any]
) -> TaggingSettings:
    """Return the settings of one row of a tagging table.

    Args:
        experiment: name of the preset file.
        profile: the profile in it.
        row: name of the system, ``"TRS w/ shuffled data"``.
        vectors: vectors instead of the preset's.
        overrides: settings by name that win over the preset; sizes of the encoder by their own
            names (``dim``, ``layers``, ``kernel_size`` …).

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    values = dict(presets(experiment)[profile])
    encoder_name = row.removesuffix(SHUFFLED)
    rates = values.pop("learning_rate")
    encoder = {**values.pop("sizes"), **ENCODERS[encoder_name]}
    sizes = {k: v for k, v in overrides.items() if k in EncoderSettings.model_fields}
    others = {k: v for k, v in overrides.items() if k not in sizes}
    values |= {
        "learning_rate": rates[encoder_name],
        "shuffle": row.endswith(SHUFFLED),
        "encoder": {**encoder, **sizes},
    }
    if vectors is not None:
        values["vectors"] = vectors
    return validated({**values, **others}, f"{experiment} {profile} {row}")


def _table2_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    trials = []
    words = of_word_rows(systems, overrides)
    for identifier in systems:
        if is_mbert(identifier):
            key = "word_order/table2"
            trials += mbert_trials(key, "POS", identifier, profile, seeds, overrides)
            continue
        block, row = identifier.split(":", 1)
        vectors = "mapped" if block == "word-mapped" else None
        settings = tagging_settings("table2", profile, row, vectors, words)
        columns = (settings.source, *settings.targets, "avg")
        trials += _per_seed("word_order/table2", identifier, columns, profile, seeds, settings)
    return trials


def _learning_rate_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    trials = []
    for identifier in systems:
        row = identifier.split(":", 1)[1]
        for rate in LEARNING_RATES:
            tuned = {
                "targets": (),
                "evaluate_targets": False,
                "epochs": TUNING_EPOCHS,
                "learning_rate": rate,
                **overrides,
            }
            settings = tagging_settings("table2", profile, row, None, tuned)
            columns = (rate_column(rate),)
            key = "word_order/learning_rates"
            trials += _per_seed(key, identifier, columns, profile, seeds, settings)
    return trials


def rate_column(rate: float) -> str:
    """Return the column of a learning rate, ``"2.5e-04"``."""
    return f"{rate:.1e}"


def _per_seed(
    experiment: str,
    system: str,
    columns: tuple[str, ...],
    profile: str,
    seeds: Sequence[int],
    settings: TaggingSettings,
) -> list[Trial]:
    return per_seed(
        seeds,
        experiment=experiment,
        system=system,
        columns=columns,
        profile=profile,
        settings=settings,
        data=data.data_hashes(settings),
        task=TRAIN,
    )


def _distance_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    _no_overrides("word_order/distances", overrides)
    source = "artificial" if profile == "smoke" else "word-order-distance"
    if source == "artificial":
        hashes = {"artificial": f"family {data.FAMILY_SEED}"}
    else:
        hashes = {source: registry.content_hash(source, "features")}
    return [
        Trial.create(
            experiment="word_order/distances",
            systems=tuple(systems),
            columns=LANGUAGES,
            profile=profile,
            seed=0,  # nothing random: one trial whatever the seeds
            settings={"source": source, "sentences": 200 if profile == "smoke" else None},
            data=hashes,
            task=DISTANCES,
        )
    ]


def _vector_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    _no_overrides("word_order/open_vectors", overrides)
    trials = []
    for identifier in systems:
        name = identifier.split(":", 1)[1]
        if profile == "smoke":
            hashes = {"artificial": f"family {data.FAMILY_SEED}"}
        else:
            hashes = {f"vectors/{name}": open_vectors.recipe_hash(name)}
        trials.append(
            Trial.create(
                experiment="word_order/open_vectors",
                systems=(identifier,),
                columns=VECTOR_COLUMNS,
                profile=profile,
                seed=0,
                settings={
                    "vectors": name,
                    "languages": list(WORD_LEVEL),
                    "profile": profile,
                    **({"precision": "double"} if profile == "smoke" else {}),
                },
                data=hashes,
                task=VECTORS,
            )
        )
    return trials


def _no_overrides(experiment: str, overrides: Mapping[str, Any]) -> None:
    if overrides:
        raise SettingsError(
            f"{experiment} has no settings to override, got: {', '.join(overrides)}"
        )


WORD_LEVEL = tuple(code for code in LANGUAGES if code not in ("la", "ja"))
COVERAGE = ("coverage", "coverage with back-off")
INDUCTION = ("P@1", "P@1 without same spelling")
# The languages of the table that MUSE has a test dictionary for.
WITH_TEST_DICTIONARY = ("fr", "es", "it", "bg", "ru", "de", "zh", "ar", "hi")
VECTOR_COLUMNS = tuple(
    f"{code}/{what}"
    for code in WORD_LEVEL
    for what in COVERAGE + (INDUCTION if code in WITH_TEST_DICTIONARY else ())
)


TABLE2_SYSTEMS = (
    *(System("word", row) for row in WORD_ROWS),
    *(
        System("word-mapped", row, default=False, ours=True)
        for row in ("BiLSTM", "TRS", "RPT", "ORT")
    ),
    *TABLE2_ROWS,
)

EXPERIMENTS = (
    Experiment(
        key="word_order/table2",
        title="Table 2: zero-shot part-of-speech tagging in 31 languages",
        question="Do taggers that see less of English word order transfer better?",
        systems=TABLE2_SYSTEMS,
        columns=(*LANGUAGES, "avg"),
        profiles=("smoke", "open", "paper"),
        make_trials=_table2_trials,
        cost={
            "smoke": "seconds",
            "open": "minutes per trial and CPU core",
            "paper": "one GPU; the official UD 2.2 release and aligned fastText vectors",
        },
        default_seeds={"smoke": (0,), "open": (0, 1, 2), "paper": (0, 1, 2)},
    ),
    Experiment(
        key="word_order/distances",
        title="Table 1 and 2, second row: word-order distances to English",
        question="Does the printed distance column follow from the 52 features?",
        systems=(System("distance", "mean absolute difference"),),
        columns=LANGUAGES,
        profiles=("smoke", "open"),
        make_trials=_distance_trials,
        cost={"smoke": "seconds", "open": "seconds"},
    ),
    Experiment(
        key="word_order/open_vectors",
        title="How good are the open cross-lingual vectors?",
        question="How many test tokens have a vector, and how well are the languages aligned?",
        systems=(System("vectors", "dictionary"), System("vectors", "mapped")),
        columns=VECTOR_COLUMNS,
        profiles=("smoke", "open"),
        make_trials=_vector_trials,
        cost={"smoke": "seconds", "open": "minutes, and once the building of the vectors"},
        ours=True,
    ),
    Experiment(
        key="word_order/learning_rates",
        title="Learning rates, tuned on English dev",
        question="Which learning rate serves each encoder best on the source language alone?",
        systems=tuple(System("word", row) for row in ENCODERS),
        columns=tuple(rate_column(rate) for rate in LEARNING_RATES),
        profiles=("smoke", "open"),
        make_trials=_learning_rate_trials,
        cost={"smoke": "seconds", "open": "a minute per trial and CPU core"},
        default_seeds={"smoke": (0,), "open": (100,)},
        ours=True,
    ),
    PRETRAINING_EXPERIMENT,
    figure1(_table2_trials, TABLE2_SYSTEMS, LANGUAGES),
    *SPAN_EXPERIMENTS,
    alignment_quality(tagging_settings),
    *NLU_EXPERIMENTS,
    *NER_TRANSFER_EXPERIMENTS,
)
