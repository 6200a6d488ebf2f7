"""The command line: ``xlrepro COMMAND``.

Commands import what they need inside them, never at the top: ``xlrepro --help`` answers at once
because nothing heavy is loaded. An error the user can act on is one line on stderr and exit
status 2.
"""

import gc
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer import Argument, Option

from xlrepro import __version__
from xlrepro.errors import SettingsError, XlreproError

# Newer typers bring their own click and name few of its errors: this is the one of a wrong call.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__mro__[1])
FOLDERS = ("HOME", "BUILD", "DATA", "SUPPLIED", "MIRROR")  # that XLREPRO_… name
SEEDS = re.compile(r"(\d{1,20})(?: *- *(\d{1,20}))?", re.ASCII)
MOST_SEEDS = 10_000
TORCHRUN = {"LOCAL_RANK", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}  # it sets them all

WHICH = "word_order/table2, or a whole paper."
Some = Annotated[list[str], Argument(metavar="EXPERIMENT...", help=WHICH)]
Experiments = Annotated[list[str] | None, Argument(metavar="[EXPERIMENT...]", help=WHICH)]
Profile = Annotated[str, Option(help="smoke, open or paper.")]
Systems = Annotated[
    list[str] | None, Option(help="ORT,word:TRS or word:*; default: the table's own.")
]
Seeds = Annotated[list[str] | None, Option(help="0,1,2 or 0-4; default: the profile's own.")]
Scheduler = Annotated[str | None, Option(help="A running Dask cluster's, tcp://host:8786.")]
Jobs = Annotated[int, Option(min=1, help="Notebooks at a time.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON for a machine.")]
Settings = Annotated[
    list[str] | None, Option("--set", metavar="NAME=VALUE", help="A setting, or parts=NAME.")
]
Parameters = Annotated[
    list[str] | None,
    Option("--parameter", "-p", metavar="NAME=VALUE", help="Set any other parameter."),
]
Again = Annotated[bool, Option(help="Run also trials that have a record; the newer one counts.")]
DryRun = Annotated[bool, Option(help="Show what would run, and run nothing.")]
Update = Annotated[bool, Option("--update", help="Write the golden files, print what moved.")]
SmokeAlone = Annotated[bool, Option(help="With --update: smoke's data or settings alone moved.")]
RunSmoke = Annotated[bool, Option(help="Run smoke trials without a record of today's code.")]
Withdraw = Annotated[bool, Option("--withdraw", help="Take out records that no row asks for.")]
FileIds = Annotated[list[str] | None, Argument(help="Such as en/train; without one, all.")]


# ---- arguments and what is printed


def parse_seeds(text: str | None) -> tuple[int, ...] | None:
    """Read ``"0,1,2"`` and ``"0-4"``, each seed once.

    Raises:
        SettingsError: for anything else.

    Example:
        >>> parse_seeds("7,0-2")
        (7, 0, 1, 2)
    """
    if text is None:
        return None
    seeds: dict[int, None] = {}
    for part in text.split(","):
        found = SEEDS.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last < first + MOST_SEEDS:
            raise SettingsError(f"--seeds: {part.strip()[:40]!r} is no seed (7) and no range (0-4)")
        seeds |= dict.fromkeys(range(first, last + 1))
    return tuple(seeds)


def parse_overrides(pairs: Sequence[str] | None, option: str = "--set") -> dict[str, Any]:
    """Read ``NAME=VALUE`` pairs whose values are YAML; ``no`` and ``off`` are words.

    Args:
        pairs: as the user gave them.
        option: with which.

    Raises:
        SettingsError: for a pair without ``=``, a value that is not YAML, or a name given twice.

    Example:
        >>> parse_overrides(["epochs=3", "kernel=null", "targets=[de, no]"])
        {'epochs': 3, 'kernel': None, 'targets': ['de', 'no']}
    """
    from xlrepro.values import parse_value

    overrides: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = (part.strip() for part in pair.partition("="))
        shown = f"{option} {pair[:80]!r}"
        if not equals or not name:
            raise SettingsError(f"{shown} is not of the form NAME=VALUE")
        if name in overrides:
            raise SettingsError(f"{shown}: the name is given twice")
        try:
            overrides[name] = parse_value(value)
        except ValueError as error:
            raise SettingsError(f"{shown}: the value is not YAML ({str(error)[:200]})") from None
    return overrides


