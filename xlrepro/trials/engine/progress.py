"""How far a run is: a bar on a terminal, one changing line in a notebook, plain lines elsewhere."""

import sys
import time
from typing import Any

from xlrepro.trials import duration

LINE_SECONDS = 60.0  # a plain line at least when a trial ends, and otherwise this often


class TimeLeft:
    """Estimates the time left from the share of the work done so far."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def text(self, fraction: float) -> str:
        """Return ``"12 min left"``, or nothing where it is too early to say."""
        elapsed = time.monotonic() - self._start
        if fraction <= 0 or fraction >= 1 or elapsed < 1:
            return ""
        return f"{duration(round(elapsed / fraction - elapsed))} left"


class Progress:
    """Shows how many of the trials are finished; this one shows nothing.

    Args:
        total: number of trials.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._left = TimeLeft()
        self._finished = 0

    def update(self, finished: int, fraction: float, text: str) -> None:
        """Show that ``finished`` trials are, and how much of all trials' work is, done (0 to 1)."""

    def __enter__(self) -> "Progress":
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""


class PlainLines(Progress):
    """Lines for a log file: one whenever a trial ends, and one a minute."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self._last = time.monotonic()

    def update(self, finished: int, fraction: float, text: str) -> None:
        """Print a line if a trial ended or a minute passed."""
        now = time.monotonic()
        if finished == self._finished and now - self._last < LINE_SECONDS:
            return
        self._finished, self._last = finished, now
        parts = [f"[{finished}/{self._total}]", text, self._left.text(fraction)]
        print("  ".join(part for part in parts if part), file=sys.stderr, flush=True)


class Bar(Progress):
    """A bar with the time left."""

    def __enter__(self) -> "Bar":
        """Begin."""
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.fields[finished]}/{task.fields[total_trials]} trials"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}  {task.description}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(
            "", total=1.0, finished=0, total_trials=self._total, left=""
        )
        self._bar.start()
        return self

    def update(self, finished: int, fraction: float, text: str) -> None:
        """Move the bar."""
        left = self._left.text(fraction)
        self._bar.update(
            self._task, completed=fraction, finished=finished, left=left, description=text
        )

    def __exit__(self, *_: object) -> None:
        """End."""
        self._bar.stop()


class NotebookLine(Progress):
    """One line of plain text that changes in place, and at the end holds no time."""

    def __enter__(self) -> "NotebookLine":
        """Begin."""
        from IPython.display import DisplayHandle

        self._handle: Any = DisplayHandle()
        self._handle.display({"text/plain": f"0 of {self._total} trials"}, raw=True)
        return self

    def update(self, finished: int, fraction: float, text: str) -> None:
        """Change the line."""
        self._finished = finished
        parts = [f"{finished} of {self._total} trials", self._left.text(fraction), text]
        self._show(", ".join(part for part in parts if part))

    def __exit__(self, *_: object) -> None:
        """End."""
        self._show(f"{self._finished} of {self._total} trials")

    def _show(self, text: str) -> None:
        self._handle.update({"text/plain": text}, raw=True)


def make_progress(total: int, wanted: bool = True) -> Progress:
    """Return the display that fits where standard error goes."""
    if not wanted:
        return Progress(total)
    if _in_notebook():
        return NotebookLine(total)
    return Bar(total) if sys.stderr.isatty() else PlainLines(total)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")
