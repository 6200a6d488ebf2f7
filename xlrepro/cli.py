"""The command line: ``xlrepro COMMAND``.

Commands import what they need inside them, never at the top: ``xlrepro --help`` answers at once
because nothing heavy is loaded. An error the user can act on is one line on stderr and exit
status 2.
"""

import errno
import json
import os
import signal
import sys
import threading
import webbrowser
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from xlrepro import __version__
from xlrepro.errors import SettingsError, XlreproError

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from xlrepro.engine import RunSummary
    from xlrepro.evidence.claims import ClaimVerdict
    from xlrepro.trials import Record, Trial

# Newer typers bring their own click and name few of its errors: this is the one of a wrong call.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__mro__[1])

FEWEST_COLUMNS = 20
TERMINATED = "terminated"
# What a write to a full disk or a closed terminal says, and a file that may not be touched.
NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EBADF, errno.EIO)
NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
FOLDERS = ("HOME", "BUILD", "DATA", "SUPPLIED", "MIRROR")  # that XLREPRO_… name

MOST_SEEDS, MOST_DIGITS = 10_000, 20
STYLES = {
    "within": "green", "replicates": "green", "consistent": "green", "above": "yellow",
    "below": "yellow", "inconclusive": "yellow", "contradicts": "red", "inconsistent": "red",
    "no effect": "red", "not run": "red", "not here": "dim", "quoted": "dim",
    "not testable here": "dim", "not checkable": "dim",
}  # fmt: skip

Experiments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[EXPERIMENT...]", help="word_order/table2, or a whole paper."),
]
Profile = Annotated[str, typer.Option(help="smoke, open or paper.")]
Systems = Annotated[
    str | None, typer.Option(help="ORT,word:TRS or word:*; default: the experiment's own.")
]
Seeds = Annotated[str | None, typer.Option(help="0,1,2 or 0-4; default: the profile's own.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Address of a running Dask cluster, tcp://host:8786.")
]
Jobs = Annotated[int, typer.Option(help="Notebooks at a time.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a machine.")]


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
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        digits = [first, last] if dash else [first]
        if not all(p.isascii() and p.isdigit() and len(p) <= MOST_DIGITS for p in digits):
            shown = part.strip()[:40]
            raise SettingsError(f"--seeds: {shown!r} is neither a seed (7) nor a range (0-4)")
        low, high = int(digits[0]), int(digits[-1])
        if not 0 <= high - low < MOST_SEEDS:
            raise SettingsError(f"--seeds {text!r}: {part.strip()!r} is no usable range")
        seeds |= dict.fromkeys(range(low, high + 1))
    return tuple(seeds)


def parse_names(text: str | None, option: str = "--systems") -> tuple[str, ...] | None:
    """Read ``"ORT,word:TRS"``; names that have commas are put together again where they are used.

    Raises:
        SettingsError: if the option is there and names nothing, as with an unset shell variable.
    """
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise SettingsError(f"{option} {text!r} names nothing: name something, or leave it out")
    return names


def parse_published(text: str) -> tuple[str, ...]:
    """Read the profiles, ``"open,paper"``, whose records are published.

    Raises:
        SettingsError: if it names none, or another.
    """
    from xlrepro.trials import PUBLISHED

    profiles = parse_names(text, "--profile") or ()
    if unknown := [name for name in profiles if name not in PUBLISHED]:
        raise SettingsError(f"profile {unknown[0]!r} is not published; only open and paper are")
    return profiles


def parse_overrides(pairs: list[str], option: str = "--set") -> dict[str, Any]:
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
    from xlrepro.yaml_files import parse_value

    overrides: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise SettingsError(f"{option} {pair!r} is not of the form NAME=VALUE")
        if name.strip() in overrides:
            raise SettingsError(f"{option} {name.strip()} is given twice")
        try:
            overrides[name.strip()] = parse_value(value)
        except ValueError as error:
            raise SettingsError(f"{option} {name}: the value is not YAML ({error})") from None
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


def print_table(table: "RichTable") -> None:
    """Print a table; a file or a pipe, which has no width of its own, gets 200 columns."""
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=200)).print(table)


