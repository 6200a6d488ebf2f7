"""Where the numbers of a page come from: its records, and what they cost."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xlrepro.evidence.html_table import Entry, Table, headings, number
from xlrepro.trials.fingerprint import standing_check
from xlrepro.trials.record import Record

KEY_LENGTH = 10  # characters of a key that are shown


@dataclass(frozen=True)
class Cost:
    """What some records cost together.

    Attributes:
        trials: number of records.
        wall_seconds: sum over trials, as if run one after the other.
        training_tokens: tokens seen in training, all trials.
        devices: names of the devices, sorted.
    """

    trials: int
    wall_seconds: float
    training_tokens: int
    devices: tuple[str, ...]

    def __str__(self) -> str:
        hours = duration(self.wall_seconds)
        tokens = f", {self.training_tokens / 1e6:.1f} million training tokens"
        tokens *= self.training_tokens > 0
        trials = f"{self.trials} trial{'s' * (self.trials != 1)}"
        return f"{trials}, {hours}{tokens}, on {' and '.join(self.devices) or '–'}"


def duration(seconds: float) -> str:
    """Return a duration for people.

    Example:
        >>> duration(5025)
        '1 h 24 min'
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def total_cost(records: Sequence[Record]) -> Cost:
    """Return what the records cost together."""
    return Cost(
        trials=len(records),
        wall_seconds=sum(r.wall_seconds for r in records),
        training_tokens=sum(r.training_tokens for r in records),
        devices=tuple(sorted({r.device for r in records})),
    )


@dataclass(frozen=True)
class Trainings:
    """How the trainings behind some records ended.

    Attributes:
        chosen: trainings that chose an epoch by their score on source dev.
        last: those whose last epoch was the best; longer training might have done better. Where the
            learning rate falls to zero it often is.
        stopped: those that their patience ended, not a limit of epochs.
    """

    chosen: int
    last: int
    stopped: int

    def __str__(self) -> str:
        if not self.chosen:
            return ""
        what = f"{self.chosen} training{'s' * (self.chosen != 1)}"
        return (
            f"Of {what} {self.stopped} stopped when dev improved no more; in {self.last} the last "
            "epoch was the best on dev."
        )


def trainings(records: Sequence[Record]) -> Trainings:
    """Count how trainings ended; a trial of several trainings counts each.

    Example:
        >>> trainings([])
        Trainings(chosen=0, last=0, stopped=0)
    """
    ends = [
        (len(scores) - 1 - best, _patience(record.details))
        for record in records
        for details in _each_training(record.details)
        for name, several in details.items()
        if name.startswith("dev_") and isinstance(several, list) and "best_epoch" in details
        for best, scores in _pairs(details["best_epoch"], several)
    ]
    return Trainings(
        chosen=len(ends),
        last=sum(since == 0 for since, _ in ends),
        stopped=sum(patience is not None and since >= patience for since, patience in ends),
    )


def _each_training(details: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the details of each training of a trial: its own, or those of its parts."""
    parts = [details.get(part) for part in ("experiments", "heads")]
    return [details, *(each for part in parts if part for each in part.values())]


def _pairs(best: int | list[int], scores: list[Any]) -> Iterator[tuple[int, list[float]]]:
    """Pair best epoch and scores, of one training or of several in a list."""
    return zip(best, scores, strict=True) if isinstance(best, list) else iter([(best, scores)])


def _patience(details: dict[str, Any]) -> int | None:
    """Return the setting, wherever it stands among a record's settings; None: there is none."""
    settings = details.get("settings", {})
    parts = (settings, *(part for part in settings.values() if isinstance(part, dict)))
    return next((part["patience"] for part in parts if "patience" in part), None)


def provenance_table(
    records: Sequence[Record], *, standing: Callable[[Record], str] | None = None
) -> Table:
    """Render the records behind a page, with their total cost in the caption."""
    standing = standing or standing_check()
    rows = []
    for record in records:
        rate = record.training_tokens_per_second
        commit = (record.git.commit or "none")[:KEY_LENGTH]
        state = "changed sources" if record.git.dirty else ""
        rows.append(
            (
                Entry(record.key[:KEY_LENGTH], title=record.key, code=True),
                Entry(", ".join(record.systems)),
                Entry(str(record.seed), sort=record.seed),
                Entry(commit, state, title=record.git.commit or "", code=True),
                Entry(standing(record)),
                Entry(record.device, f"{record.threads} threads"),
                Entry(duration(record.wall_seconds), sort=record.wall_seconds),
                Entry(number(rate, 0), sort=rate),
                Entry(number(record.peak_memory_bytes / 2**30), sort=record.peak_memory_bytes),
                Entry(record.started),
            )
        )
    names = ("record", "systems", "seed", "commit", "code", "device", "wall time", "tokens/s",
             "peak GiB", "started (UTC)")  # fmt: skip
    numeric = ("seed", "wall time", "tokens/s", "peak GiB")
    caption = f"Records behind this page. Total: {total_cost(records)}."
    caption += f" {trainings(records)}".rstrip()
    summary = f"{len(rows)} records"
    return Table(caption, headings(*names, numeric=numeric), tuple(rows), summary)
