"""Deviations of ours from the papers, and errata of the papers: named, and shown on the page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Literal

from xlrepro.checked import Checked
from xlrepro.errors import DataError
from xlrepro.evidence.catalog import Catalog, load_catalog
from xlrepro.evidence.claims.files import load_claims
from xlrepro.evidence.tables.table import Link
from xlrepro.paths import data_dir
from xlrepro.trials.trial import PROFILES
from xlrepro.yaml_files import read_model

NOT_TESTED = "not tested"
WEIGHTS = ("most", "some", "little")


class Deviation(Checked):
    """A known difference between a paper and us. Field by field: ``deviations/word_order.yaml``."""

    id: str
    title: str
    experiments: tuple[str, ...]
    profiles: tuple[Literal["smoke", "open", "paper"], ...]
    paper: str
    here: str
    why: str
    effect: str
    certainty: Literal["known", "expected", "unknown"]
    weight: Literal["most", "some", "little"] = "some"
    test: str = ""
    rows: Mapping[str, tuple[str, ...]] = {}
    columns: Mapping[str, tuple[str, ...]] = {}

    @property
    def checked(self) -> str:
        """What shows that it is so; empty where nothing is to be shown."""
        shown = bool(self.test) and self.test != NOT_TESTED
        return f"checked by {self.test}" if shown else self.test

    def named(self, experiment: str) -> dict[str, tuple[str, ...]]:
        """Return the rows and the columns that it touches alone; names may hold ``*``."""
        given = {"row": self.rows, "column": self.columns}
        return {kind: names[experiment] for kind, names in given.items() if experiment in names}

    def place(self, experiment: str) -> tuple[str, tuple[str, ...]]:
        """Return where a table links to it: ``"row"`` or ``"column"``, and the names there.

        ``("", ())`` where it touches every cell of the experiment.
        """
        return next(iter(self.named(experiment).items()), ("", ()))

    def touches(self, experiment: str, system: str, column: str) -> bool:
        """Tell whether it touches a cell."""
        cell = {"row": system, "column": column}
        named = self.named(experiment).items()
        return experiment in self.experiments and all(
            is_named(cell[k], names) for k, names in named
        )


class Erratum(Checked):
    """A slip in a paper. Field by field: head of ``data/errata.yaml``."""

    id: str
    paper: str
    kind: Literal["claim", "number", "mark"]
    where: str
    what: str
    claim: str | None = None


class _DeviationFile(Checked):
    paper: str
    deviations: list[Deviation]


class _ErrataFile(Checked):
    errata: list[Erratum]


def is_named(name: str, patterns: Sequence[str]) -> bool:
    """Tell whether one of the patterns stands for a row or a column.

    Example:
        >>> is_named("word-mapped:ORT", ["word*:ORT"])
        True
    """
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _only_once(names: Sequence[str], path: Path) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: {name} stands there twice")


def read_deviations(path: Path, catalog: Catalog) -> list[Deviation]:
    """Read a deviations file; experiments get their full key, ``"word_order/table2"``.

    Raises:
        DataError: if it is malformed, or names an experiment that the catalog lacks, or rows or
            columns of one that it does not concern.
    """
    content = read_model(path, _DeviationFile)
    _only_once([d.id for d in content.deviations], path)
    full = []
    for deviation in content.deviations:
        keys = {name: f"{content.paper}/{name}" for name in deviation.experiments}
        for key in keys.values():
            if key not in catalog.experiments:
                raise DataError(f"{path}: {deviation.id}: the catalog has no experiment {key}")
        if other := ({*deviation.rows} | {*deviation.columns}) - {*keys}:
            raise DataError(
                f"{path}: {deviation.id}: rows or columns of {min(other)}, which is not among its "
                "experiments"
            )
        full_keys = {
            "experiments": tuple(keys.values()),
            "rows": {keys[name]: given for name, given in deviation.rows.items()},
            "columns": {keys[name]: given for name, given in deviation.columns.items()},
        }
        full.append(deviation.model_copy(update=full_keys))
    return full


@lru_cache(maxsize=4)
def _cached(stamp: tuple[tuple[Path, int], ...]) -> tuple[Deviation, ...]:
    catalog = load_catalog()
    return tuple(d for path, _ in stamp[1:] for d in read_deviations(path, catalog))


def load_deviations(experiment: str | None = None) -> list[Deviation]:
    """Return the deviations of one experiment, or all of them; [] where none are named.

    They are read once per change of a file.

    Raises:
        DataError: if a file is malformed, or is a link to nothing.
    """
    catalog = load_catalog()
    if experiment is not None:
        catalog.experiment(experiment)
    files = [data_dir() / "catalog.yaml", *sorted((data_dir() / "deviations").glob("*.yaml"))]
    try:
        stamp = tuple((path, path.stat().st_mtime_ns) for path in files)
    except OSError as error:
        raise DataError(
            f"{error.filename} cannot be read ({error.strerror}): restore it, or remove it"
        ) from None
    deviations = _cached(stamp)
    return [d for d in deviations if experiment is None or experiment in d.experiments]


def read_errata(path: Path) -> list[Erratum]:
    """Read an errata file; a DataError names what is malformed."""
    content = read_model(path, _ErrataFile)
    _only_once([e.id for e in content.errata], path)
    return content.errata


def load_errata() -> list[Erratum]:
    """Return the errata of all papers.

    Raises:
        DataError: if one names a claim that its paper does not have.
    """
    path = data_dir() / "errata.yaml"
    errata = read_errata(path)
    known = {(c.paper, c.id) for key in {e.paper for e in errata} for c in load_claims(key)}
    for erratum in errata:
        if erratum.claim and (erratum.paper, erratum.claim) not in known:
            raise DataError(f"{path}: {erratum.id} names the unknown claim {erratum.claim}")
    return errata


def first_sentence(text: str) -> str:
    """Return the first sentence of a text.

    Example:
        >>> first_sentence("As in Chen et al. (2019), Eq. 2. More follows.")
        'As in Chen et al. (2019), Eq. 2.'
    """
    first = re.split(r"(?<=[.;])\s+(?=[A-Z])", text.strip(), maxsplit=1)[0]
    return f"{first[:-1]}." if first.endswith(";") else first


def deviation_anchor(identifier: str) -> str:
    """Return the id of a deviation's place on a page."""
    return f"deviation-{identifier}"


