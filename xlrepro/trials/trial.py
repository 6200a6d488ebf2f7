"""A trial: one seeded training and its evaluation, named by everything that decides its numbers."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

S = TypeVar("S", bound="BaseModel")

PROFILES = ("smoke", "open", "paper")
PUBLISHED = PROFILES[1:]  # whose numbers say something about a paper
FIELDS = ("experiment", "systems", "columns", "profile", "seed", "settings", "data", "task")


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces: equal values, equal text.

    Example:
        >>> canonical_json({"b": 1, "a": [2, 3]})
        '{"a":[2,3],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Trial:
    """One seeded training and its evaluation.

    Attributes:
        experiment: ``"word_order/table2"``.
        systems: the systems whose cells it fills, ``("word:ORT",)``.
        columns: the columns whose cells it fills, ``("en", "no", "avg")``.
        profile: ``"smoke"``, ``"open"`` or ``"paper"``.
        seed: the seed of everything random in it.
        settings_json: the settings as canonical JSON.
        data: (name, SHA-256 of the content) of each data set it reads, sorted by name.
        task: the name of what it does, ``"word_order/pos"``; `xlrepro.trials.tasks` finds the
            function, ``(trial, context) -> TrialResult``.
    """

    experiment: str
    systems: tuple[str, ...]
    columns: tuple[str, ...]
    profile: str
    seed: int
    settings_json: str
    data: tuple[tuple[str, str], ...]
    task: str

    @classmethod
    def create(
        cls,
        *,
        experiment: str,
        systems: tuple[str, ...],
        columns: tuple[str, ...],
        profile: str,
        seed: int,
        settings: Mapping[str, Any],
        data: Mapping[str, str],
        task: str,
    ) -> "Trial":
        """Make a trial from plain settings and data hashes."""
        return cls(
            experiment=experiment,
            systems=tuple(systems),
            columns=tuple(columns),
            profile=profile,
            seed=seed,
            settings_json=canonical_json(dict(settings)),
            data=tuple(sorted(data.items())),
            task=task,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as a fresh dictionary."""
        return dict(json.loads(self.settings_json))

    def typed(self, kind: type[S]) -> S:
        """The settings as their task's class, defaults filled in.

        Raises:
            SettingsError: one line that names each unknown or impossible setting.
        """
        from xlrepro.training.settings import validated

        return validated(self.settings, self.label, kind)

    @property
    def fields(self) -> dict[str, Any]:
        """What `create` takes to make an equal trial."""
        return {**{name: getattr(self, name) for name in FIELDS}, "data": dict(self.data)}

    @cached_property
    def key(self) -> str:
        """SHA-256 (64 hex digits) of everything that decides the trial's numbers."""
        return hashlib.sha256(canonical_json(self.fields).encode()).hexdigest()

    @property
    def label(self) -> str:
        """A line for people: experiment, profile, systems, seed."""
        return f"{self.experiment} {self.profile} {'+'.join(self.systems)} seed {self.seed}"


@dataclass(frozen=True)
class Cell:
    """One number: its address, its value, and the metric that produced it.

    Attributes:
        system: ``"word:ORT"``.
        column: ``"de"``.
        value: the number, in ``unit``.
        metric: name of the metric; its full signature stands in the record.
        unit: ``"percent"`` unless told.
    """

    system: str
    column: str
    value: float
    metric: str
    unit: str = "percent"


@dataclass
class TrialResult:
    """What the function of a task returns; the engine adds who, where, when and how long.

    Attributes:
        cells: one per (system, column) that the trial filled.
        details: JSON-able extras: dev scores, learning curve, breakdowns. Numbers and names only.
        signatures: metric name to full signature.
        training_tokens: tokens seen in training, all epochs; 0 where nothing was trained.
        training_seconds: wall time of training alone.
        artefacts: name to content hash of each artefact it used: vectors, pretrained models. The
            worker adds those that `xlrepro.artefacts` has built or found.
    """

    cells: list[Cell]
    details: dict[str, Any] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    training_tokens: int = 0
    training_seconds: float = 0.0
    artefacts: dict[str, str] = field(default_factory=dict)


@dataclass
class TrialContext:
    """What the engine hands to the function of a task.

    Attributes:
        device: ``"cpu"`` or ``"cuda"``; already checked to exist.
        progress: call it with (fraction done, short text); cheap, may be ignored.
    """

    device: str = "cpu"
    progress: Callable[[float, str], None] = lambda fraction, text: None
