"""The catalog: the five papers and every experiment, read from ``data/catalog.yaml``."""

import math
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from xlrepro.errors import SettingsError
from xlrepro.evidence.text import LANGUAGES
from xlrepro.paths import data_dir
from xlrepro.trials import ProfileName
from xlrepro.values import Checked, read_model

LIMITS = {"percent": (0.0, 100.0), "fraction": (0.0, 1.0), "perplexity": (1.0, math.inf),
          "count": (0.0, math.inf)}  # fmt: skip
Plain = Annotated[str, Field(pattern="^[^<]*$")]  # stands in Markdown, where HTML is HTML
LITERATURE = "quoted by the paper from elsewhere"  # why a row is not run, and nobody means to


class Paper(Checked):
    """A paper, as the bibliography and the source of a number name it.

    Attributes:
        version: which version of the paper its numbers were printed in.
        menu: its name in the book's menu and on the dashboard.
        short: how a source names it, ``"Liu et al. (2021)"``.
        citation: key in ``book/references.bib``.
        url: where it can be read.
        code: where the authors' code is; empty where none was found.
        colours: parts of systems' names, each with a colour of its own on every page.
        also: what else a reader searches it by.
    """

    title: Plain
    citation: str
    version: str
    menu: Plain
    short: Plain
    url: str
    code: str = ""
    colours: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def links(self) -> str:
        """Where it and the authors' code are found, in Markdown."""
        if not self.code:
            return f"[the paper]({self.url}), no code of the authors was found"
        return f"[the paper]({self.url}), [the authors' code]({self.code})"


class Metric(Checked):
    """A metric: which direction is better, and the tolerance of a comparison, in its unit.

    Attributes:
        rate: whether it is a percentage of edits, say, that may be more than 100.
    """

    higher_is_better: bool | None
    tolerance: float = Field(ge=0)
    rate: bool = False


class ReportedTable(Checked):
    """How one CSV of ``data/reported`` becomes cells. Field by field: head of the catalog file."""

    table: str
    column: tuple[str, ...]
    blocks: dict[str, str]
    system: str = "{system}"
    words: dict[str, dict[str, str]] = Field(default_factory=dict)
    context: tuple[str, ...] = ()
    only: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    repeats: bool = False
    quoted: dict[str, str] = Field(default_factory=dict)


class StandIn(Checked):
    """What an experiment runs on where a profile cannot have the paper's data.

    Attributes:
        data: what they are, in a few words: shown where a claim is not judged on them.
        columns: field of a printed column -> field of ours that claims read instead,
            ``{"zh": "th"}``. What is replaced is not in our data.
        only: columns, or their first fields, that they stand in for; empty where it is for all;
            a mapping also says what stands in for each.
    """

    data: str
    columns: dict[str, str] = Field(default_factory=dict)
    only: dict[str, str] | tuple[str, ...] = ()

    def named(self, column: str) -> str:
        """Return what stands in for the data of one column.

        Example:
            >>> StandIn(data="WikiANN and tweets", only={"NER": "WikiANN"}).named("NER/es")
            'WikiANN'
        """
        of = self.only if isinstance(self.only, dict) else {}
        return of.get(column) or of.get(column.partition("/")[0]) or self.data

    def covers(self, column: str) -> bool:
        """Tell whether a column's data are these and not the paper's.

        Example:
            >>> StandIn(data="WikiANN", only=("NER",)).covers("SF/es")
            False
        """
        return not self.only or column in self.only or column.partition("/")[0] in self.only

    def column(self, printed: str) -> str:
        """Return the column of ours that is read for a printed one.

        Example:
            >>> StandIn(data="other requests", columns={"zh": "th"}).column("zh/avg")
            'th/avg'
        """
        return "/".join(self.columns.get(part, part) for part in printed.split("/"))

    def lacks(self, printed: str) -> bool:
        """Tell whether our data cannot fill a printed column: one of its fields is replaced."""
        ours = set(self.columns.values())
        return any(part in self.columns and part not in ours for part in printed.split("/"))


