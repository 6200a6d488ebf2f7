"""The command line: ``xlrepro COMMAND``.

Each module here adds its commands to one application. A module imports what its commands need
inside them, never at its top: ``xlrepro --help`` answers at once because nothing heavy is loaded.
An error the user can act on is one line on stderr and exit status 2.
"""

import os
import sys
from typing import Annotated, NoReturn, cast

import typer

from xlrepro import __version__
from xlrepro.cli import book, checks, data, evidence, golden, machine, runs
from xlrepro.errors import XlreproError

# Newer typers bring their own click and name few of its errors: this is the one of a wrong call.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__mro__[1])


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
    for module in (runs, evidence, golden, book, checks, machine):
        module.register(app)
    app.add_typer(data.app, name="data", help="List, download, check and find the corpora.")
    return app


def _one_line(message: str) -> str:
    """Return an error's message on one line, as a terminal and a log both want it."""
    return "xlrepro: " + " ".join(message.split())


def _explain(error: typer.BadParameter) -> NoReturn:
    """Say what is wrong with the call and which help tells how it is meant; end with 2."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # a command group alone: its help says more than a line
    else:
        command = error.ctx.command_path if error.ctx else "xlrepro"
        wrong = error.format_message().strip().rstrip(".")
        print(_one_line(f"{wrong}; see {command} --help"), file=sys.stderr)
    sys.exit(2)


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
            sys.exit(build_app()(prog_name="xlrepro", standalone_mode=False))
        finally:
            sys.stdout.flush()
    except UsageError as error:
        _explain(error)
    except XlreproError as error:
        print(_one_line(str(error)), file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        _leave_quietly()
