"""All experiments: rows of ``papers/*/experiments.yaml`` become settings, and settings trials.

There is one merge, and it is here: ``defaults ← profile ← each ← part ← part at that profile ← row
← row at that profile ← the row's part ← --set``, mapping onto mapping, anything else replacing what
was there. One pydantic class per task then checks types, bounds and unknown names. CONTRIBUTING.md
shows the format by example; the classes here say which fields there are.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from xlrepro.errors import DataError, SettingsError
from xlrepro.machine import code_version
from xlrepro.store import RecordStore
from xlrepro.trials import PROFILES, Cell, ProfileName, Record, Trial, check_profile
from xlrepro.values import Checked, read_model, validated

PAPERS = Path(__file__).parent / "papers"
ORDER = ("word_order", "man_moe", "sense_alignment", "routing_nmt", "ramen")
LARGEST_SEED = 2**32 - 1  # with which every generator can begin
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Address = tuple[str, str]  # the system and the column of a cell
Settings = dict[str, Any]
Names = tuple[str, ...]


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


# ---- what a paper's YAML says


def _named(value: Any) -> Any:
    """Return ``[de, es]`` as ``{"de": {}, "es": {}}``; a name with nothing behind it has ``{}``."""
    entries = {str(name): None for name in value} if isinstance(value, list) else value
    return {k: v or {} for k, v in entries.items()} if isinstance(entries, dict) else entries


class Layer(Checked):
    """What sets settings: everywhere, and at a profile."""

    set: Settings = {}  # noqa: RUF012 # pydantic copies it
    at: dict[ProfileName, Settings] = {}  # noqa: RUF012

    def layers(self, profile: str) -> list[Settings]:
        """Return them in the order of the merge."""
        return [self.set, self.at.get(profile, {})]


class Part(Layer):
    """One of several trainings that fill a row."""

    task: str | None = None
    fills: Names = ()


Parts = Annotated[dict[str, Part], BeforeValidator(_named)]


class Profile(BaseModel):
    """What a profile sets, beside its parts in place of the experiment's."""

    model_config = ConfigDict(frozen=True, extra="allow")

    parts: Parts | None = None


class Loan(Checked):
    """Cells that trials of another experiment fill."""

    owner: str = Field(alias="from")
    row: str = ""  # of the owner; of the same name unless told
    parts: list[str] | None = None
    at: tuple[ProfileName, ...] = PROFILES
    changed_at: dict[ProfileName, Settings] = {}  # noqa: RUF012
    columns: dict[str, str] = {}  # noqa: RUF012 # theirs to ours; empty: the same
    cells: str = ""  # a function that reads them off a record, "module:name"
    fills: Names = ()  # which columns that function fills


class System(Layer):
    """A row of a table: how it differs, and when it runs.

    Attributes:
        identifier: ``"block:name"``, the form that cells carry; the name is the paper's.
        shares: the row whose trials fill this one, too.
        default: whether it runs when no system is named.
        ours: whether it is an addition of ours, without a reported row.
        named_at: profiles at which it runs only when it is named.
        profiles: those at which it runs.
        seeds: its own, whichever are asked for; empty: those.
    """

    identifier: str
    task: str | None = None
    fills: Names = ()
    parts: Parts | None = None
    borrows: tuple[Loan, ...] = ()
    shares: str = ""
    default: bool = True
    ours: bool = False
    named_at: tuple[ProfileName, ...] = ()
    profiles: tuple[ProfileName, ...] = PROFILES
    seeds: tuple[Seed, ...] = ()

    @property
    def block(self) -> str:
        """Short name of the row group, ``"word"``."""
        return self.identifier.partition(":")[0]

    @property
    def name(self) -> str:
        """The name the paper gives it, ``"ORT"``."""
        return self.identifier.partition(":")[2]

    def is_called(self, name: str) -> bool:
        """Tell whether a user's name is for it: ``"word:ORT"``, ``"word:*"``; of a default row
        ``"ORT"``, too.
        """
        return name in (self.identifier, f"{self.block}:*") or (self.default and name == self.name)


def _identified(value: Any) -> Any:
    """Return rows that know their names."""
    rows = _named(value)
    if not isinstance(rows, dict):
        return rows
    return {k: v | {"identifier": k} if isinstance(v, dict) else v for k, v in rows.items()}


