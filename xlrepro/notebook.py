"""What a notebook's code cells call: one page object with a method per section.

The cells of a notebook are one to five lines; what they do is here and in :mod:`xlrepro.evidence`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from xlrepro.errors import SettingsError, XlreproError
from xlrepro.evidence import claims as claims_evidence
from xlrepro.evidence import deviations as deviations_evidence
from xlrepro.evidence import figures
from xlrepro.evidence import provenance as provenance_evidence
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.compare import AVERAGE, compare
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.reproduced import ReproducedNumbers, gather
from xlrepro.evidence.tables import cells_table, comparison_table, pairs_table
from xlrepro.experiments import all_experiments, own_records
from xlrepro.experiments import experiment as find_experiment
from xlrepro.trials.engine import run_trials
from xlrepro.trials.experiment import Experiment
from xlrepro.trials.record import Record
from xlrepro.trials.store import RecordStore
from xlrepro.trials.trial import PROFILES

if TYPE_CHECKING:
    from xlrepro.evidence.figures import Figure

MEANING = {
    "smoke": "smoke: shows that the code runs, not evidence",
    "open": "open data: evidence for orderings",
    "paper": "paper scale: evidence for values",
}


@dataclass(frozen=True)
class Piece:
    """A table of a page, and the line that it stands under.

    Attributes:
        line: the line; may be empty.
        table: anything that a notebook shows.
        folded: whether the reader must open it by a click on its line.
    """

    line: str
    table: Any
    folded: bool = False

    @property
    def html(self) -> str:
        """The piece as HTML."""
        table = self.table._repr_html_()
        if self.folded:
            return f"<details><summary>{self.line}</summary>{table}</details>"
        return f"<p>{self.line}</p>\n{table}" if self.line else table


@dataclass(frozen=True)
class Shown:
    """Several pieces of a page, one below the other.

    In a notebook or the book it is HTML; as text it is the lines and the tables' summaries.
    """

    pieces: tuple[Piece, ...]

    def _repr_html_(self) -> str:
        return "\n".join(piece.html for piece in self.pieces)

    def __repr__(self) -> str:
        """Return the lines and the text of the tables."""
        return "\n".join(f"{p.line}\n{p.table!r}".strip() for p in self.pieces)


def _pairs(ran: Sequence[str], first: str, block: str | None) -> list[tuple[str, str]]:
    """Return the pairs of systems to compare, among those that ran."""
    blocks = dict.fromkeys(system.split(":", 1)[0] for system in ran)
    bases = [first] if ":" in first else [f"{own}:{first}" for own in blocks]
    return [
        (base, other)
        for base in bases
        for other in ran
        if base in ran
        and other != base
        and other.split(":", 1)[0] == (block or base.split(":", 1)[0])
    ]


class Page:
    """One experiment at one profile, with what its records say.

    Args:
        experiment: the experiment.
        profile: what ``run`` runs; records of other profiles are shown too.
        seeds: the seeds of ``run``; empty for the profile's own.
        systems: the systems of ``run``; empty for the default ones.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        scheduler: address of a Dask cluster.
        jobs: processes on this machine.
        store: the records; the project's unless told.
    """

    def __init__(
        self,
        experiment: Experiment,
        profile: str,
        seeds: Sequence[int],
        systems: Sequence[str],
        device: str = "auto",
        scheduler: str | None = None,
        jobs: int | None = None,
        store: RecordStore | None = None,
    ) -> None:
        if profile not in PROFILES:
            raise SettingsError(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
        self.experiment = experiment
        self.profile = profile
        self.store = store or RecordStore()
        self._systems = systems
        self._options: dict[str, Any] = {
            "device": device,
            "scheduler": scheduler,
            "jobs": jobs,
            "store": self.store,
        }
        self._trials = experiment.trials(profile, systems, seeds)

    def __repr__(self) -> str:
        """Return what will run, one fact a line."""
        shown = self.experiment
        systems = shown.select(self._systems, self.profile)
        lines = [
            f"{shown.key}: {shown.title}",
            f"question: {shown.question}",
            f"profile: {MEANING[self.profile]}",
            f"systems: {', '.join(systems)}",
            f"columns: {', '.join(shown.columns[:40])}{' …' if len(shown.columns) > 40 else ''}",
            f"trials: {len(self._trials)}",
            f"command: xlrepro run {shown.key} --profile {self.profile}",
        ]
        if shown.ours:
            lines.insert(1, "an experiment of ours, not in the paper")
        return "\n".join(lines)

    def run(self) -> None:
        """Run the trials that have no record yet.

        Raises:
            XlreproError: if a trial failed; names the first one's log.
        """
        summary = run_trials(self._trials, **self._options)
        if summary.failed:
            first = summary.failed[0]
            raise XlreproError(
                f"{len(summary.failed)} of {len(self._trials)} trials failed; first: "
                f"{first.label}: {first.reason}; see {first.log}"
            )
        print(f"{len(self._trials)} of {len(self._trials)} trials have a record")

    def records(self, profile: str) -> list[Record]:
        """Return the records of a profile that were made with today's settings and data."""
        return own_records(self.experiment.key, profile, self.store)

    def profiles(self) -> list[str]:
        """Return the profiles to show: the most telling first, this run's among them."""
        return [p for p in reversed(PROFILES) if p == self.profile or self.records(p)]

    def numbers(self) -> ReproducedNumbers:
        """Return the reproduced cells of all shown profiles."""
        return gather([r for p in self.profiles() for r in self.records(p)])

    def compare(self) -> Shown:
        """Set reported beside reproduced: an overview, then every cell, for each profile."""
        pieces: list[Piece] = []
        numbers, profiles = self.numbers(), self.profiles()
        for profile in profiles:
            frame = compare(self.experiment.key, [profile], numbers=numbers, own=self.experiment)
            folded = profile == "smoke" and profiles != ["smoke"]
            pieces.append(Piece(MEANING[profile], comparison_table(frame, profile), folded))
            if profile == profiles[0]:
                pieces.append(Piece(f"{profile}, cell by cell", cells_table(frame), folded=True))
        return Shown(tuple(pieces))

    def heat_map(self) -> "Figure":
        """Draw reproduced minus reported, systems by columns."""
        return self._figure(figures.heat_map)

    def gain_against_distance(self) -> "Figure":
        """Draw the gain over TRS against the word-order distance to English."""
        return self._figure(figures.gain_against_distance)

    def bars(self, columns: Sequence[str] | None = None) -> "Figure":
        """Draw each system's columns as bars with their intervals; ``None``: all columns."""
        return self._figure(partial(figures.bars, columns=columns))

    def averages(self) -> list[str]:
        """Return the columns of averages (``avg``, ``de/avg``) that have a reproduced number."""
        ran = self.numbers().columns(self.experiment.key, self.profiles()[0])
        return [column for column in ran if column.split("/")[-1] == AVERAGE]

    def reported_against_reproduced(self) -> "Figure":
        """Draw reproduced against reported, a point per cell."""
        return self._figure(figures.reported_against_reproduced)

    def draw(self, show: Callable[..., Any], **options: Any) -> Any:
        """Draw a figure, or say a sentence, that only this experiment has.

        Args:
            show: called with the reproduced numbers, the experiment's key, the most telling
                profile that was run, and ``options``.
            **options: what ``show`` takes beside those.
        """
        return show(self.numbers(), self.experiment.key, self.profiles()[0], **options)

    def draw_records(self, show: Callable[..., Any]) -> Any:
        """Draw a figure, or show a table, of what the records tell beside their cells.

        Args:
            show: called with the records of the most telling profile that was run, and with that
                profile.
        """
        best = self.profiles()[0]
        return show(self.records(best), best)

    def complete_columns(self) -> list[str]:
        """Return the columns in which every system that was run has a number, in their order."""
        numbers, best = self.numbers(), self.profiles()[0]
        cells = numbers.cells(self.experiment.key, best)
        filled = {(cell.system, cell.column) for cell in cells}
        systems = numbers.systems(self.experiment.key, best)
        return [c for c in self.experiment.columns if all((s, c) in filled for s in systems)]

    def _figure(self, draw: Callable[..., "Figure"]) -> "Figure":
        best = self.profiles()[0]
        frame = compare(self.experiment.key, [best], numbers=self.numbers(), own=self.experiment)
        return draw(frame, best)

    def paired_differences(
        self, first: str = "ORT", columns: Sequence[str] = ("avg",), block: str | None = None
    ) -> Shown:
        """Compare a system with others, seed by seed.

        Args:
            first: a name, ``"ORT"``, compared with every other system of its block in each block
                that has it; or one identifier, ``"without:MAN-MOE+CharCNN"``.
            columns: which columns.
            block: compare it with the systems of this block instead of its own.

        Raises:
            SettingsError: for an unknown identifier or block; if two systems share no seed.
        """
        named = [f"{block}:*"] * (block is not None) + [first] * (":" in first)
        self.experiment.select(named, self.profile)
        numbers, best = self.numbers(), self.profiles()[0]
        pieces: list[Piece] = []
        for one, other in _pairs(numbers.systems(self.experiment.key, best), first, block):
            pairs = paired_differences(
                self.experiment.key, best, one, other, columns, numbers=numbers
            )
            line = MEANING[best] if not pieces else ""
            pieces.append(Piece(line, pairs_table(pairs, one, other)))
        return Shown(tuple(pieces))

    def claims(self) -> Shown:
        """Judge the paper's claims on this experiment, on reported and on reproduced numbers."""
        papers = load_catalog().of_paper(self.experiment.key.split("/", 1)[0])
        built = [key for key in papers if key in all_experiments()]
        records = [
            record
            for profile in self.profiles()
            for key in built
            if profile in find_experiment(key).profiles
            for record in own_records(key, profile, self.store)
        ]
        table = claims_evidence.claims_table(
            self.experiment.key, self.profiles(), numbers=gather(records)
        )
        return Shown((Piece("", table),))

    def deviations(self) -> Shown:
        """List where we knowingly differ from the paper."""
        return Shown((Piece("", deviations_evidence.deviations_table(self.experiment.key)),))

    def provenance(self) -> Shown:
        """List the records behind the page, and what they cost."""
        return Shown(
            tuple(
                Piece(MEANING[p], provenance_evidence.provenance_table(self.records(p)))
                for p in self.profiles()
            )
        )


def open_page(
    experiment: str,
    profile: str = "smoke",
    seeds: Sequence[int] = (),
    systems: Sequence[str] = (),
    *,
    device: str = "auto",
    scheduler: str | None = None,
    jobs: int | None = None,
) -> Page:
    """Return the page of ``experiment``, checked: a wrong parameter fails here, before any run.

    Raises:
        SettingsError: for an unknown experiment, profile, system or seed.
        DataError: if the profile needs files that are not there.
    """
    load_catalog().experiment(experiment)
    return Page(find_experiment(experiment), profile, seeds, systems, device, scheduler, jobs)
