"""``xlrepro status`` and ``claims``: what the records say."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xlrepro.cli.printing import AsJson, print_json, print_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table as RichTable

    from xlrepro.evidence.claims import ClaimVerdict

STYLES = {
    "within": "green", "replicates": "green", "consistent": "green", "above": "yellow",
    "below": "yellow", "inconclusive": "yellow", "contradicts": "red", "inconsistent": "red",
    "no effect": "red", "not run": "red", "not here": "dim", "quoted": "dim",
    "not testable here": "dim", "not checkable": "dim",
}  # fmt: skip

Profile = Annotated[str, typer.Option(help="smoke, open or paper.")]
Keys = Annotated[list[str] | None, typer.Argument(metavar="[EXPERIMENT...]")]


def status(experiments: Keys = None, profile: Profile = "open", as_json: AsJson = False) -> None:
    """Show reported beside reproduced: every experiment on a line, or named ones cell by cell.

    A paper's name stands for all of its experiments.
    """
    from xlrepro.evidence.catalog import load_catalog
    from xlrepro.evidence.compare import compare, compared_rows
    from xlrepro.evidence.reproduced import View, gather
    from xlrepro.experiments import (
        all_experiments,
        is_outdated,
        records_by_experiment,
        records_left_out,
        standing,
    )

    catalog = load_catalog()
    known = catalog.experiments
    papers = {name: [k for k in known if k.startswith(f"{name}/")] for name in experiments or ()}
    keys = list(dict.fromkeys(k for name, own in papers.items() for k in own or [name])) or [*known]
    for key in keys:
        catalog.experiment(key)
    built = all_experiments()
    records = records_by_experiment(keys, profile)
    numbers = {k: gather(of, stale=is_outdated) for k, of in records.items()}
    views = {key: View(key, profile, numbers[key]) for key in keys}
    if experiments and not as_json:
        for key, view in views.items():
            print_table(_cells_table(compare(view, experiment=built.get(key))))
        return
    cells = {key: compared_rows(view, experiment=built.get(key)) for key, view in views.items()}
    if as_json:
        print_json(cells)
    else:
        standings = {k: Counter(map(standing, of)) for k, of in records.items()}
        print_table(_overview(cells, standings, profile))
        for key, count in records_left_out(profile).items():
            typer.echo(
                f"{key}: {count} record{'s' * (count > 1)} with other settings or data than "
                f"{profile} has today {'are' if count > 1 else 'is'} not shown."
            )


def _table(title: str) -> "RichTable":
    from rich import box
    from rich.table import Table

    return Table(title=title, box=box.SIMPLE_HEAD)


def _overview(
    cells: dict[str, list[dict[str, Any]]], standings: "dict[str, Counter[str]]", profile: str
) -> "RichTable":
    """Return a line per experiment: cells by verdict, records by what became of their code."""
    from xlrepro.evidence.compare import VERDICTS, verdict_counts
    from xlrepro.experiments import STANDINGS, all_experiments

    title = f"Cells by verdict, records, profile {profile}"
    table = _table(title)
    table.add_column("experiment", no_wrap=True)
    for name in ("built", "cells", *VERDICTS, *STANDINGS):
        table.add_column(name, justify="right", min_width=5)
    for key, rows in cells.items():
        counts = verdict_counts(row["verdict"] for row in rows)
        built = "yes" if key in all_experiments() else "no"
        numbers = [len(rows), *counts.values(), *(standings[key][name] for name in STANDINGS)]
        table.add_row(key, built, *(str(n) if n else "·" for n in numbers))
    return table


def _cells_table(frame: "pd.DataFrame") -> "RichTable":
    from rich.text import Text

    from xlrepro.pages.tables import cells_table

    plain = cells_table(frame)
    table = _table(plain.summary)
    for head, numeric in plain.heads:
        table.add_column(
            head.text, justify="right" if numeric else "left", no_wrap=head.text != "note"
        )
    for row in plain.body:
        table.add_row(*(Text(cell.text, style=STYLES.get(cell.kind, "")) for cell, _ in row))
    return table


def claims(
    paper: Annotated[str | None, typer.Argument(metavar="[PAPER]")] = None,
    profile: Profile = "open",
    as_json: AsJson = False,
) -> None:
    """Judge the papers' claims on the printed numbers and on the reproduced ones."""
    from xlrepro.evidence.catalog import load_catalog
    from xlrepro.evidence.claims import Judge, conditions_of, judge_all, load_claims
    from xlrepro.experiments import own_numbers
    from xlrepro.store import RecordStore

    catalog, store = load_catalog(), RecordStore()
    content = []
    for key in catalog.papers if paper is None else [paper]:
        claims_of_paper = load_claims(key)
        numbers = own_numbers(list(catalog.of_paper(key)), [profile], store)
        wanted = conditions_of(key, [profile], numbers)
        verdicts = judge_all(claims_of_paper, wanted, Judge(numbers))
        for claim in claims_of_paper:
            judged = {label: _verdict(v) for label, v in verdicts[claim.id].items()}
            about = {"paper": key, "id": claim.id, "kind": claim.kind, "claim": claim.text}
            content.append({**about, "verdicts": judged})
    if as_json:
        print_json(content)
    else:
        print_table(_claims_table(content))


def _verdict(verdict: "ClaimVerdict | None") -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {
        "status": verdict.status,
        "share": verdict.share,
        "n": verdict.n,
        "seeds_true": verdict.alone,
        "decidable": verdict.decidable,
        "power": verdict.power,
        "compared": [{"text": text, "true": so} for text, so in verdict.compared],
        "missing": list(verdict.missing),
        "note": verdict.note,
    }


def _claims_table(content: list[dict[str, Any]]) -> "RichTable":
    from rich.text import Text

    labels = list(dict.fromkeys(label for row in content for label in row["verdicts"]))
    table = _table("Claims")
    for name in ("id", "kind", "claim", *labels):
        table.add_column(name, no_wrap=name in ("id", "kind"))
    for row in content:
        cells = [row["id"], row["kind"], row["claim"]]
        for label in labels:
            verdict = row["verdicts"].get(label)
            said = verdict["status"] if verdict else "–"
            share = verdict and verdict["share"]
            more = f" {100 * share:.0f} %" if share is not None and verdict["n"] else ""
            cells.append(Text(said + more, style=STYLES.get(said, "")))
        table.add_row(*cells)
    from xlrepro.evidence.claims import STATUSES

    own = [row for row in content if row["kind"] == "text"]
    counts = [
        f"{label}: {sum((r['verdicts'].get(label) or {}).get('status') == s for r in own)} {s}"
        for label in labels
        for s in STATUSES
    ]
    table.caption = "Of the authors' sentences: " + ", ".join(c for c in counts if ": 0 " not in c)
    return table
