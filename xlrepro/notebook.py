"""What a notebook's code cells call: one page object with a method per section.

The cells of a notebook are one to five lines; what they do is here and in :mod:`xlrepro.evidence`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from xlrepro.errors import SettingsError, XlreproError
from xlrepro.evidence.answers import MEANING, answer
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims.judging import Condition, Judge
from xlrepro.evidence.claims.table import claims_of, claims_table
from xlrepro.evidence.compare import compare
from xlrepro.evidence.deviations import DeviationList, deviations_list, weighing_most
from xlrepro.evidence.figures import drawing, plots
from xlrepro.evidence.figures.plots import reported_beside_reproduced
from xlrepro.evidence.figures.row_plot import RowPlot
from xlrepro.evidence.paired import Pair, shared_columns
from xlrepro.evidence.provenance import provenance_table
from xlrepro.evidence.reproduced import gather
from xlrepro.evidence.tables.cells import pairs_table
from xlrepro.evidence.tables.overview import CellsFile, Legend, comparison_tables, legend
from xlrepro.evidence.view import AVERAGE, View
from xlrepro.experiments import check_deviations, own_numbers, own_records
from xlrepro.experiments import experiment as find_experiment
from xlrepro.trials.engine.running import check_call, run_trials
from xlrepro.trials.experiment import Experiment
from xlrepro.trials.record import Record
from xlrepro.trials.store import RecordStore
from xlrepro.trials.trial import PROFILES

if TYPE_CHECKING:
    import pandas as pd

    from xlrepro.evidence.figures.drawing import Figure


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

    Attributes:
        pieces: from top to bottom.
        name: of a class of the book's style, for pieces that stand side by side.
    """

    pieces: tuple[Piece, ...]
    name: str = ""

    def _repr_html_(self) -> str:
        if not self.name:
            return "\n".join(piece.html for piece in self.pieces)
        parts = "".join(f"<div>{piece.html}</div>" for piece in self.pieces)
        return f'<div class="{self.name}">{parts}</div>'

    def __repr__(self) -> str:
        """Return the lines and the text of the tables."""
        return "\n".join(f"{p.line}\n{p.table!r}".strip() for p in self.pieces)