def chosen_experiments(names: Sequence[str] | None) -> list[Any]:
    """Return the experiments named, each once; a paper stands for all of its own, nothing for all.

    Raises:
        SettingsError: for an unknown name.
    """
    from xlrepro.experiments import all_experiments, experiment

    known = all_experiments()
    papers = {name: [key for key in known if key.startswith(f"{name}/")] for name in names or ()}
    keys = [key for name in names or () for key in papers[name] or [name]]
    return [experiment(key) for key in dict.fromkeys(keys or known)]


def show(rows: Sequence[Mapping[str, Any]], as_json: bool, title: str = "", end: str = "") -> None:
    """Print rows, whose keys are the heads, as a table for people or as JSON for a machine.

    Columns without words stand to the right. A file or a pipe, which has no width of its own, gets
    200 columns; what needs more than there are gets them: no number, name or address is cut.
    """
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    from rich import box, console, table

    shown = table.Table(title=title, caption=end, box=box.SIMPLE_HEAD)
    add = partial(shown.add_column, overflow="fold")
    texts = [["·" if value == 0 else str(value) for value in row.values()] for row in rows]
    for head, column in zip(rows[0] if rows else (), zip(*texts)):
        words = any(text[:1].isalpha() for text in column)
        short = max(map(len, column)) < 50
        whole = max(map(len, [head, *column])) if short else 20
        add(head, justify="left" if words else "right", no_wrap=short, min_width=whole)
    for row in texts:
        shown.add_row(*row)
    width = None if sys.stdout.isatty() else 200
    out = console.Console(width=width, markup=False, emoji=False, highlight=False)
    out.width = max(out.width, sum(3 + (column.min_width or 0) for column in shown.columns))
    out.print(shown)


def say(text: str) -> None:
    """Print a line to the standard error."""
    typer.echo(text, err=True)


# ---- list, run, golden, publish