def print_json(content: Any) -> None:
    """Print what a machine reads."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=1))


def say(text: str) -> None:
    """Print a line to the standard error."""
    typer.echo(text, err=True)


# ---- list, run, golden, publish


def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments: what each computes, its profiles, its cost and its records."""
    from xlrepro.evidence.catalog import load_catalog
    from xlrepro.experiments import all_experiments, all_own_records

    catalog = load_catalog()
    counts = Counter((record.experiment, record.profile) for record in all_own_records())
    rows: list[dict[str, Any]] = []
    for key, each in all_experiments().items():
        entry = catalog.experiment(key)
        profiles = {
            profile: {
                "cost": each.cost.get(profile, ""),
                "default_seeds": list(each.default_seeds.get(profile, (0,))),
                "records": counts[key, profile],
            }
            for profile in each.profiles
        }
        rows.append(
            {
                "key": key,
                "title": entry.heading,
                "question": entry.question,
                "ours": entry.ours,
                "systems": [system.identifier for system in each.systems],
                "columns": list(each.columns),
                "profiles": profiles,
            }
        )
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.secho(row["key"], bold=True, nl=False)
        typer.echo(f"  {row['title']}\n    {row['question']}")
        for name, profile in row["profiles"].items():
            cost = f"  {profile['cost']}" if profile["cost"] else ""
            typer.echo(f"    {name:6} {profile['records']:4d} records{cost}")


