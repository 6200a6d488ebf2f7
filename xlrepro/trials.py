"""A trial, named by everything that decides its numbers, and the record that it leaves behind."""

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from xlrepro.errors import SettingsError, StoreError
from xlrepro.values import Checked, canonical_json, describe, hash_of, validated

S = TypeVar("S", bound=BaseModel)

PROFILES = ("smoke", "open", "paper")
ProfileName = Annotated[str, Field(pattern=f"^({'|'.join(PROFILES)})$")]  # in files
PUBLISHED = PROFILES[1:]  # whose numbers say something about a paper
FIELDS = ("experiment", "systems", "columns", "profile", "seed", "settings", "task", "version")
BY_MEMORY = ("accumulation",)  # parts that a step is computed in
LONGEST_DETAIL = 200  # characters; details hold numbers and names, never a sentence of a corpus
MOST_ITEMS = 10_000  # of a test set, for a record to say which of them were right
SHARES = ("accuracy", "intent accuracy", "F1", "slot F1", "LAS", "UAS")  # 100 percent at most
FUTURE = timedelta(days=1)  # a start further ahead of the clock is refused


def check_profile(name: str) -> None:
    """Refuse what is no profile with a SettingsError."""
    if name not in PROFILES:
        raise SettingsError(f"there is no profile {name!r}; there are: {', '.join(PROFILES)}")


def decisive(settings: Any) -> Any:
    """Return settings without those that a machine's memory decides, and no number.

    Example:
        >>> decisive({"stage": {"updates": 9, "accumulation": 3}})
        {'stage': {'updates': 9}}
    """
    if not isinstance(settings, dict):
        return settings
    return {name: decisive(v) for name, v in settings.items() if name not in BY_MEMORY}