def deviation_link(deviation: Deviation, page: str = "") -> Link:
    """Return a link by the deviation's id, bold if it weighs most.

    Args:
        deviation: where it leads.
        page: that lists it, as seen from the link; its own page if empty.
    """
    href = f"{page}#{deviation_anchor(deviation.id)}"
    return Link(deviation.id, href, deviation.title, deviation.weight == WEIGHTS[0])


@dataclass(frozen=True)
class DeviationList:
    """Deviations as a list, most weighing first: each folds out; ``repr`` is a line.

    Attributes:
        about: what they are deviations of.
        deviations: in the order of the list.
        links: whether each links to the pages of its experiments; else these are one page's.
        claims: id -> paper and claim of those that it touches, likewise linked.
    """

    about: str
    deviations: tuple[Deviation, ...]
    links: bool = False
    claims: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self.about}: {len(self.deviations)} known deviations"

    def _repr_html_(self) -> str:
        items = "\n".join(self._item(deviation) for deviation in self.deviations)
        return f'<ul class="xl-deviations">\n{items}\n</ul>' if items else "<p>None is known.</p>"

    def _item(self, d: Deviation) -> str:
        profiles = ", ".join(p for p in PROFILES if p in d.profiles)
        weight = {"most": "weighs most; ", "little": "weighs little; "}.get(d.weight, "")
        paper, here = first_sentence(d.paper), first_sentence(d.here)
        folded = [("The paper", d.paper)] * (paper != d.paper)
        folded += [("Here", d.here)] * (here != d.here)
        folded += [("Why", d.why)] + [("Test", d.checked)] * bool(d.checked)
        more = "".join(f"<p><b>{name}:</b> {escape(text)}</p>" for name, text in folded)
        if self.links:
            pages = ", ".join(f'<a href="{e}.html">{e}</a>{_only(d, e)}' for e in d.experiments)
            more += f"<p><b>Touches:</b> {pages}</p>"
        elif cells := _only(d, self.about):
            more += f"<p><b>Touches here:</b>{cells}</p>"
        if touched := self.claims.get(d.id):
            claims = " ".join(f'<a href="{p}/claims.html#{c}">{c}</a>' for p, c in touched)
            more += f"<p><b>Claims:</b> {claims}</p>"
        return (
            f'<li id="{deviation_anchor(d.id)}"><details><summary><b>{escape(d.title)}</b> '
            f'<span class="xl-detail">{d.id}; {weight}at {profiles}</span>'
            f"<span>{escape(paper)} → {escape(here)}</span> "
            f"<span><i>Effect ({d.certainty}):</i> {escape(d.effect)}</span></summary>"
            f"{more}</details></li>"
        )


def _only(deviation: Deviation, experiment: str) -> str:
    """Return which rows and columns alone of an experiment it touches, as HTML; else nothing."""
    parts = [f"{kind}s {', '.join(names)}" for kind, names in deviation.named(experiment).items()]
    return f" ({escape('; '.join(parts))})" * bool(parts)


def deviations_list(
    experiment: str | None = None,
    *,
    profile: str | None = None,
    claims: Mapping[str, Sequence[tuple[str, str]]] | None = None,
) -> DeviationList:
    """Return the deviations of an experiment (all of them for ``None``), at one profile or all."""
    shown = [d for d in load_deviations(experiment) if profile is None or profile in d.profiles]
    shown.sort(key=lambda d: WEIGHTS.index(d.weight))
    about = experiment or "all experiments"
    return DeviationList(about, tuple(shown), experiment is None, claims or {})


def weighing_most(experiment: str, profile: str) -> list[Deviation]:
    """Return the deviations that weigh most on an experiment's numbers at a profile."""
    deviations = deviations_list(experiment, profile=profile).deviations
    return [d for d in deviations if d.weight == WEIGHTS[0]]
