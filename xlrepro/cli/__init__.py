"""The command line: ``xlrepro COMMAND``.

Each module here adds its commands to one application. A module imports what its commands need
inside them, never at its top: ``xlrepro --help`` answers at once because nothing heavy is loaded.
An error the user can act on is one line on stderr and exit status 2.
"""

import os
import sys
from typing import Annotated, NoReturn

import typer

from xlrepro import __version__
from xlrepro.cli import book, checks, data, evidence, machine, runs
from xlrepro.errors import XlreproError


def _print_version(asked: bool) -> None:
    if asked:
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
    """Do the numbers and claims of five papers on cross-lingual transfer come back?"""


def build_app() -> typer.Typer:
    """Return the application with the commands of every module in this package."""
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for module in (runs, evidence, book, checks, machine):
        module.register(app)
    app.add_typer(data.app, name="data", help="List, download, check and find the corpora.")
    return app


def _one_line(error: XlreproError) -> str:
    """Return the error's message on one line, as a terminal and a log both want it."""
    return "xlrepro: " + " ".join(str(error).split())


def _leave_quietly() -> NoReturn:
    """End after the reader of our output has gone (``xlrepro list | head -1``)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def main() -> None:
    """Run the command line and exit.

    Exit status: 0 done; 1 something ran and failed; 2 a mistake in the call, the settings or the
    data, explained in one line; 130 interrupted.
    """
    try:
        try:
            build_app()()
        finally:
            sys.stdout.flush()
    except XlreproError as error:
        print(_one_line(error), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        _leave_quietly()
