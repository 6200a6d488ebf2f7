"""The run of a row, whatever its table and its model, and the settings it runs with."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.hashes import data_hashes, mbert_hashes
from xlrepro.papers.word_order.mbert.settings import MbertSettings
from xlrepro.papers.word_order.settings import TaggingSettings, presets, row_settings
from xlrepro.trials.per_seed import Overrides, Run

TUNES_ALONE = {"targets": (), "evaluate_targets": False}  # scored on the source dev set


def word_settings(
    profile: str, task: str, row: str, *changes: Mapping[str, Any]
) -> TaggingSettings:
    """Return the settings of a word-level row in a task; changes as in ``row_settings``."""
    preset = presets("table2" if task == "POS" else "spans")
    return row_settings(preset[profile], task, row, *changes)


def tagging_run(
    experiment: str,
    identifier: str,
    settings: TaggingSettings,
    columns: Sequence[str] | None = None,
) -> Run:
    """Return the run of a system that fills columns of an experiment.

    Args:
        experiment: ``"word_order/table2"``.
        identifier: of the system.
        settings: the trials'; they may be of an M-BERT row.
        columns: ``None``: source, targets and their mean, as Tables 1 and 2 name them.
    """
    if columns is None:
        task = "" if settings.task == "POS" else f"{settings.task}/"
        columns = [f"{task}{name}" for name in (settings.source, *settings.targets, "avg")]
    if isinstance(settings, MbertSettings):
        hashes, name = mbert_hashes(settings), "mbert"
    else:
        hashes, name = data_hashes(settings), "pos" if settings.task == "POS" else "spans"
    return Run(experiment, (identifier,), columns, settings, hashes, f"word_order/{name}")


def no_overrides(experiment: str, overrides: Overrides) -> None:
    """Refuse changes to an experiment that has no settings.

    Raises:
        SettingsError: naming the changes.
    """
    if overrides:
        raise SettingsError(
            f"{experiment} has no settings to override, got: {', '.join(overrides)}"
        )
