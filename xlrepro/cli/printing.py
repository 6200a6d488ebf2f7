"""Tables on a terminal, in a pipe and in a file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def print_table(table: "Table") -> None:
    """Print a table; a file or a pipe, which has no width of its own, gets 200 columns."""
    from rich.console import Console

    console = Console()
    (console if console.is_terminal else Console(width=200)).print(table)
