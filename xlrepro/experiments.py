"""All experiments: rows of ``papers/*/experiments.yaml`` become settings, and settings trials.

There is one merge, and it is here: ``defaults ← profile ← part ← part at that profile ← row ← row
at that profile ← the row's part ← --set``, mapping onto mapping, anything else replacing what was
there. One pydantic class per task then checks types, bounds and unknown names. CONTRIBUTING.md
shows the format by example.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import filter as matching
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

from xlrepro.errors import DataError, SettingsError
from xlrepro.machine import code_version
from xlrepro.store import RecordStore
from xlrepro.trials import PROFILES, Cell, Record, Trial
from xlrepro.yaml_files import read_yaml

if TYPE_CHECKING:
    from pydantic import BaseModel

    from xlrepro.evidence.reproduced import ReproducedNumbers

PAPERS = Path(__file__).parent / "papers"
ORDER = ("word_order", "man_moe", "sense_alignment", "routing_nmt", "ramen")
LARGEST_SEED = 2**32 - 1  # with which every generator can begin
Address = tuple[str, str]  # the system and the column of a cell
Settings = dict[str, Any]

# What an entry of the YAML may say.
EXPERIMENT_FIELDS = frozenset(
    [
        "task",
        "columns",
        "seeds",
        "cost",
        "fills",
        "defaults",
        "profiles",
        "rows",
        "parts",
        "each",
        "together",
    ]
)
ROW_FIELDS = frozenset(
    [
        "set",
        "at",
        "task",
        "fills",
        "parts",
        "borrows",
        "shares",
        "default",
        "ours",
        "named_at",
        "profiles",
        "seeds",
    ]
)
BORROW_FIELDS = frozenset(["from", "row", "parts", "at", "changed_at", "columns", "cells", "fills"])


def merged(*layers: Mapping[str, Any] | None) -> Settings:
    """Return settings merged: later layers win, mappings are merged, all else is replaced.

    Example:
        >>> merged({"encoder": {"dim": 128, "layers": 2}}, None, {"encoder": {"dim": 256}})
        {'encoder': {'dim': 256, 'layers': 2}}
    """
    result: Settings = {}
    for layer in layers:
        for name, value in (layer or {}).items():
            old = result.get(name)
            both = isinstance(old, Mapping) and isinstance(value, Mapping)
            result[name] = merged(old, value) if both else value
    return result


def nested(overrides: Mapping[str, Any]) -> Settings:
    """Return ``{"encoder.dim": 64}`` as ``{"encoder": {"dim": 64}}``."""
    result: Settings = {}
    for path, value in overrides.items():
        for name in reversed(path.split(".")):
            value = {name: value}
        result = merged(result, value)
    return result


@dataclass(frozen=True)
class System:
    """A row of a table.

    Attributes:
        identifier: ``"block:name"``, the form that cells carry; the name is the paper's.
        default: whether it runs when no system is named.
        ours: whether it is an addition of ours, without a reported row.
        by_name_at: profiles at which it runs only when it is named.
    """

    identifier: str
    default: bool = True
    ours: bool = False
    by_name_at: tuple[str, ...] = ()

    @property
    def block(self) -> str:
        """Short name of the row group, ``"word"``."""
        return self.identifier.partition(":")[0]

    @property
    def name(self) -> str:
        """The name the paper gives it, ``"ORT"``."""
        return self.identifier.partition(":")[2]


@dataclass(frozen=True)
class Task:
    """What a trial does: its function, its settings' class, and the version of what it computes."""

    name: str
    run: str
    settings: str
    version: int

    def load(self) -> Any:
        """Import the function, ``(trial, context) -> TrialResult``."""
        return _member(self.name.split("/")[0], self.run)

    @cached_property
    def model(self) -> "type[BaseModel]":
        """The class of its settings."""
        return _member(self.name.split("/")[0], self.settings)  # type: ignore[no-any-return]


def _member(paper: str, where: str) -> Any:
    """Return ``"module:name"`` of a paper's package."""
    module, _, name = where.partition(":")
    package = f"xlrepro.papers.{paper}" if (PAPERS / paper).is_dir() else paper
    return getattr(import_module(f"{package}.{module}"), name)


