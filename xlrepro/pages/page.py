"""What a notebook's code cells call: one page object with a method per section."""

import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from xlrepro.engine import check_call, run_trials
from xlrepro.errors import SettingsError, XlreproError
from xlrepro.evidence.answers import MEANING, answer, main_gap
from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.claims import NOT_RUN
from xlrepro.evidence.compare import compare
from xlrepro.evidence.deviations import load_deviations
from xlrepro.evidence.gathered import Evidence
from xlrepro.evidence.reported import load_reported
from xlrepro.evidence.reproduced import AVERAGE, View, gather
from xlrepro.evidence.text import number
from xlrepro.experiments import experiment as find_experiment
from xlrepro.experiments import own_records, task
from xlrepro.pages import plots, tables
from xlrepro.pages.tables import Cell, Table, framed, markup, titled
from xlrepro.store import RecordStore
from xlrepro.trials import PROFILES, Record


@dataclass(frozen=True)
class Shown:
    """Parts of a page, one below the other; ``repr`` has no measured number.

    Attributes:
        parts: text, HTML, or what a notebook shows; with a title in front of it, it is folded.
        name: of a class of the book's style.
        summary: as text, where no part says it.
    """

    parts: tuple[Any, ...]
    name: str = ""
    summary: str = ""

    def _repr_html_(self) -> str:
        titled = [part if isinstance(part, tuple) else ("", part) for part in self.parts]
        shown = [(title, part if isinstance(part, str) else Markup(part._repr_html_()))
                 for title, part in titled]  # fmt: skip
        return markup("shown", shown, self.name)

    def __repr__(self) -> str:
        parts = [part[-1] if isinstance(part, tuple) else part for part in self.parts]
        return self.summary or "\n".join(repr(p) for p in parts if not isinstance(p, str))


