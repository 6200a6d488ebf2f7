"""All experiments that can be run, gathered from the papers."""

from collections import Counter
from collections.abc import Sequence
from fnmatch import filter as matching
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from xlrepro.errors import DataError, SettingsError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.trials.experiment import Experiment
from xlrepro.trials.presets import preset_keys
from xlrepro.trials.record import Record
from xlrepro.trials.store import RecordStore
from xlrepro.trials.trial import PROFILES

if TYPE_CHECKING:
    from xlrepro.evidence.reproduced import ReproducedNumbers

PAPERS = Path(__file__).parent / "papers"


def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by its key, in the order of the catalog's papers.

    A paper is built if its package has a module, or a package, ``experiments``.
    """
    return _experiments_of(tuple(load_catalog().papers))


@cache
def _experiments_of(papers: tuple[str, ...]) -> dict[str, Experiment]:
    by_key: dict[str, Experiment] = {}
    for paper in papers:
        built = PAPERS / paper
        if not any((built / e).is_file() for e in ("experiments.py", "experiments/__init__.py")):
            continue
        module = import_module(f"xlrepro.papers.{paper}.experiments")
        by_key |= {experiment.key: experiment for experiment in module.EXPERIMENTS}
    return by_key


def experiment(key: str) -> Experiment:
    """Return the experiment ``key``, such as ``"word_order/table2"``.

    Raises:
        SettingsError: for an unknown key; the message names the known ones, of its paper if it is
            one of ours.
    """
    known = all_experiments()
    if key not in known:
        near = [k for k in known if k.partition("/")[0] == key.partition("/")[0]] or [*known]
        raise SettingsError(f"there is no experiment {key!r}; there are: {', '.join(near)}")
    return known[key]


def check_deviations(key: str | None = None) -> None:
    """Hold the rows and columns that deviations name against those of the experiments.

    Args:
        key: of one experiment; ``None``: of all that are built.

    Raises:
        DataError: for a name that stands for no row or no column.
    """
    from xlrepro.evidence.deviations import load_deviations  # these load numpy: `list` need not
    from xlrepro.evidence.reported import load_reported

    built = all_experiments()
    for deviation in load_deviations(key):
        for name in {*deviation.experiments} & {*built} & ({key} if key else {*built}):
            printed = load_reported().cells(name)
            rows = [s.identifier for s in built[name].systems] + [c.system for c in printed]
            columns = [*built[name].columns, *(c.column for c in printed)]
            known = {"row": dict.fromkeys(rows), "column": dict.fromkeys(columns)}
            for kind, given in deviation.named(name).items():
                if unknown := [n for n in given if not matching(known[kind], n)]:
                    raise DataError(
                        f"deviation {deviation.id}: {name} has no {kind} {unknown[0]!r}; it has: "
                        f"{', '.join(known[kind])}"
                    )


def own_records(key: str, profile: str, store: RecordStore | None = None) -> list[Record]:
    """Return the records that the experiment's own preset asks for; others are left out.

    Others are those made with ``--set``, with an earlier preset or with other data. Records of
    trials that the experiment shares with another are read as its own: :meth:`Experiment.view`.
    Where the preset's trials are named by files that the user supplies, and they are not here, all
    records count: whoever has no CoNLL can read the book of someone who has.
    """
    store, each = store or RecordStore(), experiment(key)
    asked, _ = _by_preset(each, profile, store)
    views = [each.view(record) for record in asked]
    return each.together(views) if each.together and views else views


def _by_preset(
    each: Experiment, profile: str, store: RecordStore
) -> tuple[list[Record], list[Record]]:
    """Return the records that the experiment's preset asks for today, and the others."""
    records = [r for name in each.trained_in for r in store.records(name, profile)]
    try:
        wanted = preset_keys(each, profile, [r.seed for r in records])
    except DataError:
        return records, []
    asked = [r for r in records if r.key in wanted]
    return asked, [r for r in records if r.key not in wanted]


def asked_for(each: Experiment, profile: str, store: RecordStore) -> set[str]:
    """Return the keys of the records that an experiment's preset asks for today."""
    asked, _ = _by_preset(each, profile, store)
    return {record.key for record in asked}


def records_left_out(profile: str, store: RecordStore | None = None) -> dict[str, int]:
    """Count, by experiment, the records that no experiment's preset asks for today."""
    return dict(Counter(keys_left_out(profile, store).values()))


def keys_left_out(profile: str, store: RecordStore | None = None) -> dict[str, str]:
    """Return the keys of records that no experiment's preset asks for today, with their experiment.

    They were made with ``--set`` or before a preset changed, and no page shows them.
    """
    store, asked, others = store or RecordStore(), set[str](), dict[str, str]()
    for each in all_experiments().values():
        if profile in each.profiles:
            wanted, left = _by_preset(each, profile, store)
            asked |= {r.key for r in wanted}
            others |= {r.key: r.experiment for r in left}
    return {key: of for key, of in others.items() if key not in asked}


def all_own_records() -> list[Record]:
    """Return the own records of every experiment that is built, at every profile."""
    store = RecordStore()
    return [
        record
        for key, each in all_experiments().items()
        for profile in each.profiles
        for record in own_records(key, profile, store)
    ]


def records_by_experiment(
    keys: Sequence[str], profile: str, store: RecordStore | None = None
) -> dict[str, list[Record]]:
    """Return the own records of experiments; none of those that are not built, or not for it.

    Raises:
        SettingsError: for an unknown profile.
    """
    if profile not in PROFILES:
        raise SettingsError(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
    store = store or RecordStore()
    known = {key for key, each in all_experiments().items() if profile in each.profiles}
    return {key: own_records(key, profile, store) if key in known else [] for key in keys}


def own_numbers(
    keys: Sequence[str], profiles: Sequence[str], store: RecordStore | None = None
) -> "ReproducedNumbers":
    """Gather the records of those of the experiments that are built and know a profile.

    Raises:
        SettingsError: for an unknown profile.
    """
    from xlrepro.evidence.reproduced import gather

    by_profile = (records_by_experiment(keys, profile, store) for profile in profiles)
    return gather(record for of in by_profile for records in of.values() for record in records)
