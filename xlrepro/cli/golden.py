"""``xlrepro golden``: compare today's smoke numbers with those of the last accepted commit."""

import os
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.arguments import chosen_experiments
from xlrepro.cli.printing import AsJson, print_json
from xlrepro.cli.runs import tell_failures

if TYPE_CHECKING:
    from xlrepro.evidence.golden import Difference
    from xlrepro.trials.experiment import Experiment
    from xlrepro.trials.store import RecordStore
    from xlrepro.trials.trial import Trial


def golden(
    experiments: Annotated[list[str] | None, typer.Argument(metavar="[EXPERIMENT...]")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the golden files and print what moved.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="With --update: those of all experiments.")
    ] = False,
    run: Annotated[
        bool, typer.Option(help="Run smoke trials that have no record of today's code.")
    ] = True,
    turned_down: Annotated[
        bool,
        typer.Option(
            "--turned-down",
            help="Run one trial per task and encoder again without vector instructions.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare today's smoke numbers with the golden ones; exit status 1 where they differ."""
    if update and turned_down:
        raise typer.BadParameter("--turned-down compares: leave out --update")
    if update and not experiments and not everything:
        raise typer.BadParameter("--update runs trials: name experiments, or give --all")
    from xlrepro.evidence import golden as files
    from xlrepro.trials.store import RecordStore

    chosen = [each for each in chosen_experiments(experiments) if "smoke" in each.profiles]
    if turned_down:
        _check_turned_down(chosen, as_json, whole=not experiments)
        return
    store, compare = RecordStore(), files.update if update else files.check
    if run:
        _run_smoke([t for each in chosen for t in each.trials("smoke")], store)
    differences: list[Difference] = []
    for each in chosen:
        numbers = _numbers(each, store, {t.key for t in each.trials("smoke")})
        differences += compare(each.key, numbers)
    _print_differences(differences, [each.key for each in chosen], update, as_json)
    raise typer.Exit(1 if differences and not update else 0)


def _numbers(each: "Experiment", store: "RecordStore", keys: Collection[str]) -> Any:
    from xlrepro.evidence.golden import fresh_numbers
    from xlrepro.experiments import own_records

    return fresh_numbers(own_records(each.key, "smoke", store), keys=keys)


def _run_smoke(trials: "Sequence[Trial]", store: "RecordStore") -> None:
    from xlrepro.evidence.golden import off_cpu
    from xlrepro.trials.engine.running import run_trials

    again = off_cpu(store.get(trial.key) for trial in trials)
    summary = run_trials(trials, store=store, device="cpu", rerun_stale=True, again=again)
    tell_failures(summary)
    if summary.failed:
        raise typer.Exit(1)


def _check_turned_down(chosen: "Sequence[Experiment]", as_json: bool, whole: bool) -> None:
    """Compare one trial per task and encoder, run without vector instructions.

    Some of them run in single precision too, with and without: if none of those differs in a
    ``whole`` run, nothing was turned down and the comparison says nothing. Both end with status 1.
    """
    from xlrepro.evidence.golden import MOVED, check
    from xlrepro.trials.numerics import TURNED_DOWN
    from xlrepro.trials.store import RecordStore

    some = one_of_each([t for each in chosen for t in each.trials("smoke")])
    probes = in_single_precision(some)
    with tempfile.TemporaryDirectory() as folder:
        native = RecordStore(Path(folder) / "native")
        _run_smoke(probes, native)
        os.environ |= TURNED_DOWN  # of the worker processes, which start from here on
        store = RecordStore(Path(folder) / "turned-down")
        _run_smoke([*some, *probes], store)
        apart: list[Difference] = []
        for each in chosen:
            keys = {t.key for t in some if t.experiment == each.key}
            if keys:
                numbers = _numbers(each, store, keys)
                apart += [d for d in check(each.key, numbers) if d.kind == MOVED]
        moved = [t for t in probes if _numbers_of(t, native) != _numbers_of(t, store)]
    typer.echo(f"turned down: {', '.join(f'{k}={v}' for k, v in TURNED_DOWN.items())}", err=True)
    typer.echo(f"{len(some)} trials in double precision, {len(apart)} numbers differ", err=True)
    typer.echo(f"{len(probes)} in single precision, {len(moved)} trials differ", err=True)
    _print_differences(apart, list(dict.fromkeys(t.experiment for t in some)), False, as_json)
    raise typer.Exit(1 if apart or (whole and not moved) else 0)


def one_of_each(trials: "Sequence[Trial]") -> "list[Trial]":
    """Return the first trial of each task and encoder.

    What tells encoders apart are the words of the settings ``encoder`` or ``model``, not switches
    and sizes; where there is neither, the system.
    """
    chosen: dict[Any, Trial] = {}
    for trial in trials:
        settings = trial.settings.get("training", trial.settings)
        parts = _parts(settings) or {"system": trial.systems[0]}
        words = sorted((k, v) for k, v in parts.items() if isinstance(v, str))
        chosen.setdefault((trial.task, *words, settings.get("fine_tune")), trial)
    return list(chosen.values())


def _parts(settings: dict[str, Any]) -> dict[str, Any]:
    networks = [settings[name] for name in ("encoder", "model") if name in settings]
    return next((parts for parts in networks if isinstance(parts, dict)), {})


def in_single_precision(trials: "Sequence[Trial]") -> "list[Trial]":
    """Return a trial of each task that trains a model in double precision, in single instead."""
    from xlrepro.trials.trial import canonical_json

    double = [t for t in trials if t.settings.get("precision") == "double"]
    last = {t.task: t for t in double if _parts(t.settings)}
    return [
        replace(t, settings_json=canonical_json({**t.settings, "precision": "single"}))
        for t in last.values()
    ]


def _numbers_of(trial: "Trial", store: "RecordStore") -> Any:
    """Return cells and details of a trial's record: details hold the losses, which move first."""
    record = store.get(trial.key)
    return record and (record.cells, record.details)


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
