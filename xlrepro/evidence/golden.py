"""Golden numbers: the smoke numbers of the last accepted commit, for regression tests only.

One file per experiment, ``tests/golden/<paper>/<experiment>.json``. A stale record says nothing
about today's code, and one made on a GPU nothing about numbers of a CPU, so neither counts: its
cells are missing until they are run again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from xlrepro.errors import DataError
from xlrepro.evidence.reproduced import AVERAGE
from xlrepro.experiments import is_outdated
from xlrepro.paths import project_root
from xlrepro.store import write_atomically
from xlrepro.trials import Record
from xlrepro.values import Checked, describe

PROFILE = "smoke"
# How far a smoke number may move between machines, in the metric's unit: trials compute in double
# precision, so that rounding, which differs between processors, reaches no count.
TOLERANCE = 1e-6
# A cell of a test set with fewer sentences is not compared where an average over such sets is: a
# handful of tokens says nothing that the average does not.
FEWEST_SENTENCES = 20

Numbers = dict[tuple[str, str, int], float]  # by system, column and seed


class Golden(Checked):
    """The file: per system and column a number per seed; the versions of the tasks."""

    experiment: str
    profile: str
    cells: dict[str, dict[str, dict[int, float]]]
    versions: dict[str, int] = {}  # noqa: RUF012 # pydantic copies it


@dataclass(frozen=True)
class Difference:
    """A number that is not what the golden file says.

    Attributes:
        place: experiment, system, column, seed.
        golden: ``None``: it is not in the file.
        now: ``None``: today's code has not run it.
        same: tasks of the experiment whose version is that of the file, if the number moved.
    """

    place: tuple[str, str, str, int]
    golden: float | None
    now: float | None
    same: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = "{} {} / {}, seed {}".format(*self.place)
        if self.now is None:
            return f"{where}: golden {self.golden:.4g}, but today's code has not run it"
        if self.golden is None:
            return f"{where}: {self.now:.4g}, but not in the golden file"
        still = f" (version of {', '.join(self.same)} is still the same)" if self.same else ""
        return f"{where}: golden {self.golden:.8g}, now {self.now:.8g}{still}"


def golden_path(experiment: str) -> Path:
    """Return the golden file of an experiment."""
    return project_root() / "tests" / "golden" / f"{experiment}.json"


def off_cpu(records: Iterable[Record | None]) -> set[str]:
    """Return the keys of the records that were made on a GPU: they alone name its memory."""
    return {r.key for r in records if r is not None and r.peak_gpu_memory_bytes is not None}


def fresh_numbers(records: Iterable[Record]) -> Numbers:
    """Return the numbers of an experiment's smoke records that today's code made on a CPU.

    Where the experiment has averages, the other cells of trials that test on fewer than
    ``FEWEST_SENTENCES`` sentences a set are left out.
    """
    smoke = [r for r in records if r.profile == PROFILE and not off_cpu([r])]
    averages = {c.column for r in smoke for c in r.cells if AVERAGE in c.column.split("/")}
    numbers: Numbers = {}
    for record in smoke:
        limit = record.settings.get("test_sentences")
        few = bool(averages) and limit is not None and limit < FEWEST_SENTENCES
        for cell in record.cells if not is_outdated(record) else ():
            if not few or cell.column in averages:
                numbers[cell.system, cell.column, record.seed] = round(cell.value, 8)
    return numbers


def read_golden(path: Path) -> Golden:
    """Read a golden file; a DataError says that it is missing, or what is malformed in it."""
    if not path.is_file():
        name = f"{path.parent.name}/{path.stem}"
        raise DataError(
            f"{path} is missing: make it with `xlrepro golden --update {name}` and commit it"
        )
    try:
        return Golden.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(f"{path}: {describe(error)}") from None


def check(experiment: str, now: Numbers, versions: Mapping[str, int]) -> list[Difference]:
    """Compare an experiment's fresh smoke numbers with its golden file, in both directions.

    Args:
        experiment: ``"word_order/table2"``.
        now: from `fresh_numbers`.
        versions: of the tasks that gave them, today.

    Raises:
        DataError: if the golden file is missing or malformed.
    """
    golden = read_golden(golden_path(experiment))
    same = tuple(task for task, number in versions.items() if golden.versions.get(task) == number)
    before: Numbers = {
        (system, column, seed): value
        for system, columns in golden.cells.items()
        for column, seeds in columns.items()
        for seed, value in seeds.items()
    }
    both = {place: (before.get(place), now.get(place)) for place in {**before, **now}}
    return [
        Difference((experiment, *place), old, new, same if None not in (old, new) else ())
        for place, (old, new) in both.items()
        if old is None or new is None or abs(old - new) > TOLERANCE
    ]


def update(
    experiment: str, now: Numbers, versions: Mapping[str, int], *, smoke_alone: bool = False
) -> list[Difference]:
    """Write an experiment's golden file from fresh smoke numbers and return what moved.

    Args:
        experiment: ``"word_order/table2"``.
        now: from `fresh_numbers`.
        versions: of the tasks that gave them, today.
        smoke_alone: what moved is data or settings of smoke, and no task computes otherwise.

    Raises:
        DataError: if there are no fresh numbers, or the old file is malformed; if a number moved
            and the version of no task of the experiment did.
        StoreError: if the file cannot be written; the old one stays.
    """
    if not now:
        raise DataError(
            f"{experiment} has no smoke record of today's code, made on a CPU: `xlrepro golden "
            f"--update {experiment}` makes them"
        )
    moved = check(experiment, now, versions) if golden_path(experiment).is_file() else []
    still = [d for d in moved if d.same and len(d.same) == len(versions)]
    if still and not smoke_alone:
        raise DataError(
            f"{still[0]}: records of the old code would count as current; raise the version of the "
            "task that changed in experiments.yaml, or say --smoke-alone if only smoke's data moved"
        )
    cells: dict[str, dict[str, dict[int, float]]] = {}
    for (system, column, seed), value in now.items():
        cells.setdefault(system, {}).setdefault(column, {})[seed] = value
    content = {"cells": cells, "experiment": experiment, "profile": PROFILE, "versions": versions}
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    write_atomically(golden_path(experiment), text + "\n")
    return moved