def duration(seconds: float) -> str:
    """Return a time for people; whole seconds where they are given as such.

    Example:
        >>> duration(6.62), duration(42), duration(5025)
        ('6.6 s', '42 s', '1 h 24 min')
    """
    if seconds < 60:
        return f"{seconds} s" if isinstance(seconds, int) else f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


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
        task: the name of what it does, ``"word_order/pos"``.
        version: of what the task computes; whoever changes that raises it in the paper's YAML.
    """

    experiment: str
    systems: tuple[str, ...]
    columns: tuple[str, ...]
    profile: str
    seed: int
    settings_json: str
    task: str
    version: int = 1

    @classmethod
    def create(cls, *, settings: Mapping[str, Any], **fields: Any) -> "Trial":
        """Make a trial from plain settings and its other fields."""
        fields |= {name: tuple(fields[name]) for name in ("systems", "columns")}
        if not 0 < len({*(named := fields["columns"])}) == len(named):
            said = f"a column is named twice: {', '.join(named)}" if named else "no column is named"
            raise SettingsError(f"{fields['experiment']}: {said}")
        return cls(settings_json=canonical_json(dict(settings)), **fields)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as a fresh dictionary."""
        return dict(json.loads(self.settings_json))

    def typed(self, kind: type[S]) -> S:
        """The settings as their task's class, defaults filled in.

        Raises:
            SettingsError: one line that names each unknown or impossible setting.
        """
        return validated(self.settings, self.label, kind)

    @property
    def fields(self) -> dict[str, Any]:
        """What `create` takes to make an equal trial."""
        return {name: getattr(self, name) for name in FIELDS}

    @cached_property
    def key(self) -> str:
        """SHA-256 (64 hex digits) of the fields' canonical JSON, without what decides nothing."""
        fields = self.fields
        return hash_of(fields | {"settings": decisive(fields["settings"])})

    @cached_property
    def place(self) -> "Trial":
        """Itself whatever its task's version, as outdated records have it, and its memory."""
        told = any(f'"{name}":' in self.settings_json for name in BY_MEMORY)  # of few: no parsing
        decides = canonical_json(decisive(self.settings)) if told else self.settings_json
        return replace(self, version=0, settings_json=decides)

    @property
    def label(self) -> str:
        """A line for people: experiment, profile, systems, columns, seed."""
        at = ", ".join(c) if len(c := self.columns) < 4 else f"{c[0]} to {c[-1]}"
        return f"{self.experiment} {self.profile} {'+'.join(self.systems)} ({at}) seed {self.seed}"


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
        earlier_seconds: wall time of earlier attempts, cut off, that the training goes on from.
        artefacts: name to content hash of each pretrained model it used; the worker adds those
            that `xlrepro.artefacts` has built or found.
        items: column to which items of its test set were right, in the order of the set; of several
            systems, ``"system column"`` to those of a cell.
        stopped: whether the training (each, of several) stopped by itself, before its limit of
            epochs; ``None`` where there is no such thing.
    """

    cells: list[Cell]
    details: dict[str, Any] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    training_tokens: int = 0
    training_seconds: float = 0.0
    earlier_seconds: float = 0.0
    artefacts: dict[str, str] = field(default_factory=dict)
    items: dict[str, Sequence[bool]] = field(default_factory=dict)
    stopped: bool | None = None


@dataclass
class TrialContext:
    """What the engine hands to the function of a task.

    Attributes:
        device: ``"cpu"`` or ``"cuda"``; already checked to exist.
        progress: call it with (fraction done, short text); cheap, may be ignored.
    """

    device: str = "cpu"
    progress: Callable[[float, str], None] = lambda fraction, text: None

    def part(self, done: int, of: int) -> "TrialContext":
        """Return the context of one of several trainings, after so many are done."""
        return replace(self, progress=lambda f, text: self.progress((done + f) / of, text))


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]  # what cannot be negative
Sha = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
ExperimentKey = Annotated[str, Field(pattern="^[A-Za-z0-9_]+/[A-Za-z0-9_]+$")]  # a file's name, too
# The name of a folder below the cache: never a path, ``..`` least of all.
ArtefactName = Annotated[str, Field(pattern="^[A-Za-z0-9_-][A-Za-z0-9 ._-]*$")]


class GitState(Checked):
    """The commit a trial ran on, read before it began.

    Attributes:
        commit: 40 hex digits; ``None`` where git could not say.
        dirty: whether a file of the package differed from that commit.
        reason: why git could not say.
    """

    commit: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None
    dirty: bool | None
    reason: str = ""


class Items(Checked):
    """Which items of a test set a trial got right.

    Attributes:
        size: how many items the set has.
        right: a bit per item, the first item the highest of the first byte, base64; ``None`` for a
            set of more than ``MOST_ITEMS``.
    """

    size: int = Field(ge=1)
    right: str | None = None

    @model_validator(mode="after")
    def _is_sound(self) -> "Items":
        if self.right is not None:
            length = len(base64.b64decode(self.right, validate=True))
            if self.size > MOST_ITEMS or length != (self.size + 7) // 8:
                raise ValueError(f"{length} bytes are not the bits of {self.size} items")
        return self

    @classmethod
    def packed(cls, right: Sequence[bool]) -> "Items":
        """Return items as a record keeps them, of ``(items,)`` truth values."""
        if len(right) > MOST_ITEMS:
            return cls(size=len(right))
        bits = np.packbits(np.asarray(right, dtype=bool))
        return cls(size=len(right), right=base64.b64encode(bits.tobytes()).decode())

    def unpacked(self) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
        """Return ``(items,)`` truth values; ``None`` where they were not kept."""
        if self.right is None:
            return None
        packed = np.frombuffer(base64.b64decode(self.right), dtype=np.uint8)
        return np.unpackbits(packed, count=self.size).astype(bool)


class Record(Checked):
    """A finished trial: its cells and everything needed to judge and repeat them.

    Attributes:
        key: the trial's key, 64 hex digits; checked against the fields below when read.
        experiment, systems, columns, profile, seed, settings, task, version: the trial's own.
        cells: the numbers.
        details: extras of the task; numbers and names only.
        items: column, or ``"system column"``, to the items of its test set that were right.
        stopped: whether the training stopped by itself; ``None``: not known, or none.
        signatures: metric name to full signature.
        git: commit and whether the package differed from it.
        data: name to SHA-256 of each data file that its process had read by then, for an earlier
            trial perhaps.
        artefacts: name to content hash of each artefact it used (vectors, pretrained models).
        versions: package name to version.
        device: name of the CPU or GPU.
        threads: threads that one trial computed with.
        wall_seconds: the whole trial, earlier attempts that it goes on from included;
            ``training_seconds``: training alone.
        training_tokens_per_second: ``None`` where nothing was trained.
        peak_memory_bytes: highest resident memory of the process during the trial.
        peak_gpu_memory_bytes: highest memory torch held on the GPU; ``None`` on a CPU.
        started: UTC, ISO 8601.
        trained_in: the experiment whose trial it is where another one reads it; not in its JSON.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_version: Literal[3] = Field(alias="schema")
    key: str
    experiment: ExperimentKey
    systems: tuple[str, ...]
    columns: tuple[str, ...]
    profile: Literal["smoke", "open", "paper"]
    seed: int
    settings: dict[str, Any]
    task: str
    version: int
    cells: tuple[Cell, ...]
    details: dict[str, Any]
    items: dict[str, Items] = {}  # noqa: RUF012 # pydantic copies it
    stopped: bool | None = None
    signatures: dict[str, str]
    git: GitState
    data: dict[str, Sha]
    artefacts: dict[ArtefactName, str]
    versions: dict[str, str]
    device: str
    threads: int = Field(ge=1)
    wall_seconds: Amount
    training_seconds: Amount
    training_tokens: int = Field(ge=0)
    training_tokens_per_second: Amount | None
    peak_memory_bytes: int = Field(ge=0)
    peak_gpu_memory_bytes: int | None = Field(default=None, ge=0)
    started: str
    trained_in: str = Field(default="", exclude=True)

    @model_validator(mode="after")
    def _is_sound(self) -> "Record":
        _check_cells(self.cells, self.trial)
        _check_time(self.started)
        cells = {f"{system} {column}" for system in self.systems for column in self.columns}
        if strange := [name for name in self.items if name not in cells.union(self.columns)]:
            raise ValueError(f"items of {strange[0]!r}, which is not one of its columns or cells")
        if self.trial.key != self.key:
            raise ValueError("its key does not belong to its experiment, settings, seed and task")
        return self

    @cached_property
    def trial(self) -> Trial:
        """The trial that this is the record of."""
        return Trial.create(**{name: getattr(self, name) for name in FIELDS})

    def to_json(self) -> str:
        """Return the record as one line of JSON with sorted keys, without the line's end."""
        content = self.model_dump(mode="json", by_alias=True)
        return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, where: str) -> "Record":
        """Read one record.

        Args:
            text: what `to_json` returned.
            where: the file (and line) it stands in, for the error's message.

        Raises:
            StoreError: if the text is no whole record; names ``where`` and what is wrong.
        """
        try:
            return _read(text.rstrip("\n"))
        except (ValidationError, SettingsError) as error:
            wrong = describe(error) if isinstance(error, ValidationError) else str(error)
        advice = "remove it and run again, or restore it from git"
        raise StoreError(f"{where} is not a whole record ({wrong}): {advice}")


