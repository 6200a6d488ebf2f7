"""One trial per seed: what most experiments turn a row of their table into."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from xlrepro.trials.trial import Trial


def per_seed(seeds: Sequence[int], *, system: str, settings: BaseModel, **of: Any) -> list[Trial]:
    """Return the trials of one system: the same settings with each seed.

    Args:
        seeds: of the trials, in their order.
        system: identifier of the system whose cells they fill.
        settings: everything else that decides the numbers. Settings at their default stay out of
            the trial's key, so that a new one moves no key of an older record.
        of: experiment, columns, profile, data and task, as `Trial.create` takes them.
    """
    told = settings.model_dump(mode="json", exclude_defaults=True)
    return [Trial.create(systems=(system,), seed=seed, settings=told, **of) for seed in seeds]
