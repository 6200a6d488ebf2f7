"""Trials of a word-level row, whatever its table: one per seed."""

from collections.abc import Sequence

from xlrepro.papers.word_order.hashes import data_hashes
from xlrepro.papers.word_order.settings import TaggingSettings
from xlrepro.trials.per_seed import per_seed
from xlrepro.trials.trial import Trial


def tagging_trials(
    experiment: str,
    identifier: str,
    columns: Sequence[str],
    profile: str,
    seeds: Sequence[int],
    settings: TaggingSettings,
) -> list[Trial]:
    """Return the trials of a system that fills ``columns`` of an experiment."""
    return per_seed(
        seeds,
        experiment=experiment,
        system=identifier,
        columns=columns,
        profile=profile,
        settings=settings,
        data=data_hashes(settings),
        task="word_order/pos" if settings.task == "POS" else "word_order/spans",
    )
