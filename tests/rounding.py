"""Golden numbers with the processor's vector instructions turned down: ``make rounding``.

A trial of each task with each value of those settings that are words or switches (model, positions,
head, initialisation, …), and no more. Others differ in languages, in sizes and in how these are put
together, and round in the same operations.
"""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from xlrepro.engine import run_trials
from xlrepro.evidence.golden import PROFILE, Difference, check, fresh_numbers
from xlrepro.experiments import all_experiments
from xlrepro.store import RecordStore
from xlrepro.trials import Trial

LANGUAGES = ("target", "few_shot_language")  # settings that are one


def words(settings: Any, name: str = "") -> Iterator[tuple[str, str | bool]]:
    """Yield the settings that are words or switches, by dotted name, but for languages."""
    if isinstance(settings, dict):
        for key, value in settings.items():
            if key not in LANGUAGES:
                yield from words(value, f"{name}.{key}")
    elif isinstance(settings, str | bool):
        yield name, settings


def one_of_each_kind(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that have a task, or a word or switch of its settings, as the first."""
    seen, chosen = set[Any](), []
    for trial in trials:
        kinds = {(trial.task,), *((trial.task, *word) for word in words(trial.settings))}
        if kinds - seen:
            chosen.append(trial)
            seen |= kinds
    return chosen


def differences(trials: Iterable[Trial], store: RecordStore) -> list[Difference]:
    """Return the numbers of these trials' records that are not the golden ones."""
    by_experiment: dict[str, list[Trial]] = {}
    for trial in trials:
        by_experiment.setdefault(trial.experiment, []).append(trial)
    moved = []
    for key, of in by_experiment.items():
        records = [record for trial in of if (record := store.get(trial))]
        moved += check(key, fresh_numbers(records), {t.task: t.version for t in of})
    # A number without a golden one, or the other way round, is `xlrepro golden`'s business.
    return [each for each in moved if None not in (each.golden, each.now)]


def main() -> int:
    """Run the trials and compare; return the exit status."""
    of_smoke = [e for e in all_experiments().values() if PROFILE in e.profiles]
    trials = one_of_each_kind(trial for each in of_smoke for trial in each.trials(PROFILE))
    store = RecordStore()
    ran = run_trials(trials, store=store, device="cpu")
    moved = differences(trials, store)
    for line in (*(what for what, _ in ran.failed), *moved):
        print(line)
    print(f"{len(trials)} trials, {len(ran.failed)} failed, {len(moved)} numbers differ")
    return int(bool(ran.failed or moved))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLREPRO_BUILD"] = folder  # records of its own
        sys.exit(main())
