"""What a notebook's code cells call: one page object with a method per section."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from xlrepro.engine import check_call, run_trials
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.evidence.answers import MEANING, Answer, answer, gap_of
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import Condition, Judge, claims_of
from xlrepro.evidence.compare import compare
from xlrepro.evidence.deviations import deviations_by_weight, major_deviations
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import AVERAGE, Pair, View, gather, shared_columns
from xlrepro.experiments import check_deviations, own_numbers, own_records
from xlrepro.experiments import experiment as find_experiment
from xlrepro.pages import plots
from xlrepro.pages.plots import Figure
from xlrepro.pages.tables import (
    Cell,
    CellsFile,
    DeviationList,
    Table,
    claims_table,
    comparison_tables,
    deviation_link,
    deviations_list,
    framed,
    legend,
    number,
    pairs_table,
    provenance_table,
    render,
    run_table,
)
from xlrepro.store import RecordStore
from xlrepro.trials import PROFILES, Record

if TYPE_CHECKING:
    import pandas as pd

Named = Mapping[str, str]


@dataclass(frozen=True)
class Text:
    """Sentences of a page, and the deviations that they name; ``repr`` has no measured number."""

    sentences: tuple[str, ...]
    why: tuple[Any, ...] = ()
    answer: Answer | None = None

    def __repr__(self) -> str:
        return repr(self.answer) if self.answer else ""

    def _repr_html_(self) -> str:
        headline, cost = (self.answer.headline, self.answer.cost) if self.answer else ("", "")
        return render("paragraphs", headline, self.sentences, self.why, cost)


@dataclass(frozen=True)
class Shown:
    """Several parts of a page, one below the other, each with the line that it stands under.

    Attributes:
        parts: (line, what a notebook shows, whether it is folded), from top to bottom.
        name: of a class of the book's style, for parts that stand side by side.
    """

    parts: tuple[tuple[str, Any, bool], ...]
    name: str = ""

    def _repr_html_(self) -> str:
        shown = [(line, Markup(part._repr_html_()), folded) for line, part, folded in self.parts]
        return render("pieces", shown, self.name)

    def __repr__(self) -> str:
        return "\n".join(f"{line}\n{part!r}".strip() for line, part, _ in self.parts)


class Page:
    """One experiment at one profile, with what its records say.

    Args:
        experiment: its key.
        profile: what ``run`` runs; records of other profiles are shown too.
        seeds: the seeds of ``run``; empty for the profile's own.
        systems: the systems of ``run``; empty for the default ones.
        overrides: settings of ``run`` in place of the experiment's, ``{"encoder.kernel_size": 5}``.
        **options: of `xlrepro.engine.run_trials`: where ``run`` runs them.
    """

    def __init__(
        self,
        experiment: str,
        profile: str,
        seeds: Sequence[int],
        systems: Sequence[str],
        overrides: Mapping[str, Any],
        **options: Any,
    ) -> None:
        self.key, self.profile, self.store = experiment, profile, RecordStore()
        self.entry = load_catalog().experiment(experiment)
        self.experiment = find_experiment(experiment)
        self._systems, self._overrides, self._options = systems, overrides, options
        self._trials = self.experiment.trials(profile, systems, seeds, overrides or None)

    def __repr__(self) -> str:
        """Return what will run, one fact a line."""
        shown = self.experiment
        lines = [
            f"{self.key}: {self.entry.heading}",
            f"question: {self.entry.question}",
            f"profile: {MEANING[self.profile]}",
            f"systems: {', '.join(shown.select(self._systems, self.profile))}",
            f"columns: {', '.join(shown.columns[:40])}{' …' if len(shown.columns) > 40 else ''}",
            f"trials: {len(self._trials)}",
            f"command: xlrepro run {self.key} --profile {self.profile}"
            + "".join(f" --set {name}={json.dumps(v)}" for name, v in self._overrides.items()),
        ]
        return "\n".join(lines)

    def run(self) -> None:
        """Run the trials that have no record yet.

        Raises:
            XlreproError: if a trial failed; names the first one's log.
        """
        summary = run_trials(self._trials, store=self.store, **self._options)
        for name in ("profiles", "view", "mine", "_frame", "_records", "_judge"):
            self.__dict__.pop(name, None)
        count = len(self._trials)
        if summary.failed:
            first = summary.failed[0]
            raise XlreproError(
                f"{len(summary.failed)} of {count} trials failed; first: {first.trial.label}: "
                f"{first.reason}; see {first.log}"
            )
        print(f"{count} of {count} {'trial has' if count == 1 else 'trials have'} a record")

    # -- What there is

    @cached_property
    def _records(self) -> dict[str, list[Record]]:
        return {p: own_records(self.key, p, self.store) for p in PROFILES}

    def records(self, profile: str | None = None) -> list[Record]:
        """Return the records of a profile; of the most telling one unless told."""
        return self._records[profile or self.view.profile]

    @cached_property
    def profiles(self) -> list[str]:
        """The profiles to show: the most telling first, this run's among them."""
        return [p for p in reversed(PROFILES) if p == self.profile or self._records[p]]

    @cached_property
    def view(self) -> View:
        """The reproduced cells at the most telling profile."""
        records = [r for p in self.profiles for r in self._records[p]]
        return View(self.key, self.profiles[0], gather(records))

    @cached_property
    def mine(self) -> View:
        """The cells of this run: what these parameters ask for, whatever the book shows."""
        own = [r for t in self._trials if (r := self.store.get(t)) is not None]
        return View(self.key, self.profile, gather([self.experiment.view(r) for r in own]))

    @cached_property
    def _judge(self) -> Judge:
        """Knows the whole paper's cells at the profiles to show: a claim may span its tables."""
        keys = list(load_catalog().of_paper(self.key.split("/")[0]))
        return Judge(own_numbers(keys, self.profiles, self.store))

    @cached_property
    def _frame(self) -> "pd.DataFrame":
        return compare(self.view, experiment=self.experiment)

    def averages(self) -> list[str]:
        """Return the columns of averages (``avg``, ``de/avg``) that have a reproduced number."""
        return [column for column in self.view.columns if column.split("/")[-1] == AVERAGE]

    def complete_columns(self) -> list[str]:
        """Return the columns in which every system that was run has a number, in their order."""
        view = self.view
        return [c for c in self.experiment.columns if all(view.get(s, c) for s in view.systems)]

    # -- The sections

    def answer(self, figure: Any = None) -> Shown:
        """Say in a few sentences what was found, beside a figure and this run.

        Where nothing was run on real data, it says so, and shows what the paper reports.

        Args:
            figure: ``None``: reported beside reproduced, system by system, in the column of the
                page's main difference.
        """
        condition = Condition(self.view.profile)
        verdicts = [(c, self._judge.judge(c, condition)) for c in claims_of(self.key, self._judge)]
        judged = [(claim, verdict) for claim, verdict in verdicts if verdict is not None]
        found = answer(self.view, judged, self.records())
        main, smoke = self.entry.answer_at(self.view.profile), self.view.profile == "smoke"
        blocks = [s.partition(":")[0] for s in (main.first, main.second)] if main else []
        columns = (self.averages() or self.view.columns)[:1]
        if main:
            at = self.entry.column_at(self.view.profile, main.column)
            named = [c for c in self._frame["column"].unique() if fnmatchcase(c, main.column)]
            columns = (named if smoke else [*gap_of(self.view, main).columns]) or [at]
        shown = self._frame[self._frame["column"].isin(columns)]
        printed = smoke and bool(shown["printed"].any())
        if printed or (figure is None and len(columns) == 1):
            column = columns[0] if columns else ""
            figure = plots.reported_beside_reproduced(self._frame, column, printed, blocks)
        elif figure is None:
            figure = plots.scores(shown[shown["block"].isin(blocks)])
        links = tuple(deviation_link(d) for d in found.why)
        parts: list[Any] = [("", Text(found.sentences, links, found), False), ("", figure, False)]
        parts += self._this_run(columns)
        return Shown(tuple(parts), name="xl-answer")

    def _this_run(self, columns: Sequence[str] | None = None) -> list[tuple[str, Any, bool]]:
        """Return this run beside the published numbers, in some columns or all; [] before a run."""
        published = {r.key for r in self.records()}
        own = {record.key for of in self.mine.numbers.records.values() for record in of}
        if self.profile == self.view.profile and own <= published:
            return []
        frame = compare(self.mine)
        if columns is not None:
            frame = frame[frame["column"].isin(columns)]
        if not (frame["n"] > 0).any():
            return []
        title = f"This run ({MEANING[self.profile]})"
        if self._overrides:
            title += f", {', '.join(f'{k} = {v}' for k, v in self._overrides.items())}"
        folded = self.profile == "smoke" and not (self._overrides or self._systems)
        return [(title if folded else "", run_table(frame, self._frame, title), folded)]

    def compare(self) -> Shown:
        """Set reported beside reproduced: an overview for each profile, every cell as a file, and
        this run.

        Smoke numbers say that the code runs: but for this run they stand here only where there are
        no others.

        Raises:
            DataError: if a deviation names a row or a column that the experiment lacks.
        """
        check_deviations(self.key)
        parts: list[Any] = []
        for profile in [p for p in self.profiles if p != "smoke"] or self.profiles:
            frame = compare(View(self.key, profile, self.view.numbers), experiment=self.experiment)
            known = deviations_by_weight(self.key, profile)
            most = tuple(deviation_link(d) for d in known if d.weight == "most")
            parts.append((MEANING[profile], Text((" ".join(legend(frame)),), most), False))
            weights = self.entry.weights.get(profile, {})
            labels = {s: f"{w} (for the paper's)" for s in dict.fromkeys(frame["system"])
                      if (w := weights.get(s.partition(":")[0]))}  # fmt: skip
            parts += [("", table, False) for table in comparison_tables(frame, known, labels)]
            parts.append(("", CellsFile(frame), False))
        return Shown((*parts, *self._this_run()))

    def differences(self) -> Shown:
        """Draw reproduced minus reported: a dot plot per block of systems."""
        return Shown(tuple(("", p, False) for p in plots.differences(self._frame)), "xl-plots")

    def scores(self, columns: Sequence[str] | None = None) -> Figure:
        """Draw means with their intervals, a mark per system; ``None``: all columns."""
        return plots.scores(self._frame, columns)

    def over_setting(self, along: str, **options: Any) -> Figure:
        """Draw scores, or a gain, over the values that columns name; see `plots.over_setting`."""
        return plots.over_setting(self.view, along=along, **options)

    def gain_against_distance(self) -> Figure:
        """Draw the gain of ORT over TRS against the word-order distance to English."""
        return plots.gain_against_distance(self._frame)

    def reported_against_reproduced(self) -> Figure:
        """Draw reproduced against reported, a point per cell."""
        return plots.reported_against_reproduced(self._frame)

    def draw(self, show: Callable[..., Any], **options: Any) -> Any:
        """Draw a figure that only this experiment has, from the page's view."""
        return show(self.view, **options)

    def draw_records(self, show: Callable[..., Any], **options: Any) -> Any:
        """Draw a figure that only this experiment has, from its records and their profile."""
        return show(self.records(), self.view.profile, **options)

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
        ran = self.view.systems
        bases = [s for s in ran if first in (s, s.partition(":")[2])]
        pairs: list[Pair] = []
        for one in bases:
            beside = block or one.partition(":")[0]
            for other in (s for s in ran if s != one and s.partition(":")[0] == beside):
                shared = shared_columns(self.view, one, other)
                for column in [c for c in shared if c in columns] or shared:
                    if pair := self.view.difference(one, other, column):
                        pairs.append((one, other, pair))
        if not pairs:
            return Shown(())
        line = "The same as a table, with each seed"
        drawn = plots.forest_plot(pairs)
        return Shown(((MEANING[self.view.profile], drawn, False), (line, pairs_table(pairs), True)))

    def details(self, paths: Named, caption: str = "", **options: Any) -> Table:
        """Return what records tell beside their cells as a table; see `details_table`."""
        return details_table(self.records(), self.view.profile, paths, caption, **options)

    def printed_settings(
        self, rows: Mapping[str, Any], names: Mapping[str, Any], caption: str = ""
    ) -> Table:
        """Set the settings that a paper prints beside those of our trials, profile by profile.

        Args:
            rows: printed row -> experiment and system whose settings stand for it.
            names: printed setting -> dotted path of ours, or our constant.
            caption: what the table shows.
        """
        cells = [c for c in load_reported().cells(self.key, context=True) if c.name in rows]
        ours = {(row, p): s for row, (key, system) in rows.items()
                for p, s in _settings_of(key, system).items()}  # fmt: skip
        profiles = [p for p in PROFILES if any(at == p for _, at in ours)]
        body = []
        for cell in cells:
            line: list[Any] = [cell.name, cell.column, Cell(cell.printed, title=cell.source)]
            for profile in profiles:
                value = _at(ours.get((cell.name, profile), {}), names.get(cell.column))
                if value is None:
                    line.append("–")
                    continue
                same = str(value) == cell.printed or value == cell.value
                wanted = profile == "paper" and not same
                line.append(Cell(f"{value}", "not as reported" * wanted))
            body.append(line)
        head = ("model or task", "setting", "the paper", *profiles)
        return Table(caption or "Settings as reported, and ours.", framed(body, *head))

    def claims(self) -> Shown:
        """Judge the paper's claims on this experiment, on reported and on reproduced numbers."""
        profiles = [p for p in self.profiles if p != "smoke"] or self.profiles
        if not claims_of(self.key, self._judge):
            return Shown((("", Text(("No claim of the paper rests on this page.",)), False),))
        major = tuple(deviation_link(d) for d in major_deviations(self.key, profiles[0]))
        table = claims_table(self.key, profiles, self._judge)
        return Shown((("", Text((), major), False), ("", table, False)))

    def deviations(self) -> DeviationList:
        """List where we knowingly differ from the paper."""
        return deviations_list(self.key)

    def provenance(self) -> Shown:
        """List the records behind the page, and what they cost."""
        return Shown(
            tuple((MEANING[p], provenance_table(self.records(p)), False) for p in self.profiles)
        )


