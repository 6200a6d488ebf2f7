"""``xlrepro list``, ``run`` and ``publish``: what can be run, running it, keeping the numbers."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.arguments import (
    chosen_experiments,
    parse_names,
    parse_overrides,
    parse_published,
    parse_seeds,
    trials_of,
)
from xlrepro.cli.printing import AsJson, print_json
from xlrepro.errors import SettingsError

if TYPE_CHECKING:
    from xlrepro.engine import Plan, RunSummary
    from xlrepro.evidence.catalog import CatalogEntry
    from xlrepro.store import PublishedFile, RecordStore
    from xlrepro.trials import Record, Trial
    from xlrepro.trials.experiment import Experiment


def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments: what each computes, its profiles, its cost and its records."""
    from xlrepro.evidence.catalog import load_catalog
    from xlrepro.experiments import all_experiments, all_own_records

    catalog = load_catalog()
    counts = Counter((record.experiment, record.profile) for record in all_own_records())
    experiments = all_experiments().items()
    rows = [_listing(each, catalog.experiment(key), counts) for key, each in experiments]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.secho(row["key"], bold=True, nl=False)
        typer.echo(f"  {row['title']}\n    {row['question']}")
        for name, profile in row["profiles"].items():
            cost = f"  {profile['cost']}" if profile["cost"] else ""
            typer.echo(f"    {name:6} {profile['records']:4d} records{cost}")


def _listing(
    experiment: "Experiment", entry: "CatalogEntry", counts: "Counter[tuple[str, str]]"
) -> dict[str, Any]:
    return {
        "key": experiment.key,
        "title": entry.heading,
        "question": entry.question,
        "ours": entry.ours,
        "systems": [system.identifier for system in experiment.systems],
        "columns": list(experiment.columns),
        "profiles": {
            profile: {
                "cost": experiment.cost.get(profile, ""),
                "default_seeds": list(experiment.default_seeds.get(profile, (0,))),
                "records": counts[experiment.key, profile],
            }
            for profile in experiment.profiles
        },
    }


