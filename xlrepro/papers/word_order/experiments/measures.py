"""What is measured without training: the distance column of the tables, the open word vectors."""

from collections.abc import Iterator

from xlrepro.data import registry
from xlrepro.data.named import FAMILY_SEED
from xlrepro.encoders.words import ENCODER as WORD_STATES
from xlrepro.papers.word_order.experiments.rows import no_overrides
from xlrepro.papers.word_order.experiments.table2 import LANGUAGES
from xlrepro.tasks.source import vectors_hash
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import Overrides, Run, per_row

DISTANCES = "word_order/distances"  # the experiment, and its trials' task
VECTORS = "word_order/open_vectors"
FEATURES = "word-order-distance"
ARTIFICIAL = {"artificial": f"family {FAMILY_SEED}"}  # what is read at smoke


# Nothing is random in either: one trial, whichever seeds are asked for.
@per_row
def _distances(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    no_overrides(DISTANCES, overrides)
    settings, hashes = {"source": "artificial", "sentences": 200}, ARTIFICIAL
    if profile != "smoke":
        settings = {"source": FEATURES, "sentences": None}
        hashes = {FEATURES: registry.content_hash(FEATURES, "features")}
    yield Run(DISTANCES, (identifier,), LANGUAGES, settings, hashes, DISTANCES, seeds=(0,))


@per_row
def _vectors(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    no_overrides(VECTORS, overrides)
    name = identifier.partition(":")[2]
    settings = {"vectors": name, "languages": list(WORD_LEVEL), "profile": profile}
    hashes = ARTIFICIAL
    if profile == "smoke":
        settings["precision"] = "double"
    else:
        hashes = {f"vectors/{name}": vectors_hash(name)}
    task = "word_order/vector_quality"
    yield Run(VECTORS, (identifier,), VECTOR_COLUMNS, settings, hashes, task, seeds=(0,))


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
        key=DISTANCES,
        systems=(System("distance", "mean absolute difference"),),
        columns=LANGUAGES,
        make_trials=_distances,
        profiles=("smoke", "open"),
        cost={"smoke": "seconds", "open": "seconds"},
        default_seeds={},
    ),
    Experiment(
        key=VECTORS,
        systems=(
            System("vectors", "dictionary"),
            System("vectors", "mapped"),
            System("vectors", WORD_STATES, by_name_at=("smoke",)),  # not of artificial languages
        ),
        columns=VECTOR_COLUMNS,
        make_trials=_vectors,
        profiles=("smoke", "open"),
        cost={"smoke": "seconds", "open": "minutes, and once the building of the vectors"},
        default_seeds={},
    ),
)