def details_table(
    records: Sequence[Record],
    profile: str,
    paths: Named,
    caption: str = "",
    *,
    first: str = "",
    where: str = "*",
) -> Table:
    """Return details of records as a table: a row per system and part, means over seeds.

    Args:
        records: of one profile.
        profile: theirs.
        paths: heading -> dotted path in the details; ``*`` is the part that names the row:
            ``{"best epoch": "experiments.*.best_epoch"}``. A heading that ends in ``%`` shows
            ``[right, all]`` as a share.
        caption: what the table shows.
        first: path whose value names the row too, ``"settings.pair"``.
        where: systems; names may hold ``*``.
    """
    import pandas as pd

    found: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for record in (r for r in records if any(fnmatchcase(s, where) for s in r.systems)):
        # A list stays whole: `json_normalize` opens mappings alone.
        flat = pd.json_normalize(record.details, sep=".").iloc[0].to_dict()
        system = ", ".join(record.systems)
        for heading, path in paths.items():
            for name, value in flat.items():
                if (part := _part(name, path)) is not None and not _missing(value):
                    named = ", ".join(filter(None, (str(flat.get(first, "")), part)))
                    found.setdefault((system, named), {}).setdefault(heading, []).append(value)
    rows = [
        [system, part, *(_joined(heading, of.get(heading, [])) for heading in paths)]
        for (system, part), of in found.items()
    ]
    head = ("system", "part", *paths)
    text = f"{caption} ({profile})" if caption else f"Details of the records ({profile})"
    frame = framed(rows, *head)
    if not any(part for _, part in found):
        frame = frame.drop(columns="part")
    return Table(text, frame, f"{profile}: {len(rows)} rows of details")


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _part(name: str, path: str) -> str | None:
    """Return what stands for each ``*``; ``None`` where a name is not at the path."""
    pattern = re.escape(path).replace(r"\*", "(.+?)")
    found = re.fullmatch(pattern, name)
    return ", ".join(found.groups()) if found else None


