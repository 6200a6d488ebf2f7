"""Where the numbers of a page come from: what its records cost, how their trainings ended."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xlrepro.evidence.text import enumerated
from xlrepro.experiments import task
from xlrepro.trials import Record, duration

KEY_LENGTH = 10  # characters of a key that are shown
FLAT = 0.001  # of a dev score: who rises by no more has stopped rising


@dataclass(frozen=True)
class Cost:
    """What some records cost together.

    Attributes:
        trials: number of records.
        wall_seconds: sum over trials, as if run one after the other.
        pretraining_seconds: of language models that were trained before a trial and kept.
        training_tokens: tokens seen in training, all trials; examples where a head is trained.
        devices: names of the devices, sorted.
    """

    trials: int
    wall_seconds: float
    pretraining_seconds: float
    training_tokens: int
    devices: tuple[str, ...]

    def __str__(self) -> str:
        tokens = f", {self.training_tokens / 1e6:.1f} million training tokens or examples"
        tokens *= self.training_tokens > 0
        return f"{self.brief()}{tokens}, on {enumerated(self.devices) or '–'}"

    def brief(self, count: Callable[[int], str] = str) -> str:
        """Return trials and time alone; ``count`` writes the number of trials."""
        trials = f"{count(self.trials)} trial{'s' * (self.trials != 1)}"
        before = f", {duration(self.pretraining_seconds)} of training language models before them"
        return f"{trials}, {duration(self.wall_seconds)}{before * (self.pretraining_seconds > 0)}"


def total_cost(records: Sequence[Record]) -> Cost:
    """Return what the records cost together; one that several experiments share counts once."""
    records = list({r.key: r for r in records}.values())
    return Cost(
        trials=len(records),
        wall_seconds=sum((r.wall_seconds for r in records), 0.0),
        pretraining_seconds=sum(of for of, inside in _language_models(records) if not inside),
        training_tokens=sum(r.training_tokens for r in records),
        devices=tuple(sorted({r.device for r in records})),
    )


def _language_models(records: Sequence[Record]) -> list[tuple[float, bool]]:
    """Return the seconds of each language model behind records, and whether a record holds them.

    A model is known by its losses: several records tell of it, and one may have trained it.
    """
    models: dict[str, tuple[float, bool]] = {}
    for record in records:
        logs = [log for known in (("loss_curve", "seconds"), ("pieces", "seconds"))
                for log in _mappings(record.details, *known)]  # fmt: skip
        for log in logs:
            inside = models.get(key := str(log.get("loss_curve", log)), (0.0, False))[1]
            models[key] = (log["seconds"], inside or log["seconds"] <= record.wall_seconds)
    return list(models.values())


def _mappings(details: Any, *names: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of a record's details that have these names, however deep."""
    wanted, rest = {*names}, [details]
    while rest:
        if isinstance(part := rest.pop(), dict):
            if wanted <= part.keys():
                yield part
            rest += reversed(part.values())


def training_ends(records: Sequence[Record]) -> list[tuple[int, int | None]]:
    """Return, per training that chose an epoch by its dev score, the epochs since, and patience.

    They count from the first epoch that is level with the best, within `FLAT`: at the cap, with a
    learning rate near zero, a better one by nothing may always be the last. A trial of several
    trainings counts each.
    """
    ends = []
    for record in records:
        kept = record.details.get("settings")
        for training in _mappings(record.details, "best_epoch"):
            settings = kept or task(record.task).typed(record.settings, record.key).model_dump()
            own = training if "patience" in training else next(_mappings(settings, "patience"), {})
            patience = own.get("patience")
            curves = [v for k, v in training.items() if k.startswith("dev") and isinstance(v, list)]
            for curve in curves:
                best = training["best_epoch"]
                many = zip(best, curve, strict=True) if isinstance(best, list) else [(best, curve)]
                for at, of in many:
                    level = [abs(score - of[at]) <= FLAT * abs(of[at]) for score in of]
                    ends.append((len(of) - 1 - level.index(True), patience))
    return ends


def cut_off(since: int, patience: int | None) -> bool:
    """Tell whether a training ended before its dev score had stopped rising.

    Args:
        since: epochs after the first that is level with the best one.
        patience: of its early stopping; ``None``: it had none, and ended at its last epoch.
    """
    return since < (patience or 1)


def trainings_sentence(records: Sequence[Record]) -> str:
    """Return how many trainings behind records ended once their dev score rose no more."""
    ends = training_ends(records)
    early = [(since, patience) for since, patience in ends if patience is not None]
    said = []
    if early:
        flat = sum(not cut_off(*end) for end in early)
        said.append(
            f"Of {_counted(len(early), 'training')} with early stopping {flat} ended after no gain "
            "of a thousandth on dev for as long as it waits."
        )
        gained = sum(since == 0 for since, _ in early)
        others = f"Of the other {len(early) - flat}, {gained} still gained that much at the end."
        said += [others] * (flat < len(early))
    if fixed := [since for since, patience in ends if patience is None]:
        said.append(
            f"{_counted(len(fixed), 'training')} had no early stopping; {fixed.count(0)} still "
            "gained a thousandth on dev at the end."
        )
    if models := len(_language_models(records)):
        said.append(f"{_counted(models, 'language model')} trained for a fixed number of updates.")
    return " ".join(said)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def command_of(records: Sequence[Record]) -> str:
    """Return the command that makes records of the same systems again, where they are trained."""
    first = records[0]
    systems = ",".join(first.systems)
    seeds = ",".join(str(seed) for seed in sorted({r.seed for r in records}))
    return (
        f"xlrepro run {first.trained_in or first.experiment} --profile {first.profile} "
        f"--systems {shlex.quote(systems)} --seeds {seeds} --again"
    )
