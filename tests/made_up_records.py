"""Records and reproduced cells made up for the tests: a plugin that `tests/conftest.py` loads."""

from collections.abc import Callable, Mapping
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


@pytest.fixture(scope="session")
def record() -> MakeRecord:
    """Make a record of word_order/table2 from values by column."""

    def make(
        system: str = "word:ORT",
        values: Mapping[str, float] | None = None,
        seed: int = 0,
        experiment: str = "word_order/table2",
        profile: str = "smoke",
        metric: str = "accuracy",
        settings: Mapping[str, object] | None = None,
        started: str = "2026-01-01T00:00:00+00:00",
        commit: str | None = "a" * 40,
        wall_seconds: float = 10.0,
        training_tokens: int = 1000,
        versions: Mapping[str, str] | None = None,
    ) -> Record:
        cells = dict(values or {"en": 90.0, "de": 50.0})
        trial = Trial.create(
            experiment=experiment,
            systems=(system,),
            columns=tuple(cells),
            profile=profile,
            seed=seed,
            settings=settings or {"dim": 8},
            task="word_order/pos",
        )
        result = TrialResult(
            [Cell(system, c, v, metric) for c, v in cells.items()],
            training_tokens=training_tokens,
            training_seconds=wall_seconds / 2,
        )
        return finished(
            trial,
            result,
            started=started,
            wall_seconds=wall_seconds,
            versions={"xlrepro": code_version("word_order")} if versions is None else versions,
            git=GitState(commit=commit, dirty=False),
            data={"corpus": "b" * 64},
        )

    return make


@pytest.fixture(scope="session")
def numbers() -> MakeNumbers:
    """Make reproduced numbers from {(system, column): values by seed} of one experiment."""

    def make(
        values: Mapping[tuple[str, str], Mapping[int, float]],
        experiment: str = "word_order/table2",
        profile: str = "open",
        metric: str = "accuracy",
        unit: str = "percent",
        **more: bool,
    ) -> ReproducedNumbers:
        return ReproducedNumbers(
            ReproducedCell(
                experiment=experiment,
                profile=profile,
                system=system,
                column=column,
                metric=metric,
                unit=unit,
                seeds=tuple(sorted(by_seed)),
                values=tuple(by_seed[s] for s in sorted(by_seed)),
                keys=tuple(f"{s:064d}" for s in sorted(by_seed)),
                **more,
            )
            for (system, column), by_seed in values.items()
        )

    return make
