"""``xlrepro list``, ``run``, ``golden``, ``publish`` and ``data``."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.arguments import (
    Experiments,
    Profile,
    Scheduler,
    Seeds,
    Systems,
    chosen_experiments,
    parse_names,
    parse_overrides,
    parse_published,
    parse_seeds,
)
from xlrepro.cli.printing import AsJson, print_json, print_table, say
from xlrepro.errors import SettingsError

if TYPE_CHECKING:
    from xlrepro.engine import RunSummary
    from xlrepro.trials import Record, Trial


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
        rows = [
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


data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@data_app.command("list")
def list_data(as_json: AsJson = False) -> None:
    """List the registered data sets: title, licence, languages, how much of it is in the cache."""
    from xlrepro.data.registry import cached_path, list_datasets

    rows = [
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
