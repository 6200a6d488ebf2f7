"""What a run would do: which trials have a record, which are run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xlrepro.experiments import is_outdated
from xlrepro.store import RecordStore
from xlrepro.trials import Record, Trial


@dataclass(frozen=True)
class Plan:
    """Which trials would run, and which have a record.

    Attributes:
        pending: trials to run, in the order given, each once.
        reused: records of the others.
        outdated: keys of those pending trials that have a record which is outdated.
    """

    pending: tuple[Trial, ...]
    reused: tuple[Record, ...]
    outdated: frozenset[str]


def plan_trials(trials: Sequence[Trial], store: RecordStore, again: Collection[str] = ()) -> Plan:
    """Sort trials into those to run and those that have a current record.

    Trials whose keys are in ``again`` are run whatever there is.
    """
    pending: list[Trial] = []
    reused: list[Record] = []
    outdated: set[str] = set()
    for trial in {trial.key: trial for trial in trials}.values():
        record = store.get(trial)
        if record is not None and is_outdated(record):
            outdated.add(trial.key)
        if record is None or trial.key in outdated or trial.key in again:
            pending.append(trial)
        else:
            reused.append(record)
    return Plan(tuple(pending), tuple(reused), frozenset(outdated))
