"""One trial per seed: what experiments make of the rows of their tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from xlrepro.trials import Trial
from xlrepro.trials.experiment import MakeTrials

Overrides = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """Trials that differ in nothing but their seeds.

    Attributes:
        experiment: ``"word_order/table2"``.
        systems: identifiers of the systems whose cells they fill.
        columns: the columns they fill.
        settings: everything else that decides the numbers. Typed settings at their default stay
            out of the trial's key, so that a new one moves no key of an older record.
        data: name to content hash of each data set they read.
        task: ``"word_order/pos"``.
        seeds: theirs, whichever are asked for: ``(0,)`` where nothing is random; empty: those.
    """

    experiment: str
    systems: Sequence[str]
    columns: Sequence[str]
    settings: BaseModel | Mapping[str, Any]
    data: Mapping[str, str]
    task: str
    seeds: tuple[int, ...] = ()

    def trials(self, profile: str, seeds: Sequence[int]) -> list[Trial]:
        """Return a trial per seed, in their order."""
        settings = self.settings
        if isinstance(settings, BaseModel):
            settings = settings.model_dump(mode="json", exclude_defaults=True)
        return [
            Trial.create(
                experiment=self.experiment,
                systems=tuple(self.systems),
                columns=tuple(self.columns),
                profile=profile,
                seed=seed,
                settings=settings,
                task=self.task,
            )
            for seed in self.seeds or seeds
        ]


def per_seed(make: Callable[[Sequence[str], str, Overrides], Iterable[Run]]) -> MakeTrials:
    """Return what makes an experiment's trials of its runs; what several rows share, once.

    Args:
        make: (system identifiers, profile, overrides) -> runs.
    """

    def make_trials(
        profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
    ) -> list[Trial]:
        runs = make(systems, profile, overrides)
        return list(dict.fromkeys(trial for run in runs for trial in run.trials(profile, seeds)))

    return make_trials


def per_row(make: Callable[[str, str, Overrides], Iterable[Run]]) -> MakeTrials:
    """Return the same of an experiment each row of which has its own runs.

    Args:
        make: (system identifier, profile, overrides) -> runs.
    """
    return per_seed(
        lambda systems, profile, overrides: (
            run for identifier in systems for run in make(identifier, profile, overrides)
        )
    )
