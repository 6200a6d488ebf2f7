"""The command line with one fake experiment: ``python fake_experiments.py run word_order/fake``."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro import experiments
from xlrepro.errors import SettingsError
from xlrepro.trials import Trial
from xlrepro.trials.experiment import Experiment, System

SETTINGS = ("ran", "sleep", "fail", "fail_clearly", "die")


def make_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    for name in overrides:
        if name not in SETTINGS:
            raise SettingsError(f"there is no setting {name!r}; there are: {', '.join(SETTINGS)}")
    return [
        Trial.create(
            experiment="word_order/fake",
            systems=(system,),
            columns=("en", "de"),
            profile=profile,
            seed=seed,
            settings=dict(overrides),
            task="fake_runner/run",
        )
        for system in systems
        for seed in seeds
    ]


FAKE = Experiment(
    key="word_order/fake",
    systems=(System("word", "ORT"), System("word", "TRS")),
    columns=("en", "de"),
    profiles=("smoke", "open"),
    make_trials=make_trials,
    cost={"open": "a second"},
    default_seeds={"open": (0, 1)},
)


def fake_experiments() -> dict[str, Experiment]:
    return {FAKE.key: FAKE}


if __name__ == "__main__":
    from xlrepro.cli import main

    experiments.all_experiments = fake_experiments
    main()