class Page:
    """One experiment at one profile, checked, with what its records say.

    Args:
        experiment: its key.
        profile: what ``run`` runs; records of other profiles are shown too.
        seeds: the seeds of ``run``; empty for the profile's own.
        systems: the systems of ``run``; empty for the default ones.
        overrides: settings of ``run`` in place of the experiment's, ``{"encoder.kernel_size": 5}``.
        device: where ``run`` runs its trials; see `xlrepro.engine.run_trials`.
        scheduler: likewise.
        jobs: likewise.
        per_gpu: likewise.

    Raises:
        SettingsError: for an unknown experiment, profile, system, seed, setting or device, a number
            of jobs below 1, or something that is no list.
        DeviceError: if CUDA is asked for on this machine and there is none.
        DataError: if the profile needs files that are not there.
    """

    def __init__(
        self, experiment: str, profile: str = "smoke", seeds: Sequence[int] | None = None,
        systems: Sequence[str] | None = None, overrides: Mapping[str, Any] | None = None,
        device: str = "auto", scheduler: str | None = None, jobs: int | None = None,
        per_gpu: int = 1,
    ) -> None:  # fmt: skip
        check_call(device, jobs, scheduler, per_gpu)
        self.key, self.profile, self.store = experiment, profile, RecordStore()
        self.entry = load_catalog().experiment(experiment)
        self.experiment = find_experiment(experiment)
        self._where: dict[str, Any] = {"device": device, "scheduler": scheduler, "jobs": jobs,
                                       "per_gpu": per_gpu}  # fmt: skip
        self._trials = self.experiment.trials(profile, systems, seeds, overrides)
        self._systems, self._seeds, self._overrides = systems, seeds, dict(overrides or {})

    def __repr__(self) -> str:
        """Return what will run, one fact a line."""
        given = [("--set", f"{name}={json.dumps(v)}") for name, v in self._overrides.items()]
        asked = (("--systems", self._systems), ("--seeds", self._seeds))
        given += [(option, ",".join(map(str, names))) for option, names in asked if names]
        return (
            f"{self.key}: {self.entry.heading}\n"
            f"profile: {MEANING[self.profile]}\n"
            f"systems: {', '.join(self.experiment.select(self._systems, self.profile))}\n"
            f"trials: {len(self._trials)}\n"
            f"command: xlrepro run {self.key} --profile {self.profile}"
            + "".join(f" {option} {shlex.quote(value)}" for option, value in given)
        )

    def run(self) -> None:
        """Run the trials that have no record yet.

        Raises:
            XlreproError: if a trial failed; names the first one's log.
        """
        summary = run_trials(self._trials, store=self.store, **self._where)
        for name in ("evidence", "mine"):
            self.__dict__.pop(name, None)
        count = len(self._trials)
        if summary.failed:
            first, log = summary.failed[0]
            raise XlreproError(
                f"{len(summary.failed)} of {count} trials failed; first: {first}; see {log}"
            )
        print(f"{count} of {count} {'trial has' if count == 1 else 'trials have'} a record")

    # -- What there is

    @cached_property
    def evidence(self) -> Evidence:
        """The records of the whole paper: a claim may span its tables."""
        keys = load_catalog().of_paper(self.key.split("/")[0])
        records = (r for k in keys for p in PROFILES for r in own_records(k, p, self.store))
        return Evidence(tuple(records))

    @property
    def profiles(self) -> list[str]:
        """The profiles to show, the most telling first; smoke only where there are no others."""
        ran = [p for p in reversed(PROFILES) if self.evidence.of(self.key, [p])]
        return [p for p in ran if p != "smoke"] or ["smoke"]

    @property
    def view(self) -> View:
        """The reproduced cells at the most telling profile."""
        return View(self.key, self.profiles[0], self.evidence.numbers)

    @property
    def frame(self) -> pd.DataFrame:
        """The cells at the most telling profile, reported beside reproduced."""
        return self.evidence.frame(self.key, self.profiles[0])

    def records(self, profile: str | None = None) -> list[Record]:
        """Return the records of a profile; of the most telling one unless told."""
        return self.evidence.of(self.key, [profile or self.profiles[0]])

    @cached_property
    def mine(self) -> View:
        """The cells of this run: what these parameters ask for, whatever the book shows."""
        own = [r for t in self._trials if (r := self.store.get(t)) is not None]
        return View(self.key, self.profile, gather(self.experiment.views(own)))

    def averages(self) -> list[str]:
        """Return the columns of averages (``avg``, ``de/avg``) that have a reproduced number."""
        return [column for column in self.view.columns if column.split("/")[-1] == AVERAGE]

    # -- The sections

    def answer(self, figure: Any = None) -> Shown:
        """Say in a few sentences what was found, beside a figure and this run.

        Args:
            figure: ``None``: reported beside reproduced, system by system, in the blocks and
                columns of the page's main difference.
        """
        verdicts = self.evidence.verdicts(self.key)
        claims = self.evidence.claims(self.key)
        judged = [(c, v) for c in claims if (v := verdicts[c.id].get(self.view.profile))]
        found = answer(self.view, judged, self.records())
        main = self.entry.answer
        columns = list(main_gap(self.view, main).columns) if main else []
        if figure is None:
            blocks = [s.partition(":")[0] for s in (main.first, main.second)] if main else []
            figure = self.scores(columns or None, blocks)
        return Shown((markup("answer", found), figure, *self._this_run(columns)), "xl-answer")

    def _this_run(self, columns: Sequence[str] = ()) -> list[Any]:
        """Return this run beside the published numbers, in some columns or all; [] before a run."""
        published = {r.key for r in self.records()}
        own = {key for _, key in self.mine.numbers.records}
        frame = compare(self.mine)
        frame = frame[frame["column"].isin(columns or frame["column"])]
        if own <= published or not frame["n"].any():
            return []
        usual = (*(self._seeds or ()),) in ((), self.experiment.seeds(self.profile))
        changed = self._overrides | ({} if usual else {"seeds": self._seeds})
        given = [f"{k} = {v}" for k, v in changed.items()]
        title = ", ".join([f"This run ({MEANING[self.profile]})", *given])
        table = tables.run_table(frame, self.frame, title)
        default = self.profile == "smoke" and not (given or self._systems)
        return [(title, table) if default else table]

    def compare(self) -> Shown:
        """Set reported beside reproduced: tables for each profile, and this run."""
        parts: list[Any] = []
        for profile in self.profiles:
            frame = self.evidence.frame(self.key, profile)
            if len(frame):
                parts += [tables.legend(frame), *tables.comparison_tables(frame)]
        own = [part for part in self._this_run() if isinstance(part, Table)]  # not folded
        return Shown((*parts, *own))

    def scores(self, columns: Sequence[str] | None = None, blocks: Sequence[str] = ()) -> Shown:
        """Draw means with their intervals beside the reported numbers.

        Args:
            columns: which; ``None``: all.
            blocks: which; none named: all.
        """
        frame = self.frame.query("block in @blocks") if blocks else self.frame
        return Shown(tuple(plots.scores(frame, columns)), "xl-plots")

    def over_setting(self, along: str, **options: Any) -> plots.Figure:
        """Draw scores, or a gain, over the values that columns name; see `plots.over_setting`."""
        return plots.over_setting(self.view, along=along, **options)

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
        view, pairs = self.view, []
        for one in [s for s in view.systems if first in (s, s.partition(":")[2])]:
            beside = block or one.partition(":")[0]
            for other in (s for s in view.systems if s != one and s.startswith(f"{beside}:")):
                gaps = {c.column: view.difference(one, other, c.column) for c in view.of(one)}
                known = {column: gap for column, gap in gaps.items() if gap}
                for column in [c for c in known if c in columns] or known:
                    pairs.append((one, other, known[column]))
        return Shown((plots.forest_plot(pairs),) if pairs else ())

    def details(self, paths: Mapping[str, str], caption: str = "", first: str = "") -> Table:
        """Return what records tell beside their cells: a row per system and part, means over seeds.

        Args:
            paths: heading -> dotted path in the details; ``*`` is the part that names the row:
                ``{"best epoch": "experiments.*.best_epoch"}``. A heading that ends in ``%`` shows
                ``[right, all]`` as a percentage, one in ``a word`` ``[sum, words]`` as a mean.
            caption: what the table shows.
            first: path whose value names the row too, ``"settings.pair"``.
        """
        patterns = {h: re.compile(re.escape(p).replace(r"\*", "(.+?)")) for h, p in paths.items()}
        found, records = [], self.records()
        names = tables.short_names([s for record in records for s in record.systems], self.key)
        for record in records:
            # A list stays whole: `json_normalize` opens mappings alone.
            flat = pd.json_normalize(record.details, sep=".").iloc[0].dropna()
            for name, (heading, pattern) in product(flat.index, patterns.items()):
                if match := pattern.fullmatch(name):
                    parts = [*([str(flat[first])] if first else []), *match.groups()]
                    part = ", ".join(map(self.entry.column_name, parts))
                    system = ", ".join(dict.fromkeys(names[s] for s in record.systems))
                    value = flat[name]
                    if heading.endswith(("%", "a word")):
                        scale = 100 if heading.endswith("%") else 1
                        value = scale * value[0] / value[1] if value[1] else math.nan
                    found.append((system, part, heading, value))
        long = framed(found, "system", "part", "heading", "value")
        places = long.groupby("heading")["value"].transform(_decimals)
        values = long.groupby(["system", "part", "heading"], sort=False)["value"]
        rows = values.agg(lambda of: _joined(of, int(places[of.index[0]])))
        wide = rows.unstack("heading").reindex(columns=list(paths)).reset_index()
        if not wide["part"].any():
            wide = wide.drop(columns="part")
        about = f"{caption or 'Details of the records'} ({self.view.profile}; means over seeds)"
        return Table(about, wide, f"{len(wide)} rows of details")

    def reported_settings(
        self, rows: Mapping[str, Any], names: Mapping[str, Any], caption: str = ""
    ) -> Table:
        """Set the settings that a paper reports beside those of our trials, profile by profile.

        Args:
            rows: reported row -> experiment and system whose settings stand for it.
            names: reported setting -> dotted path of ours, or our constant.
            caption: what the table shows.
        """
        ours = {row: _settings_of(*place) for row, place in rows.items()}
        profiles = [p for p in PROFILES if any(p in of for of in ours.values())]
        body = []
        for cell in [c for c in load_reported().cells(self.key, context=True) if c.name in rows]:
            path = names.get(cell.column, "")
            at = [ours[cell.name].get(p, {}).get(path, "–") for p in profiles]
            found = at if isinstance(path, str) else [path] * len(profiles)
            body.append((cell.name, cell.column, cell.printed, *map(str, found)))
        head = ("model or task", "setting", "the paper", *profiles)
        return Table(caption or "Settings as reported, and ours.", framed(body, *head))

    def claims(self) -> Shown:
        """Judge the paper's claims on this experiment, on reported and on reproduced numbers."""
        claims = self.evidence.claims(self.key)
        if not claims:
            return Shown((markup("paragraphs", ["No claim of the paper rests on this page."]),))
        summary = f"{self.key}: {len(claims)} claims judged"
        return Shown((claims_list(self.evidence, self.key),), summary=summary)

    def deviations(self) -> Shown:
        """List where we knowingly differ from the paper."""
        known = load_deviations(self.key)
        html = markup("deviations", known, "../", {})
        return Shown((html,), summary=f"{self.key}: {len(known)} known deviations")

    def provenance(self) -> Shown:
        """List the records behind the page, and what they cost."""
        return Shown(tuple(tables.provenance_table(self.records(p)) for p in self.profiles))