def run(
    experiments: Annotated[
        list[str],
        typer.Argument(metavar="EXPERIMENT...", help="word_order/table2, or a whole paper."),
    ],
    profile: Annotated[str, typer.Option(help="smoke, open or paper.")] = "smoke",
    seeds: Annotated[
        str | None, typer.Option(help="0,1,2 or 0-4; default: the profile's own.")
    ] = None,
    systems: Annotated[
        str | None, typer.Option(help="ORT,word:TRS or word:*; default: the experiment's own.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    jobs: Annotated[int | None, typer.Option(help="Trials at a time; default: all cores.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a running Dask cluster, tcp://host:8786.")
    ] = None,
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
    """Run the trials of experiments that have no record yet; safe to interrupt and to repeat."""
    from xlrepro.engine import check_call, plan_trials, run_trials
    from xlrepro.machine import git_state
    from xlrepro.store import RecordStore

    check_call(device, jobs, scheduler, per_gpu)
    chosen = chosen_experiments(experiments)
    overrides = parse_overrides(settings or [])
    names, numbers = parse_names(systems), parse_seeds(seeds)
    trials = [t for each in chosen for t in trials_of(each, profile, names, numbers, overrides)]
    store = RecordStore()
    repeated = {trial.key for trial in trials} if again else set()
    earlier = {t.key: record for t in trials if t.key in repeated and (record := store.get(t))}
    plan = plan_trials(trials, store, repeated)
    if dry_run:
        _print_plan(plan, as_json)
        return
    if plan.outdated:
        typer.echo(
            f"{len(plan.outdated)} of the trials have an outdated record, and run again: their "
            "task's version or their data is another now",
            err=True,
        )
    if plan.pending and (reason := git_state().reason):
        typer.echo(f"the records will name no commit: {reason}", err=True)
    summary = run_trials(
        trials,
        store=store,
        device=device,
        jobs=jobs,
        scheduler=scheduler,
        per_gpu=per_gpu,
        again=repeated,
    )
    for record in summary.done if earlier and not as_json else ():
        if record.key in earlier:
            typer.echo(f"{record.trial.label}: {_moved(earlier[record.key], record)}")
    _print_summary(summary, as_json)
    raise typer.Exit(1 if summary.failed else 0)


def tell_failures(summary: "RunSummary") -> None:
    """Print a line on each trial that failed, and where its log is."""
    for failure in summary.failed:
        typer.echo(
            f"failed: {failure.trial.label}: {failure.reason}\n  log: {failure.log}", err=True
        )


def _moved(before: "Record", now: "Record") -> str:
    """Return how far the numbers of a repeated trial are from those it had, and what changed."""
    old = {(cell.system, cell.column): cell.value for cell in before.cells}
    new = {(cell.system, cell.column): cell.value for cell in now.cells}
    moves = {place: abs(value - old[place]) for place, value in new.items() if place in old}
    count = sum(map(bool, moves.values()))
    if not moves:
        return "no number that was there before"
    if not count:
        others = len(new.keys() ^ old.keys())
        return f"the same {len(moves)} numbers as before" + f", {others} came or went" * bool(
            others
        )
    place = max(moves, key=lambda each: moves[each])
    return (
        f"{count} of {len(moves)} numbers moved, most of all {' / '.join(place)}: "
        f"{old[place]:.4g} before, {new[place]:.4g} now ({_suspects(before, now)})"
    )


def _suspects(before: "Record", now: "Record") -> str:
    """Return what may have moved the numbers of a trial: its code, data, artefacts, machine."""
    shared = before.artefacts.keys() & now.artefacts.keys()
    packages = [
        name
        for name in sorted(before.versions.keys() & now.versions.keys() - {"xlrepro"})
        if before.versions[name] != now.versions[name]
    ]
    suspects = []
    if before.git != now.git or now.git.dirty:
        suspects.append("other code")
    if any(before.data[name] != now.data[name] for name in before.data.keys() & now.data.keys()):
        suspects.append("other data")
    if any(before.artefacts[name] != now.artefacts[name] for name in shared):
        suspects.append("other vectors or pretrained models")
    if packages:
        suspects.append(f"other versions of {', '.join(packages)}")
    if before.device != now.device:
        suspects.append(f"another machine, {before.device} before")
    return "; ".join(suspects) or "the same code and machine: it does not repeat"


def _print_plan(plan: "Plan", as_json: bool) -> None:
    rows = [
        _trial_row(trial, "outdated, to run" if trial.key in plan.outdated else "to run")
        for trial in plan.pending
    ]
    for record in plan.reused:
        rows.append(_trial_row(record.trial, "has a record"))
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(f"{row['key'][:12]}  {row['state']:18}  {row['label']}")
    typer.echo(f"{len(plan.pending)} trials to run, {len(plan.reused)} have a record")


def _trial_row(trial: "Trial", state: str) -> dict[str, Any]:
    return {"key": trial.key, "label": trial.label, "seed": trial.seed, "state": state}


def _print_summary(summary: "RunSummary", as_json: bool) -> None:
    if as_json:
        content = {
            "done": [record.key for record in summary.done],
            "reused": [record.key for record in summary.reused],
            "failed": [
                {"key": f.trial.key, "label": f.trial.label, "reason": f.reason, "log": str(f.log)}
                for f in summary.failed
            ],
            "seconds": round(summary.seconds, 3),
        }
        print_json(content)
        return
    tell_failures(summary)
    typer.echo(summary.line)


def publish(
    experiments: Annotated[list[str] | None, typer.Argument(metavar="[EXPERIMENT...]")] = None,
    profile: Annotated[str, typer.Option(help="Profiles whose records to publish.")] = "open,paper",
    everything: Annotated[
        bool, typer.Option("--all", help="Also records whose settings are not the profile's own.")
    ] = False,
    withdraw: Annotated[
        bool,
        typer.Option(
            "--withdraw", help="Take published records out that no preset asks for any more."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Gather finished records into data/results, for git; what is published already stays."""
    from xlrepro.store import RecordStore

    if everything and withdraw:
        raise SettingsError("--all publishes what --withdraw takes out: name one of the two")
    chosen, profiles = chosen_experiments(experiments), parse_published(profile)
    store = RecordStore()
    if withdraw:
        _withdraw(chosen, profiles, store)
    keys = None if everything else _preset_keys(chosen, profiles, store)
    sources = {name for each in chosen for name in each.trained_in}
    files = store.publish(sources, profiles, keys)
    _print_published(files, as_json)


def _preset_keys(
    experiments: "list[Experiment]", profiles: tuple[str, ...], store: "RecordStore"
) -> set[str]:
    """Return the keys of records that the experiments' own presets ask for; report the others."""
    from xlrepro.experiments import asked_for, keys_left_out

    keys: set[str] = set()
    for profile in profiles:
        left_out = keys_left_out(profile, store)
        for each in (e for e in experiments if profile in e.profiles):
            keys |= asked_for(each, profile, store)
            others = {key for key, of in left_out.items() if of == each.key}
            others -= store.published_keys(each.key, profile)
            if others:
                records, have, are = (
                    ("record", "has", "is") if len(others) == 1 else ("records", "have", "are")
                )
                typer.echo(
                    f"{each.key} {profile}: {len(others)} {records} {have} other settings or data "
                    f"than the profile today and {are} left out (--all publishes what is left out)",
                    err=True,
                )
    return keys


def _withdraw(
    experiments: "list[Experiment]", profiles: tuple[str, ...], store: "RecordStore"
) -> None:
    """Take out published records that no experiment's preset asks for, and say how many."""
    from xlrepro.experiments import keys_left_out

    for profile in profiles:
        left_out = keys_left_out(profile, store)
        for each in experiments:
            keys = [key for key, of in left_out.items() if of == each.key]
            if keys and (count := store.withdraw(each.key, profile, keys)):
                path = store.published_path(each.key, profile)
                typer.echo(f"{path}: {count} taken out, which no preset asks for", err=True)


def _print_published(files: "list[PublishedFile]", as_json: bool) -> None:
    rows = [{**asdict(each), "path": str(each.path)} for each in files]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(
            f"{row['path']}: {row['added']} added, {row['replaced']} replaced, "
            f"{row['total']} in all"
        )
        if row["dirty"]:
            typer.echo(
                f"warning: {row['dirty']} of them ran on sources that differ from their commit",
                err=True,
            )
    if not rows:
        typer.echo("no record to publish")