def _joined(heading: str, values: Sequence[Any]) -> Any:
    if not values:
        return Cell("")
    if heading.endswith("%") and isinstance(values[0], list):
        values = [100 * right / count for right, count in values if count]
    if all(isinstance(v, bool) for v in values):
        return Cell(f"{sum(values)} of {len(values)}", sort=sum(values))
    if all(isinstance(v, int | float) for v in values):
        mean = fmean(values)
        whole = all(isinstance(v, int) for v in values) and mean == int(mean)
        decimals = 0 if whole or abs(mean) >= 1000 else 3 if abs(mean) < 1 else 2
        return Cell(number(mean, decimals), sort=mean)
    if isinstance(values[0], list) and all(isinstance(v, int | float) for v in values[0]):
        ends = [[v[0], v[-1]] for v in values if v]
        low, high = (fmean(end) for end in zip(*ends, strict=True))
        return Cell(f"{number(low, 3)} to {number(high, 3)}", sort=low)
    return str(values[0])


def _settings_of(key: str, system: str) -> dict[str, Mapping[str, Any]]:
    """Return the whole settings of a system's first trial, defaults filled in, by profile."""
    from xlrepro.experiments import task

    experiment, found = find_experiment(key), dict[str, Mapping[str, Any]]()
    for profile in experiment.profiles:
        try:
            trial = experiment.trials(profile, [system])[0]
        except (SettingsError, IndexError):
            continue
        found[profile] = task(trial.task).model(**trial.settings).model_dump()
    return found