@dataclass(frozen=True)
class Run:
    """Trials that differ in nothing but their seeds."""

    systems: tuple[str, ...]
    columns: tuple[str, ...]
    task: Task
    settings_json: str
    seeds: tuple[int, ...]  # theirs, whichever are asked for; empty: those

    @property
    def settings(self) -> Settings:
        """The settings that differ from their defaults."""
        return dict(json.loads(self.settings_json))


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper; what it asks stands in the catalog.

    Attributes:
        key: ``"word_order/table2"``; also the notebook's path below ``notebooks/``.
        entry: its entry in the paper's ``experiments.yaml``.
    """

    key: str
    entry: Mapping[str, Any] = field(hash=False, compare=False)

    @property
    def paper(self) -> str:
        """``"word_order"``."""
        return self.key.split("/")[0]

    @cached_property
    def rows(self) -> dict[str, Mapping[str, Any]]:
        """The rows' entries by identifier, in order."""
        return {name: row or {} for name, row in self.entry["rows"].items()}

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """The rows, in their order."""
        return tuple(
            System(
                name, row.get("default", True), row.get("ours", False), (*row.get("named_at", ()),)
            )
            for name, row in self.rows.items()
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """In the order of the page: as the entry says, else as the rows fill them."""
        if "columns" in self.entry:
            return tuple(self.entry["columns"])
        filled = (c for profile in self.profiles for of in self.announced(profile) for _, c in of)
        return tuple(dict.fromkeys(filled))

    @property
    def profiles(self) -> tuple[str, ...]:
        """Those it can run at."""
        return tuple(self.entry["profiles"])

    @property
    def cost(self) -> dict[str, str]:
        """Profile to a sentence about what a full run costs."""
        return dict(self.entry.get("cost", {}))

    @property
    def default_seeds(self) -> dict[str, tuple[int, ...]]:
        """Seeds of a full run, per profile; those that it leaves out have seed 0."""
        return {name: tuple(seeds) for name, seeds in self.entry.get("seeds", {}).items()}

    @cached_property
    def draws_on(self) -> tuple[str, ...]:
        """The experiments whose trials fill cells here."""
        borrows = (each["from"] for row in self.rows.values() for each in row.get("borrows", ()))
        return tuple(dict.fromkeys(borrows))

    @property
    def trained_in(self) -> tuple[str, ...]:
        """The experiments whose trials fill its cells: mostly itself alone."""
        return (self.key, *self.draws_on)

    # ---- rows to trials

    def trials(
        self,
        profile: str,
        systems: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> list[Trial]:
        """Return the trials that fill the cells of ``systems`` at ``profile``.

        Args:
            profile: of ``profiles``.
            systems: as :meth:`select`.
            seeds: ``None``: the default ones of the profile.
            overrides: setting (dotted: ``"encoder.dim"``) to value; ``parts`` chooses parts.

        Raises:
            SettingsError: for an unknown profile, system, seed, part or setting, or an impossible
                one; for a named system that has no trials at this profile.
        """
        self._check_profile(profile)
        wanted = tuple(seeds) if seeds else self.default_seeds.get(profile, (0,))
        if not all(map(_is_seed, wanted)):
            raise SettingsError(
                f"seeds must be whole numbers from 0 to {LARGEST_SEED}, not {list(wanted)}"
            )
        changes = dict(overrides or {})
        parts = changes.pop("parts", None)
        chosen = self.select(systems, profile)
        made = self._trials(profile, chosen, wanted, changes, parts)
        for name in systems or ():
            if not self._trials(profile, self.select([name], profile), wanted, {}, None):
                raise SettingsError(f"{self.key} does not run {name} at {profile}")
        return made

    def all_trials(self, profile: str, seeds: Sequence[int]) -> list[Trial]:
        """Return the trials of all systems that run at ``profile``, not the default ones alone."""
        self._check_profile(profile)
        return self._trials(profile, tuple(self.rows), seeds, {}, None)

    def _trials(
        self,
        profile: str,
        systems: Sequence[str],
        seeds: Sequence[int],
        overrides: Mapping[str, Any],
        parts: Any,
    ) -> list[Trial]:
        runs = _runs(self.key, profile, tuple(systems), json.dumps(overrides), json.dumps(parts))
        trials = (
            Trial.create(
                experiment=key,
                systems=run.systems,
                columns=run.columns,
                profile=profile,
                seed=seed,
                settings=run.settings,
                task=run.task.name,
                version=run.task.version,
            )
            for key, run in runs
            for seed in run.seeds or seeds
        )
        return list(dict.fromkeys(trials))

    def runs(
        self, profile: str, systems: Sequence[str], overrides: Mapping[str, Any], parts: Any
    ) -> list[tuple[str, Run]]:
        """Return (experiment that owns it, run) of rows, each once."""
        made: dict[tuple[str, Run], None] = {}
        unknown: list[str] = []
        for name in systems:
            own = self._own_runs(profile, name, overrides, parts, unknown)
            made |= dict.fromkeys((self.key, run) for run in own)
            for lent in self.rows[name].get("borrows", ()):
                if profile not in lent.get("at", (profile,)):
                    continue
                made |= dict.fromkeys(self._borrowed(lent, name, profile, overrides, parts))
        if unknown and len(unknown) >= len(made):
            raise SettingsError(unknown[0])
        return list(made)

    def _own_runs(
        self,
        profile: str,
        name: str,
        overrides: Mapping[str, Any],
        chosen: Any,
        unknown: list[str],
    ) -> Iterator[Run]:
        """Yield a run per part of a row; a row that shares another's trials has that one's."""
        row = self.rows[name]
        if "shares" in row:
            name, row = row["shares"], self.rows[row["shares"]]
        if profile not in row.get("profiles", (profile,)):
            return
        task = row.get("task", self.entry.get("task"))
        if task is None or ("borrows" in row and "set" not in row):  # all its cells are borrowed
            return
        sharing = (n for n, r in self.rows.items() if n == name or r.get("shares") == name)
        systems = tuple(sharing)
        at = self.entry["profiles"][profile] or {}
        plain = {k: v for k, v in at.items() if k != "parts"}
        for part, (set_by, of_row) in self._parts(profile, row, chosen).items():
            kind = _task(self.paper, (set_by.get("task") if set_by else None) or task)
            settings = merged(
                self.entry.get("defaults"),
                plain,
                set_by.get("set"),
                set_by.get("at", {}).get(profile),
                row.get("set"),
                row.get("at", {}).get(profile),
                of_row.get("set"),
                of_row.get("at", {}).get(profile),
            )
            where = f"{self.key} {profile} {name}" + (f" {part}" if part else "")
            if overrides:
                if strange := _unknown(kind.model, overrides):
                    unknown.append(f"{self.key}: {strange}")
                known = {p: v for p, v in overrides.items() if not _unknown(kind.model, {p: v})}
                settings = merged(settings, nested(known))
            typed = _typed(kind, settings, where)
            fills = set_by.get("fills") or row.get("fills") or self.entry["fills"]
            yield Run(
                systems,
                tuple(_filled(fills, typed, part)),
                kind,
                json.dumps(typed.model_dump(mode="json", exclude_defaults=True), sort_keys=True),
                tuple(row.get("seeds", ())),
            )

    def _parts(
        self, profile: str, row: Mapping[str, Any], chosen: Any
    ) -> dict[str, tuple[Mapping[str, Any], Any]]:
        """Return part to (its entry, what the row changes in it); one without a name if none."""
        at = self.entry["profiles"][profile] or {}
        known = at.get("parts", self.entry.get("parts")) or {}
        if isinstance(known, list):
            known = dict.fromkeys(known)
        parts = {name: self._of_each(name, entry or {}) for name, entry in known.items()}
        of_row = row.get("parts")
        result: dict[str, tuple[Mapping[str, Any], Any]]
        if of_row is None:
            result = {name: (entry, {}) for name, entry in parts.items()}
        elif isinstance(of_row, Mapping):
            result = {name: (parts.get(name, {}), says or {}) for name, says in of_row.items()}
        else:
            result = {name: (parts[name], {}) for name in of_row if name in parts}
        if not parts and of_row is None:
            return {"": ({}, {})}
        if chosen is None:
            return result
        wanted = chosen if isinstance(chosen, list) else [chosen]
        if strange := [name for name in wanted if name not in parts]:
            raise SettingsError(
                f"{self.key} has no part {strange[0]!r}; it has: {', '.join(parts)}"
            )
        return {name: value for name, value in result.items() if name in wanted}

    def _of_each(self, part: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a part with what ``each`` sets from its name."""
        each = {
            name: [v.format(part=part) for v in value]
            if isinstance(value, list)
            else value.format(part=part)
            for name, value in self.entry.get("each", {}).items()
        }
        return {**entry, "set": merged(each, entry.get("set"))}

    def _borrowed(
        self,
        lent: Mapping[str, Any],
        name: str,
        profile: str,
        overrides: Mapping[str, Any],
        chosen: Any,
    ) -> Iterator[tuple[str, Run]]:
        """Yield the runs of another experiment that fill cells of a row."""
        owner = experiment(lent["from"])
        if profile not in owner.profiles or profile not in self.rows[name].get(
            "profiles", (profile,)
        ):
            return
        parts = lent.get("parts", chosen)
        changes = {**lent.get("changed_at", {}).get(profile, {}), **overrides}
        yield from owner.runs(profile, [lent.get("row", name)], changes, parts)

    # ---- records to cells

    def view(self, record: Record) -> Record:
        """Return a record as this experiment reads it: its own as it is, another's with our cells.

        The key stays that of the trial that was run.
        """
        if record.experiment == self.key:
            return record
        cells = [
            cell
            for name, lent in self._loans(record.experiment, record.systems, record.profile)
            for cell in self._read(lent, name, record)
        ]
        read = {"experiment": self.key, "cells": tuple(cells), "trained_in": record.experiment}
        return record.model_copy(update=read)

    def _loans(
        self, owner: str, systems: Sequence[str], profile: str
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield (row, entry of ``borrows``) where a row borrows one of the owner's systems."""
        for name, row in self.rows.items():
            for lent in row.get("borrows", ()):
                at = profile in lent.get("at", (profile,))
                if at and lent["from"] == owner and lent.get("row", name) in systems:
                    yield name, lent

    def _read(self, lent: Mapping[str, Any], name: str, record: Record) -> list[Cell]:
        theirs = [c for c in record.cells if c.system == lent.get("row", name)]
        if "cells" not in lent:
            typed = _typed(task(record.task), record.settings, self.key)
            ours = _renamed(lent, [c.column for c in theirs], typed)
            return [
                replace(c, system=name, column=ours[c.column]) for c in theirs if c.column in ours
            ]
        said = _member(self.paper, lent["cells"])(record)
        if isinstance(said, Mapping):
            metric = theirs[0].metric
            return [Cell(name, column, value, metric) for column, value in said.items()]
        return [replace(cell, system=name) for cell in said]

    @property
    def together(self) -> Any:
        """What the records of a profile say once all are at hand; ``None``: nothing more."""
        where = self.entry.get("together")
        return _member(self.paper, where) if where else None

    def announced(self, profile: str) -> list[list[Address]]:
        """Return the cells that each trial of a full run fills, a list per trial of one seed."""
        self._check_profile(profile)
        cells = []
        for key, run in self.runs(profile, tuple(self.rows), {}, None):
            if key == self.key:
                cells.append(list(product(run.systems, run.columns)))
                continue
            ours: list[Address] = []
            for name, lent in self._loans(key, run.systems, profile):
                typed = _typed(run.task, run.settings, self.key)
                if "fills" in lent:
                    ours += [(name, column) for column in _filled(lent["fills"], typed, "")]
                elif "cells" not in lent:
                    names = _renamed(lent, run.columns, typed)
                    ours += [(name, names[c]) for c in run.columns if c in names]
            cells.append(ours)
        return [addresses for addresses in cells if addresses]

    # ---- names

    def select(self, names: Sequence[str] | None, profile: str) -> tuple[str, ...]:
        """Return the identifiers of the systems that ``names`` stand for at a profile.

        A name is a system's name (``ORT``, among the default systems), an identifier
        (``word-mapped:ORT``) or a whole block (``word-mapped:*``). ``None``, ``[]``: the defaults.

        Raises:
            SettingsError: for a name that stands for nothing.
        """
        if not names:
            return tuple(
                s.identifier for s in self.systems if s.default and profile not in s.by_name_at
            )
        chosen: dict[str, None] = {}
        rest = [part.strip() for name in names for part in name.split(",")]
        while rest:  # the longest name first: one may have commas in it
            for size in range(len(rest), 0, -1):
                if hits := self._hits(", ".join(rest[:size])):
                    break
            else:
                known = ", ".join(self.rows)
                raise SettingsError(f"{self.key} has no system {rest[0]!r}; it has: {known}")
            chosen |= dict.fromkeys(hits)
            rest = rest[size:]
        return tuple(chosen)

    def _hits(self, name: str) -> list[str]:
        return [
            s.identifier
            for s in self.systems
            if name in (s.identifier, f"{s.block}:*") or (name == s.name and s.default)
        ]

    def _check_profile(self, profile: str) -> None:
        if profile not in self.profiles:
            raise SettingsError(
                f"{self.key} has no profile {profile!r}; it has: {', '.join(self.profiles)}"
            )


@cache
def _runs(
    key: str, profile: str, systems: tuple[str, ...], overrides: str, parts: str
) -> tuple[tuple[str, Run], ...]:
    made = experiment(key).runs(profile, systems, json.loads(overrides), json.loads(parts))
    return tuple(made)


def _typed(task: Task, settings: Mapping[str, Any], where: str) -> "BaseModel":
    from xlrepro.training.settings import validated

    return validated(settings, where, task.model)


def _unknown(model: "type[BaseModel]", overrides: Mapping[str, Any]) -> str:
    """Say which override is no setting of a class, and what may be meant; ``""``: none."""
    for path in overrides:
        if path not in (known := _paths(model)) and not any(
            path.startswith(f"{free}.") for free, closed in known.items() if not closed
        ):
            near = [p for p in known if p.rpartition(".")[2] == path.rpartition(".")[2]]
            hint = f": write {near[0]}" if near else f"; there are: {', '.join(known)}"
            return f"there is no setting {path!r}{hint}"
    return ""


@cache
def _paths(model: "type[BaseModel]", prefix: str = "") -> dict[str, bool]:
    """Return the dotted names of all settings of a class, and whether each is of a known type."""
    from typing import get_args

    from pydantic import BaseModel

    paths = {}
    for name, info in model.model_fields.items():
        kinds = [k for k in (info.annotation, *get_args(info.annotation)) if isinstance(k, type)]
        groups = [k for k in kinds if issubclass(k, BaseModel)]
        paths[f"{prefix}{name}"] = not any(issubclass(k, Mapping) for k in kinds)
        for group in groups:
            paths |= _paths(group, f"{prefix}{name}.")
    return paths


def _filled(templates: Iterable[str], settings: "BaseModel", part: str) -> Iterator[str]:
    """Yield the columns that templates stand for: ``"{targets}"`` makes one per target."""
    for template in templates:
        pieces = list(Formatter().parse(template))
        values = [_values(name, settings, part) for _, name, _, _ in pieces if name]
        for chosen in product(*values):
            rest = iter(chosen)
            yield "".join(
                text + (format(next(rest), spec or "") if name else "")
                for text, name, spec, _ in pieces
            )


def _renamed(
    lent: Mapping[str, Any], columns: Iterable[str], settings: "BaseModel"
) -> dict[str, str]:
    """Return a borrowed trial's columns and what they are called here."""
    if lent.get("columns", "all") == "all":
        return {column: column for column in columns}
    return {theirs: next(_filled([ours], settings, "")) for theirs, ours in lent["columns"].items()}


def _values(name: str, settings: "BaseModel", part: str) -> list[Any]:
    if name == "part":
        return [part]
    value: Any = settings
    for step in name.split("."):
        value = value[step] if isinstance(value, Mapping) else getattr(value, step)
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_seed(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_SEED


# ---- the papers


def _folder(paper: str) -> Path:
    """Return the folder of a paper, or of somebody else's package with an ``experiments.yaml``."""
    if (PAPERS / paper).is_dir():
        return PAPERS / paper
    found = find_spec(paper) if paper.isidentifier() else None
    return Path(found.origin).parent if found and found.origin else Path(paper)


@cache
def _paper(name: str) -> tuple[dict[str, Task], dict[str, Experiment]]:
    """Return the tasks and experiments of a paper's YAML.

    Raises:
        DataError: naming file and entry, for an unknown field or a missing one.
    """
    path = _folder(name) / "experiments.yaml"
    content = read_yaml(path)
    tasks = {
        task: Task(f"{name}/{task}", entry["run"], entry["settings"], entry["version"])
        for task, entry in content["tasks"].items()
    }
    made = {}
    for key, entry in content["experiments"].items():
        _check_fields(f"{path}: {key}", entry, EXPERIMENT_FIELDS)
        for profile in entry["profiles"]:
            if profile not in PROFILES:
                raise DataError(f"{path}: {key}: unknown profile {profile!r}")
        for row, said in entry["rows"].items():
            _check_fields(f"{path}: {key}: {row}", said or {}, ROW_FIELDS)
            for lent in (said or {}).get("borrows", ()):
                _check_fields(f"{path}: {key}: {row}: borrows", lent, BORROW_FIELDS)
        made[f"{name}/{key}"] = Experiment(f"{name}/{key}", entry)
    return tasks, made


def _check_fields(where: str, entry: Mapping[str, Any], known: frozenset[str]) -> None:
    if strange := sorted(set(entry) - known):
        raise DataError(
            f"{where} has no field {strange[0]!r}; there are: {', '.join(sorted(known))}"
        )


def _task(paper: str, name: str) -> Task:
    """Return a task of a paper, or ``other_paper/task``."""
    owner, _, short = name.rpartition("/")
    return task(f"{owner or paper}/{short}")


def task(name: str) -> Task:
    """Return a task by its name, ``"word_order/pos"``.

    Raises:
        SettingsError: if there is no such task.
    """
    paper, _, short = name.partition("/")
    tasks = _paper(paper)[0] if (_folder(paper) / "experiments.yaml").is_file() else {}
    if short not in tasks:
        raise SettingsError(f"there is no task {name!r}; there are: {', '.join(tasks)}")
    return tasks[short]


@cache
def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by its key, in the order of the papers."""
    return {key: each for paper in ORDER for key, each in _paper(paper)[1].items()}


def experiment(key: str) -> Experiment:
    """Return the experiment ``key``, such as ``"word_order/table2"``.

    Raises:
        SettingsError: for an unknown key; the message names the known ones, of its paper if it is
            one of ours.
    """
    known = all_experiments()
    if key not in known:
        near = [k for k in known if k.partition("/")[0] == key.partition("/")[0]] or [*known]
        raise SettingsError(f"there is no experiment {key!r}; there are: {', '.join(near)}")
    return known[key]


def check_deviations(key: str | None = None) -> None:
    """Hold the rows and columns that deviations name against those of the experiments.

    Args:
        key: of one experiment; ``None``: of all that are built.

    Raises:
        DataError: for a name that stands for no row or no column.
    """
    from xlrepro.evidence.deviations import load_deviations  # these load numpy: `list` need not
    from xlrepro.evidence.reported import load_reported

    built = all_experiments()
    for deviation in load_deviations(key):
        for name in {*deviation.experiments} & {*built} & ({key} if key else {*built}):
            printed = load_reported().cells(name)
            rows = [s.identifier for s in built[name].systems] + [c.system for c in printed]
            columns = [*built[name].columns, *(c.column for c in printed)]
            known = {"row": dict.fromkeys(rows), "column": dict.fromkeys(columns)}
            for kind, given in deviation.named(name).items():
                if unknown := [n for n in given if not matching(known[kind], n)]:
                    raise DataError(
                        f"deviation {deviation.id}: {name} has no {kind} {unknown[0]!r}; it has: "
                        f"{', '.join(known[kind])}"
                    )


# ---- the records

CURRENT, OUTDATED = STANDINGS = "current", "outdated"


def standing(record: Record) -> str:
    """Return whether a record says what today's code computes of the data at hand.

    It is outdated when its task has another version or is gone, or when a data file that it names
    has another content here; a file that is not here is no objection. At smoke, where a trial takes
    seconds, it is outdated when any code that it computed with has changed.
    """
    return OUTDATED if why_outdated(record) else CURRENT


def why_outdated(record: Record) -> str:
    """Return why a record is outdated, for people; ``""``: it is not."""
    version = _version(record.task)
    if version != record.version:
        return (
            f"its task has version {version} now, it is of {record.version}"
            if version
            else (f"there is no task {record.task} any more")
        )
    paper = record.task.split("/")[0]
    if record.profile == "smoke" and record.versions.get("xlrepro") != code_version(paper):
        return "the code has changed since"
    for name, digest in record.data.items():
        if _data_at_hand(name) not in (None, digest):
            return f"{name} has another content now"
    return ""


def is_outdated(record: Record) -> bool:
    """Tell whether `standing` is ``"outdated"``."""
    return bool(why_outdated(record))


@cache
def _version(name: str) -> int:
    """Return the version of a task; 0 if it is gone."""
    try:
        return task(name).version
    except SettingsError:
        return 0


@cache  # a file is looked at once a process
def _data_at_hand(name: str) -> str | None:
    from xlrepro.data.registry import current_data

    return current_data(name)


def own_records(key: str, profile: str, store: RecordStore | None = None) -> list[Record]:
    """Return the records that the experiment's own preset asks for; others are left out.

    Others are those made with ``--set`` or with an earlier preset. Records of trials that the
    experiment shares with another are read as its own: :meth:`Experiment.view`.
    """
    store, each = store or RecordStore(), experiment(key)
    asked, _ = _by_preset(each, profile, store)
    views = [each.view(record) for record in asked]
    return each.together(views) if each.together and views else views


def _by_preset(
    each: Experiment, profile: str, store: RecordStore
) -> tuple[list[Record], list[Record]]:
    """Return the records that the experiment's preset asks for today, and the others."""
    records = [r for name in each.trained_in for r in store.records(name, profile)]
    seeds = sorted({r.seed for r in records})
    trials = each.all_trials(profile, seeds) if seeds else []
    wanted = {replace(trial, version=0) for trial in trials}  # outdated ones are shown as such
    asked = [r for r in records if replace(r.trial, version=0) in wanted]
    known = {r.key for r in asked}
    return asked, [r for r in records if r.key not in known]


def asked_for(each: Experiment, profile: str, store: RecordStore) -> set[str]:
    """Return the keys of the records that an experiment's preset asks for today."""
    asked, _ = _by_preset(each, profile, store)
    return {record.key for record in asked}


def records_left_out(profile: str, store: RecordStore | None = None) -> dict[str, int]:
    """Count, by experiment, the records that no experiment's preset asks for today."""
    return dict(Counter(keys_left_out(profile, store).values()))


def keys_left_out(profile: str, store: RecordStore | None = None) -> dict[str, str]:
    """Return the keys of records that no experiment's preset asks for today, with their experiment.

    They were made with ``--set`` or before a preset changed, and no page shows them.
    """
    store, asked, others = store or RecordStore(), set[str](), dict[str, str]()
    for each in all_experiments().values():
        if profile in each.profiles:
            wanted, left = _by_preset(each, profile, store)
            asked |= {r.key for r in wanted}
            others |= {r.key: r.experiment for r in left}
    return {key: of for key, of in others.items() if key not in asked}


def all_own_records() -> list[Record]:
    """Return the own records of every experiment that is built, at every profile."""
    store = RecordStore()
    return [
        record
        for key, each in all_experiments().items()
        for profile in each.profiles
        for record in own_records(key, profile, store)
    ]


def records_by_experiment(
    keys: Sequence[str], profile: str, store: RecordStore | None = None
) -> dict[str, list[Record]]:
    """Return the own records of experiments; none of those that are not built, or not for it.

    Raises:
        SettingsError: for an unknown profile.
    """
    if profile not in PROFILES:
        raise SettingsError(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
    store = store or RecordStore()
    known = {key for key, each in all_experiments().items() if profile in each.profiles}
    return {key: own_records(key, profile, store) if key in known else [] for key in keys}


def own_numbers(
    keys: Sequence[str], profiles: Sequence[str], store: RecordStore | None = None
) -> "ReproducedNumbers":
    """Gather the records of those of the experiments that are built and know a profile.

    Raises:
        SettingsError: for an unknown profile.
    """
    from xlrepro.evidence.reproduced import gather

    by_profile = (records_by_experiment(keys, profile, store) for profile in profiles)
    return gather(record for of in by_profile for records in of.values() for record in records)