class Task(Checked):
    """What a trial does: its function, its settings' class, and the version of what it computes."""

    name: str = ""  # "word_order/pos"
    run: str  # "module:name", as the class
    settings: str
    version: int

    def load(self) -> Any:
        """Import the function, ``(trial, context) -> TrialResult``."""
        return _member(self.name.split("/")[0], self.run)

    @cached_property
    def model(self) -> type[BaseModel]:
        """The class of its settings."""
        return _member(self.name.split("/")[0], self.settings)  # type: ignore[no-any-return]

    def typed(self, settings: Mapping[str, Any], where: str) -> BaseModel:
        """Return settings as its class.

        Raises:
            SettingsError: for what is unknown or impossible.
        """
        return validated(settings, where, self.model)


def _member(paper: str, where: str) -> Any:
    """Return ``"module:name"`` of a paper's package; a DataError where it cannot be had."""
    module, _, name = where.partition(":")
    package = f"xlrepro.papers.{paper}" if (PAPERS / paper).is_dir() else paper
    try:
        return getattr(import_module(f"{package}.{module}"), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise DataError(f"experiments.yaml of {paper}: no {where!r} loads: {error}") from error


class Entry(Checked):
    """An experiment."""

    task: str | None = None
    columns: Names = ()
    seeds: dict[ProfileName, tuple[Seed, ...]] = {}  # noqa: RUF012
    cost: dict[ProfileName, str] = {}  # noqa: RUF012
    fills: Names = ()
    defaults: Settings = {}  # noqa: RUF012
    profiles: Annotated[dict[ProfileName, Profile], BeforeValidator(_named)]
    rows: Annotated[dict[str, System], BeforeValidator(_identified)]
    parts: Parts = {}  # noqa: RUF012
    each: Settings = {}  # noqa: RUF012 # of every part, "{part}" its name
    together: str = ""


class PaperFile(Checked):
    """``papers/<paper>/experiments.yaml``; ``shared`` holds what is named by anchors."""

    tasks: dict[str, Task]
    shared: Any = None
    experiments: dict[str, Entry]


# ---- experiments


@dataclass(frozen=True, eq=False)
class Experiment:
    """One table or figure of a paper; what it asks stands in the catalog.

    Attributes:
        key: ``"word_order/table2"``; also the notebook's path below ``notebooks/``.
        entry: its entry in the paper's ``experiments.yaml``.
    """

    key: str
    entry: Entry

    @property
    def paper(self) -> str:
        """``"word_order"``."""
        return self.key.split("/")[0]

    @property
    def systems(self) -> tuple[System, ...]:
        """The rows, in their order."""
        return tuple(self.entry.rows.values())

    @cached_property
    def columns(self) -> Names:
        """In the order of the page: as the entry says, else as the rows fill them."""
        filled = (c for profile in self.profiles for of in self.announced(profile) for _, c in of)
        return self.entry.columns or tuple(dict.fromkeys(filled))

    @property
    def profiles(self) -> Names:
        """Those it can run at."""
        return tuple(self.entry.profiles)

    def seeds(self, profile: str) -> tuple[int, ...]:
        """Return those of a full run."""
        return self.entry.seeds.get(profile, (0,))

    @cached_property
    def trained_in(self) -> Names:
        """The experiments whose trials fill its cells: mostly itself alone."""
        owners = (loan.owner for row in self.entry.rows.values() for loan in row.borrows)
        return tuple(dict.fromkeys([self.key, *owners]))

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
        for name, value in (("seeds", seeds), ("systems", systems)):
            if isinstance(value, str) or not isinstance(value, Sequence | None):
                raise SettingsError(f"{name} must be a list, not {value!r}")
        try:
            changes = json.dumps(dict(overrides or {}))
        except (TypeError, ValueError) as error:
            raise SettingsError(f"overrides must map settings to JSON's values: {error}") from error
        wanted = tuple(seeds) if seeds else self.seeds(profile)
        if not all(type(seed) is int and 0 <= seed <= LARGEST_SEED for seed in wanted):
            raise SettingsError(f"seeds must be whole, from 0 to {LARGEST_SEED}, not {[*wanted]}")
        parts = {k: v for k, v in json.loads(changes).items() if k == "parts"}
        for name, hits in self._asked(systems or ()).items():
            if not _made(self.key, profile, hits, wanted, json.dumps(parts)):
                of = "".join(f" in {part!r}" for part in parts.values())
                raise SettingsError(f"{self.key} does not run {name} at {profile}{of}")
        chosen = self.select(systems, profile)
        return list(_made(self.key, profile, chosen, wanted, changes))

    def all_trials(self, profile: str, seeds: Sequence[int]) -> list[Trial]:
        """Return the trials of all systems that run at ``profile``, not the default ones alone."""
        self._check_profile(profile)
        return list(_made(self.key, profile, tuple(self.entry.rows), tuple(seeds), "{}"))

    def row(self, name: str) -> System:
        """Return a row; a DataError where an entry shares or borrows one that is not there."""
        if name not in self.entry.rows:
            raise DataError(f"experiments.yaml: {self.key} has no row {name!r}")
        return self.entry.rows[name]

    def make(
        self, profile: str, systems: Sequence[str], seeds: Sequence[int], changes: Settings
    ) -> Iterator[Trial]:
        """Yield the trials of rows, those of other experiments too that fill cells here."""
        for name in systems:
            row = self.row(name)
            if profile not in row.profiles:
                continue
            yield from self._own(profile, name, seeds, changes)
            for loan in row.borrows:
                owner = experiment(loan.owner)
                if profile in loan.at and profile in owner.profiles:
                    changed = loan.changed_at.get(profile, {}) | changes
                    changed |= {"parts": loan.parts} if loan.parts else {}
                    yield from owner.make(profile, [loan.row or name], seeds, changed)

    def _own(
        self, profile: str, name: str, seeds: Sequence[int], changes: Settings
    ) -> Iterator[Trial]:
        """Yield a trial per part and seed; a row that shares another's trials has that one's."""
        rows = self.entry.rows
        name = rows[name].shares or name
        row = self.row(name)
        if row.borrows and "set" not in row.model_fields_set:  # all its cells are borrowed
            return
        sharing = [n for n, each in rows.items() if n == name or each.shares == name]
        at = self.entry.profiles[profile]
        overrides = {path: value for path, value in changes.items() if path != "parts"}
        for part, (entry, of_row) in self._parts(profile, row, changes.get("parts")).items():
            kind = task(entry.task or row.task or self.entry.task or "", self.paper)
            settings = merged(
                self.entry.defaults,
                at.model_extra,
                {key: _of_part(value, part) for key, value in self.entry.each.items()},
                *entry.layers(profile),
                *row.layers(profile),
                *of_row.layers(profile),
            )
            where = f"{self.key} {profile} {name} {part}".strip()
            typed = kind.typed(settings, where)
            changed = (_nested(p, v) for p, v in overrides.items() if _has(typed, p.split(".")))
            typed = kind.typed(merged(settings, *changed), where) if overrides else typed
            fills = entry.fills or row.fills or self.entry.fills
            named = {n for column in fills if overrides for _, n, _, _ in Formatter().parse(column)}
            fixed = {*self.entry.each, *entry.set} - named if "part" in named else ()
            if clash := sorted(overrides.keys() & fixed):
                raise SettingsError(f"{self.key}: parts set {clash[0]}: choose with parts={part}")
            trial = Trial.create(
                experiment=self.key, systems=sharing, columns=_filled(fills, typed, part),
                settings=typed.model_dump(mode="json", exclude_defaults=True), profile=profile,
                task=kind.name, version=kind.version, seed=0,
            )  # fmt: skip
            yield from (replace(trial, seed=seed) for seed in row.seeds or seeds)

    def _parts(self, profile: str, row: System, chosen: Any) -> dict[str, tuple[Part, Part]]:
        """Return part to (its entry, what the row changes in it); one without a name if none."""
        at = self.entry.profiles[profile].parts
        known = self.entry.parts if at is None else at
        of_row = dict.fromkeys(known, Part()) if row.parts is None else row.parts
        result = {  # a name alone is of those that the profile has
            name: (known.get(name, Part()), changed)
            for name, changed in of_row.items()
            if name in known or changed != Part()
        }
        if not known and row.parts is None and chosen is None:
            return {"": (Part(), Part())}
        wanted = chosen or None if isinstance(chosen, list | None) else [chosen]
        elsewhere = (name for each in self.entry.profiles.values() for name in each.parts or ())
        spelt = [*self.entry.parts, *elsewhere, *(n for n, p in of_row.items() if p != Part())]
        odd = [name for name in wanted or () if name not in [*known]]
        if odd := odd or [name for name in of_row if name not in spelt]:
            raise SettingsError(
                f"{self.key} has no part {odd[0]!r}; it has: {', '.join(known) or 'none'}"
            )
        return {n: both for n, both in result.items() if wanted is None or n in wanted}

    # ---- records to cells

    def view(self, record: Record) -> Record:
        """Return a record as this experiment reads it: its own as it is, another's with our cells.

        The key stays that of the trial that was run.
        """
        if record.experiment == self.key:
            return record
        loans = [*self._loans(record.experiment, record.systems, record.profile)]
        typed = task(record.task).typed(record.settings, self.key)
        cells = [cell for name, loan in loans for cell in self._read(loan, name, record, typed)]
        items = {f"{name} {ours}": record.items[theirs] for name, loan in loans
                 for theirs, ours in _renamed(loan, [*record.items], typed).items()}  # fmt: skip
        read = {"experiment": self.key, "cells": tuple(cells), "trained_in": record.experiment}
        return record.model_copy(update=read | {"items": items})

    def _loans(
        self, owner: str, systems: Sequence[str], profile: str
    ) -> Iterator[tuple[str, Loan]]:
        """Yield (row, loan) where a row borrows one of the owner's systems."""
        for name, row in self.entry.rows.items():
            for loan in row.borrows:
                if profile in loan.at and loan.owner == owner and (loan.row or name) in systems:
                    yield name, loan

    def _read(self, loan: Loan, name: str, record: Record, typed: Any) -> list[Cell]:
        theirs = [c for c in record.cells if c.system == (loan.row or name)]
        if not loan.cells:
            ours = _renamed(loan, [c.column for c in theirs], typed)
            lent = (c for c in theirs if c.column in ours)
            return [replace(c, system=name, column=ours[c.column]) for c in lent]
        said = _member(self.paper, loan.cells)(record)
        if isinstance(said, Mapping):
            metric = theirs[0].metric
            return [Cell(name, column, value, metric) for column, value in said.items()]
        return [replace(cell, system=name) for cell in said]

    def views(self, records: Iterable[Record]) -> list[Record]:
        """Return all records of a profile as this experiment reads them."""
        views = [self.view(record) for record in records]
        if views and self.entry.together:  # what they say once all are at hand
            return list(_member(self.paper, self.entry.together)(views))
        return views

    def announced(self, profile: str) -> list[list[Address]]:
        """Return the cells that each trial of a full run fills, a list per trial of one seed."""
        cells = []
        for trial in self.all_trials(profile, (0,)):
            if trial.experiment == self.key:
                cells.append(list(product(trial.systems, trial.columns)))
                continue
            ours: list[Address] = []
            typed = task(trial.task).typed(trial.settings, self.key)
            for name, loan in self._loans(trial.experiment, trial.systems, profile):
                named = {} if loan.cells else _renamed(loan, trial.columns, typed)
                filled = [*_filled(loan.fills, typed, ""), *named.values()]
                ours += [(name, column) for column in filled]
            cells.append(ours)
        return [addresses for addresses in cells if addresses]

    # ---- names

    def select(self, names: Sequence[str] | None, profile: str) -> Names:
        """Return the identifiers of the systems that ``names`` stand for at a profile.

        A name is a system's name (``ORT``, among the default systems), an identifier
        (``word-mapped:ORT``) or a whole block (``word-mapped:*``). ``None``, ``[]``: the defaults.

        Raises:
            SettingsError: for a name that stands for nothing.
        """
        if not names:
            here = (s for s in self.systems if s.default and profile in s.profiles)
            return tuple(s.identifier for s in here if profile not in s.named_at)
        return tuple(dict.fromkeys(chain.from_iterable(self._asked(names).values())))

    def _asked(self, names: Sequence[str]) -> dict[str, Names]:
        """Return each name, taken apart at its commas, and the identifiers that it stands for."""
        asked: dict[str, Names] = {}
        rest = [part.strip() for name in names for part in str(name).split(",")]
        while rest:  # the longest name first: one may have commas in it
            for size in range(len(rest), 0, -1):
                name = ", ".join(rest[:size])
                hits = (s for s in self.systems if s.is_called(name))
                if found := tuple(s.identifier for s in hits):
                    asked[name] = found
                    break
            else:
                known = ", ".join(self.entry.rows)
                raise SettingsError(f"{self.key} has no system {rest[0]!r}; it has: {known}")
            rest = rest[size:]
        return asked

    def _check_profile(self, profile: str) -> None:
        if profile not in self.profiles:
            known = ", ".join(self.profiles)
            raise SettingsError(f"{self.key} has no profile {profile!r}; it has: {known}")


@cache
def _made(
    key: str, profile: str, systems: Names, seeds: tuple[int, ...], changes: str
) -> tuple[Trial, ...]:
    """Return the trials of rows, each once.

    Raises:
        SettingsError: for a setting that none of them has.
    """
    overrides = json.loads(changes)
    trials = dict.fromkeys(experiment(key).make(profile, systems, seeds, overrides))
    known = {path: None for t in trials for path in _paths(task(t.task).model)}
    for path in overrides.keys() - {"parts"} if trials else ():
        if any(_has(task(t.task).typed(t.settings, t.label), path.split(".")) for t in trials):
            continue
        near = [p for p in known if p.rpartition(".")[2] == path.rpartition(".")[2]]
        hint = f": write {near[0]}" if near else f"; there are: {', '.join(known)}"
        hint = " in the rows that run" if path in known else hint
        raise SettingsError(f"{key}: there is no setting {path!r}{hint}")
    return tuple(trials)


@cache
def _paths(model: type[BaseModel], prefix: str = "") -> Names:
    """Return the dotted names of all settings of a class."""
    paths: list[str] = []
    for name, info in model.model_fields.items():
        paths.append(f"{prefix}{name}")
        for kind in (info.annotation, *get_args(info.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                paths += _paths(kind, f"{prefix}{name}.")
    return tuple(paths)


def _has(settings: Any, path: Sequence[str]) -> bool:
    """Tell whether settings have one; what is None has none of its own."""
    inside = path[0] in type(settings).model_fields if isinstance(settings, BaseModel) else False
    return inside and (len(path) == 1 or _has(getattr(settings, path[0]), path[1:]))


def _nested(path: str, value: Any) -> Settings:
    """Return ``"encoder.dim", 64`` as ``{"encoder": {"dim": 64}}``."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return dict(value)


def _of_part(value: Any, part: str) -> Any:
    """Return a value of ``each`` with the part's name in it."""
    if isinstance(value, list):
        return [_of_part(each, part) for each in value]
    return value.replace("{part}", part) if isinstance(value, str) else value


def _filled(templates: Iterable[str], settings: BaseModel, part: str) -> list[str]:
    """Return the columns that templates stand for: ``"{targets}"`` makes one per target.

    Raises:
        DataError: for a template that names no setting.
    """
    columns: list[str] = []
    for template in templates:
        try:
            fields = [name.split(".")[0] for _, name, _, _ in Formatter().parse(template) if name]
            values = [part if name == "part" else getattr(settings, name) for name in fields]
            several = [value if isinstance(value, list | tuple) else [value] for value in values]
            columns += [template.format(**dict(zip(fields, each))) for each in product(*several)]
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise DataError(f"experiments.yaml: no column is named {template!r}: {error}") from None
    return columns


def _renamed(loan: Loan, columns: Iterable[str], settings: BaseModel) -> dict[str, str]:
    """Return a borrowed trial's columns and what they are called here."""
    if not loan.columns:
        return {column: column for column in columns}
    known = {theirs: ours for theirs, ours in loan.columns.items() if theirs in columns}
    return {theirs: _filled([ours], settings, "")[0] for theirs, ours in known.items()}


# ---- the papers


def _file(paper: str) -> Path:
    """Return the YAML of a paper, or of somebody else's package that has one."""
    folder = PAPERS / paper
    if not folder.is_dir():
        found = find_spec(paper) if paper.isidentifier() else None
        folder = Path(found.origin).parent if found and found.origin else folder
    return folder / "experiments.yaml"


@cache
def _paper(name: str) -> tuple[dict[str, Task], dict[str, Experiment]]:
    """Return the tasks and experiments of a paper's YAML; of what is no paper, none.

    Raises:
        DataError: naming the file if it is missing; file and entry, for an unknown field or a
            missing one.
    """
    if not (file := _file(name)).is_file() and name not in ORDER:
        return {}, {}
    content = read_model(file, PaperFile)
    tasks = {f"{name}/{key}": each for key, each in content.tasks.items()}
    entries = {f"{name}/{key}": each for key, each in content.experiments.items()}
    return (
        {key: each.model_copy(update={"name": key}) for key, each in tasks.items()},
        {key: Experiment(key, entry) for key, entry in entries.items()},
    )


def task(name: str, paper: str = "") -> Task:
    """Return a task by its name, ``"word_order/pos"``, or ``"pos"`` of a paper.

    Raises:
        SettingsError: if there is no such task.
    """
    name = name if "/" in name else f"{paper}/{name}"
    tasks = _paper(name.partition("/")[0])[0]
    if name not in tasks:
        raise SettingsError(f"there is no task {name!r}; there are: {', '.join(tasks)}")
    return tasks[name]


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


# ---- the records


def is_outdated(record: Record) -> bool:
    """Tell whether a record is not what today's code computes of the data at hand.

    Its task has another version or is gone, or a data file that it names has another content here;
    a file that is not here is no objection. At smoke, where a trial takes seconds, any change of
    the code that it computed with counts.
    """
    try:
        version = task(record.task).version
    except SettingsError:
        return True
    code = code_version(record.task.split("/")[0]) if record.profile == "smoke" else None
    return (
        version != record.version
        or code not in (None, record.versions.get("xlrepro"))
        or any(_data_at_hand(n) not in (None, digest) for n, digest in record.data.items())
    )


def files_of(trials: Iterable[Trial], kind: str) -> list[Any]:
    """Return files that trials read, each once.

    Args:
        trials: of any tasks.
        kind: ``"supplied"``: the user's, paths below XLREPRO_SUPPLIED; ``"registered"``: data set
            and file of those that are read after training.
    """
    found: dict[Any, None] = {}
    for name, settings in dict.fromkeys((trial.task, trial.settings_json) for trial in trials):
        model = task(name).model
        if hasattr(model, kind):
            found |= dict.fromkeys(getattr(model.model_validate_json(settings), kind)())
    return list(found)


@cache  # a file is looked at once a process
def _data_at_hand(name: str) -> str | None:
    from xlrepro.data.registry import current_data

    return current_data(name)


def records_asked(each: Experiment, profile: str, store: RecordStore) -> list[Record]:
    """Return the records, outdated ones too, that an experiment's rows ask for today."""
    if profile not in each.profiles:
        return []
    records = [r for name in each.trained_in for r in store.records(name, profile)]
    seeds = sorted({r.seed for r in records})
    wanted = {trial.place for trial in each.all_trials(profile, seeds)}
    return [r for r in records if r.trial.place in wanted]


def own_records(key: str, profile: str, store: RecordStore | None = None) -> list[Record]:
    """Return the records that the experiment's rows ask for, as it reads them; others are left out.

    Others are those made with ``--set`` or before a row changed.

    Raises:
        SettingsError: for an unknown profile.
    """
    check_profile(profile)
    each = experiment(key)
    return each.views(records_asked(each, profile, store or RecordStore()))


def records_by_standing(profile: str, store: RecordStore) -> tuple[list[Record], list[Record]]:
    """Return the records that some experiment's rows ask for today, and those that none does."""
    experiments = all_experiments().values()
    asked = {r.key for each in experiments for r in records_asked(each, profile, store)}
    records = store.records(profile=profile)
    return [r for r in records if r.key in asked], [r for r in records if r.key not in asked]
