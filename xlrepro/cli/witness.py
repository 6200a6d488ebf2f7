"""``xlrepro witness``: show that changes of code since some records were made moved no number."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.printing import AsJson, print_json

if TYPE_CHECKING:
    from xlrepro.trials.record import Record
    from xlrepro.trials.witness.choice import Group
    from xlrepro.trials.witness.making import Finding


def witness(
    experiments: Annotated[list[str] | None, typer.Argument(metavar="[EXPERIMENT...]")] = None,
    profile: Annotated[str, typer.Option(help="Profiles of the stale records.")] = "open,paper",
    full: Annotated[
        bool, typer.Option("--full", help="Run the trials as they are, not shrunken.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "cpu",
    dry_run: Annotated[bool, typer.Option(help="Show what would run, and run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run few small trials with the code of stale records and with today's, and compare.

    Where all cells and details are equal, a line in data/results/witnesses.jsonl says so, and the
    records count as witnessed. Exit status 1 if a group of records stays stale.
    """
    from xlrepro.trials.engine.devices import resolve
    from xlrepro.trials.witness.choice import groups_of
    from xlrepro.trials.witness.making import keep, make

    place = resolve(device)
    groups = groups_of(_stale_records(experiments, profile))
    if dry_run:
        _print_groups(groups, as_json)
        return
    findings: list[Finding] = []
    say = partial(typer.echo, err=True)
    for finding in make(groups, full=full, device=place, say=say):
        if finding.witness is not None:
            keep(finding.witness)  # at once: what was found stays after an interruption
        if not as_json:
            _print_finding(finding)
        findings.append(finding)
    if as_json:
        print_json([_as_row(each) for each in findings])
    elif not groups:
        typer.echo("no stale records")
    raise typer.Exit(1 if any(each.problems for each in findings) else 0)


def _stale_records(experiments: list[str] | None, profile: str) -> "list[Record]":
    """Return the stale records of the experiments' own presets, each once."""
    from xlrepro.cli.arguments import chosen_experiments, parse_published
    from xlrepro.trials.fingerprint import stale_check
    from xlrepro.trials.store import RecordStore

    profiles, chosen = parse_published(profile), chosen_experiments(experiments)
    store, is_stale = RecordStore(), stale_check()
    stale = {
        record.key: record
        for each in chosen
        for name in each.trained_in
        for of in profiles
        for record in store.records(name, of)
    }
    return [record for record in stale.values() if is_stale(record)]


def _print_groups(groups: "list[Group]", as_json: bool) -> None:
    if as_json:
        rows = [
            {"group": group.label, "trials": [record.key for record in group.chosen]}
            for group in groups
        ]
        print_json(rows)
        return
    for group in groups:
        typer.echo(f"{group.label}: {len(group.chosen)} trials")
        for record in group.chosen:
            typer.echo(f"  {record.key[:12]}  {record.trial.label}")
    count = sum(len(group.chosen) for group in groups)
    stale = sum(len(group.records) for group in groups)
    typer.echo(f"{count} trials, on each side, would speak for {stale} stale records")


def _print_finding(finding: "Finding") -> None:
    if finding.witness is None:
        typer.echo(f"{finding.group.label}: stale")
    else:
        count = len(finding.witness.trials)
        typer.echo(
            f"{finding.group.label}: witnessed, {finding.witness.values} values of {count} "
            f"trial{'s' * (count > 1)} equal"
        )
    for problem in finding.problems:
        typer.echo(f"  {problem}", err=True)


def _as_row(finding: "Finding") -> dict[str, Any]:
    return {
        "group": finding.group.label,
        "records": len(finding.group.records),
        "witnessed": finding.witness is not None,
        "values": finding.witness.values if finding.witness else 0,
        "problems": list(finding.problems),
    }
