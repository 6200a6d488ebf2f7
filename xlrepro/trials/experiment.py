"""An experiment: one table or figure of a paper, as a list of systems, columns and trials."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from xlrepro.errors import SettingsError, XlreproError
from xlrepro.trials import PROFILES, Cell, Record, Trial


@dataclass(frozen=True)
class System:
    """A model variant that has a row.

    Attributes:
        block: short name of the row group, ``"word"``.
        name: the name the paper prints, ``"ORT"``.
        default: whether it runs when no system is named.
        ours: whether it is an addition of ours, without a reported row.
        by_name_at: profiles at which it is no default, and runs only when it is named.
    """

    block: str
    name: str
    default: bool = True
    ours: bool = False
    by_name_at: tuple[str, ...] = ()

    @property
    def identifier(self) -> str:
        """``"block:name"``, the form that cells carry."""
        return f"{self.block}:{self.name}"


MakeTrials = Callable[[str, Sequence[str], Sequence[int], Mapping[str, Any]], list[Trial]]
ReadCells = Callable[[Record], list[Cell]]
LARGEST_SEED = 2**32 - 1  # with which every generator can begin, multiplied by a million too
Address = tuple[str, str]  # the system and the column of a cell
ReadTogether = Callable[[Sequence[Record]], list[Record]]
NameCells = Callable[[Trial], list[Address]]
FindPlace = Callable[[Record | Trial, str, str], Address | None]
THREE = {"open": (0, 1, 2), "paper": (0, 1, 2)}  # seeds of most experiments; one at smoke


@dataclass(frozen=True)
class Experiment:
    """One table or figure of a paper; what it asks stands in the catalog.

    Attributes:
        key: ``"word_order/table2"``; also the notebook's path below ``notebooks/``.
        systems: in the order of the rows.
        columns: in the order of the page.
        make_trials: ``(profile, system identifiers, seeds, overrides) -> trials``. ``overrides``
            are settings by name; an unknown name is a SettingsError. Trials of another experiment
            may be among them, so that nothing is trained twice; they stay that experiment's.
        profiles: those it can run at.
        draws_on: the experiments whose trials ``make_trials`` may return beside its own.
        cells: what a record of one of those says in this experiment's cells.
        fills: which of this experiment's cells a trial of one of those fills, told before it has
            run; without it those cells are shown only once they are filled.
        together: what the records of a profile say once all are at hand, such as parts of models
            that have no numbers of their own, put in one order for all seeds.
        cost: profile to a sentence about what a full run costs.
        default_seeds: seeds of a full run, per profile; those that it leaves out have seed 0.
    """

    key: str
    systems: tuple[System, ...]
    columns: tuple[str, ...]
    make_trials: MakeTrials
    profiles: tuple[str, ...] = PROFILES
    cost: Mapping[str, str] = field(default_factory=dict)
    default_seeds: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: {**THREE})
    draws_on: tuple[str, ...] = ()
    cells: ReadCells | None = None
    fills: NameCells | None = None
    together: ReadTogether | None = None

    @property
    def trained_in(self) -> tuple[str, ...]:
        """The experiments whose trials fill its cells: mostly itself alone."""
        return (self.key, *self.draws_on)

    def view(self, record: Record) -> Record:
        """Return a record as this experiment reads it: its own as it is, another's with our cells.

        The key stays that of the trial that was run.

        Raises:
            SettingsError: if the record belongs to another experiment and ``cells`` is missing.
        """
        if record.experiment == self.key:
            return record
        if self.cells is None:
            raise SettingsError(
                f"{self.key} does not say how to read records of {record.experiment}"
            )
        cells = tuple(self.cells(record))
        read = {"experiment": self.key, "cells": cells, "trained_in": record.experiment}
        return record.model_copy(update=read)

    def announced(self, profile: str) -> list[list[Address]]:
        """Return the cells that each trial of a full run fills, a list per trial of one seed.

        All systems count, not the default ones alone.

        Raises:
            SettingsError: for an unknown profile.
        """
        seed = self.default_seeds.get(profile, (0,))[:1]
        cells = [self._addresses(trial) for trial in self.all_trials(profile, seed)]
        return [addresses for addresses in cells if addresses]

    def _addresses(self, trial: Trial) -> list[Address]:
        if trial.experiment == self.key:
            return list(product(trial.systems, trial.columns))
        return self.fills(trial) if self.fills else []

    def select(self, names: Sequence[str] | None, profile: str) -> tuple[str, ...]:
        """Return the identifiers of the systems that ``names`` stand for at a profile.

        A name is a system's printed name (``ORT``, among the default systems), an identifier
        (``word-mapped:ORT``) or a whole block (``word-mapped:*``); it may come in the parts that
        its own commas make of it. ``None``, ``[]``: the defaults.

        Raises:
            SettingsError: for a name that stands for nothing.
        """
        if not names:
            return tuple(
                s.identifier for s in self.systems if s.default and profile not in s.by_name_at
            )
        chosen = [hit for name in self._whole(names) for hit in self._named(name)]
        return tuple(dict.fromkeys(chosen))

    def _named(self, name: str) -> list[str]:
        hits = self._hits(name)
        if not hits:
            known = ", ".join(s.identifier for s in self.systems)
            raise SettingsError(f"{self.key} has no system {name!r}; it has: {known}")
        return hits

    def _hits(self, name: str) -> list[str]:
        wanted = _without_gaps(name)
        return [
            s.identifier
            for s in self.systems
            if wanted in map(_without_gaps, (s.identifier, f"{s.block}:*"))
            or (wanted == _without_gaps(s.name) and s.default)
        ]

    def _whole(self, parts: Sequence[str]) -> list[str]:
        """Return names, parts of which a comma in a name had parted put together again."""
        names, rest = [], list(parts)
        most = 1 + max(s.identifier.count(",") for s in self.systems)
        while rest:
            sizes = range(min(most, len(rest)), 1, -1)
            size = next((n for n in sizes if self._hits(", ".join(rest[:n]))), 1)
            names.append(", ".join(rest[:size]))
            rest = rest[size:]
        return names

    def trials(
        self,
        profile: str,
        systems: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> list[Trial]:
        """Return the trials that fill the cells of ``systems`` at ``profile``.

        Raises:
            SettingsError: for an unknown profile, system, seed or override, or an impossible one;
                for a name whose systems have no trials at this profile.
        """
        self._check_profile(profile)
        wanted = tuple(seeds) if seeds else self.default_seeds.get(profile, (0,))
        if not all(map(_is_seed, wanted)):
            raise SettingsError(
                f"seeds must be whole numbers from 0 to {LARGEST_SEED}, not {list(wanted)}"
            )
        changes = overrides or {}
        for name in self._whole(systems or ()):
            if not self._changed(profile, self.select([name], profile), wanted[:1], changes):
                raise SettingsError(f"{self.key} does not run {name} at {profile}")
        chosen = self.select(systems, profile)
        made = self._changed(profile, chosen, wanted, changes)
        for name, value in changes.items():
            settings = [trial.settings[name] for trial in made if name in trial.settings]
            if settings and json.loads(json.dumps(value)) not in settings:
                others = {n: v for n, v in changes.items() if n != name}
                self._check_that_it_matters(name, made, profile, chosen, wanted, others)
        return made

    def _check_that_it_matters(
        self,
        name: str,
        made: Sequence[Trial],
        profile: str,
        systems: Sequence[str],
        seeds: Sequence[int],
        others: Mapping[str, Any],
    ) -> None:
        """Refuse an override without which the same trials are made."""
        try:
            without = self._changed(profile, systems, seeds, others)
        except XlreproError:  # the others do not fit alone, or need files that are not here
            return
        if list(made) == without:
            raise SettingsError(f"{self.key} sets {name} itself in these rows: do not override it")

    def _changed(
        self, profile: str, systems: Sequence[str], seeds: Sequence[int], changes: Mapping[str, Any]
    ) -> list[Trial]:
        """Make trials; what the user's changes break is the user's error, not a traceback."""
        try:
            return self.make_trials(profile, systems, seeds, changes)
        except (LookupError, TypeError, ValueError) as error:
            if not changes:
                raise
            given = ", ".join(f"{name}={value}" for name, value in changes.items())
            wrong = f"{error} is unknown" if isinstance(error, KeyError) else str(error)
            raise SettingsError(
                f"{self.key} cannot run at {profile} with {given} ({wrong}): change or leave out "
                "what does not fit"
            ) from error

    def all_trials(self, profile: str, seeds: Sequence[int]) -> list[Trial]:
        """Return the trials of all systems that run at ``profile``, not the default ones alone.

        Raises:
            SettingsError: for an unknown profile.
        """
        self._check_profile(profile)
        return self.make_trials(profile, tuple(s.identifier for s in self.systems), seeds, {})

    def _check_profile(self, profile: str) -> None:
        if profile not in self.profiles:
            raise SettingsError(
                f"{self.key} has no profile {profile!r}; it has: {', '.join(self.profiles)}"
            )


def shared_cells(ours: FindPlace) -> dict[str, Any]:
    """Return the ``cells`` and ``fills`` of an experiment that shows other experiments' cells.

    Args:
        ours: (record or trial of theirs, its system, its column) -> where that cell stands in this
            experiment; ``None``: nowhere.
    """

    def cells(record: Record) -> list[Cell]:
        placed = ((cell, ours(record, cell.system, cell.column)) for cell in record.cells)
        return [replace(cell, system=at[0], column=at[1]) for cell, at in placed if at]

    def fills(trial: Trial) -> list[Address]:
        addresses = (ours(trial, *theirs) for theirs in product(trial.systems, trial.columns))
        return [at for at in addresses if at]

    return {"cells": cells, "fills": fills}


def _without_gaps(name: str) -> str:
    """Return a name as it stands in a list parted by commas, with or without blanks behind them."""
    return name.replace(", ", ",")


def _is_seed(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_SEED
