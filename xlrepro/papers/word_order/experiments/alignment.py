"""``word_order/alignment_quality``, an experiment of ours: scores over a range of alignment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from xlrepro.data.named import ARTIFICIAL, FAMILY_SEED
from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.alignment.data import ORDERS
from xlrepro.papers.word_order.experiments.rows import word_settings
from xlrepro.papers.word_order.hashes import data_hashes
from xlrepro.papers.word_order.settings import ENCODERS, TaggingSettings, presets
from xlrepro.pretraining.recipes import WORD_STATES
from xlrepro.tasks.source import vectors_hash
from xlrepro.training.settings import SINGLE
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import Overrides, Run, per_row

KEY = "word_order/alignment_quality"
# What differs in a block's training: the vectors.
BLOCKS = {"word": {}, "word-encoder": {"vectors": WORD_STATES}, "artificial": {}}
TASKS = ("POS", "SF")
INDUCTION, DISTANCE = "measured:P@1", "measured:distance"
DISTANCES = tuple(f"distance/{code}" for code in ORDERS)


def _columns(task: str, *blocks: str) -> list[str]:
    """Return the columns of a task's scores: the source's, and the targets' in these blocks."""
    columns = [f"{task}/en"]
    for preset in (presets("alignment_quality")[block] for block in blocks):
        codes = (*preset[task]["targets"], "avg")
        columns += [
            f"{task}/{level['name']}/{code}" for level in preset["levels"] for code in codes
        ]
    return columns


@per_row
def _runs(identifier: str, profile: str, overrides: Overrides) -> Iterable[Run]:
    if "targets" in overrides or "vectors" in overrides:
        raise SettingsError(f"{KEY} sets targets and vectors itself: do not override them")
    if identifier == INDUCTION:
        return _induction(profile)
    if identifier == DISTANCE:
        hashes, task = _vector_hashes(ARTIFICIAL, []), "word_order/alignment_distances"
        return [Run(KEY, (identifier,), DISTANCES, {}, hashes, task, seeds=(0,))]
    return _scores(identifier, profile, overrides)


def _scores(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    block, _, encoder = identifier.partition(":")
    preset = presets("alignment_quality")[block]
    for task in TASKS:
        training = _training(block, task, profile, encoder, overrides)
        targets = preset[task]["targets"]
        settings = {
            "training": training.model_dump(mode="json", exclude_defaults=True),
            "languages": _languages(block, training.corpus, targets),
            "levels": preset["levels"],
            **_precision(training),
        }
        tested = training.model_copy(update={"targets": tuple(targets)})
        hashes = data_hashes(tested) | _vector_hashes(tested.corpus, preset["levels"])
        columns = _columns(task, block)
        yield Run(KEY, (identifier,), columns, settings, hashes, "word_order/alignment")


def _training(
    block: str, task: str, profile: str, encoder: str, overrides: Overrides
) -> TaggingSettings:
    chosen = presets("alignment_quality")["training"][profile][block]
    changes = {**BLOCKS[block], **chosen[task], **overrides, "targets": ()}
    return word_settings(chosen["preset"], task, encoder, changes)


def _induction(profile: str) -> Iterator[Run]:
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
            at = f"/{level['name']}/"
            columns = [c for task in TASKS for c in _columns(task, block) if at in c]
            hashes, task = _vector_hashes(corpus, [level]), "word_order/alignment_measure"
            yield Run(KEY, (INDUCTION,), columns, settings, hashes, task, seeds=(0,))


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
    columns=(*(c for task in TASKS for c in _columns(task, *BLOCKS)), *DISTANCES),
    make_trials=_runs,
    profiles=("smoke", "open"),
    cost={
        "smoke": "half a minute",
        "open": "about 40 seconds per trial and CPU core, two minutes per level of P@1",
    },
)
