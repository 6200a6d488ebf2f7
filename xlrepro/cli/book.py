"""``xlrepro batch`` and ``book``: run notebooks in processes of their own, render the book."""

import subprocess
import sys
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.arguments import parse_names, parse_overrides, parse_seeds
from xlrepro.errors import SettingsError

if TYPE_CHECKING:
    from xlrepro.book.notebooks.batch import Job

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
    """Run notebooks through papermill, each in its own process; only those that changed."""
    from xlrepro.book.notebooks.batch import plan

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
    if _run_notebooks(plan(experiments or None, profile, given), jobs, force):
        raise typer.Exit(1)


def book(
    run: Annotated[bool, typer.Option(help="First run the notebooks that changed.")] = True,
    profile: Annotated[str, typer.Option(help="Whose notebooks the book shows.")] = "smoke",
    jobs: Jobs = 2,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve it on this machine; render and show what changes."),
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where --serve listens; 0: any that is free.")
    ] = 0,
) -> None:
    """Run what has changed and render the book; the last line is the page to open."""
    page, failed = _made(profile, jobs, run)
    if serve:
        _serve(page.parent, ["--profile", profile, "--jobs", str(jobs)], port, show)
        return
    typer.echo(str(page))
    if show:
        webbrowser.open(page.as_uri())
    if failed:
        raise typer.Exit(1)


def _made(profile: str, jobs: int, run: bool) -> tuple[Path, dict[str, Path]]:
    """Return the page to open, made again if need be, and the notebooks that failed."""
    from xlrepro.book.build import current_page, everything
    from xlrepro.book.notebooks.batch import check_profile, plan

    check_profile(profile)
    page = current_page(everything(profile)) if run else None
    if page is not None:
        _line("nothing has changed since the book was rendered")
        return page, {}
    failed = _run_notebooks(plan(None, profile), jobs) if run else {}
    _line("rendering the book")
    return _render(profile, complete=run and not failed), failed


def _serve(folder: Path, options: list[str], port: int, show: bool) -> None:
    """Serve the book until the user stops it; make it again, in a process with today's code."""
    from xlrepro.book.serve import Made, rebuild_on_change, served

    made = Made()

    def rebuild() -> None:
        subprocess.run([sys.executable, "-m", "xlrepro", "book", *options], check=False)
        made.tell()

    with served(folder, port, made) as address:
        typer.echo(f"{address}  (Ctrl-C ends it)")
        if show:
            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            rebuild_on_change(rebuild, _line, threading.Event())


def _run_notebooks(planned: "list[Job]", jobs: int, force: bool = False) -> dict[str, Path]:
    """Run notebooks, say what became of them, and return the logs of those that failed."""
    from xlrepro.book.notebooks.batch import run_batch

    summary = run_batch(planned, workers=jobs, force=force, report=_line)
    counts = f"{len(summary.done)} run, {len(summary.reused)} up to date"
    _line(f"notebooks: {counts}, {len(summary.failed)} failed, {summary.seconds:.0f} s")
    for experiment, log in summary.failed.items():
        _line(f"failed: {experiment} (log: {log})")
    return summary.failed


def _render(profile: str, complete: bool) -> Path:
    """Render the book and return the page to open; a complete one need not be made again."""
    from xlrepro.book.assemble import assemble
    from xlrepro.book.build import book_dir, everything, mark_current, render, unmark
    from xlrepro.book.lock import only_one

    with only_one(book_dir(), "renders the book", _line):
        digest = everything(profile)
        unmark()
        page = render(assemble(profile))
        if complete:
            mark_current(digest)
    return page


def _line(text: str) -> None:
    typer.echo(text, err=True)
