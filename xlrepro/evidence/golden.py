"""Golden numbers: the smoke numbers of the last accepted commit, for regression tests only.

One file per experiment, ``tests/golden/<paper>/<experiment>.json``. A stale record says nothing
about today's code, and one made on a GPU nothing about numbers of a CPU, so neither counts: its
cells are missing until they are run again.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from xlrepro.checked import Checked
from xlrepro.errors import DataError
from xlrepro.evidence.reproduced import ReproducedNumbers, gather
from xlrepro.experiments import is_outdated
from xlrepro.paths import project_root
from xlrepro.store import write_atomically
from xlrepro.trials import Record
from xlrepro.yaml_files import describe

PROFILE = "smoke"
# How far a smoke number may move between machines, in the metric's unit: trials compute in double
# precision, so that rounding, which differs between processors, reaches no count.
TOLERANCE = 1e-6
# A cell of a test set with fewer sentences is not compared where an average over such sets is: a
# handful of tokens says nothing that the average does not.
FEWEST_SENTENCES = 20
UNREPEATABLE = ("seconds",)  # metrics that no run repeats: they are in no golden file
MOVED, MISSING, NEW = "moved", "missing", "new"

Cells = dict[str, dict[str, dict[str, float]]]  # system, column, seed


class _Golden(Checked):
    """The file: per system and column a number per seed; the versions of the tasks."""

    experiment: str
    profile: str
    cells: Cells
    versions: dict[str, int] = {}  # noqa: RUF012 # pydantic copies it


@dataclass(frozen=True)
class Difference:
    """A number that is not what the golden file says.

    Attributes:
        kind: ``"moved"`` beyond the tolerance; ``"missing"``: in the file, but not run by today's
            code; ``"new"``: run, but not in the file.
        golden, now: the numbers, or ``None``.
        same: tasks of the experiment whose version is that of the file, if the number moved.
    """

    experiment: str
    system: str
    column: str
    seed: int
    kind: str
    golden: float | None
    now: float | None
    same: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"{self.experiment} {self.system} / {self.column}, seed {self.seed}"
        if self.kind == MISSING:
            return f"{place}: golden {self.golden:.4g}, but today's code has not run it"
        if self.kind == NEW:
            return f"{place}: {self.now:.4g}, but not in the golden file"
        still = f" (version of {', '.join(self.same)} is still the same)" if self.same else ""
        return f"{place}: golden {self.golden:.8g}, now {self.now:.8g}{still}"


def golden_path(experiment: str, folder: Path | None = None) -> Path:
    """Return the golden file of an experiment."""
    return (folder or project_root() / "tests" / "golden") / f"{experiment}.json"


def off_cpu(records: Iterable[Record | None]) -> set[str]:
    """Return the keys of the records that were made on a GPU: they alone name its memory."""
    return {r.key for r in records if r is not None and r.peak_gpu_memory_bytes is not None}


def fresh_numbers(
    records: Iterable[Record],
    *,
    keys: Collection[str] | None = None,
    stale: Callable[[Record], bool] | None = None,
) -> ReproducedNumbers:
    """Gather the smoke records that today's code made on a CPU.

    Args:
        records: of one experiment.
        keys: take only records of these keys (those of today's trials); ``None``: all.
        stale: tells whether the code has changed since a record was made; today's code if not
            given.
    """
    made, stale = list(records), stale or is_outdated
    elsewhere = off_cpu(made)
    smoke = [r for r in made if r.profile == PROFILE and r.key not in elsewhere]
    fresh = [r for r in _compared(smoke) if (keys is None or r.key in keys) and not stale(r)]
    return gather(fresh, stale=lambda record: False)


def _compared(records: Sequence[Record]) -> list[Record]:
    """Return the records of an experiment without the cells that are counted from little text.

    If the experiment has averages, the other cells of trials that test on fewer than
    ``FEWEST_SENTENCES`` sentences a set go, and those of metrics that no run repeats.
    """
    averaged = any(_is_average(cell.column) for record in records for cell in record.cells)
    kept = []
    for record in records:
        few = averaged and _test_sentences(record.settings) < FEWEST_SENTENCES
        cells = [
            cell
            for cell in record.cells
            if cell.metric not in UNREPEATABLE and (not few or _is_average(cell.column))
        ]
        kept.append(record.model_copy(update={"cells": cells}))
    return kept


def _is_average(column: str) -> bool:
    return "avg" in column.split("/")


def _test_sentences(settings: Mapping[str, Any]) -> float:
    """Return how many sentences a test set of a trial has at most; unknown: no limit."""
    limit = settings.get("training", settings).get("test_sentences")
    return math.inf if limit is None else limit


def check(
    experiment: str,
    numbers: ReproducedNumbers,
    versions: Mapping[str, int],
    folder: Path | None = None,
) -> list[Difference]:
    """Compare an experiment's fresh smoke numbers with its golden file, in both directions.

    Args:
        experiment: ``"word_order/table2"``.
        numbers: from `fresh_numbers`.
        versions: of the tasks that gave them, today.
        folder: where the golden files lie; the project's unless told.

    Raises:
        DataError: if the golden file is missing or malformed.
    """
    path = golden_path(experiment, folder)
    if not path.is_file():
        raise DataError(
            f"{path} is missing: make it with `xlrepro golden --update {experiment}` and commit it"
        )
    try:
        golden = _Golden.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(f"{path}: {describe(error)}") from None
    same = tuple(task for task, number in versions.items() if golden.versions.get(task) == number)
    before, after = _flat(golden.cells), _flat(_cells(experiment, numbers))
    differences = []
    for place in {**before, **after}:
        old, new = before.get(place), after.get(place)
        kind = MOVED
        if old is None or new is None:
            kind = NEW if old is None else MISSING
        elif math.isclose(old, new, rel_tol=0.0, abs_tol=TOLERANCE):
            continue
        still = same if kind == MOVED else ()
        differences.append(Difference(experiment, *place, kind, old, new, still))
    return differences


def _flat(cells: Cells) -> dict[tuple[str, str, int], float]:
    return {
        (system, column, int(seed)): value
        for system, columns in cells.items()
        for column, seeds in columns.items()
        for seed, value in seeds.items()
    }


def _cells(experiment: str, numbers: ReproducedNumbers) -> Cells:
    cells: Cells = {}
    for cell in numbers.cells(experiment, PROFILE):
        values = {str(s): round(v, 8) for s, v in zip(cell.seeds, cell.values)}
        cells.setdefault(cell.system, {})[cell.column] = values
    return cells


def update(
    experiment: str,
    numbers: ReproducedNumbers,
    versions: Mapping[str, int],
    folder: Path | None = None,
    *,
    smoke_alone: bool = False,
) -> list[Difference]:
    """Write an experiment's golden file from fresh smoke numbers and return what moved.

    Args:
        experiment: ``"word_order/table2"``.
        numbers: from `fresh_numbers`.
        versions: of the tasks that gave them, today.
        folder: where the golden files lie; the project's unless told.
        smoke_alone: what moved is data or settings of smoke, and no task computes otherwise.

    Raises:
        DataError: if there are no fresh numbers, or the old file is malformed; if a number moved
            and the version of no task of the experiment did.
        StoreError: if the file cannot be written; the old one stays.
    """
    cells = _cells(experiment, numbers)
    if not cells:
        raise DataError(
            f"{experiment} has no smoke record of today's code, made on a CPU: `xlrepro golden "
            f"--update {experiment}` makes them"
        )
    path = golden_path(experiment, folder)
    moved = check(experiment, numbers, versions, folder) if path.is_file() else []
    if not smoke_alone and (
        still := [d for d in moved if d.kind == MOVED and len(d.same) == len(versions)]
    ):
        raise DataError(
            f"{still[0]}: records of the old code would count as current; raise the version of the "
            "task that changed in experiments.yaml, or say --smoke-alone if only smoke's data moved"
        )
    content = {"cells": cells, "experiment": experiment, "profile": PROFILE, "versions": versions}
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
    write_atomically(path, text + "\n")
    return moved
