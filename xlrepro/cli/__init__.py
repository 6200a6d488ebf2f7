"""The command line: ``xlrepro COMMAND``.

Commands import what they need inside them, never at the top: ``xlrepro --help`` answers at once
because nothing heavy is loaded. An error the user can act on is one line on stderr and exit
status 2.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from xlrepro import __version__
from xlrepro.cli.book import batch, book
from xlrepro.cli.commands import data_app, golden, list_experiments, publish, run
from xlrepro.cli.evidence import claims, status
from xlrepro.errors import SettingsError, XlreproError

# Newer typers bring their own click and name few of its errors: this is the one of a wrong call.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__mro__[1])

FEWEST_COLUMNS = 20
TERMINATED = "terminated"
# What a write to a full disk or a closed terminal says, and a file that may not be touched.
NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EBADF, errno.EIO)
NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT)
FOLDERS = ("HOME", "BUILD", "DATA", "SUPPLIED", "MIRROR")  # that XLREPRO_… name

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
