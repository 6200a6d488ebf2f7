"""Which trials are run as witnesses: few, that cover every categorical setting of stale records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xlrepro.trials.record import Record
from xlrepro.trials.tasks import table_of
from xlrepro.trials.trial import Trial, canonical_json
from xlrepro.trials.witness.lines import ABSENT, categories


@dataclass(frozen=True)
class Group:
    """Stale records of one commit, fingerprint, task and profile, and those chosen of them.

    Attributes:
        records: all of them.
        chosen: those whose trials are run.
    """

    records: tuple[Record, ...]
    chosen: tuple[Record, ...]

    @property
    def commit(self) -> str | None:
        """The commit of the records; ``None`` where they name none."""
        return self.records[0].git.commit

    @property
    def label(self) -> str:
        """A line for people."""
        first = self.records[0]
        count = f"{len(self.records)} record" + "s" * (len(self.records) > 1)
        at = (first.git.commit or "no commit")[:8]
        return f"{first.task} {first.profile}, {count} of {at}"


def groups_of(records: Iterable[Record]) -> list[Group]:
    """Return the groups of stale records, by commit, task and profile."""
    by_code: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        address = (
            record.git.commit or "",
            record.task,
            record.profile,
            record.fingerprint,
            str(record.git.dirty),
        )
        by_code.setdefault(address, []).append(record)
    return [Group(tuple(of), tuple(choose(of))) for _, of in sorted(by_code.items())]


def choose(records: Sequence[Record]) -> list[Record]:
    """Return few records that have between them every value of every categorical setting.

    Always the one that adds most values next; of equal ones that which took the least time.
    """
    paths = {path for record in records for path in categories(record.settings)}
    values = {record.key: _values(record.settings, paths) for record in records}
    missing = {value for each in values.values() for value in each}
    ordered = sorted(records, key=lambda r: (r.wall_seconds, r.key))
    chosen: list[Record] = []
    while missing or not chosen:
        best = max(ordered, key=lambda r: len(values[r.key] & missing))
        chosen.append(best)
        missing -= values[best.key]
    return chosen


def _values(settings: Mapping[str, Any], paths: Iterable[str]) -> set[tuple[str, str]]:
    values = categories(settings)
    return {(path, value) for path in paths for value in values.get(path, {ABSENT})}


def shrinking(task: str) -> dict[str, int]:
    """Return how the trials of a task are shrunk: path of a setting to the most it may be.

    It stands in ``SHRINK`` of the paper's package, beside ``TASKS``; a task that is not there is
    run as it is.
    """
    paper, _, name = task.partition("/")
    return dict(table_of(paper, "SHRINK").get(name, {}))


def shrunk(record: Record, most: Mapping[str, int]) -> Trial:
    """Return the trial of a record with smaller settings.

    A number is made no larger than told, a list is cut to its first so many entries, and the
    columns that name one of those cut off (``"fi"``, ``"fi/NER"``) go with them. A setting that
    the trial leaves at its default is set only where the record's details show that there is one.

    Args:
        record: of the trial.
        most: path of a setting, ``"training.epochs"``, to the most it may be.
    """
    trial = record.trial
    settings = trial.settings
    defaults, cut_off = record.details.get("settings"), set[str]()
    for path, limit in most.items():
        *groups, name = path.split(".")
        inner, shown = _inside(settings, groups), _inside(defaults, groups)
        if not isinstance(inner, dict):
            continue
        whole = inner if name in inner else shown
        if isinstance(whole, dict) and name in whole:
            if isinstance(whole[name], list):
                cut_off |= {_name_of(entry) for entry in whole[name][limit:]}
            inner[name] = _at_most(whole[name], limit)
    columns = tuple(c for c in trial.columns if cut_off.isdisjoint(c.split("/")))
    return replace(trial, columns=columns, settings_json=canonical_json(settings))


def _name_of(entry: Any) -> str:
    """Return what columns call an entry of a list: itself, or the ``name`` among its settings."""
    return str(entry.get("name", "")) if isinstance(entry, dict) else str(entry)


def _inside(settings: Any, groups: Sequence[str]) -> Any:
    for group in groups:
        settings = settings.get(group) if isinstance(settings, dict) else None
    return settings


def _at_most(value: Any, limit: int) -> Any:
    if isinstance(value, list):
        return value[:limit]
    if value is None:
        return limit
    return min(value, limit)
