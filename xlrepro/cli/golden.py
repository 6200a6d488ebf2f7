"""``xlrepro golden``: compare today's smoke numbers with those of the last accepted commit."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from xlrepro.cli.arguments import chosen_experiments
from xlrepro.cli.printing import AsJson, print_json
from xlrepro.cli.runs import tell_failures

if TYPE_CHECKING:
    from xlrepro.evidence.golden import Difference
    from xlrepro.store import RecordStore
    from xlrepro.trials import Trial


def golden(
    experiments: Annotated[list[str] | None, typer.Argument(metavar="[EXPERIMENT...]")] = None,
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
    from xlrepro.evidence import golden as files
    from xlrepro.evidence.golden import fresh_numbers
    from xlrepro.experiments import own_records
    from xlrepro.store import RecordStore

    chosen = [each for each in chosen_experiments(experiments) if "smoke" in each.profiles]
    store = RecordStore()
    compare = partial(files.update, smoke_alone=smoke_alone) if update else files.check
    if run:
        _run_smoke([t for each in chosen for t in each.trials("smoke")], store)
    differences: list[Difference] = []
    for each in chosen:
        trials = each.trials("smoke")
        numbers = fresh_numbers(own_records(each.key, "smoke", store), keys={t.key for t in trials})
        differences += compare(each.key, numbers, {t.task: t.version for t in trials})
    _print_differences(differences, [each.key for each in chosen], update, as_json)
    raise typer.Exit(1 if differences and not update else 0)


def _run_smoke(trials: "Sequence[Trial]", store: "RecordStore") -> None:
    from xlrepro.engine import run_trials
    from xlrepro.evidence.golden import off_cpu

    again = off_cpu(store.get(trial) for trial in trials)
    summary = run_trials(trials, store=store, device="cpu", again=again)
    tell_failures(summary)
    if summary.failed:
        raise typer.Exit(1)


def _print_differences(
    differences: "list[Difference]", keys: list[str], update: bool, as_json: bool
) -> None:
    if as_json:
        from dataclasses import asdict

        print_json([asdict(d) for d in differences])
        return
    for difference in differences:
        typer.echo(str(difference))
    if update:
        typer.echo(f"{len(keys)} golden files written, {len(differences)} numbers moved")
    elif differences:
        typer.echo(
            f"{len(differences)} numbers differ from the golden ones in {len(keys)} experiments"
        )
    else:
        typer.echo(f"golden numbers hold in {len(keys)} experiments: {', '.join(keys)}")
