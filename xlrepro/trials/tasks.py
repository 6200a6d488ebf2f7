"""Where the function of a task lies: looked up by the task's name, never stored in a record.

A task is named ``"paper/name"``. The package of the paper maps names to functions in ``TASKS``, a
dictionary of ``"package.module:function"``. A package of somebody else's names its tasks alike,
``"package/name"``.
"""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xlrepro.errors import SettingsError

if TYPE_CHECKING:
    from xlrepro.trials.trial import Trial, TrialContext, TrialResult

PAPERS = "xlrepro.papers"


def function_name(task: str) -> str:
    """Return ``"package.module:function"`` of a task; imports the paper's package alone.

    Raises:
        SettingsError: if there is no such task; names those that there are.

    Example:
        >>> function_name("word_order/distances")
        'xlrepro.papers.word_order.measures.distances:run'
    """
    paper, _, name = task.partition("/")
    known = table_of(paper, "TASKS")
    if name not in known:
        there_are = ", ".join(f"{paper}/{each}" for each in known) or f"none of {paper}"
        raise SettingsError(f"there is no task {task!r}; there are: {there_are}")
    return known[name]


def load_task(task: str) -> "Callable[[Trial, TrialContext], TrialResult]":
    """Import the function of a task.

    Raises:
        SettingsError: if there is no such task, or its function is not where the table says.
    """
    where = function_name(task)
    module_name, _, function = where.partition(":")
    try:
        return getattr(importlib.import_module(module_name), function)  # type: ignore[no-any-return]
    except (ModuleNotFoundError, AttributeError) as error:
        raise SettingsError(f"task {task!r}: {where} cannot be found: {error}") from error


def table_of(paper: str, name: str) -> dict[str, Any]:
    """Return a table of a paper's package, such as ``BOUNDS``; empty where it has none.

    Args:
        paper: ``"word_order"``, or the name of somebody else's package.
        name: of the table.
    """
    return _table(f"{PAPERS}.{paper}", name) or _table(paper, name)


def _table(package: str, name: str) -> dict[str, Any]:
    try:
        return dict(getattr(importlib.import_module(package), name, {}))
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        return {}