def claims_list(evidence: Evidence, key: str) -> Markup:
    """Return the claims of a paper or an experiment: the authors', our readings folded below."""
    verdicts, items = evidence.verdicts(key), dict[str, dict[str, Any]]()
    for claim in evidence.claims(key):
        of = verdicts[claim.id].items()
        # Additional rows that nobody ran for a claim say nothing of it
        judged = {titled(label, claim.paper): v for label, v in of
                  if v is not None and not (v.status == NOT_RUN and ", " in label)}  # fmt: skip
        items[claim.id] = {"claim": claim, "judged": judged, "variants": [],
                           "touched": evidence.touching(claim)}  # fmt: skip
    for each in items.values():
        if each["claim"].variant_of in items:
            items[each["claim"].variant_of]["variants"].append(each)
    return markup("claims", [i for i in items.values() if i["claim"].variant_of not in items])


def _decimals(values: "pd.Series[Any]") -> int:
    """Return how many decimals all means of a column have: by its largest value."""
    if isinstance(values.iloc[0], list):
        return 3
    most = max((abs(v) for v in values if v == v), default=0)
    whole = all(isinstance(v, int | np.integer) for v in values)
    return 0 if whole or most >= 1000 else 3 if most < 1 else 2


def _joined(values: "pd.Series[Any]", decimals: int) -> Cell:
    """Return the mean of values, or of the ends of curves and intervals."""
    if isinstance(values.iloc[0], list):
        # of a curve's pairs (step, loss) the second
        low, high = (fmean(float(np.ravel(of[end])[-1]) for of in values) for end in (0, -1))
        return Cell(f"{number(low, decimals)} to {number(high, decimals)}", sort=low)
    return Cell(number(fmean(values), decimals), sort=fmean(values))


def _settings_of(key: str, system: str) -> dict[str, dict[str, Any]]:
    """Return the settings of a system's first trial by profile and dotted path, defaults too."""
    experiment, found = find_experiment(key), dict[str, dict[str, Any]]()
    for profile in experiment.profiles:
        with suppress(SettingsError):  # a row that has no trial there
            trial = experiment.trials(profile, [system])[0]
            settings = task(trial.task).model(**trial.settings).model_dump()
            found[profile] = pd.json_normalize(settings).iloc[0].dropna().to_dict()
    return found


open_page = Page