class Need(Checked):
    """A condition of a verdict: what must be so of the cells that a claim compares.

    Attributes:
        what: what is wrong where it is not met, in a few words, ``"senses did not form"``.
        rows: systems that it is asked of; names may hold ``*``.
        given: asked only where one of these systems is compared too.
        above: each cell must be significantly above this trivial baseline, in its unit; a name: its
            commonest class, counted under that name in a record's details (`commonest`).
        stopped: share of each system's trainings that must have stopped by themselves
            (`provenance.cut_off`).
        same: path in the settings that all these systems must have the same value at.
        detail: path in a record's details whose mean must be at least or at most so much.
        cell: experiment, system and column of a cell instead of a detail.
        at_least: of the detail or cell.
        at_most: of the detail or cell.
    """

    what: str
    rows: tuple[str, ...] = ("*",)
    given: tuple[str, ...] = ()
    above: float | str | None = None
    stopped: float | None = None
    same: str = ""
    detail: str = ""
    cell: tuple[str, str, str] | None = None
    at_least: float | None = None
    at_most: float | None = None

    def touches(self, system: str) -> bool:
        """Tell whether it is asked of a system's cells."""
        return any(fnmatchcase(system, each) for each in self.rows)


class Difference(Checked):
    """Two systems whose difference in a column answers a page's question most directly."""

    first: str
    second: str
    column: str


class CatalogEntry(Checked):
    """One experiment: what it asks, where its reported numbers lie, how they are compared.

    Attributes:
        short: its line in the menu, ``"Table 2: parts of speech"``.
        reference_blocks: block of ours -> the paper's block it is compared with.
        reference_names: end of the names of rows of ours -> of the paper's rows that these are
            another reading of, as a regular expression.
        source_columns: columns of the training language.
        average_columns: columns that are means of other columns.
        tolerance: replaces the metric's tolerance.
        ours: whether the experiment is ours and not in the paper.
        shown_on: the page that shows its records; empty: one of its own.
        deterministic: whether a seed changes nothing, so that one run is exact.
        stand_ins: profile -> what stands in there for the paper's data.
        weights: profile -> block, or row -> what stands in for the paper's pre-trained weights.
        not_run: profile -> printed row that does not run there -> why, beside "not run".
        answer: the difference that the page's answer names first; none where no pair says it.
        contrasts: further differences, of the same two systems or others, beside the answer's.
        main_claim: id of the claim whose verdict heads the answer where no difference does.
        differences: printed row -> the two rows that it is the difference of, the first less the
            second.
        seeds_of: what alone a seed changes, ``"the heads"``; empty where it changes all there is.
        items: profile -> column, or "system column" (may hold ``*``) -> items of its test set.
        conditions: profile -> what must be so for a verdict on its cells.
        shown: column, a field of it or a row -> what a page calls it, where its name is not for
            readers; ``column`` -> what columns are.
        also: what else a reader searches its page by, ``"WSD"``.
    """

    short: str = Field(max_length=26)
    title: str
    question: str
    reported: tuple[ReportedTable, ...]
    reference_blocks: dict[str, str] = Field(default_factory=dict)
    reference_names: dict[str, str] = Field(default_factory=dict)
    source_columns: tuple[str, ...] = ()
    average_columns: tuple[str, ...] = ()
    tolerance: float | None = Field(default=None, ge=0)
    ours: bool = False
    shown_on: str = ""
    deterministic: bool = False
    stand_ins: dict[ProfileName, StandIn] = Field(default_factory=dict)
    weights: dict[ProfileName, dict[str, str]] = Field(default_factory=dict)
    not_run: dict[ProfileName, dict[str, str]] = Field(default_factory=dict)
    answer: Difference | None = None
    contrasts: tuple[Difference, ...] = ()
    main_claim: str = ""
    differences: dict[str, tuple[str, str]] = Field(default_factory=dict)
    seeds_of: str = ""
    items: dict[ProfileName, dict[str, int]] = Field(default_factory=dict)
    conditions: dict[ProfileName, tuple[Need, ...]] = Field(default_factory=dict)
    shown: dict[str, str] = Field(default_factory=dict)
    also: tuple[str, ...] = ()

    def counted_seeds(self, count: int | str) -> str:
        """Return so many seeds as words, with what they change where that is not everything."""
        return f"{count} seeds of {self.seeds_of}" if self.seeds_of else f"{count} seeds"

    @property
    def label(self) -> str:
        """How a sentence names it, ``"Table 2"``: what stands before the colon of its menu line."""
        return self.short.partition(":")[0]

    @property
    def heading(self) -> str:
        """``"Table 2: Part-of-speech tagging"``; of an experiment of ours the title alone."""
        return self.title if self.ours else f"{self.label}: {self.title}"

    def is_target(self, column: str) -> bool:
        """Tell whether a column is neither of the training language nor a mean of others."""
        return column not in {*self.source_columns, *self.average_columns}

    def other_data(self, profile: str, column: str) -> str:
        """Return what stands in for the data of ``column``; empty where nothing does."""
        stand_in = self.stand_ins.get(profile)
        return stand_in.named(column) if stand_in and stand_in.covers(column) else ""

    def other_weights(self, profile: str, system: str) -> str:
        """Return what stands in for the pre-trained weights of ``system``; empty where nothing."""
        of = self.weights.get(profile, {})
        return of.get(system) or of.get(system.partition(":")[0], "")

    def differs(self, profile: str, system: str, column: str) -> bool:
        """Tell whether a cell of ours is of other data or other weights than the paper's."""
        return bool(self.proxies(profile, [system], [column]))

    def proxies(self, profile: str, systems: Iterable[str], columns: Iterable[str]) -> str:
        """Return what stands in for the paper's data and weights, each once, after a semicolon."""
        data = [self.other_data(profile, column) for column in columns]
        weights = [self.other_weights(profile, system) for system in systems]
        return "".join(f"; {each}" for each in dict.fromkeys([*data, *weights]) if each)

    def quoted_because(self, system: str) -> str:
        """Return why ``system`` has printed numbers alone and is not run; empty where it is."""
        reasons = {name: why for table in self.reported for name, why in table.quoted.items()}
        block = system.split(":", 1)[0]
        return reasons.get(system) or reasons.get(f"{block}:*", "")

    @property
    def readings(self) -> dict[str, str]:
        """What names of rows of ours have -> what the paper's have there, a regular expression."""
        blocks = {f"{ours}:": f"^{theirs}:" for ours, theirs in self.reference_blocks.items()}
        return blocks | self.reference_names

    def column_at(self, profile: str, printed: str) -> str:
        """Return the column of ours that stands for a printed one at a profile."""
        stand_in = self.stand_ins.get(profile)
        return stand_in.column(printed) if stand_in else printed

    def column_name(self, column: str) -> str:
        """Return what pages call a column: its own name in ``shown``, or those of its fields."""
        names = LANGUAGES | {"avg": "average"} | self.shown
        return names.get(column) or ", ".join(names.get(p, p) for p in column.split("/"))

    def row_name(self, system: str) -> str:
        """Return what pages call a row, without its block: its name in ``shown``, or its own."""
        name = system.partition(":")[2]
        return self.shown.get(name, name)

    def reference(self, system: str) -> str:
        """Return the identifier whose reported row ``system`` is compared with."""
        block, _, name = system.partition(":")
        return f"{self.reference_blocks.get(block, block)}:{name}"


