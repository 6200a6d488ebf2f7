"""The M-BERT rows of Tables 1 and 2 and their trials; and a small BERT of our own."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.hashes import mbert_hashes
from xlrepro.papers.word_order.mbert.settings import MbertSettings
from xlrepro.papers.word_order.settings import ENCODERS, presets, with_encoder
from xlrepro.pretraining.recipes import recipe_hash
from xlrepro.pretraining.settings import LANGUAGES
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import per_seed
from xlrepro.trials.trial import Trial

TASK = "word_order/mbert"
PRETRAINING = "word_order/pretraining"
BLOCKS = ("mbert", "finetune")
OWN_POSITIONS = "TRS w/ M-BERT PE"
FROZEN = " w/ frozen PE"
FROZEN_ROWS = ("TRS", OWN_POSITIONS, "RPT", "ORT")
# Table 1 prints "Fine-tune M-BERT", Table 2 "M-BERT".
TABLE1_ROWS = (
    *(System("mbert", row) for row in FROZEN_ROWS),
    *(System("finetune", row) for row in ("Fine-tune M-BERT", f"Fine-tune M-BERT{FROZEN}")),
)
TABLE2_ROWS = (
    *(System("mbert", row) for row in FROZEN_ROWS),
    *(System("finetune", row) for row in ("M-BERT", f"M-BERT{FROZEN}")),
)


def is_mbert(identifier: str) -> bool:
    """Tell whether a system belongs to one of the two M-BERT blocks."""
    return identifier.split(":", 1)[0] in BLOCKS


def of_word_rows(systems: Sequence[str], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overrides of the word-level rows: ``checkpoint`` is the M-BERT rows' alone.

    Args:
        systems: identifiers of all rows that run. Without an M-BERT row among them ``checkpoint``
            stays, so that it is refused.
        overrides: what the user changes.
    """
    served = {"checkpoint"} if any(map(is_mbert, systems)) else set()
    return {name: value for name, value in overrides.items() if name not in served}


def mbert_settings(
    profile: str, task: str, identifier: str, overrides: Mapping[str, Any]
) -> MbertSettings:
    """Return the settings of a row.

    Args:
        profile: the profile.
        task: ``"POS"``, ``"NER"`` or ``"SF"``.
        identifier: of the system.
        overrides: settings by name that win; sizes of the encoder by their own names.

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    block, row = identifier.split(":", 1)
    preset = presets("mbert")[profile]
    rates = preset["learning_rate"]
    values = {**preset["both"], **preset[task], **preset.get(block, {}), "task": task}
    values["checkpoint"] = preset["checkpoint"]
    encoder = dict(preset["sizes"])
    if block == "finetune":
        freeze = row.endswith(FROZEN)
        values |= {"fine_tune": True, "freeze_positions": freeze, "head": "linear"}
        values["learning_rate"] = rates["fine_tune"]
        encoder = {"kind": "transformer"}
    else:
        name = row.split(" ", 1)[0]
        encoder |= ENCODERS[name]
        values["learning_rate"] = rates[name]
        if row == OWN_POSITIONS:
            encoder["positions"] = "learned"
    return with_encoder(MbertSettings, f"{task} {profile} {row}", values, encoder, overrides)


def mbert_trials(
    experiment: str,
    task: str,
    identifier: str,
    profile: str,
    seeds: Sequence[int],
    overrides: Mapping[str, Any],
) -> list[Trial]:
    """Return the trials of a row in one task, a trial per seed."""
    settings = mbert_settings(profile, task, identifier, overrides)
    names = (settings.source, *settings.targets, "avg")
    return per_seed(
        seeds,
        experiment=experiment,
        system=identifier,
        columns=[n if task == "POS" else f"{task}/{n}" for n in names],
        profile=profile,
        settings=settings,
        data=mbert_hashes(settings),
        task=TASK,
    )


def rate_trials(
    experiment: str,
    identifier: str,
    columns: Mapping[str, float],
    profile: str,
    seeds: Sequence[int],
    overrides: Mapping[str, Any],
) -> list[Trial]:
    """Return trials of a row of parts of speech that are scored on the source dev set alone.

    Args:
        experiment: whose cells they fill.
        identifier: of the system.
        columns: column to learning rate.
        profile: the profile; its preset says how short the trials are.
        seeds: a trial each, per rate.
        overrides: settings by name that win.
    """
    short = {**presets("mbert")[profile]["tuning"], "targets": (), "evaluate_targets": False}
    trials = []
    for column, rate in columns.items():
        changes = {**short, "learning_rate": rate, **overrides}
        settings = mbert_settings(profile, "POS", identifier, changes)
        trials += per_seed(
            seeds,
            experiment=experiment,
            system=identifier,
            columns=[column],
            profile=profile,
            settings=settings,
            data=mbert_hashes(settings),
            task=TASK,
        )
    return trials


# The model that a row of word_order/pretraining stands for at each profile.
MODELS = {
    "smoke": {"small": "smoke", "large": "smoke"},
    "open": {"small": "cpu", "large": "gpu"},
}


def _pretraining_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    if overrides:
        raise SettingsError(
            f"word_order/pretraining has no settings to override, got: {', '.join(overrides)}"
        )
    trials = []
    for identifier in systems:
        name = MODELS[profile][identifier.split(":", 1)[1]]
        trials.append(
            Trial.create(
                experiment="word_order/pretraining",
                systems=(identifier,),
                columns=(*LANGUAGES, "avg"),
                profile=profile,
                seed=0,  # that of the preset: one model, whatever the seeds
                settings={"model": name},
                data={f"M-BERT/self:{name}": recipe_hash(name)},
                task=PRETRAINING,
            )
        )
    return trials


PRETRAINING_EXPERIMENT = Experiment(
    key="word_order/pretraining",
    systems=(System("mlm", "small", ours=True), System("mlm", "large", default=False, ours=True)),
    columns=(*LANGUAGES, "avg"),
    profiles=("smoke", "open"),
    make_trials=_pretraining_trials,
    cost={
        "smoke": "seconds",
        "open": "once about 20 minutes of a CPU core (small), an hour of a GPU (large)",
    },
    default_seeds={"smoke": (0,), "open": (0,)},
)