def _pairs(ran: Sequence[str], first: str, block: str | None) -> list[tuple[str, str]]:
    """Return the pairs of systems to compare, among those that ran."""
    blocks = dict.fromkeys(system.split(":", 1)[0] for system in ran)
    bases = [first] if ":" in first else [f"{base}:{first}" for base in blocks]
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
        **options: of `xlrepro.trials.engine.running.run_trials`: where ``run`` runs them.
    """

    def __init__(
        self,
        experiment: Experiment,
        profile: str,
        seeds: Sequence[int],
        systems: Sequence[str],
        **options: Any,
    ) -> None:
        self.experiment = experiment
        self.profile = profile
        self.store = RecordStore()
        self._systems = systems
        self._options = options
        self._trials = experiment.trials(profile, systems, seeds)

    def __repr__(self) -> str:
        """Return what will run, one fact a line."""
        shown, entry = self.experiment, load_catalog().experiment(self.experiment.key)
        systems = shown.select(self._systems, self.profile)
        lines = [
            f"{shown.key}: {entry.heading}",
            f"question: {entry.question}",
            f"profile: {MEANING[self.profile]}",
            f"systems: {', '.join(systems)}",
            f"columns: {', '.join(shown.columns[:40])}{' …' if len(shown.columns) > 40 else ''}",
            f"trials: {len(self._trials)}",
            f"command: xlrepro run {shown.key} --profile {self.profile}",
        ]
        if entry.ours:
            lines.insert(1, "an experiment of ours, not in the paper")
        return "\n".join(lines)

    def run(self) -> None:
        """Run the trials that have no record yet.

        Raises:
            XlreproError: if a trial failed; names the first one's log.
        """
        summary = run_trials(self._trials, store=self.store, **self._options)
        self.forget()
        if summary.failed:
            first = summary.failed[0]
            raise XlreproError(
                f"{len(summary.failed)} of {len(self._trials)} trials failed; first: "
                f"{first.label}: {first.reason}; see {first.log}"
            )
        count = len(self._trials)
        print(f"{count} of {count} {'trial has' if count == 1 else 'trials have'} a record")

    def forget(self) -> None:
        """Read the records again when they are next needed."""
        for name in ("profiles", "view", "_frame", "_records", "_judge"):
            self.__dict__.pop(name, None)

    @cached_property
    def _records(self) -> dict[str, list[Record]]:
        """The experiment's own records by profile."""
        return {p: own_records(self.experiment.key, p, self.store) for p in PROFILES}

    def records(self, profile: str) -> list[Record]:
        """Return the records of a profile that were made with today's settings and data."""
        return self._records[profile]

    @cached_property
    def profiles(self) -> list[str]:
        """The profiles to show: the most telling first, this run's among them."""
        return [p for p in reversed(PROFILES) if p == self.profile or self.records(p)]

    @cached_property
    def view(self) -> View:
        """The reproduced cells at the most telling profile."""
        records = [r for p in self.profiles for r in self.records(p)]
        return View(self.experiment.key, self.profiles[0], gather(records))

    @cached_property
    def _judge(self) -> Judge:
        """Knows the whole paper's cells at the profiles to show: a claim may span its tables."""
        keys = list(load_catalog().of_paper(self.view.experiment.split("/")[0]))
        return Judge(own_numbers(keys, self.profiles, self.store))

    @cached_property
    def _frame(self) -> "pd.DataFrame":
        """The comparison at the most telling profile."""
        return compare(self.view, experiment=self.experiment)

    def answer(self, figure: Any = None) -> Shown:
        """Say in two or three sentences what came back, and show the one figure that shows it.

        Where nothing was run on real data, it says so, and shows what the paper prints.

        Args:
            figure: that figure; ``None``: reported beside reproduced, system by system, in the
                column of the page's main difference.
        """
        judge = self._judge
        condition = Condition(self.view.profile)
        key = self.view.experiment
        verdicts = [(claim, judge.judge(claim, condition)) for claim in claims_of(key, judge)]
        judged = [(claim, verdict) for claim, verdict in verdicts if verdict is not None]
        answered = answer(self.view, judged, self.records(self.view.profile))
        entry, smoke = load_catalog().experiment(key), self.view.profile == "smoke"
        main = entry.answer_at(self.view.profile)
        column = (self.averages() or self.view.columns or [""])[0]
        if main:
            column = main.column if smoke else entry.column_at(self.view.profile, main.column)
        printed = smoke and self._frame.loc[self._frame["column"] == column, "printed"].any()
        if figure is None or printed:
            blocks = [s.partition(":")[0] for s in (main.first, main.second)] if main else []
            figure = reported_beside_reproduced(self._frame, column, bool(printed), blocks)
        return Shown((Piece("", answered), Piece("", figure)), name="xl-answer")

    def compare(self) -> Shown:
        """Set reported beside reproduced: an overview for each profile, and every cell as a file.

        Smoke numbers say that the code runs: they stand here only where there are no others.

        Raises:
            DataError: if a deviation names a row or a column that the experiment lacks.
        """
        check_deviations(self.view.experiment)
        pieces: list[Piece] = []
        for profile in [p for p in self.profiles if p != "smoke"] or self.profiles:
            view = View(self.view.experiment, profile, self.view.numbers)
            frame = compare(view, experiment=self.experiment)
            touching = deviations_list(self.view.experiment, profile=profile).deviations
            above = Legend(legend(frame), touching, self.view.experiment)
            pieces.append(Piece(MEANING[profile], above))
            tables = comparison_tables(frame, deviations=touching)
            pieces += [Piece("", table) for table in tables]
            pieces.append(Piece("", CellsFile(frame)))
        return Shown(tuple(pieces))

    def differences(self) -> Shown:
        """Draw reproduced minus reported: a dot plot per block of systems."""
        return Shown(tuple(Piece("", plot) for plot in plots.differences(self._frame)), "xl-plots")

    def gain_against_distance(self) -> "Figure":
        """Draw the gain over TRS against the word-order distance to English."""
        return drawing.gain_against_distance(self._frame)

    def scores(self, columns: Sequence[str] | None = None) -> RowPlot:
        """Draw means with their intervals, a mark per system; ``None``: all columns."""
        return plots.scores(self._frame, columns=columns)

    def reported_against_reproduced(self) -> "Figure":
        """Draw reproduced against reported, a point per cell."""
        return drawing.reported_against_reproduced(self._frame)

    def averages(self) -> list[str]:
        """Return the columns of averages (``avg``, ``de/avg``) that have a reproduced number."""
        return [column for column in self.view.columns if column.split("/")[-1] == AVERAGE]

    def draw(self, show: Callable[..., Any], **options: Any) -> Any:
        """Draw a figure, or say a sentence, that only this experiment has.

        Args:
            show: called with the page's view, at the most telling profile, and with ``options``.
            **options: what ``show`` takes beside it.
        """
        return show(self.view, **options)

    def draw_records(self, show: Callable[..., Any]) -> Any:
        """Draw a figure, or show a table, of what the records tell beside their cells.

        Args:
            show: called with the records of the most telling profile that was run, and with that
                profile.
        """
        return show(self.records(self.view.profile), self.view.profile)

    def complete_columns(self) -> list[str]:
        """Return the columns in which every system that was run has a number, in their order."""
        view = self.view
        return [c for c in self.experiment.columns if all(view.get(s, c) for s in view.systems)]

    def paired_differences(
        self, first: str = "ORT", columns: Sequence[str] = ("avg",), block: str | None = None
    ) -> Shown:
        """Compare a system with others, seed by seed.

        Args:
            first: a name, ``"ORT"``, compared with every other system of its block in each block
                that has it; or one identifier, ``"without:MAN-MOE+CharCNN"``.
            columns: which columns; a pair that has none of them shows what it shares.
            block: compare it with the systems of this block instead of its own.

        Raises:
            SettingsError: for an unknown identifier or block.
        """
        named = [f"{block}:*"] * (block is not None) + [first] * (":" in first)
        self.experiment.select(named, self.profile)
        pairs: list[Pair] = []
        for one, other in _pairs(self.view.systems, first, block):
            shared = shared_columns(self.view, one, other)
            for column in [c for c in shared if c in columns] or shared:
                if pair := self.view.difference(one, other, column):
                    pairs.append((one, other, pair))
        if not pairs:
            return Shown(())
        table = Piece("The same as a table, with each seed", pairs_table(pairs), folded=True)
        return Shown((Piece(MEANING[self.view.profile], plots.forest_plot(pairs)), table))

    def claims(self) -> Shown:
        """Judge the paper's claims on this experiment, on reported and on reproduced numbers."""
        profiles = [p for p in self.profiles if p != "smoke"] or self.profiles
        if not claims_of(self.view.experiment, self._judge):
            return Shown((Piece("", Legend("No claim of the paper rests on this page.")),))
        weighing = Legend("", tuple(weighing_most(self.view.experiment, profiles[0])))
        table = claims_table(self.view.experiment, profiles, self._judge)
        return Shown((Piece("", weighing), Piece("", table)))

    def deviations(self) -> DeviationList:
        """List where we knowingly differ from the paper."""
        return deviations_list(self.view.experiment)

    def provenance(self) -> Shown:
        """List the records behind the page, and what they cost."""
        return Shown(
            tuple(Piece(MEANING[p], provenance_table(self.records(p))) for p in self.profiles)
        )


def open_page(
    experiment: str,
    profile: str = "smoke",
    seeds: Sequence[int] = (),
    systems: Sequence[str] = (),
    device: str = "auto",
    scheduler: str | None = None,
    jobs: int | None = None,
) -> Page:
    """Return the page of ``experiment``, checked: a wrong parameter fails here, before any run.

    Raises:
        SettingsError: for an unknown experiment, profile, system, seed or device, a number of jobs
            below 1, or something that is no list.
        DeviceError: if CUDA is asked for on this machine and there is none.
        DataError: if the profile needs files that are not there.
    """
    load_catalog().experiment(experiment)
    for name, value in (("seeds", seeds), ("systems", systems)):
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise SettingsError(f"{name} must be a list, not {value!r}")
    check_call(device, jobs, scheduler, 1)
    where = {"device": device, "scheduler": scheduler, "jobs": jobs}
    return Page(find_experiment(experiment), profile, seeds, systems, **where)
