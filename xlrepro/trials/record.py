"""A record: what a finished trial leaves behind, and how it is written and checked."""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError, model_validator

from xlrepro.checked import Checked
from xlrepro.errors import StoreError
from xlrepro.trials.trial import FIELDS, Cell, Trial, TrialResult

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]  # what cannot be negative
PLAIN = {bool, float, int, type(None)}
WHOLE = "record"  # what a complaint calls it that is about no single field
LONGEST_DETAIL = 200  # characters; details hold numbers and names, never a sentence of a corpus


class GitState(Checked):
    """The commit a trial ran on.

    Attributes:
        commit: 40 hex digits, or ``None`` where the package is not a git checkout.
        dirty: whether a source file that the trial ran on differed from that commit.
    """

    commit: str | None
    dirty: bool | None


class Record(Checked):
    """A finished trial: its cells and everything needed to judge and repeat them.

    Attributes:
        key: the trial's key, 64 hex digits; checked against the fields below when read.
        experiment, systems, columns, profile, seed, settings, task, data: the trial's own.
        cells: the numbers.
        details: extras of the task; numbers and names only.
        signatures: metric name to full signature.
        git: commit and whether the trial's sources differed from it.
        fingerprint: hash of the source files it ran on, see `xlrepro.trials.fingerprint`.
        sources: the modules that the fingerprint covers.
        artefacts: name to content hash of each artefact it used (vectors, pretrained models);
            empty in records of before this was noted.
        numerical_class: digest of what this machine's float arithmetic gives on fixed inputs:
            equal bits are expected within a class only; ``None`` where it was not noted.
        versions: package name to version.
        device: name of the CPU or GPU.
        threads: threads that one trial computed with.
        wall_seconds: the whole trial; ``training_seconds``: training alone.
        training_tokens_per_second: ``None`` where nothing was trained.
        peak_memory_bytes: highest resident memory of the process during the trial.
        peak_gpu_memory_bytes: highest memory torch held on the GPU; ``None`` on a CPU.
        started: UTC, ISO 8601.
        trained_in: the experiment whose trial it is where another one reads it; not in its JSON.

    Its JSON ends in a checksum over all of it, so that a number moved by hand is refused.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_version: Literal[2] = Field(alias="schema")
    key: str
    experiment: str
    systems: tuple[str, ...]
    columns: tuple[str, ...]
    profile: str
    seed: int
    settings: dict[str, Any]
    task: str
    cells: tuple[Cell, ...]
    details: dict[str, Any]
    git: GitState
    fingerprint: str
    sources: tuple[str, ...]
    data: dict[str, str]
    artefacts: dict[str, str] = {}  # noqa: RUF012 # pydantic copies it
    numerical_class: str | None = None
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
    signatures: dict[str, str]
    trained_in: str = Field(default="", exclude=True)

    @model_validator(mode="after")
    def _is_sound(self) -> "Record":
        if flaw := _flaw_of_cells(self.cells, self.systems, self.columns) or _flaw_of_details(
            self.details
        ):
            raise ValueError(flaw)
        if self.trial.key != self.key:
            raise ValueError("its key does not belong to its experiment, settings, seed and data")
        return self

    @property
    def trial(self) -> Trial:
        """The trial that this is the record of."""
        return Trial.create(**{name: getattr(self, name) for name in FIELDS})

    def to_json(self) -> str:
        """Return the record as one line of JSON with sorted keys, without the line's end."""
        content = self.model_dump(mode="json", by_alias=True)
        return _line({**content, "checksum": _checksum(_line(content))})

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
        except ValidationError as error:
            wrong = _complaint(error)
        except RecursionError:
            wrong = "it is nested too deeply"
        except ValueError as error:
            wrong = str(error)
        raise StoreError(
            f"{where} is not a whole record ({wrong}): remove it and run again, or restore it "
            "from git"
        )


