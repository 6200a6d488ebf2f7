"""What a run would do: which trials have a record, which are run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xlrepro.trials.fingerprint import stale_check
from xlrepro.trials.record import Record
from xlrepro.trials.store import RecordStore
from xlrepro.trials.trial import Trial


@dataclass(frozen=True)
class Plan:
    """Which trials would run, and which have a record.

    Attributes:
        pending: trials to run, in the order given, each once.
        reused: records of the others.
        stale: keys of those reused records that were made by other code than today's.
    """

    pending: tuple[Trial, ...]
    reused: tuple[Record, ...]
    stale: frozenset[str]


def plan_trials(
    trials: Sequence[Trial],
    store: RecordStore,
    rerun_stale: bool = False,
    again: Collection[str] = (),
) -> Plan:
    """Sort trials into those to run and those that have a record.

    A stale record counts as one, and is named as such, unless ``rerun_stale``. Trials whose keys
    are in ``again`` are run whatever there is.
    """
    pending: list[Trial] = []
    reused: list[Record] = []
    stale: set[str] = set()
    is_stale = stale_check()
    for trial in {trial.key: trial for trial in trials}.values():
        record = store.get(trial.key)
        old = record is not None and is_stale(record)
        if record is None or (old and rerun_stale) or trial.key in again:
            pending.append(trial)
            continue
        reused.append(record)
        if old:
            stale.add(record.key)
    return Plan(tuple(pending), tuple(reused), frozenset(stale))
