"""The M-BERT rows of Tables 1 and 2 and their trials."""

from collections.abc import Sequence

from xlrepro.papers.word_order.mbert.settings import MbertSettings
from xlrepro.papers.word_order.settings import ENCODERS, presets, with_encoder
from xlrepro.trials.experiment import System
from xlrepro.trials.per_seed import Overrides

BLOCKS = ("mbert", "finetune")
OWN_POSITIONS = "TRS w/ M-BERT PE"
FROZEN = " w/ frozen PE"
FROZEN_ROWS = ("TRS", OWN_POSITIONS, "RPT", "ORT")


def mbert_systems(tuned: str) -> tuple[System, ...]:
    """Return the M-BERT rows of a table that prints ``tuned`` for M-BERT tuned as a whole."""
    frozen, whole = FROZEN_ROWS, (tuned, f"{tuned}{FROZEN}")
    return (*(System("mbert", row) for row in frozen), *(System("finetune", row) for row in whole))


def is_mbert(identifier: str) -> bool:
    """Tell whether a system belongs to one of the two M-BERT blocks."""
    return identifier.split(":", 1)[0] in BLOCKS


def of_word_rows(systems: Sequence[str], overrides: Overrides) -> Overrides:
    """Return the overrides of the word-level rows: ``checkpoint`` is the M-BERT rows' alone.

    Args:
        systems: identifiers of all rows that run. Without an M-BERT row among them ``checkpoint``
            stays, so that it is refused.
        overrides: what the user changes.
    """
    served = {"checkpoint"} if any(map(is_mbert, systems)) else set()
    return {name: value for name, value in overrides.items() if name not in served}


def mbert_settings(profile: str, task: str, identifier: str, overrides: Overrides) -> MbertSettings:
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
