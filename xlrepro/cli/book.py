"""``xlrepro batch`` and ``book``: run notebooks in processes of their own, render the book."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.runs import parse_names, parse_seeds

if TYPE_CHECKING:
    from xlrepro.book.batch import BatchSummary

Jobs = Annotated[int, typer.Option(help="Notebooks at a time.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("batch")(batch)
    app.command("book")(book)


def batch(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EXPERIMENT...]", help="word_order/table2, or a whole paper."),
    ] = None,
    profile: Annotated[str, typer.Option(help="smoke, open or paper.")] = "smoke",
    jobs: Jobs = 2,
    seeds: Annotated[str | None, typer.Option(help="0,1,2 or 0-4.")] = None,
    systems: Annotated[str | None, typer.Option(help="ORT,word:TRS or word:*.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu or cuda.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a running Dask cluster, tcp://host:8786.")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="Set any other parameter."),
    ] = None,
    force: Annotated[bool, typer.Option(help="Run also what is up to date.")] = False,
) -> None:
    """Run notebooks through papermill, each in its own process; only those that changed."""
    from xlrepro.book.batch import plan, run_batch
    from xlrepro.book.parameters import parse_assignments

    given: dict[str, Any] = parse_assignments(parameters or [])
    numbers, names = parse_seeds(seeds), parse_names(systems)
    given |= {"seeds": list(numbers)} if numbers else {}
    given |= {"systems": list(names)} if names else {}
    given |= {"device": device} if device is not None else {}
    given |= {"scheduler": scheduler} if scheduler is not None else {}
    planned = plan(experiments or None, profile, given, workers=jobs)
    _close(run_batch(planned, workers=jobs, force=force, report=_line))


def book(
    run: Annotated[bool, typer.Option(help="First run the notebooks that changed.")] = True,
    profile: Annotated[str, typer.Option(help="Whose notebooks the book shows.")] = "smoke",
    jobs: Jobs = 2,
) -> None:
    """Run what has changed and render the book; the last line is the page to open."""
    from xlrepro.book.assemble import assemble
    from xlrepro.book.batch import plan, run_batch
    from xlrepro.book.build import render

    failed: dict[str, Path] = {}
    if run:
        summary = run_batch(plan(None, profile, workers=jobs), workers=jobs, report=_line)
        _summarise(summary)
        failed = summary.failed
    _line("rendering the book")
    page = render(assemble(profile))
    typer.echo(str(page))
    if failed:
        raise typer.Exit(1)


def _line(text: str) -> None:
    typer.echo(text, err=True)


def _close(summary: "BatchSummary") -> None:
    _summarise(summary)
    if summary.failed:
        raise typer.Exit(1)


def _summarise(summary: "BatchSummary") -> None:
    counts = f"{len(summary.done)} run, {len(summary.reused)} up to date"
    _line(f"notebooks: {counts}, {len(summary.failed)} failed, {summary.seconds:.0f} s")
    for experiment, log in summary.failed.items():
        _line(f"failed: {experiment} (log: {log})")
