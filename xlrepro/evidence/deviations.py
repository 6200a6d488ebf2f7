"""Deviations of ours from the papers, and errata of the papers: named, and shown on the page."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from xlrepro.checked import Checked
from xlrepro.errors import DataError
from xlrepro.evidence.catalog import load_catalog
from xlrepro.paths import data_dir
from xlrepro.yaml_files import read_model

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


class _ErrataFile(Checked):
    errata: list[Erratum]


def read_deviations(path: Path) -> list[Deviation]:
    """Read a deviations file; experiments get their full key, ``"word_order/table2"``.

    Raises:
        DataError: if it is malformed, or names an experiment that the catalog lacks, or rows or
            columns of one that it does not concern.
    """
    content, catalog = read_model(path, _DeviationFile), load_catalog()
    full: dict[str, Deviation] = {}
    for deviation in content.deviations:
        where = f"{path}: {deviation.id}"
        if deviation.id in full:
            raise DataError(f"{where} stands there twice")
        keys = {name: f"{content.paper}/{name}" for name in deviation.experiments}
        if unknown := [key for key in keys.values() if key not in catalog.experiments]:
            raise DataError(f"{where}: the catalog has no experiment {unknown[0]}")
        if other := ({*deviation.rows} | {*deviation.columns}) - {*keys}:
            raise DataError(
                f"{where}: rows or columns of {min(other)}, which is not among its experiments"
            )
        full[deviation.id] = deviation.model_copy(
            update={
                "experiments": tuple(keys.values()),
                "rows": {keys[name]: given for name, given in deviation.rows.items()},
                "columns": {keys[name]: given for name, given in deviation.columns.items()},
            }
        )
    return list(full.values())


_read_once = cache(read_deviations)


def load_deviations(experiment: str | None = None) -> list[Deviation]:
    """Return the deviations of one experiment, or all of them; [] where none are named.

    Raises:
        DataError: if a file is malformed or cannot be read.
    """
    if experiment is not None:
        load_catalog().experiment(experiment)
    files = sorted((data_dir() / "deviations").glob("*.yaml"))
    every = [d for path in files for d in _read_once(path)]
    return [d for d in every if experiment is None or experiment in d.experiments]


def read_errata(path: Path) -> list[Erratum]:
    """Read an errata file; a DataError names what is malformed."""
    return read_model(path, _ErrataFile).errata


def load_errata() -> list[Erratum]:
    """Return the errata of all papers.

    Raises:
        DataError: if one names a claim that its paper does not have.
    """
    from xlrepro.evidence.claims import load_claims  # which reads deviations

    path = data_dir() / "errata.yaml"
    errata = read_errata(path)
    known = {(c.paper, c.id) for c in load_claims()}
    for erratum in errata:
        if erratum.claim and (erratum.paper, erratum.claim) not in known:
            raise DataError(f"{path}: {erratum.id} names the unknown claim {erratum.claim}")
    return errata


def deviations_by_weight(
    experiment: str | None = None, profile: str | None = None
) -> list[Deviation]:
    """Return the deviations of an experiment (of all for ``None``), those of major weight first."""
    shown = [d for d in load_deviations(experiment) if profile is None or profile in d.profiles]
    return sorted(shown, key=lambda d: WEIGHTS.index(d.weight))


def major_deviations(experiment: str, profile: str) -> list[Deviation]:
    """Return the deviations of major weight on an experiment's numbers at a profile."""
    return [d for d in deviations_by_weight(experiment, profile) if d.weight == WEIGHTS[0]]