class Catalog(Checked):
    """All papers, metrics and experiments, in the order of the book."""

    papers: dict[str, Paper]
    metrics: dict[str, Metric]
    experiments: dict[str, CatalogEntry]

    def experiment(self, key: str) -> CatalogEntry:
        """Return the experiment ``key``.

        Raises:
            SettingsError: for an unknown key; the message names the paper's known ones.
        """
        if key not in self.experiments:
            paper = key.split("/", 1)[0]
            known = [k for k in self.experiments if k.startswith(f"{paper}/")] or self.experiments
            raise SettingsError(f"{key} is not in data/catalog.yaml, which has {', '.join(known)}")
        return self.experiments[key]

    def paper(self, key: str) -> Paper:
        """Return the paper ``key``; a SettingsError for an unknown one."""
        if key not in self.papers:
            raise SettingsError(f"unknown paper {key!r}; known: {', '.join(self.papers)}")
        return self.papers[key]

    def of_paper(self, paper: str) -> dict[str, CatalogEntry]:
        """Return the experiments of ``paper`` by key."""
        self.paper(paper)
        return {k: e for k, e in self.experiments.items() if k.startswith(f"{paper}/")}

    def tolerance(self, experiment: str, metric: str) -> float:
        """Return the tolerance of a comparison in the metric's unit; 0 for an unlisted metric."""
        own = self.experiment(experiment).tolerance
        return self.metric(metric).tolerance if own is None else own

    def metric(self, name: str) -> Metric:
        """Return a metric; one that is not listed has no direction and no tolerance."""
        return self.metrics.get(name, Metric(higher_is_better=None, tolerance=0))

    def limits(self, metric: str, unit: str) -> tuple[float, float]:
        """Return the least and the largest value that a metric can have in a unit."""
        least, most = LIMITS.get(unit.partition(" ")[0], (-math.inf, math.inf))
        return least, math.inf if self.metric(metric).rate else most


@cache
def read_catalog(path: Path) -> Catalog:
    """Read a catalog file; a DataError names the entry that is wrong."""
    return read_model(path, Catalog)


def load_catalog() -> Catalog:
    """Return the project's catalog, read once."""
    return read_catalog(data_dir() / "catalog.yaml")
