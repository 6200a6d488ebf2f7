"""Where the numbers of a page come from: its records, and what they cost."""

import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xlrepro.evidence.tables.table import Entry, Table, enumerated, headings, number
from xlrepro.trials.durations import duration
from xlrepro.trials.record import Record

KEY_LENGTH = 10  # characters of a key that are shown


def record_anchor(key: str) -> str:
    """Return the id of a record's place under *Provenance*."""
    return f"r-{key[:KEY_LENGTH]}"


@dataclass(frozen=True)
class Cost:
    """What some records cost together.

    Attributes:
        trials: number of records.
        wall_seconds: sum over trials, as if run one after the other.
        pretraining_seconds: of language models that were trained before a trial and kept.
        training_tokens: tokens seen in training, all trials.
        devices: names of the devices, sorted.
    """

    trials: int
    wall_seconds: float
    pretraining_seconds: float
    training_tokens: int
    devices: tuple[str, ...]

    def __str__(self) -> str:
        tokens = f", {self.training_tokens / 1e6:.1f} million training tokens"
        tokens *= self.training_tokens > 0
        return f"{self.brief()}{tokens}, on {enumerated(self.devices) or '–'}"

    def brief(self, count: Callable[[int], str] = str) -> str:
        """Return trials and time alone; ``count`` writes the number of trials."""
        trials = f"{count(self.trials)} trial{'s' * (self.trials != 1)}"
        before = f", {duration(self.pretraining_seconds)} of pretraining before them"
        return f"{trials}, {duration(self.wall_seconds)}{before * (self.pretraining_seconds > 0)}"


def total_cost(records: Sequence[Record]) -> Cost:
    """Return what the records cost together; one that several experiments share counts once."""
    records = list({r.key: r for r in records}.values())
    return Cost(
        trials=len(records),
        wall_seconds=sum((r.wall_seconds for r in records), 0.0),
        pretraining_seconds=_pretraining(records),
        training_tokens=sum(r.training_tokens for r in records),
        devices=tuple(sorted({r.device for r in records})),
    )


def _pretraining(records: Sequence[Record]) -> float:
    """Return the seconds of the language models behind records that no record's own time holds.

    A model is known by its losses: several records tell of it, and one may have trained it.
    """
    models: dict[str, tuple[float, bool]] = {}
    for record in records:
        for log in _logs(record.details):
            inside = models.get(key := str(log["loss_curve"]), (0.0, False))[1]
            models[key] = (log["seconds"], inside or log["seconds"] <= record.wall_seconds)
    return sum(seconds for seconds, inside in models.values() if not inside)


def _logs(details: Any) -> Iterator[dict[str, Any]]:
    """Yield the logs of language models among a record's details, however deep."""
    if isinstance(details, dict):
        if {"loss_curve", "seconds"} <= details.keys():
            yield details
        for part in details.values():
            yield from _logs(part)


def trainings_sentence(records: Sequence[Record]) -> str:
    """Return how the trainings behind records ended; a trial of several trainings counts each.

    Those that chose an epoch by their score on source dev are told: how many their patience
    stopped, not a limit of epochs, and of how many the last epoch was the best, so that longer
    training might have done better. Where the learning rate falls to zero it often is.
    """
    ends = [
        (len(scores) - 1 - best, _patience(record.details))
        for record in records
        for details in _each_training(record.details)
        for name, several in details.items()
        if name.startswith("dev_") and isinstance(several, list) and "best_epoch" in details
        for best, scores in _pairs(details["best_epoch"], several)
    ]
    if not ends:
        return ""
    stopped = sum(patience is not None and since >= patience for since, patience in ends)
    return (
        f"Of {len(ends)} training{'s' * (len(ends) != 1)} {stopped} stopped when dev improved no "
        f"more; in {sum(since == 0 for since, _ in ends)} the last epoch was the best on dev."
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


@dataclass(frozen=True)
class Keys(Entry):
    """The keys of the records of a row, each a place that a cell of the page leads to."""

    keys: tuple[str, ...] = ()

    def html(self, header: bool = False) -> str:
        """Return the cell: each key by its first characters, the whole as its title."""
        keys = " ".join(
            f'<code id="{record_anchor(k)}" title="{k}">{k[:KEY_LENGTH]}</code>' for k in self.keys
        )
        return super().html(header).replace(">" + self.text + "<", f">{keys}<", 1)


def command_of(records: Sequence[Record]) -> str:
    """Return the command that makes records of the same systems again, where they are trained."""
    first = records[0]
    systems = ",".join(first.systems)
    seeds = ",".join(str(seed) for seed in sorted({r.seed for r in records}))
    return (
        f"xlrepro run {first.trained_in or first.experiment} --profile {first.profile} "
        f"--systems {shlex.quote(systems)} --seeds {seeds} --again"
    )


def provenance_table(
    records: Sequence[Record], *, standing: Callable[[Record], str] | None = None
) -> Table:
    """Render the records behind a page, those of the same systems and code in one row.

    The caption has their total cost, each row the command that repeats it.
    """
    if standing is None:
        from xlrepro.experiments import standing
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        code = (record.git.commit, record.git.dirty, standing(record))
        place = (record.device, record.threads)
        groups.setdefault((record.experiment, record.systems, *code, *place), []).append(record)
    rows = [_group_row(of, group[-3]) for group, of in groups.items()]
    names = ("records", "systems", "seeds", "commit", "code", "device", "wall time", "tokens/s",
             "peak GiB", "started (UTC)")  # fmt: skip
    numeric = ("wall time", "tokens/s", "peak GiB")
    caption = f"Records behind this page. Total: {total_cost(records)}. "
    caption = (caption + trainings_sentence(records)).rstrip()
    head, summary = headings(*names, numeric=numeric), f"{len(records)} records"
    return Table(caption, head, tuple(rows), summary).dense()


def _group_row(records: Sequence[Record], standing: str) -> tuple[Entry, ...]:
    first, keys = records[0], tuple(r.key for r in records)
    rates = [r.training_tokens_per_second for r in records]
    rate = math.fsum(known) / len(known) if (known := [r for r in rates if r]) else None
    wall, peak = sum(r.wall_seconds for r in records), max(r.peak_memory_bytes for r in records)
    commit = (first.git.commit or "none")[:KEY_LENGTH]
    started = min(r.started for r in records)
    return (
        Keys(" ".join(k[:KEY_LENGTH] for k in keys), keys=keys),
        Entry(", ".join(first.systems), command_of(records)),
        Entry(", ".join(str(seed) for seed in sorted({r.seed for r in records}))),
        Entry(
            commit,
            "changed sources" if first.git.dirty else "",
            title=first.git.commit or "",
            code=True,
        ),
        Entry(standing),
        Entry(first.device, f"{first.threads} thread{'s' * (first.threads != 1)}"),
        Entry(duration(wall), sort=wall),
        Entry(number(rate, 0), sort=rate),
        Entry(number(peak / 2**30), sort=peak),
        Entry(started[:16].replace("T", " ")),
    )
