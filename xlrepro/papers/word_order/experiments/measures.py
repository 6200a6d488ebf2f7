"""What is measured without training: the distance column of the tables, the open word vectors."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.corpora import registry
from xlrepro.corpora.named import FAMILY_SEED
from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.experiments.table2 import LANGUAGES
from xlrepro.pretraining.recipes import WORD_STATES
from xlrepro.tasks.source import vectors_hash
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.trial import Trial

DISTANCES = "word_order/distances"
VECTORS = "word_order/vector_quality"


def _distance_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    _no_overrides("word_order/distances", overrides)
    source = "artificial" if profile == "smoke" else "word-order-distance"
    if source == "artificial":
        hashes = {"artificial": f"family {FAMILY_SEED}"}
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
            hashes = {"artificial": f"family {FAMILY_SEED}"}
        else:
            hashes = {f"vectors/{name}": vectors_hash(name)}
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


MEASURE_EXPERIMENTS = (
    Experiment(
        key="word_order/distances",
        systems=(System("distance", "mean absolute difference"),),
        columns=LANGUAGES,
        profiles=("smoke", "open"),
        make_trials=_distance_trials,
        cost={"smoke": "seconds", "open": "seconds"},
    ),
    Experiment(
        key="word_order/open_vectors",
        systems=(
            System("vectors", "dictionary"),
            System("vectors", "mapped"),
            System("vectors", WORD_STATES, by_name_at=("smoke",)),  # not of artificial languages
        ),
        columns=VECTOR_COLUMNS,
        profiles=("smoke", "open"),
        make_trials=_vector_trials,
        cost={"smoke": "seconds", "open": "minutes, and once the building of the vectors"},
    ),
)
