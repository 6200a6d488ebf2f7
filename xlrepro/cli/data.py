"""``xlrepro data``: list, fetch and verify the registered data sets."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.printing import AsJson, print_json, print_table

if TYPE_CHECKING:
    from xlrepro.data.registry import Dataset

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(help="Name of a data set, as `data list` shows it.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the registered data sets: title, licence, languages, how much of it is in the cache."""
    from xlrepro.data.registry import list_datasets

    rows = [_summary(entry) for entry in list_datasets()]
    if as_json:
        print_json(rows)
    else:
        _print_table(rows)


@app.command()
def fetch(
    name: Annotated[str | None, typer.Argument(help="Name of a data set.")] = None,
    file_ids: Annotated[
        list[str] | None,
        typer.Argument(help="Files of it, such as en/train; without one, all."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch all data sets.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Bring files into the cache, from XLREPRO_MIRROR or else from upstream.

    Stops at the first file that cannot be had; what was fetched before stays.
    """
    from xlrepro.data import registry
    from xlrepro.errors import SettingsError

    if (name is None) != everything:
        raise SettingsError("name a data set to fetch, or give --all, not both")
    chosen = registry.list_datasets() if name is None else [registry.dataset(name)]
    for entry in chosen:
        wanted = file_ids or list(entry.files)
        for file_id in wanted:
            entry.file(file_id)
        for file_id in _progress(wanted, entry.name, shown=not quiet):
            registry.fetch(entry.name, file_id, progress=not quiet and len(wanted) == 1)
        typer.echo(f"{entry.name}: {', '.join(file_ids or ['all files'])} in the cache")


@app.command()
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Data sets; without one, whatever is in the cache.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Hash the cached files again and compare them with the registry.

    A wrong file is an error (exit status 1); so is a missing one of a data set that was named.
    """
    from xlrepro.data import registry

    chosen = [registry.dataset(name) for name in names] if names else registry.list_datasets()
    files_by_status: dict[str, list[str]] = {"ok": [], "missing": [], "wrong": []}
    for entry in chosen:
        for file_id in entry.files:
            status = registry.verify(entry.name, file_id)
            files_by_status[status].append(f"{entry.name} {file_id}")
    problems = files_by_status["wrong"] + (files_by_status["missing"] if names else [])
    if as_json:
        print_json(files_by_status)
    else:
        for problem in problems:
            status = "wrong" if problem in files_by_status["wrong"] else "missing"
            typer.echo(f"{status}: {problem}; repair with: xlrepro data fetch {problem}")
        typer.echo(", ".join(f"{len(files)} {status}" for status, files in files_by_status.items()))
    if problems:
        raise typer.Exit(1)


@app.command()
def path(
    name: NameArgument, file_id: Annotated[str, typer.Argument(help="Such as en/train.")]
) -> None:
    """Print where a file lies in the cache; fetch it if it is not there."""
    from xlrepro.data import registry

    typer.echo(registry.fetch(name, file_id))


def _summary(entry: "Dataset") -> dict[str, Any]:
    from xlrepro.data import registry

    cached = sum(registry.cached_path(entry.name, file_id).is_file() for file_id in entry.files)
    return {
        "name": entry.name,
        "title": entry.title,
        "licence": entry.licence,
        "redistributable": entry.redistributable,
        "languages": list(entry.languages),
        "files": len(entry.files),
        "cached": cached,
        "bytes": entry.bytes,
        "home": entry.home,
        "deviations": list(entry.deviations),
    }


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("title")
    table.add_column("licence", overflow="fold")
    table.add_column("pass on")
    for heading in ("lang.", "cached", "MB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["name"],
            row["title"],
            row["licence"],
            "yes" if row["redistributable"] else "no",
            str(len(row["languages"])),
            f"{row['cached']}/{row['files']}",
            f"{row['bytes'] / 1e6:.1f}",
        )
    print_table(table)


def _progress(file_ids: list[str], name: str, shown: bool) -> Any:
    """Show a bar over the files of a data set; a single file has its own."""
    from tqdm import tqdm

    return tqdm(
        file_ids, desc=name, unit="file", leave=False, disable=not shown or len(file_ids) == 1
    )
