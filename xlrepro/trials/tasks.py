"""See `xlrepro.experiments.task`; this name goes at 12:30."""

from typing import Any


def load_task(name: str) -> Any:
    """Import the function of a task."""
    from xlrepro.experiments import task

    return task(name).load()
