"""``word_order/alignment_quality``, an experiment of ours: scores over a range of alignment."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.corpora.named import ARTIFICIAL, FAMILY_SEED
from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.alignment.data import ORDERS
from xlrepro.papers.word_order.experiments.spans import span_settings
from xlrepro.papers.word_order.experiments.table2 import pos_settings
from xlrepro.papers.word_order.hashes import data_hashes
from xlrepro.papers.word_order.settings import ENCODERS, TaggingSettings, presets
from xlrepro.pretraining.recipes import WORD_STATES
from xlrepro.tasks.source import vectors_hash
from xlrepro.training.precision import SINGLE
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.trial import Trial

KEY = "word_order/alignment_quality"
FUNCTIONS = {
    "run": "word_order/alignment",
    "measure": "word_order/alignment_measure",
    "distances": "word_order/alignment_distances",
}

# What differs in a block's training: the vectors.
BLOCKS = {"word": {}, "word-encoder": {"vectors": WORD_STATES}, "artificial": {}}
TASKS = ("POS", "SF")
INDUCTION, DISTANCE = "measured:P@1", "measured:distance"


def _level_names(block: str) -> list[str]:
    return [level["name"] for level in presets("alignment_quality")[block]["levels"]]


def _columns() -> tuple[str, ...]:
    columns: list[str] = []
    preset = presets("alignment_quality")
    for task in TASKS:
        columns.append(f"{task}/en")
        for block in BLOCKS:
            targets = (*preset[block][task]["targets"], "avg")
            columns += [f"{task}/{n}/{code}" for n in _level_names(block) for code in targets]
    return (*columns, *(f"distance/{code}" for code in ORDERS))


def _trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    if "targets" in overrides or "vectors" in overrides:
        raise SettingsError(f"{KEY} sets targets and vectors itself: do not override them")
    trials: list[Trial] = []
    for identifier in systems:
        if identifier == INDUCTION:
            trials += _induction(profile)
        elif identifier == DISTANCE:
            trials.append(_distances(profile))
        else:
            trials += _scores(identifier, profile, seeds, overrides)
    return trials


def _scores(
    identifier: str, profile: str, seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    block, encoder = identifier.split(":", 1)
    preset = presets("alignment_quality")[block]
    trials = []
    for task in TASKS:
        training = _training(block, task, profile, encoder, overrides)
        targets = preset[task]["targets"]
        settings = {
            "training": training.model_dump(mode="json", exclude_defaults=True),
            "languages": _languages(block, training.corpus, targets),
            "levels": preset["levels"],
            **_precision(training),
        }
        columns = [f"{task}/en"]
        columns += [f"{task}/{n}/{c}" for n in _level_names(block) for c in (*targets, "avg")]
        tested = training.model_copy(update={"targets": tuple(targets)})
        hashes = data_hashes(tested) | _vector_hashes(tested.corpus, preset["levels"])
        for seed in seeds:
            trials.append(_trial(identifier, columns, profile, seed, settings, hashes, "run"))
    return trials


def _training(
    block: str, task: str, profile: str, encoder: str, overrides: Mapping[str, Any]
) -> TaggingSettings:
    chosen = presets("alignment_quality")["training"][profile][block]
    changes = {**BLOCKS[block], **chosen[task], **overrides, "targets": ()}
    if task == "POS":
        return pos_settings(chosen["preset"], encoder, changes)
    return span_settings(chosen["preset"], "SF", encoder, changes)


def _induction(profile: str) -> list[Trial]:
    trials = []
    for block, changes in BLOCKS.items():
        preset = presets("alignment_quality")[block]
        tasks = {task: preset[task]["targets"] for task in TASKS}
        together = list(dict.fromkeys(code for codes in tasks.values() for code in codes))
        training = _training(block, "POS", profile, "TRS", {})
        corpus = training.corpus
        if changes and corpus == ARTIFICIAL:
            continue  # no encoder has read made-up words
        for level in preset["levels"]:
            settings = {
                "languages": _languages(block, corpus, together),
                "tasks": tasks,
                "level": level,
                **_precision(training),
            }
            columns = [f"{t}/{level['name']}/{c}" for t in TASKS for c in (*tasks[t], "avg")]
            hashes = _vector_hashes(corpus, [level])
            trials.append(_trial(INDUCTION, columns, profile, 0, settings, hashes, "measure"))
    return trials


def _precision(training: TaggingSettings) -> dict[str, str]:
    """Return the trial's precision, that of its training, where it is not the default."""
    return {} if training.precision == SINGLE else {"precision": training.precision}


def _languages(block: str, corpus: str, targets: Sequence[str]) -> dict[str, Any]:
    languages: dict[str, Any] = {"corpus": corpus, "targets": list(targets)}
    return {**languages, "by_order": True} if block == "artificial" else languages


def _vector_hashes(corpus: str, levels: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    if corpus == ARTIFICIAL:
        return {ARTIFICIAL: f"family {FAMILY_SEED}"}
    names = {level.get("vectors", "dictionary") for level in levels}
    return {f"vectors/{name}": vectors_hash(name) for name in sorted(names)}


def _distances(profile: str) -> Trial:
    columns = [f"distance/{code}" for code in ORDERS]
    return _trial(DISTANCE, columns, profile, 0, {}, _vector_hashes(ARTIFICIAL, []), "distances")


def _trial(
    system: str,
    columns: Sequence[str],
    profile: str,
    seed: int,
    settings: Mapping[str, Any],
    hashes: Mapping[str, str],
    function: str,
) -> Trial:
    return Trial.create(
        experiment=KEY,
        systems=(system,),
        columns=tuple(columns),
        profile=profile,
        seed=seed,
        settings=settings,
        data=hashes,
        task=FUNCTIONS[function],
    )


ALIGNMENT_EXPERIMENT = Experiment(
    key=KEY,
    systems=(
        *(
            System(block, row, default=not changes, ours=True)
            for block, changes in BLOCKS.items()
            for row in ENCODERS
        ),
        *(System("measured", name, ours=True) for name in ("P@1", "distance")),
    ),
    columns=_columns(),
    profiles=("smoke", "open"),
    make_trials=_trials,
    cost={
        "smoke": "half a minute",
        "open": "about 40 seconds per trial and CPU core, two minutes per level of P@1",
    },
    default_seeds={"smoke": (0,), "open": (0, 1, 2)},
)
