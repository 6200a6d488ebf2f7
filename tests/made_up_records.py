"""Records and reproduced cells made up for the tests: a plugin that `tests/conftest.py` loads."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from xlrepro.evidence.reproduced import ReproducedCell, ReproducedNumbers
from xlrepro.machine import code_version
from xlrepro.trials import Cell, GitState, Record, Trial, TrialResult, make_record

MakeRecord = Callable[..., Record]
MakeNumbers = Callable[..., ReproducedNumbers]


def finished(trial: Trial, result: TrialResult, **changes: Any) -> Record:
    """Return the record of a trial on no machine in particular."""
    fields: dict[str, Any] = {
        "started": "2026-01-01T00:00:00+00:00", "wall_seconds": 10.0, "device": "a CPU",
        "peak_memory_bytes": 2**30, "peak_gpu_memory_bytes": None, "threads": 1, "versions": {},
        "git": GitState(commit=None, dirty=None), "data": {},
    }  # fmt: skip
    return make_record(trial, result, **fields | changes)


def with_details(record: MakeRecord, *details: dict[str, Any], **more: Any) -> list[Record]:
    """Return records, a seed each, with these details."""
    made = (record(seed=seed, **more) for seed in range(len(details)))
    return [r.model_copy(update={"details": each}) for r, each in zip(made, details, strict=True)]


@pytest.fixture(scope="session")
def record() -> MakeRecord:
    """Make a record of word_order/table2 from values by column."""

    def make(
        system: str = "word:ORT", values: Mapping[str, float] | None = None, seed: int = 0,
        experiment: str = "word_order/table2", profile: str = "smoke", metric: str = "accuracy",
        *, settings: Mapping[str, object] = MappingProxyType({"dim": 8}),
        commit: str | None = "a" * 40, wall_seconds: float = 10.0, training_tokens: int = 1000,
        **changes: Any,
    ) -> Record:  # fmt: skip
        cells = dict(values or {"en": 90.0, "de": 50.0})
        trial = Trial.create(
            experiment=experiment, systems=(system,), columns=tuple(cells), profile=profile,
            seed=seed, settings=settings, task="word_order/pos",
        )  # fmt: skip
        found = [Cell(system, column, value, metric) for column, value in cells.items()]
        seconds = wall_seconds / 2
        result = TrialResult(found, training_tokens=training_tokens, training_seconds=seconds)
        more = {"versions": {"xlrepro": code_version("word_order")}, "data": {"corpus": "b" * 64}}
        more |= {"git": GitState(commit=commit, dirty=False), "wall_seconds": wall_seconds}
        return finished(trial, result, **more | changes)

    return make


@pytest.fixture(scope="session")
def numbers() -> MakeNumbers:
    """Make reproduced numbers from {(system, column): values by seed} of one experiment."""

    def make(
        values: Mapping[tuple[str, str], Mapping[int, float]],
        experiment: str = "word_order/table2", profile: str = "open", metric: str = "accuracy",
        unit: str = "percent", **more: bool,
    ) -> ReproducedNumbers:  # fmt: skip
        fields: dict[str, Any] = {"metric": metric, "unit": unit}
        fields |= {"experiment": experiment, "profile": profile}
        found = []
        for (system, column), of in values.items():
            seeds = tuple(sorted(of))
            fields |= {"seeds": seeds, "values": tuple(of[s] for s in seeds)}
            fields |= {"keys": tuple(f"{s:064d}" for s in seeds), **more}
            found.append(ReproducedCell(system=system, column=column, **fields))
        return ReproducedNumbers(found)

    return make