def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments: what each asks, at which profiles, at what cost."""
    from xlrepro.evidence.catalog import load_catalog

    catalog = load_catalog()
    rows = [
        {
            "experiment": each.key,
            "profile": profile,
            "seeds": ", ".join(map(str, each.seeds(profile))),
            "title": catalog.experiment(each.key).heading,
            "question": catalog.experiment(each.key).question,
            "cost": each.entry.cost.get(profile, ""),
        }
        for each in chosen_experiments(None)
        for profile in each.profiles
    ]
    show(rows, as_json)


def run(
    experiments: Some,
    profile: Profile = "smoke",
    seeds: Seeds = None,
    systems: Systems = None,
    device: Annotated[str, Option(help="auto, cpu or cuda.")] = "auto",
    jobs: Annotated[int | None, Option(help="Trials at a time; default: all cores.")] = None,
    scheduler: Scheduler = None,
    per_gpu: Annotated[int, Option(help="Trials at a time on each GPU.")] = 1,
    settings: Settings = None,
    again: Again = False,
    dry_run: DryRun = False,
) -> None:
    """Run the trials of experiments that have no current record; safe to interrupt and repeat.

    Under torchrun: build RAMEN's bilingual models alone, all processes at each; then repeat it
    without torchrun.
    """
    from xlrepro import engine
    from xlrepro.store import RecordStore
    from xlrepro.trials import check_profile

    check_profile(profile)
    given = (systems, parse_seeds(",".join(seeds) if seeds else None), parse_overrides(settings))
    trials = []
    for each in chosen_experiments(experiments):
        if profile in each.profiles or each.key in experiments:
            trials += each.trials(profile, *given)
        else:
            say(f"{each.key} has no profile {profile!r}, and is left out")
    if os.environ.keys() >= TORCHRUN and not dry_run:
        if not any(trial.settings.get("adaptation") for trial in trials):
            only = "the models of ramen/table1, table2, table3, table4 and figure2 alone"
            raise SettingsError(f"torchrun trains {only}: name one of them, or leave it out")
        from xlrepro.papers.ramen.adaptation import data_parallel

        engine.check_supplied(trials)
        data_parallel(trials, engine.resolve(device))
        return
    store = RecordStore()
    before = {trial: store.get(trial) for trial in trials if again}
    where: dict[str, Any] = {"device": device, "jobs": jobs, "scheduler": scheduler}
    where |= {"per_gpu": per_gpu, "again": {trial.key for trial in before}}
    made = engine.run_trials(trials, store=store, dry_run=dry_run, **where)
    if dry_run:
        states = dict.fromkeys(made.outdated, "outdated, to run")
        states |= {record.key: "has a record" for record in made.reused}
        for trial in (*made.pending, *(record.trial for record in made.reused)):
            typer.echo(f"{trial.key[:12]}  {states.get(trial.key, 'to run'):16}  {trial.label}")
        typer.echo(f"{len(made.pending)} trials to run, {len(made.reused)} have a record")
        return
    for record in made.done:
        if old := before.get(record.trial):
            typer.echo(f"{record.trial.label}: {_moved(old.cells, record.cells)}")
    typer.echo(made.line)
    _end_if_failed(made.failed)


def _moved(before: Sequence[Any], now: Sequence[Any]) -> str:
    """Return how far the cells of a repeated trial are from those it had."""
    old = {(cell.system, cell.column): cell.value for cell in before}
    pairs = [(f"{c.system} / {c.column}", old.get((c.system, c.column)), c.value) for c in now]
    moved = [pair for pair in pairs if pair[1] != pair[2]]
    if not moved:
        return f"the same {len(pairs)} numbers as before"
    place, was, value = max(moved, key=lambda pair: abs(pair[2] - (pair[1] or 0.0)))
    return f"{len(moved)} of {len(pairs)} numbers moved, most of all {place}: {was} to {value}"


def _end_if_failed(failed: Collection[tuple[str, Path]]) -> None:
    """Name what failed and its logs, and end with status 1 if there is any."""
    for what, log in dict.fromkeys(failed):
        say(f"failed: {what} (log: {log})")
    if failed:
        raise typer.Exit(1)


def golden(
    experiments: Experiments = None,
    update: Update = False,
    smoke_alone: SmokeAlone = False,
    run: RunSmoke = True,
) -> None:
    """Compare today's smoke numbers with the golden ones; exit status 1 where they differ."""
    if smoke_alone and not update:
        raise SettingsError("--smoke-alone says why numbers moved: add --update")
    from xlrepro.engine import run_trials
    from xlrepro.evidence import golden as kept
    from xlrepro.experiments import records_asked
    from xlrepro.store import RecordStore

    chosen = [each for each in chosen_experiments(experiments) if "smoke" in each.profiles]
    trials = {each.key: each.trials("smoke") for each in chosen}
    store = RecordStore()
    if run:
        every = [trial for of in trials.values() for trial in of]
        again = kept.off_cpu(store.get(trial) for trial in every)
        _end_if_failed(run_trials(every, store=store, device="cpu", again=again).failed)
    judge = partial(kept.update, smoke_alone=smoke_alone) if update else kept.check
    differences = []
    for each, (key, of) in zip(chosen, trials.items(), strict=True):
        keys = {trial.key for trial in of}
        asked = [r for r in records_asked(each, "smoke", store) if r.key in keys]
        numbers = kept.fresh_numbers(each.views(asked))
        differences += judge(key, numbers, {t.task: t.version for t in of})
    for difference in differences:
        typer.echo(str(difference))
    if update:
        typer.echo(f"{len(trials)} golden files written, {len(differences)} numbers moved")
        return
    said = f"{len(differences)} numbers differ from the golden ones"
    typer.echo(f"{said if differences else 'golden numbers hold'} in {', '.join(trials)}")
    raise typer.Exit(bool(differences))


