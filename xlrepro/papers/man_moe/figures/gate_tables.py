"""Figure 4: the gates' weights, what they would be by chance, and how often gates are right."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from xlrepro.evidence.figures.row_plot import Look, Mark, Row, RowPlot, looks
from xlrepro.evidence.reproduced import ReproducedCell
from xlrepro.evidence.tables.table import Entry, Table, headings, listing, measured, number
from xlrepro.evidence.view import View
from xlrepro.trials.record import Record

CHANCE = Look("currentColor", "cross")


def average_weights(view: View) -> RowPlot:
    """Draw the average weight of each source's expert, a line per target, beside chance.

    Args:
        view: reproduced cells, fractions; a column is ``"target/source"``.
    """
    title = f"Average weight of each source's expert ({view.profile})"
    weights: dict[tuple[str, str], dict[str, ReproducedCell]] = {}
    for system in view.systems:
        for cell in view.of(system):
            target, _, source = cell.column.partition("/")
            weights.setdefault((system.partition(":")[2], target), {})[source] = cell
    if not weights:
        return RowPlot(title, f"{title}: nothing was run.", "", ())
    known = looks(sorted({source for cells in weights.values() for source in cells}))
    rows, said = [], []
    for (name, target), cells in weights.items():
        marks = [Mark(1 / len(cells), math.nan, math.nan, CHANCE)]
        for source, cell in sorted(cells.items()):
            low, high = (cell.interval.low, cell.interval.high) if cell.interval else [math.nan] * 2
            marks.append(Mark(cell.mean, low, high, known[source]))
        most = max(cells, key=lambda source: cells[source].mean)
        text = f"most {most}: {number(cells[most].mean)}"
        rows.append(Row(target, tuple(marks), text, group=name))
        said.append(f"{name}, {target}: {text}")
    return RowPlot(
        title, f"Dot plot of gate weights by target, beside equal shares. {'; '.join(said)}.",
        "fraction", tuple(rows), (*known.items(), ("chance: equal shares", CHANCE)),
        bounds=(0.0, 1.0),
    )  # fmt: skip


def weights_beside_chance(view: View) -> Table:
    """List the average weight of each source's expert, and how far it is from an equal share.

    Args:
        view: reproduced cells, fractions; a column is ``"target/source"``.
    """
    rows = []
    for system in view.systems:
        models, weights = system.partition(":")[2], {c.column: c.mean for c in view.of(system)}
        targets = [column.partition("/")[0] for column in weights]
        for column, weight in weights.items():
            target, _, source = column.partition("/")
            chance = 1 / targets.count(target)
            far = Entry(f"{weight - chance:+.3f}", sort=weight - chance)
            rows.append((models, target, source, measured(weight, 3), measured(chance, 3), far))
    caption = (
        f"Average gate weights ({view.profile}) beside chance, an equal share for every source. "
        "A gate that cannot tell languages apart gives each expert its chance."
    )
    names = ("models", "target", "source's expert")
    return listing(caption, names, ("weight", "chance", "difference"), rows)


def by_row(records: Sequence[Record], name: str) -> dict[tuple[Entry, str], list[Any]]:
    """Gather what the trainings of Tables 4 and 5 report beside their scores.

    Args:
        records: of these tables; only those with such a report count.
        name: of the report.

    Returns:
        (row, column) -> the score and the report of each seed.
    """
    gathered: dict[tuple[Entry, str], list[Any]] = {}
    for record in records:
        scores = {cell.column: cell.value for cell in record.cells}
        block, _, name_of_row = ", ".join(record.systems).partition(":")
        for column, reports in record.details.get("experiments", {}).items():
            if report := reports.get(name):
                row = Entry(name_of_row, block)
                gathered.setdefault((row, column), []).append((scores.get(column), report))
    return gathered


def accuracy_of_gates(records: Sequence[Record], profile: str) -> Table:
    """List how often the private gate chooses the expert of a token's own source language.

    Only trainings that counted it have a row: it needs labels of no kind, but time.

    Args:
        records: of Tables 4 and 5.
        profile: whose they are.
    """
    rows = []
    for (system, column), seeds in by_row(records, "gate_accuracy").items():
        sources = seeds[0][1]
        means = {source: fmean(of_seed[source] for _, of_seed in seeds) for source in sources}
        rows.append(
            (
                system,
                Entry(column),
                Entry(str(len(seeds)), sort=len(seeds)),
                Entry(", ".join(f"{source} {number(mean, 1)}" for source, mean in means.items())),
                measured(fmean(means.values()), 1),
                measured(100 / len(sources), 1),
            )
        )
    names = ("models", "target", "seeds", "by source language", "mean", "chance")
    caption = (
        "How often the private gate's largest weight is that of a token's own language "
        f"({profile}): percent of the tokens of the source languages' dev texts. "
        "The target has no expert."
    )
    return Table(caption, headings(*names, numeric=("seeds", *names[4:])), tuple(rows))
