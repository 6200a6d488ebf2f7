"""What commands print: tables on a terminal, in a pipe and in a file; JSON for machines."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table as RichTable

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a machine.")]


def print_table(table: "RichTable") -> None:
    """Print a table; a file or a pipe, which has no width of its own, gets 200 columns."""
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=200)).print(table)


def print_json(content: Any) -> None:
    """Print what a machine reads."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=1))


def say(text: str) -> None:
    """Print a line to the standard error."""
    typer.echo(text, err=True)
