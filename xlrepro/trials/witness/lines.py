"""What witnesses say: a change of code since a record's commit has moved no number.

A line of ``data/results/witnesses.jsonl`` says from which commit and fingerprint to which, for
which task and profile, and which values of categorical settings its trials had. It speaks for a
record of that commit and fingerprint whose values were all among them, as long as today's code is
what the line was made with. `xlrepro.trials.witness` makes such lines.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from xlrepro.checked import Checked
from xlrepro.errors import StoreError
from xlrepro.paths import data_dir
from xlrepro.trials.record import Record
from xlrepro.trials.trial import canonical_json

logger = logging.getLogger("xlrepro")

FILE = "witnesses.jsonl"
NUMBER, ZERO, NUMBERS, ABSENT = "number", "0", "numbers", ""


class Witness(Checked):
    """One line: trials run with the code of a commit and with later code gave equal results.

    Attributes:
        task, profile: of the trials.
        commit, fingerprint: of the records that it speaks for.
        today_fingerprint, today_sources: the code that it compared them with.
        today_commit: the commit that this code was on top of; ``None`` outside git.
        covers: path of a setting to the values that the trials had, as JSON.
        trials: keys of the records whose trials were run, shrunken unless ``full``.
        full: whether the trials were run as they were.
        values: how many cells and details were compared and equal.
        versions, device, numerical_class: where both sides ran.
        made: UTC, ISO 8601.
    """

    task: str
    profile: str
    commit: str
    fingerprint: str
    today_fingerprint: str
    today_sources: tuple[str, ...]
    today_commit: str | None
    covers: dict[str, tuple[str, ...]]
    trials: tuple[str, ...]
    full: bool
    values: int
    versions: dict[str, str]
    device: str
    numerical_class: str | None
    made: str

    @property
    def address(self) -> tuple[str, str, str, str]:
        """Which records it speaks for, their settings aside."""
        return self.commit, self.fingerprint, self.task, self.profile

    def missing(self, settings: Mapping[str, Any]) -> list[str]:
        """Return the settings, ``path=value``, that none of its trials had.

        A setting that is not there has its default, a value of its own: so a path that the line
        covers and the settings do not have is missing, too, unless it covers `ABSENT` there.
        """
        present = categories(settings)
        absent = {path: {ABSENT} for path in self.covers.keys() - present.keys()}
        return [
            f"{path}={value or 'default'}"
            for path, values in sorted({**present, **absent}.items())
            for value in sorted(values.difference(self.covers.get(path, ())))
        ]

    def to_json(self) -> str:
        """Return the line, without its end."""
        content = self.model_dump(mode="json")
        return canonical_json({**content, "checksum": _checksum(content)})

    @classmethod
    def from_json(cls, text: str, where: str) -> "Witness":
        """Read a line.

        Raises:
            StoreError: if it is no whole line, or was changed by hand.
        """
        try:
            content = json.loads(text)
            if not isinstance(content, dict) or content.pop("checksum", "") != _checksum(content):
                raise ValueError("its checksum does not fit")
            return cls.model_validate(content)
        except ValidationError as error:
            wrong = error.errors()[0]["msg"]
        except (ValueError, RecursionError) as error:
            wrong = str(error)
        raise StoreError(f"{where} is no witness ({wrong}): remove the line, witness again")


def _checksum(content: Mapping[str, Any]) -> str:
    text = canonical_json(content).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()


def speaking_for(
    record: Record, lines: Iterable[Witness], digest: Callable[[tuple[str, ...]], str | None]
) -> Witness | None:
    """Return a line that holds today and covers the record's settings.

    Args:
        record: of earlier code.
        lines: from `load_witnesses`.
        digest: today's fingerprint of some modules, ``None`` where one is gone.
    """
    address = (record.git.commit, record.fingerprint, record.task, record.profile)
    if record.git.dirty is not False:
        return None
    for line in lines:
        holds = line.address == address and digest(line.today_sources) == line.today_fingerprint
        if holds and not line.missing(record.settings):
            return line
    return None


def witness_file() -> Path:
    """Return ``data/results/witnesses.jsonl``."""
    return data_dir() / "results" / FILE


def load_witnesses() -> list[Witness]:
    """Read all lines; a broken one is named in a warning and counts as none."""
    path = witness_file()
    witnesses: list[Witness] = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        return witnesses
    except (OSError, UnicodeDecodeError):
        logger.warning("warning: %s cannot be read: restore it from git", path)
        return witnesses
    for number, text in enumerate(lines, start=1):
        if text.strip():
            try:
                witnesses.append(Witness.from_json(text, f"{path}, line {number},"))
            except StoreError as error:
                logger.warning("warning: %s", error)
    return witnesses


def categories(settings: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return path of a setting to its categorical values, as JSON.

    Texts, truth values and lists of texts count as they are; of a number only whether it is 0.
    The groups of a list share their paths.

    Example:
        >>> sorted(categories({"encoder": {"kind": "lstm", "dim": 8}, "targets": ["de"]}).items())
        [('encoder.dim', {'number'}), ('encoder.kind', {'"lstm"'}), ('targets', {'["de"]'})]
    """
    values: dict[str, set[str]] = {}
    for path, value in _leaves(settings, ""):
        values.setdefault(path, set()).add(value)
    return values


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, bool) or not isinstance(value, int | float | list):
        yield path, canonical_json(value)
    elif not isinstance(value, list):
        yield path, NUMBER if value else ZERO
    elif any(isinstance(inner, Mapping | list) for inner in value):
        for inner in value:
            yield from _leaves(inner, f"{path}[]")
    elif value and all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
        yield path, NUMBERS
    else:
        yield path, canonical_json(value)


def covered(all_settings: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return what trials of these settings cover: path to values, `ABSENT` where one lacks it."""
    categories_ = [categories(settings) for settings in all_settings]
    paths = sorted({path for each in categories_ for path in each})
    return {
        path: tuple(sorted({value for each in categories_ for value in each.get(path, {ABSENT})}))
        for path in paths
    }