@lru_cache(maxsize=8192)  # a record made here and the published one are often the same line
def _read(line: str) -> Record:
    return Record.model_validate_json(line)


def make_record(trial: Trial, result: TrialResult, **facts: Any) -> Record:
    """Join a trial, its result, and the facts about when, where and on what it ran.

    Args:
        trial: what has run.
        result: what came of it.
        facts: the other fields of the record.

    Raises:
        StoreError: if there is no cell, or one is not finite, is an impossible percentage, lies
            outside the trial's systems and columns, or is filled twice; if the details hold
            something other than short names and numbers; if time or tokens are negative.
    """
    rate = result.training_tokens / result.training_seconds if result.training_seconds else None
    try:
        return Record(
            schema=3,
            key=trial.key,
            **trial.fields,
            cells=tuple(replace(cell, value=float(cell.value)) for cell in result.cells),
            details=_plain_details(result.details),
            items={column: Items.packed(right) for column, right in result.items.items()},
            stopped=result.stopped,
            artefacts=result.artefacts,
            training_seconds=round(float(result.training_seconds), 3),
            training_tokens=int(result.training_tokens),
            training_tokens_per_second=round(rate, 1) if rate else None,
            signatures=result.signatures,
            **facts,
        )
    except ValidationError as error:
        raise StoreError(describe(error)) from error


def _check_time(started: str) -> None:
    """Refuse a start that is wrong: one of a clock that was ahead would be the newest for ever."""
    when = datetime.fromisoformat(started)
    if when.utcoffset() != timedelta(0):
        raise ValueError(f"started {started} is not in UTC")
    if when - datetime.now(UTC) > FUTURE:
        raise ValueError(f"started {started} is in the future")


def _check_cells(cells: Iterable[Cell], trial: Trial) -> None:
    """Refuse cells that are not those of a trial, each once and a number that it can be."""
    seen: set[tuple[str, str]] = set()
    for cell in cells:
        address = (cell.system, cell.column)
        if cell.system not in trial.systems or cell.column not in trial.columns:
            raise ValueError(f"cell {address} is not one of the trial's own")
        if address in seen:
            raise ValueError(f"cell {address} is filled twice")
        if not math.isfinite(cell.value):
            raise ValueError(f"cell {address} is {cell.value}, not a number")
        if cell.metric in SHARES and cell.unit == "percent" and not 0 <= cell.value <= 100:
            raise ValueError(f"cell {address} is {cell.value}, not from 0 to 100 percent")
        seen.add(address)
    if not seen:
        raise ValueError("it fills no cell")


def _plain_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``details`` as plain JSON values: numpy scalars and tuples become Python's.

    Raises:
        StoreError: if they are no JSON, or hold more than numbers and names.
    """
    try:
        # numpy scalars and arrays, torch tensors
        text = json.dumps(dict(details), allow_nan=False, default=lambda value: value.tolist())
    except (TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"details cannot be written as JSON: {error}") from error
    longest = max(map(len, re.findall(r'"(?:[^"\\]|\\.)*"', text)), default=0)
    if longest > LONGEST_DETAIL:
        said = f"details hold a text of {longest} characters, where numbers and names only belong"
        raise StoreError(said)
    return dict(json.loads(text))
