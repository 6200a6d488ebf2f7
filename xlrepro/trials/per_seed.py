"""One trial per seed: what most experiments turn a row of their table into."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from xlrepro.trials.trial import Trial


def per_seed(
    seeds: Sequence[int],
    *,
    experiment: str,
    system: str,
    columns: Sequence[str],
    profile: str,
    settings: BaseModel,
    data: Mapping[str, str],
    task: str,
) -> list[Trial]:
    """Return the trials of one system: the same settings with each seed.

    Args:
        seeds: of the trials, in their order.
        experiment: ``"word_order/table2"``.
        system: identifier of the system whose cells they fill.
        columns: the columns they fill.
        profile: the profile.
        settings: everything else that decides the numbers. Settings at their default stay out of
            the trial's key, so that a new one moves no key of an older record.
        data: name to content hash of each data set they read.
        task: ``"word_order/pos"``.
    """
    return [
        Trial.create(
            experiment=experiment,
            systems=(system,),
            columns=tuple(columns),
            profile=profile,
            seed=seed,
            settings=settings.model_dump(mode="json", exclude_defaults=True),
            data=data,
            task=task,
        )
        for seed in seeds
    ]
