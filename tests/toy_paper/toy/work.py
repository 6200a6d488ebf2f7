"""A task for the engine's tests: quick, obedient to its settings, importable by workers."""

import os
import random
import signal
import time
from pathlib import Path

from pydantic import Field

from xlrepro.trials import Cell, Trial, TrialContext, TrialResult
from xlrepro.values import Checked


class Settings(Checked):
    """What the task obeys to: seeds that fail or die, seconds to sleep, a file to write to."""

    ran: str = ""
    sleep: float = Field(default=0.0, ge=0)
    fail: tuple[int, ...] = ()
    die: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    switch: bool = False
    supplies: tuple[str, ...] = ()

    def supplied(self) -> list[str]:
        """Return the paths below XLREPRO_SUPPLIED that a trial reads."""
        return list(self.supplies)


def run(trial: Trial, context: TrialContext) -> TrialResult:
    settings = trial.settings
    if "ran" in settings:  # one line per start: shows how often a trial has run
        with Path(settings["ran"]).open("a") as stream:
            stream.write(f"{trial.seed} {os.getpid()}\n")
    context.progress(0.5, "half")
    time.sleep(settings.get("sleep", 0.0))
    if trial.seed in settings.get("fail", []):
        print("the trial's own output")
        raise ValueError(f"seed {trial.seed} was told to fail")
    if trial.seed in settings.get("die", []):
        os.kill(os.getpid(), signal.SIGKILL)
    generator = random.Random(trial.seed)
    cells = [
        Cell(system, column, generator.uniform(0, 100), "accuracy")
        for system in trial.systems
        for column in trial.columns
    ]
    return TrialResult(
        cells=cells,
        details={"epochs": 3, "threads": os.environ.get("OMP_NUM_THREADS")},
        signatures={"accuracy": "accuracy|percent"},
        training_tokens=1000,
        training_seconds=0.5,
    )