def publish(experiments: Experiments = None, withdraw: Withdraw = False) -> None:
    """Gather finished records of open and paper into data/results, for git; what is there stays."""
    from xlrepro.experiments import records_by_standing
    from xlrepro.store import RecordStore
    from xlrepro.trials import PUBLISHED

    sources = dict.fromkeys(name for e in chosen_experiments(experiments) for name in e.trained_in)
    store = RecordStore()
    for name in PUBLISHED:
        asked, others = records_by_standing(name, store)
        for source in sources:
            records = [record for record in asked if record.experiment == source]
            if rest := sum(record.experiment == source for record in others):
                say(f"{source} {name}: {rest} records with other settings than the profile's today")
            if records or (withdraw and rest):
                counts = store.publish(source, name, records, withdraw)
                did = (f"{counts[what]} {what}" for what in ("added", "replaced", "withdrawn"))
                path = store.published_path(source, name)
                typer.echo(f"{path}: {', '.join(did)}, {counts['total']} in all")
                if kept := counts["kept"]:
                    say(f"warning: {kept} newer ones name no commit: older ones stay")
                if dirty := counts["dirty"]:
                    say(f"warning: {dirty} of them ran on code that differs from their commit")


# ---- status, claims


def status(
    experiments: Experiments = None, profile: Profile = "open", as_json: AsJson = False
) -> None:
    """Show reported beside reproduced: every experiment on a line, or named ones cell by cell.

    A paper's name stands for all of its experiments.
    """
    from xlrepro.evidence.compare import VERDICTS, compared_rows
    from xlrepro.evidence.reproduced import View, gather
    from xlrepro.experiments import is_outdated, own_records
    from xlrepro.store import RecordStore

    chosen, store = {e.key: e for e in chosen_experiments(experiments)}, RecordStore()
    records = {key: own_records(key, profile, store) for key in chosen}
    views = {key: View(key, profile, gather(of)) for key, of in records.items()}
    cells = {key: compared_rows(view, experiment=chosen[key]) for key, view in views.items()}
    if as_json:
        typer.echo(json.dumps(cells, ensure_ascii=False, indent=1))
        return
    if experiments:
        for key, of in cells.items():
            ran = sum(row["n"] > 0 for row in of)
            title = f"{key}, {profile}: {ran} of {len(of)} cells run"
            show([*map(_for_people, of)], False, title)
        return
    rows = []
    for key, of in cells.items():
        counts = Counter(row["verdict"] for row in of)
        outdated = sum(map(is_outdated, records[key]))
        row = {"experiment": key, "cells": len(of), **{v: counts[v] for v in VERDICTS}}
        rows.append(row | {"current": len(records[key]) - outdated, "outdated": outdated})
    show(rows, False, f"Cells by verdict, records, profile {profile}")
    asked = {record.key for of in records.values() for record in of}
    others = (r.experiment for r in store.records(profile=profile) if r.key not in asked)
    for key, count in Counter(others).items():
        typer.echo(f"{key}: {count} with other settings than {profile} has today, not shown.")