def _at(settings: Any, path: Any) -> Any:
    if not isinstance(path, str):
        return path
    for name in path.split("."):
        settings = settings.get(name) if isinstance(settings, Mapping) else None
    return settings


def open_page(
    experiment: str,
    profile: str = "smoke",
    seeds: Sequence[int] = (),
    systems: Sequence[str] = (),
    overrides: Mapping[str, Any] | None = None,
    device: str = "auto",
    scheduler: str | None = None,
    jobs: int | None = None,
) -> Page:
    """Return the page of ``experiment``, checked: a wrong parameter fails here, before any run.

    Raises:
        SettingsError: for an unknown experiment, profile, system, seed, setting or device, a number
            of jobs below 1, or something that is no list.
        DeviceError: if CUDA is asked for on this machine and there is none.
        DataError: if the profile needs files that are not there.
    """
    for name, value in (("seeds", seeds), ("systems", systems)):
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise SettingsError(f"{name} must be a list, not {value!r}")
    if not isinstance(overrides or {}, Mapping):
        raise SettingsError(f"overrides must be a mapping of settings, not {overrides!r}")
    check_call(device, jobs, scheduler, 1)
    where = {"device": device, "scheduler": scheduler, "jobs": jobs}
    return Page(experiment, profile, seeds, systems, overrides or {}, **where)
