"""``xlrepro batch`` and ``book``: run notebooks, render the book."""

import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from xlrepro.cli.arguments import parse_names, parse_overrides, parse_seeds
from xlrepro.errors import SettingsError

Jobs = Annotated[int, typer.Option(help="Notebooks at a time.")]


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
        plan(experiments or None, profile, given), workers=jobs, force=force, report=_line
    )
    counts = f"{len(made.done)} run, {len(made.reused)} up to date, {len(made.failed)} failed"
    _line(f"notebooks: {counts}, {made.seconds:.0f} s")
    _end(made.failed)


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

    page, failed = make(profile, jobs, run, _line)
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
    _end(failed)


def _end(failed: dict[str, Path]) -> None:
    """Name the notebooks that failed, and end with status 1 if there are any."""
    for experiment, log in failed.items():
        _line(f"failed: {experiment} (log: {log})")
    if failed:
        raise typer.Exit(1)


def _line(text: str) -> None:
    typer.echo(text, err=True)