def _for_people(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a terminal shows of a compared cell."""
    from xlrepro.evidence.text import number

    numbers = {name: number(row[name]) for name in ("reproduced", "low", "high")}
    shown = {"system": row["system"], "column": row["column"], "reported": row["printed"]}
    shown |= numbers | {"n": row["n"], "difference": number(row["difference"], signed=True)}
    return shown | {"verdict": row["verdict"], "note": row["note"]}


def claims(
    paper: Annotated[str | None, Argument(metavar="[PAPER]")] = None,
    profile: Profile = "open",
    as_json: AsJson = False,
) -> None:
    """Judge the papers' claims on the reported numbers and on the reproduced ones."""
    from xlrepro.evidence.catalog import load_catalog
    from xlrepro.evidence.claims import STATUSES
    from xlrepro.evidence.gathered import judged

    papers = load_catalog().papers if paper is None else [paper]
    known = {key: judged(key, profile) for key in papers}
    if as_json:
        show([claim for of_paper in known.values() for claim in of_paper], True)
    for key, of_paper in () if as_json else known.items():
        rows, tally = list[dict[str, str]](), Counter[tuple[str, str]]()
        for claim in of_paper:
            told = {label: v["status"] if v else "–" for label, v in claim["verdicts"].items()}
            rows.append({name: claim[name] for name in ("id", "kind", "claim")} | told)
            tally.update(told.items() if claim["kind"] == "text" else ())
        counts = (f"{on}: {n} {s}" for on in told for s in STATUSES if (n := tally[on, s]))
        end = f"Of the authors' sentences: {', '.join(counts)}"
        show(rows, False, f"Claims of {load_catalog().paper(key).short}", end)


# ---- notebooks and the book


def batch(
    experiments: Experiments = None,
    profile: Profile = "smoke",
    jobs: Jobs = 2,
    seeds: Seeds = None,
    systems: Systems = None,
    device: Annotated[str | None, Option(help="auto, cpu or cuda.")] = None,
    scheduler: Scheduler = None,
    per_gpu: Annotated[int | None, Option(help="Trials at a time on each GPU.")] = None,
    parameters: Parameters = None,
    force: Annotated[bool, Option(help="Run also what is up to date.")] = False,
) -> None:
    """Run notebooks through papermill; only those that changed."""
    from xlrepro.pages.notebooks import plan, run_batch

    given = parse_overrides(parameters, "-p")
    if nothing := [name for name, value in given.items() if value is None and name != "jobs"]:
        raise SettingsError(f"-p {nothing[0]}=null: give a value, or leave it out")
    options: dict[str, Any] = {"device": device, "scheduler": scheduler, "per_gpu": per_gpu}
    options |= {"seeds": list(parse_seeds(",".join(seeds)) or ()) if seeds else None}
    options |= {"systems": [s.strip() for s in ",".join(systems).split(",")] if systems else None}
    options = {name: value for name, value in options.items() if value is not None}
    if twice := sorted(options.keys() & given.keys()):
        raise SettingsError(f"{twice[0]} is given by its own option and by -p: leave one out")
    jobs_to_do = plan(experiments or None, profile, given | options)
    ran = run_batch(jobs_to_do, workers=jobs, force=force, report=say)
    say(f"notebooks: {len(ran.done)} run, {len(ran.reused)} up to date, {len(ran.failed)} failed")
    _end_if_failed(ran.failed.items())


def book(
    run: Annotated[bool, Option(help="First run the notebooks that changed.")] = True,
    profile: Annotated[str, Option(help="Whose notebooks the book shows.")] = "smoke",
    jobs: Jobs = 2,
) -> None:
    """Run what has changed and render the book; the last line is the page to open."""
    from xlrepro.pages.book import make

    page, failed = make(profile, jobs, run, say)
    typer.echo(str(page))
    _end_if_failed(failed.items())


# ---- data


data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@data_app.command("list")
def list_data(
    experiment: Annotated[str | None, Argument(help="With --profile paper.")] = None,
    profile: Annotated[str, Option(help="open, or paper: what you supply.")] = "open",
    as_json: AsJson = False,
) -> None:
    """List the registered data sets: title, licence, languages, how much of it is in the cache.

    With --profile paper: what an experiment, or all of them, read below XLREPRO_SUPPLIED, and what
    is missing there.
    """
    from xlrepro.data.registry import cached_path, list_datasets
    from xlrepro.data.supplied import is_there, needed
    from xlrepro.experiments import files_of
    from xlrepro.paths import supplied_dir

    if profile == "paper":
        asked = chosen_experiments(None if experiment is None else [experiment])
        every = (t for e in asked if "paper" in e.profiles for t in e.trials("paper"))
        reads = files_of(every, "supplied")
        if not reads:
            raise SettingsError(f"{experiment} reads no supplied files at paper, or has no paper")
        lacking = [Path(path) for path in reads if not is_there(supplied_dir() / path)]
        supplied = []
        for name, about, paths in needed(reads):
            no = [path for path in paths if any(p.is_relative_to(path) for p in lacking)]
            facts = {"name": name} | about.model_dump(include={"title", "home", "layout"})
            lack = {"found": f"{len(paths) - len(no)}/{len(paths)}", "missing": ", ".join(no)}
            supplied.append(facts | lack | ({"missing": no} if as_json else {}))
        show(supplied, as_json, f"below {supplied_dir()}")
        return
    if profile != "open" or experiment:
        raise SettingsError("give --profile paper, with or without an experiment, or neither")
    rows = [
        {
            **entry.model_dump(include={"name", "title", "licence"}),
            "pass on": "yes" if entry.redistributable else "no",
            "languages": len(entry.languages),
            "files": len(entry.files),
            "cached": sum(cached_path(entry.name, file_id).is_file() for file_id in entry.files),
            "MB": round(entry.bytes / 1e6, 1),
        }
        for entry in list_datasets()
    ]
    show(rows, as_json)


@data_app.command()
def fetch(
    name: Annotated[str, Argument(help="Name of a data set.")], file_ids: FileIds = None
) -> None:
    """Bring files into the cache, from XLREPRO_MIRROR or else from upstream; print where they lie.

    Stops at the first file that cannot be had; what was fetched before stays.
    """
    from xlrepro.data import registry

    entry = registry.dataset(name)
    for file_id in file_ids or ():
        entry.file(file_id)
    for file_id in file_ids or entry.files:
        typer.echo(registry.fetch(name, file_id))


# ---- the process


def build_app() -> typer.Typer:
    """Return the application with all commands."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # help in plain text: rich takes longer to load than the rest
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    app.command("list")(list_experiments)
    for command in (run, status, claims, golden, publish, batch, book):
        app.command()(command)
    app.add_typer(data_app, name="data", help="List and download the corpora.")
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"xlrepro {__version__}")
        raise typer.Exit


_VERSION = Option("--version", callback=_print_version, is_eager=True, help="Print it and leave.")


def _root(version: Annotated[bool, _VERSION] = False) -> None:
    """Do the numbers and claims of five papers on cross-lingual transfer replicate?"""


def _check_process() -> None:
    """Make the process fit to run a command, whatever shell started it.

    Folders that the environment names are made absolute: a child may work in another folder.

    Raises:
        SettingsError: if standard output is closed, and what would be printed would go into
            whatever file is opened next; if the working folder has been deleted.
    """
    if sys.stdout is None or sys.stderr is None:
        raise SettingsError("standard output is closed: send it to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stderr):  # letters that a terminal has not
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        os.getcwd()
    except FileNotFoundError:  # libraries of torch would end the process
        raise SettingsError("the working folder is gone: change to one that is there") from None
    for name in (f"XLREPRO_{each}" for each in FOLDERS):
        if (named := os.environ.get(name)) and "://" not in named:
            with suppress(RuntimeError):  # ~ of nobody: whoever uses it says so
                os.environ[name] = str(Path(named).expanduser().absolute())


def main() -> int:
    """Run the command line; return its exit status.

    0 done; 1 something ran and failed; 2 a mistake in the call, the settings, the data or the
    machine, explained in one line; 130 interrupted; 143 terminated.
    """
    gc.set_threshold(1_000_000)  # thousands of records, none in a circle: a tenth of the time
    try:
        _check_process()
        command = typer.main.get_command(build_app())
        with command.make_context("xlrepro", sys.argv[1:]) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as end:
        return end.exit_code
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # a command group alone: its help says more than a line
            return 2
        path = error.ctx.command_path if error.ctx else "xlrepro"
        return _explain(f"{error.format_message().strip().rstrip('.')}; see {path} --help")
    except XlreproError as error:
        return _explain(str(error))
    except KeyboardInterrupt as interrupt:
        _explain(said := str(interrupt) or "interrupted")
        return 143 if said.startswith("terminated") else 130
    except OSError as error:
        # Python prints what is left once more at its end: the reader may have gone, the disk full
        if error.filename is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # `xlrepro list | head -1`
            return 1
        said = f"{error.filename or 'the output'} cannot be used ({error.strerror})"
        return _explain(f"{said}: mend that, or name another place")
    finally:
        gc.freeze()  # the collection at the interpreter's end takes a fifth of `claims`
    return 0


def _explain(message: str) -> int:
    """Say what is wrong, on one line as a terminal and a log both want it; return 2."""
    if sys.stderr is not None:
        print("xlrepro:", " ".join(message.split()), file=sys.stderr)
    return 2
