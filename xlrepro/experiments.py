"""All experiments that can be run, gathered from the papers."""

from functools import cache
from importlib import import_module

from xlrepro.errors import SettingsError
from xlrepro.trials.experiment import Experiment

BUILT_PAPERS = ("word_order",)


@cache
def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by its key, in the order of the papers."""
    found: dict[str, Experiment] = {}
    for paper in BUILT_PAPERS:
        module = import_module(f"xlrepro.papers.{paper}.experiments")
        found |= {experiment.key: experiment for experiment in module.EXPERIMENTS}
    return found


def experiment(key: str) -> Experiment:
    """Return the experiment ``key``, such as ``"word_order/table2"``.

    Raises:
        SettingsError: for an unknown key; the message names the known ones.
    """
    known = all_experiments()
    if key not in known:
        raise SettingsError(f"there is no experiment {key!r}; there are: {', '.join(known)}")
    return known[key]
