"""Deviations of ours from the papers, and errata of the papers: named, and shown on the page."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from xlrepro.evidence.catalog import load_catalog
from xlrepro.paths import data_dir
from xlrepro.values import Checked, read_model

ID = r"^[A-Z]{1,2}\d{1,3}$"
WEIGHTS = ("most", "some", "little")


class Deviation(Checked):
    """A known difference between a paper and us. Field by field: ``deviations/word_order.yaml``."""

    id: str = Field(pattern=ID)
    title: str
    experiments: tuple[str, ...]
    profiles: tuple[Literal["smoke", "open", "paper"], ...]
    paper: str
    here: str
    why: str
    effect: str
    certainty: Literal["known", "expected", "unknown"]
    weight: Literal["most", "some", "little"] = "some"
    rows: Mapping[str, tuple[str, ...]] = {}
    columns: Mapping[str, tuple[str, ...]] = {}

    def named(self, experiment: str) -> dict[str, tuple[str, ...]]:
        """Return the rows and the columns that it touches alone; names may hold ``*``."""
        given = {"row": self.rows, "column": self.columns}
        return {kind: names[experiment] for kind, names in given.items() if experiment in names}

    def touches(self, experiment: str, system: str, column: str) -> bool:
        """Tell whether it touches a cell."""
        cell = {"row": system, "column": column}
        return experiment in self.experiments and all(
            any(fnmatchcase(cell[kind], name) for name in names)
            for kind, names in self.named(experiment).items()
        )


class Erratum(Checked):
    """A slip in a paper. Field by field: head of ``data/errata.yaml``."""

    id: str = Field(pattern=ID)
    paper: str
    kind: Literal["claim", "number", "mark", "reading"]
    where: str
    what: str
    claim: str | None = None


class _DeviationFile(Checked):
    paper: str
    deviations: list[Deviation]


def read_deviations(path: Path) -> list[Deviation]:
    """Read a deviations file; experiments get their full key, ``"word_order/table2"``."""
    content = read_model(path, _DeviationFile)

    def full(named: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        return {f"{content.paper}/{name}": given for name, given in named.items()}

    made = list[Deviation]()
    for each in content.deviations:
        keys = tuple(full(dict.fromkeys(each.experiments, ())))
        own = {"experiments": keys, "rows": full(each.rows), "columns": full(each.columns)}
        made.append(each.model_copy(update=own))
    return made


@cache
def _all(folder: Path) -> list[Deviation]:
    every = [each for path in sorted(folder.glob("*.yaml")) for each in read_deviations(path)]
    return sorted(every, key=lambda each: WEIGHTS.index(each.weight))


def load_deviations(experiment: str | None = None, profile: str | None = None) -> list[Deviation]:
    """Return the deviations of an experiment or of all, those of major weight first.

    Args:
        experiment: ``"word_order/table2"``; a SettingsError if there is none of that name.
        profile: leaves out those that are not at this profile.
    """
    if experiment is not None:
        load_catalog().experiment(experiment)
    known = [d for d in _all(data_dir() / "deviations") if profile in (None, *d.profiles)]
    return [d for d in known if experiment in (None, *d.experiments)]


def load_errata() -> list[Erratum]:
    """Return the errata of all papers; a DataError names what is malformed."""
    return read_model(data_dir() / "errata.yaml", list[Erratum])