def run(
    experiments: Annotated[
        list[str],
        typer.Argument(metavar="EXPERIMENT...", help="word_order/table2, or a whole paper."),
    ],
    profile: Profile = "smoke",
    seeds: Seeds = None,
    systems: Systems = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    jobs: Annotated[int | None, typer.Option(help="Trials at a time; default: all cores.")] = None,
    scheduler: Scheduler = None,
    per_gpu: Annotated[int, typer.Option(help="Trials at a time on each GPU.")] = 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting.")
    ] = None,
    again: Annotated[
        bool, typer.Option(help="Run also trials that have a record; the newer one counts.")
    ] = False,
    dry_run: Annotated[bool, typer.Option(help="Show what would run, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the trials of experiments that have no current record; safe to interrupt and repeat."""
    from xlrepro.engine import check_call, check_supplied, plan_trials, run_trials
    from xlrepro.machine import git_state
    from xlrepro.store import RecordStore

    check_call(device, jobs, scheduler, per_gpu)
    names, numbers = parse_names(systems), parse_seeds(seeds)
    trials = _trials(experiments, profile, names, numbers, parse_overrides(settings or []))
    store = RecordStore()
    repeated = {trial.key for trial in trials} if again else set()
    plan = plan_trials(trials, store, repeated)
    if not scheduler:
        check_supplied(plan.pending)
    if dry_run:
        states = {t.key: "outdated, to run" if t.key in plan.outdated else "to run" for t in trials}
        states |= {record.key: "has a record" for record in plan.reused}
        rows: list[dict[str, Any]] = [
            {"key": t.key, "label": t.label, "seed": t.seed, "state": states[t.key]}
            for t in (*plan.pending, *(record.trial for record in plan.reused))
        ]
        if as_json:
            print_json(rows)
            return
        for row in rows:
            typer.echo(f"{row['key'][:12]}  {row['state']:18}  {row['label']}")
        typer.echo(f"{len(plan.pending)} trials to run, {len(plan.reused)} have a record")
        return
    if plan.outdated:
        say(f"{len(plan.outdated)} records are outdated (code or data changed): they run again")
    if plan.pending and (reason := git_state().reason):
        say(f"the records will name no commit: {reason}")
    earlier = {t.key: record for t in plan.pending if (record := store.get(t))}
    summary = run_trials(
        trials,
        store=store,
        device=device,
        jobs=jobs,
        scheduler=scheduler,
        per_gpu=per_gpu,
        again=repeated,
    )
    if as_json:
        print_json(
            {
                "done": [record.key for record in summary.done],
                "reused": [record.key for record in summary.reused],
                "failed": [
                    {"key": f.trial.key, "label": f.trial.label, "reason": f.reason}
                    | {"log": str(f.log)}
                    for f in summary.failed
                ],
                "seconds": round(summary.seconds, 3),
            }
        )
    else:
        for record in summary.done:
            if record.key in earlier:
                typer.echo(f"{record.trial.label}: {_moved(earlier[record.key], record)}")
        _tell_failures(summary)
        typer.echo(summary.line)
    raise typer.Exit(1 if summary.failed else 0)


def _trials(
    experiments: list[str],
    profile: str,
    systems: Sequence[str] | None,
    seeds: Sequence[int] | None,
    overrides: dict[str, Any],
) -> "list[Trial]":
    """Return the trials of experiments; a paper's experiments without this profile are left out."""
    trials: list[Trial] = []
    for each in chosen_experiments(experiments):
        if profile not in each.profiles and each.key not in experiments:
            say(f"{each.key} has no profile {profile!r}, and is left out")
            continue
        trials += each.trials(profile, systems, seeds, overrides)
    return trials


def _tell_failures(summary: "RunSummary") -> None:
    for failure in summary.failed:
        say(f"failed: {failure.trial.label}: {failure.reason}\n  log: {failure.log}")


def _moved(before: "Record", now: "Record") -> str:
    """Return how far the numbers of a repeated trial are from those it had, and what changed."""
    old = {(cell.system, cell.column): cell.value for cell in before.cells}
    new = {(cell.system, cell.column): cell.value for cell in now.cells}
    moves = {place: abs(value - old[place]) for place, value in new.items() if place in old}
    if not moves:
        return "no number that was there before"
    if not any(moves.values()):
        others = len(new.keys() ^ old.keys())
        return f"the same {len(moves)} numbers as before" + f", {others} came or went" * bool(
            others
        )
    place = max(moves, key=lambda each: moves[each])
    facts = {
        "other code": before.versions.get("xlrepro") != now.versions.get("xlrepro"),
        "other data": any(now.data.get(n, d) != d for n, d in before.data.items()),
        "other vectors or pretrained models": any(
            now.artefacts.get(n, d) != d for n, d in before.artefacts.items()
        ),
        "other versions of packages": any(
            now.versions.get(n, v) != v for n, v in before.versions.items() if n != "xlrepro"
        ),
        f"another machine, {before.device} before": before.device != now.device,
    }
    why = "; ".join(name for name, so in facts.items() if so) or "it does not repeat"
    return (
        f"{sum(map(bool, moves.values()))} of {len(moves)} numbers moved, most of all "
        f"{' / '.join(place)}: {old[place]:.4g} before, {new[place]:.4g} now ({why})"
    )


def golden(
    experiments: Experiments = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the golden files and print what moved.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="With --update: those of all experiments.")
    ] = False,
    smoke_alone: Annotated[
        bool,
        typer.Option(
            "--smoke-alone",
            help="With --update: only data or settings of smoke moved, no task's version.",
        ),
    ] = False,
    run: Annotated[
        bool, typer.Option(help="Run smoke trials that have no record of today's code.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Compare today's smoke numbers with the golden ones; exit status 1 where they differ."""
    if update and not experiments and not everything:
        raise typer.BadParameter("--update runs trials: name experiments, or give --all")
    from dataclasses import asdict

    from xlrepro.engine import run_trials
    from xlrepro.evidence.golden import check, fresh_numbers, off_cpu
    from xlrepro.evidence.golden import update as write
    from xlrepro.experiments import own_records
    from xlrepro.store import RecordStore

    chosen = [each for each in chosen_experiments(experiments) if "smoke" in each.profiles]
    trials = {each.key: each.trials("smoke") for each in chosen}
    store = RecordStore()
    if run:
        every = [trial for of in trials.values() for trial in of]
        again = off_cpu(store.get(trial) for trial in every)
        summary = run_trials(every, store=store, device="cpu", again=again)
        _tell_failures(summary)
        if summary.failed:
            raise typer.Exit(1)
    differences = []
    for key, of in trials.items():
        numbers = fresh_numbers(own_records(key, "smoke", store), keys={t.key for t in of})
        versions = {t.task: t.version for t in of}
        differences += (
            write(key, numbers, versions, smoke_alone=smoke_alone)
            if update
            else check(key, numbers, versions)
        )
    if as_json:
        print_json([asdict(d) for d in differences])
    else:
        for difference in differences:
            typer.echo(str(difference))
        count = f"in {len(trials)} experiments"
        if update:
            typer.echo(f"{len(trials)} golden files written, {len(differences)} numbers moved")
        elif differences:
            typer.echo(f"{len(differences)} numbers differ from the golden ones {count}")
        else:
            typer.echo(f"golden numbers hold {count}: {', '.join(trials)}")
    raise typer.Exit(1 if differences and not update else 0)


def publish(
    experiments: Experiments = None,
    profile: Annotated[str, typer.Option(help="Profiles whose records to publish.")] = "open,paper",
    everything: Annotated[
        bool, typer.Option("--all", help="Also records whose settings are not the profile's own.")
    ] = False,
    withdraw: Annotated[
        bool,
        typer.Option("--withdraw", help="Take published records out that no row asks for."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Gather finished records into data/results, for git; what is published already stays."""
    from dataclasses import asdict

    from xlrepro.experiments import asked_for, keys_left_out
    from xlrepro.store import RecordStore

    if everything and withdraw:
        raise SettingsError("--all publishes what --withdraw takes out: name one of the two")
    chosen, profiles = chosen_experiments(experiments), parse_published(profile)
    store = RecordStore()
    keys: set[str] = set()
    for name in profiles:
        left_out = keys_left_out(name, store)
        for each in (e for e in chosen if name in e.profiles):
            keys |= asked_for(each, name, store)
            others = {key for key, of in left_out.items() if of == each.key}
            if withdraw and (count := store.withdraw(each.key, name, others)):
                path = store.published_path(each.key, name)
                say(f"{path}: {count} taken out, which no row asks for")
            if rest := others - store.published_keys(each.key, name):
                have = "record has" if len(rest) == 1 else "records have"
                said = f"{each.key} {name}: {len(rest)} {have} other settings than the profile"
                say(said + " today" + "; left out (--all publishes them)" * (not everything))
    sources = {name for each in chosen for name in each.trained_in}
    files = store.publish(sources, profiles, None if everything else keys)
    if as_json:
        print_json([{**asdict(file), "path": str(file.path)} for file in files])
        return
    for file in files:
        typer.echo(
            f"{file.path}: {file.added} added, {file.replaced} replaced, {file.total} in all"
        )
        if file.kept:
            say(f"warning: {file.kept} newer ones name no commit, and do not replace those that do")
        if file.dirty:
            say(f"warning: {file.dirty} of them ran on code that differs from their commit")
    if not files:
        typer.echo("no record to publish")


# ---- status, claims


def status(
    experiments: Experiments = None, profile: Profile = "open", as_json: AsJson = False
) -> None:
    """Show reported beside reproduced: every experiment on a line, or named ones cell by cell.

    A paper's name stands for all of its experiments.
    """
    from xlrepro.evidence.catalog import load_catalog
    from xlrepro.evidence.compare import compared_rows
    from xlrepro.evidence.reproduced import View, gather
    from xlrepro.experiments import (
        all_experiments,
        is_outdated,
        records_by_experiment,
        records_left_out,
        standing,
    )

    catalog = load_catalog()
    known = catalog.experiments
    papers = {name: [k for k in known if k.startswith(f"{name}/")] for name in experiments or ()}
    keys = list(dict.fromkeys(k for name, own in papers.items() for k in own or [name])) or [*known]
    for key in keys:
        catalog.experiment(key)
    built = all_experiments()
    records = records_by_experiment(keys, profile)
    numbers = {k: gather(of, stale=is_outdated) for k, of in records.items()}
    views = {key: View(key, profile, numbers[key]) for key in keys}
    cells = {key: compared_rows(view, experiment=built.get(key)) for key, view in views.items()}
    if as_json:
        print_json(cells)
    elif experiments:
        for rows in cells.values():
            print_table(_cells_table(rows))
    else:
        standings = {k: Counter(map(standing, of)) for k, of in records.items()}
        print_table(_overview(cells, standings, profile))
        for key, count in records_left_out(profile).items():
            typer.echo(
                f"{key}: {count} record{'s' * (count > 1)} with other settings or data than "
                f"{profile} has today {'are' if count > 1 else 'is'} not shown."
            )


def _table(title: str) -> "RichTable":
    from rich import box
    from rich.table import Table

    return Table(title=title, box=box.SIMPLE_HEAD)


def _overview(
    cells: dict[str, list[dict[str, Any]]], standings: "dict[str, Counter[str]]", profile: str
) -> "RichTable":
    """Return a line per experiment: cells by verdict, records by what became of their code."""
    from xlrepro.evidence.compare import VERDICTS, verdict_counts
    from xlrepro.experiments import STANDINGS, all_experiments

    title = f"Cells by verdict, records, profile {profile}"
    table = _table(title)
    table.add_column("experiment", no_wrap=True)
    for name in ("built", "cells", *VERDICTS, *STANDINGS):
        table.add_column(name, justify="right", min_width=5)
    for key, rows in cells.items():
        counts = verdict_counts(row["verdict"] for row in rows)
        built = "yes" if key in all_experiments() else "no"
        numbers = [len(rows), *counts.values(), *(standings[key][name] for name in STANDINGS)]
        table.add_row(key, built, *(str(n) if n else "·" for n in numbers))
    return table


def _cells_table(rows: list[dict[str, Any]]) -> "RichTable":
    """Return a comparison cell by cell."""
    from rich.text import Text

    from xlrepro.evidence.text import number

    ran = sum(row["n"] > 0 for row in rows)
    key, profile = (rows[0][name] if rows else "" for name in ("experiment", "profile"))
    table = _table(f"{key}, {profile}: {ran} of {len(rows)} cells run")
    numeric = ("reported", "reproduced", "low", "high", "n", "difference")
    for name in ("system", "column", *numeric, "verdict", "note"):
        justify: Any = "right" if name in numeric else "left"
        table.add_column(name, justify=justify, no_wrap=name != "note")
    for row in rows:
        shown = [number(row[name]) for name in ("reproduced", "low", "high")]
        verdict = Text(row["verdict"], style=STYLES.get(row["verdict"], ""))
        table.add_row(row["system"], row["column"], row["printed"], *shown, str(row["n"]),
                      number(row["difference"], signed=True), verdict, row["note"])  # fmt: skip
    return table


def claims(
    paper: Annotated[str | None, typer.Argument(metavar="[PAPER]")] = None,
    profile: Profile = "open",
    as_json: AsJson = False,
) -> None:
    """Judge the papers' claims on the printed numbers and on the reproduced ones."""
    from xlrepro.evidence.catalog import load_catalog
    from xlrepro.evidence.claims import Judge, conditions_of, judge_all, load_claims
    from xlrepro.experiments import own_numbers
    from xlrepro.store import RecordStore

    catalog, store = load_catalog(), RecordStore()
    content = []
    for key in catalog.papers if paper is None else [paper]:
        claims_of_paper = load_claims(key)
        numbers = own_numbers(list(catalog.of_paper(key)), [profile], store)
        wanted = conditions_of(key, [profile], numbers)
        verdicts = judge_all(claims_of_paper, wanted, Judge(numbers))
        for claim in claims_of_paper:
            judged = {label: _verdict(v) for label, v in verdicts[claim.id].items()}
            about = {"paper": key, "id": claim.id, "kind": claim.kind, "claim": claim.text}
            content.append({**about, "verdicts": judged})
    if as_json:
        print_json(content)
    else:
        print_table(_claims_table(content))


def _verdict(verdict: "ClaimVerdict | None") -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {
        "status": verdict.status,
        "share": verdict.share,
        "n": verdict.n,
        "seeds_true": verdict.alone,
        "decidable": verdict.decidable,
        "power": verdict.power,
        "compared": [{"text": text, "true": so} for text, so in verdict.compared],
        "missing": list(verdict.missing),
        "note": verdict.note,
    }


def _claims_table(content: list[dict[str, Any]]) -> "RichTable":
    from rich.text import Text

    labels = list(dict.fromkeys(label for row in content for label in row["verdicts"]))
    table = _table("Claims")
    for name in ("id", "kind", "claim", *labels):
        table.add_column(name, no_wrap=name in ("id", "kind"))
    for row in content:
        cells = [row["id"], row["kind"], row["claim"]]
        for label in labels:
            verdict = row["verdicts"].get(label)
            said = verdict["status"] if verdict else "–"
            share = verdict and verdict["share"]
            more = f" {100 * share:.0f} %" if share is not None and verdict["n"] else ""
            cells.append(Text(said + more, style=STYLES.get(said, "")))
        table.add_row(*cells)
    from xlrepro.evidence.claims import STATUSES

    own = [row for row in content if row["kind"] == "text"]
    counts = [
        f"{label}: {sum((r['verdicts'].get(label) or {}).get('status') == s for r in own)} {s}"
        for label in labels
        for s in STATUSES
    ]
    table.caption = "Of the authors' sentences: " + ", ".join(c for c in counts if ": 0 " not in c)
    return table


# ---- notebooks and the book


def batch(
    experiments: Experiments = None,
    profile: Profile = "smoke",
    jobs: Jobs = 2,
    seeds: Seeds = None,
    systems: Systems = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    scheduler: Scheduler = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="Set any other parameter."),
    ] = None,
    force: Annotated[bool, typer.Option(help="Run also what is up to date.")] = False,
) -> None:
    """Run notebooks through papermill; only those that changed."""
    from xlrepro.pages.notebooks import plan, run_batch

    given: dict[str, Any] = parse_overrides(parameters or [], "-p")
    numbers, names = parse_seeds(seeds), parse_names(systems)
    options = {
        "seeds": numbers and list(numbers),
        "systems": names and list(names),
        "device": device,
        "scheduler": scheduler,
    }
    for name, value in options.items():
        if value is not None and name in given:
            raise SettingsError(f"{name} is given twice, by --{name} and by -p: leave one out")
        given |= {name: value} if value is not None else {}
    made = run_batch(
        plan(experiments or None, profile, given), workers=jobs, force=force, report=say
    )
    counts = f"{len(made.done)} run, {len(made.reused)} up to date, {len(made.failed)} failed"
    say(f"notebooks: {counts}, {made.seconds:.0f} s")
    _tell_failed_notebooks(made.failed)


def book(
    run: Annotated[bool, typer.Option(help="First run the notebooks that changed.")] = True,
    profile: Annotated[str, typer.Option(help="Whose notebooks the book shows.")] = "smoke",
    jobs: Jobs = 2,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    serve: Annotated[bool, typer.Option("--serve", help="Serve it on this machine.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where --serve listens; 0: any that is free.")
    ] = 0,
) -> None:
    """Run what has changed and render the book; the last line is the page to open."""
    from xlrepro.pages.book import make, served

    page, failed = make(profile, jobs, run, say)
    if serve:
        with served(page.parent, port) as address, suppress(KeyboardInterrupt):
            typer.echo(f"{address}  (Ctrl-C ends it)")
            if show:
                webbrowser.open(address)
            threading.Event().wait()
        return
    typer.echo(str(page))
    if show:
        webbrowser.open(page.as_uri())
    _tell_failed_notebooks(failed)


def _tell_failed_notebooks(failed: dict[str, Path]) -> None:
    """Name the notebooks that failed, and end with status 1 if there are any."""
    for experiment, log in failed.items():
        say(f"failed: {experiment} (log: {log})")
    if failed:
        raise typer.Exit(1)


# ---- data


data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@data_app.command("list")
def list_data(as_json: AsJson = False) -> None:
    """List the registered data sets: title, licence, languages, how much of it is in the cache."""
    from xlrepro.data.registry import cached_path, list_datasets

    rows: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "title": entry.title,
            "licence": entry.licence,
            "redistributable": entry.redistributable,
            "languages": list(entry.languages),
            "files": len(entry.files),
            "cached": sum(cached_path(entry.name, file_id).is_file() for file_id in entry.files),
            "bytes": entry.bytes,
            "home": entry.home,
            "deviations": list(entry.deviations),
        }
        for entry in list_datasets()
    ]
    if as_json:
        print_json(rows)
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("title")
    table.add_column("licence", overflow="fold")
    table.add_column("pass on")
    for heading in ("lang.", "cached", "MB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        named = (str(row[name]) for name in ("name", "title", "licence"))
        free, languages = "yes" if row["redistributable"] else "no", str(len(row["languages"]))
        cached, size = f"{row['cached']}/{row['files']}", f"{row['bytes'] / 1e6:.1f}"
        table.add_row(*named, free, languages, cached, size)
    print_table(table)


@data_app.command()
def fetch(
    name: Annotated[str | None, typer.Argument(help="Name of a data set.")] = None,
    file_ids: Annotated[
        list[str] | None,
        typer.Argument(help="Files of it, such as en/train; without one, all."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch all data sets.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Bring files into the cache, from XLREPRO_MIRROR or else from upstream.

    Stops at the first file that cannot be had; what was fetched before stays.
    """
    from tqdm import tqdm

    from xlrepro.data import registry

    if (name is None) != everything:
        raise SettingsError("name a data set to fetch, or give --all, not both")
    for entry in registry.list_datasets() if name is None else [registry.dataset(name)]:
        wanted = file_ids or list(entry.files)
        for file_id in wanted:
            entry.file(file_id)
        one = len(wanted) == 1  # which has a bar of its own
        for file_id in tqdm(wanted, entry.name, unit="file", leave=False, disable=quiet or one):
            registry.fetch(entry.name, file_id, progress=not quiet and one)
        typer.echo(f"{entry.name}: {', '.join(file_ids or ['all files'])} in the cache")


@data_app.command()
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Data sets; without one, whatever is in the cache.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hash the cached files again and compare them with the registry.

    A wrong file is an error (exit status 1); so is a missing one of a data set that was named.
    """
    from xlrepro.data import registry

    chosen = [registry.dataset(name) for name in names] if names else registry.list_datasets()
    files_by_status: dict[str, list[str]] = {"ok": [], "missing": [], "wrong": []}
    for entry in chosen:
        for file_id in entry.files:
            status = registry.verify(entry.name, file_id)
            files_by_status[status].append(f"{entry.name} {file_id}")
    problems = files_by_status["wrong"] + (files_by_status["missing"] if names else [])
    if as_json:
        print_json(files_by_status)
    else:
        for problem in problems:
            status = "wrong" if problem in files_by_status["wrong"] else "missing"
            typer.echo(f"{status}: {problem}; repair with: xlrepro data fetch {problem}")
        typer.echo(", ".join(f"{len(files)} {status}" for status, files in files_by_status.items()))
    if problems:
        raise typer.Exit(1)


@data_app.command()
def path(
    name: Annotated[str, typer.Argument(help="Name of a data set, as `data list` shows it.")],
    file_id: Annotated[str, typer.Argument(help="Such as en/train.")],
) -> None:
    """Print where a file lies in the cache; fetch it if it is not there."""
    from xlrepro.data import registry

    typer.echo(registry.fetch(name, file_id))


# ---- the process


COMMANDS: dict[str, Callable[..., None]] = {  # in the order of the help
    "list": list_experiments,
    "run": run,
    "status": status,
    "claims": claims,
    "golden": golden,
    "publish": publish,
    "batch": batch,
    "book": book,
}


class _Commands(TyperGroup):
    """The commands; one that is interrupted says so, which typer would not."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise typer.Exit(_tell(interrupt)) from None


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"xlrepro {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Do the numbers and claims of five papers on cross-lingual transfer replicate?"""


def build_app() -> typer.Typer:
    """Return the application with all commands."""
    app = typer.Typer(
        cls=_Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # help in plain text: rich takes longer to load than the rest
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, command in COMMANDS.items():
        app.command(name)(command)
    app.add_typer(data_app, name="data", help="List, download, check and find the corpora.")
    return app


def _one_line(message: str) -> str:
    """Return an error's message on one line, as a terminal and a log both want it."""
    return "xlrepro: " + " ".join(message.split())


def _explain(error: typer.BadParameter) -> NoReturn:
    """Say what is wrong with the call and which help tells how it is meant; end with 2."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # a command group alone: its help says more than a line
    else:
        command = error.ctx.command_path if error.ctx else _called()
        wrong = error.format_message().strip().rstrip(".")
        print(_one_line(f"{wrong}; see {command} --help"), file=sys.stderr)
    sys.exit(2)


def _called() -> str:
    """Return the command that was called, ``xlrepro data list``: not every error names its own."""
    path, command = ["xlrepro"], typer.main.get_command(build_app())
    for word in sys.argv[1:]:
        if word not in (within := getattr(command, "commands", {})):
            break
        path, command = [*path, word], within[word]
    return " ".join(path)


def _tell(interrupt: BaseException) -> int:
    """Say what interrupted the command, and what is kept if it knows; return the exit status."""
    said = str(interrupt) or "interrupted"
    print(f"xlrepro: {said}", file=sys.stderr)
    terminated = said == TERMINATED or getattr(interrupt, "number", 0) == signal.SIGTERM
    return 143 if terminated else 130


def _drop_output() -> None:
    """Send what is still to be printed nowhere: Python prints it once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _ready() -> Iterator[list[int]]:
    """Make the process fit to run a command, whatever shell started it.

    SIGTERM, as a queueing system or a shutdown sends it, ends a command as Ctrl-C does. Folders
    that the environment names are made absolute: a child may work in another folder.

    Yields:
        a list that holds SIGTERM once it has come.

    Raises:
        SettingsError: if standard output is closed, and what would be printed would go into
            whatever file is opened next; if the working folder has been deleted.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise SettingsError("standard output is closed: send it to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a test's own stream has not
            stream.reconfigure(errors="backslashreplace" if stream is sys.stderr else "replace")
    try:
        os.getcwd()
    except FileNotFoundError:  # libraries of torch would end the process
        raise SettingsError("the working folder is gone: change to one that is there") from None
    for name in (f"XLREPRO_{each}" for each in FOLDERS):
        if (named := os.environ.get(name)) and "://" not in named:
            with suppress(RuntimeError):  # ~ of nobody: whoever uses it says so
                os.environ[name] = str(Path(named).expanduser().absolute())
    columns = os.environ.get("COLUMNS", "")
    if not columns.isdecimal() or len(columns) > 4 or int(columns) < FEWEST_COLUMNS:
        os.environ.pop("COLUMNS", None)  # rich would print nothing, or a letter a line
    terminated: list[int] = []

    def terminate(number: int, _: Any) -> NoReturn:
        terminated.append(number)
        raise KeyboardInterrupt(TERMINATED)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield terminated
    finally:
        signal.signal(signal.SIGTERM, before)


def main() -> None:
    """Run the command line and exit.

    Exit status: 0 done; 1 something ran and failed; 2 a mistake in the call, the settings or the
    data, explained in one line; 130 interrupted; 143 terminated.
    """
    try:
        with _ready() as terminated:
            try:
                status = build_app()(prog_name="xlrepro", standalone_mode=False)
            finally:
                sys.stdout.flush()
            sys.exit(143 if terminated else status)
    except UsageError as error:
        _explain(error)
    except XlreproError as error:
        print(_one_line(str(error)), file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort) as interrupt:
        sys.exit(_tell(interrupt))
    except BrokenPipeError:  # the reader of our output has gone (`xlrepro list | head -1`)
        _drop_output()
        sys.exit(1)
    except OSError as error:
        if error.filename is not None and error.errno in NOT_ALLOWED:
            print(f"xlrepro: {error.filename} cannot be used ({error.strerror})", file=sys.stderr)
            sys.exit(2)
        if error.errno not in NOT_WRITTEN or error.filename is not None:
            raise
        print(f"xlrepro: the output cannot be written ({error.strerror})", file=sys.stderr)
        _drop_output()
        sys.exit(2)