def _complaint(error: ValidationError) -> str:
    """Return the first thing that is wrong with a record, as ``field: what``."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or WHOLE
    return f"{field}: {first['msg'].removeprefix('Value error, ')}"


@lru_cache(maxsize=8192)  # a record made here and the published one are often the same line
def _read(line: str) -> Record:
    return Record.model_validate(_checked(json.loads(line), line))


def _line(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _checksum(line: str) -> str:
    """Return the SHA-256 of a record's JSON without its checksum, 64 hex digits."""
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


def _checked(content: Any, text: str) -> dict[str, Any]:
    """Return a record's fields without the checksum.

    Raises:
        ValueError: if it is no mapping, or the checksum is missing or another.
    """
    if not isinstance(content, dict):
        raise ValueError("it is no JSON object")
    fields = dict(content)
    checksum = fields.pop("checksum", None)
    # The line as `to_json` writes it, less the checksum, is what the checksum is of.
    plain = text.replace(f'"checksum": "{checksum}", ', "", 1)
    if checksum != _checksum(plain) and checksum != _checksum(_line(fields)):
        raise ValueError("its checksum does not fit: something in it was changed by hand")
    return fields


def make_record(trial: Trial, result: TrialResult, **facts: Any) -> Record:
    """Join a trial, its result, and the facts about when, where and on what it ran.

    Args:
        trial: what has run.
        result: what came of it.
        facts: the other fields of the record.

    Raises:
        StoreError: if there is no cell, or one is not finite, lies outside the trial's systems
            and columns, or is filled twice; if the details hold something other than short names
            and numbers; if time or tokens are negative.
    """
    rate = result.training_tokens / result.training_seconds if result.training_seconds else None
    try:
        return Record(
            schema=2,
            key=trial.key,
            **trial.fields,
            cells=tuple(replace(cell, value=float(cell.value)) for cell in result.cells),
            details=_plain_details(trial, result.details),
            artefacts=result.artefacts,
            training_seconds=round(float(result.training_seconds), 3),
            training_tokens=int(result.training_tokens),
            training_tokens_per_second=round(rate, 1) if rate else None,
            signatures=result.signatures,
            **facts,
        )
    except ValidationError as error:
        wrong = _complaint(error).removeprefix(f"{WHOLE}: ")
        raise StoreError(f"{trial.label}: {wrong}") from error


def _flaw_of_cells(
    cells: Iterable[Cell], systems: Collection[str], columns: Collection[str]
) -> str | None:
    """Say what is wrong with the cells of a trial; ``None`` where nothing is."""
    seen: set[tuple[str, str]] = set()
    for cell in cells:
        address = (cell.system, cell.column)
        if cell.system not in systems or cell.column not in columns:
            return f"cell {address} is not one of the trial's own"
        if address in seen:
            return f"cell {address} is filled twice"
        if not math.isfinite(cell.value):
            return f"cell {address} is {cell.value}, not a number"
        seen.add(address)
    return None if seen else "it fills no cell"


def _flaw_of_details(details: Mapping[str, Any]) -> str | None:
    waiting: list[Any] = [details]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and len(part) > LONGEST_DETAIL:
            return (
                f"details hold a text of {len(part)} characters; a record holds numbers and "
                "names only"
            )
        if isinstance(part, dict):
            waiting += [*part, *(v for v in part.values() if type(v) not in PLAIN)]
        elif isinstance(part, list) and not (kinds := {*map(type, part)}) <= PLAIN:
            # most of a record's details are long lists of numbers, and lists of those
            waiting += [[*chain.from_iterable(part)]] if kinds == {list} else part
    return None


def _plain_details(trial: Trial, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``details`` as plain JSON values: numpy scalars and tuples become Python's."""
    try:
        text = json.dumps(dict(details), allow_nan=False, default=_plain_scalar)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{trial.label}: details cannot be written as JSON: {error}") from error
    return dict(json.loads(text))


def _plain_scalar(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy scalars and arrays, torch tensors
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")
