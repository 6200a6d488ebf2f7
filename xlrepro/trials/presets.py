"""Which records belong to an experiment as its profile sets it up today."""

from collections.abc import Iterable

from xlrepro.trials.experiment import Experiment


def preset_keys(experiment: Experiment, profile: str, seeds: Iterable[int]) -> set[str]:
    """Return the keys of the trials that the experiment's own preset asks for.

    A record of the same experiment, profile and cell whose key is not among them was made with
    changed settings (``--set``), with an earlier preset or with other data: it must not be
    averaged with the others.

    Args:
        experiment: the experiment.
        profile: the profile.
        seeds: the seeds in question, such as those of the records at hand.
    """
    numbers = sorted(set(seeds))
    if not numbers:
        return set()
    return {trial.key for trial in experiment.all_trials(profile, numbers)}
