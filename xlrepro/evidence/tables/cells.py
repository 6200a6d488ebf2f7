"""Tables of cells, one by one, and what every table of numbers needs; see also ``overview``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlrepro.evidence.catalog import CatalogEntry
from xlrepro.evidence.compare import NOT_HERE, QUOTED
from xlrepro.evidence.paired import Pair
from xlrepro.evidence.tables.table import Entry, Table, enumerated, headings, number

if TYPE_CHECKING:
    import pandas as pd

DECIMALS = {"fraction": 3}  # of a unit, where the paper printed nothing; else 2
LARGE = 100  # a count whose decimals say nothing


def decimals_of(printed: str, unit: str = "percent", value: float = 0.0) -> int:
    """Return how many decimals to show: those the paper printed, else what the unit is worth.

    A count has none if it is whole or large.
    """
    if printed.strip():
        return len(printed.partition(".")[2])
    if unit == "count" and (value >= LARGE or float(value).is_integer()):
        return 0
    return DECIMALS.get(unit, 2)


def run_summary(frame: "pd.DataFrame") -> str:
    """Return one line that says how much was run; no measured number in it."""
    ran = int((frame["n"] > 0).sum())
    systems, columns = frame["system"].nunique(), frame["column"].nunique()
    key = ", ".join(dict.fromkeys(frame["experiment"]))
    profile = ", ".join(dict.fromkeys(frame["profile"]))
    line = f"{key}, {profile}: {systems} systems x {columns} columns, "
    line += f"{ran} of {len(frame)} cells run"
    counts = {v: int((frame["verdict"] == v).sum()) for v in (NOT_HERE, QUOTED)}
    return line + "".join(f", {n} {verdict}" for verdict, n in counts.items() if n)


def other_data(entry: CatalogEntry, profile: str) -> str:
    """Return the sentences on what stands in for the paper's data and pre-trained weights."""
    stand_in, blocks = entry.stand_ins.get(profile), entry.weights.get(profile, {})
    said = []
    if stand_in:
        data, where = f"{stand_in.data} at {profile}", " there" * bool(stand_in.only)
        said = [f"Our data are not the paper's ({data}), so the difference has no verdict{where}."]
    if blocks:
        trained = "; ".join(
            f"{what} for {enumerated([b for b in blocks if blocks[b] == what])} at {profile}"
            for what in dict.fromkeys(blocks.values())
        )
        said.append(
            f"Our pre-trained weights are not the paper's ({trained}): those rows have no verdict."
        )
    return " ".join(said)


def cells_table(frame: "pd.DataFrame") -> Table:
    """Render a comparison cell by cell, for a terminal: a row per system and column."""
    names = ("system", "column", "reported", "reproduced", "95 % interval", "n", "difference",
             "verdict", "note")  # fmt: skip
    body = []
    for row in frame.to_dict("records"):
        places = decimals_of(row["printed"], row["unit"], row["reproduced"])
        span = f"{number(row['low'], places)} to {number(row['high'], places)}" * (row["n"] > 1)
        texts = (row["system"], row["column"], row["printed"], number(row["reproduced"], places),
                 span, str(row["n"]), number(row["difference"], places, True),
                 row["verdict"], row["note"])  # fmt: skip
        body.append(
            tuple(Entry(t, verdict=t * (name == "verdict")) for name, t in zip(names, texts))
        )
    summary = run_summary(frame) if body else ""
    return Table(summary or "No cells.", headings(*names, numeric=names[2:7]), tuple(body), summary)


def pairs_table(pairs: Sequence[Pair]) -> Table:
    """Render differences paired by seed, a row per pair of systems and column."""
    body = []
    for one, other, gap in pairs:
        ends = gap.interval
        span = f"{number(ends.low)} to {number(ends.high)}" if ends else ""
        note = ["one seed: no interval"] * (gap.n == 1) + ["stale"] * gap.stale
        body.append(
            (
                Entry(f"{one} − {other}"),
                Entry(gap.column),
                Entry(number(gap.mean, signed=True), sort=gap.mean),
                Entry(span, sort=ends.low if ends else None),
                Entry(str(gap.n), sort=gap.n, title=f"seeds {gap.seeds}"),
                Entry(
                    ", ".join(number(v, signed=True) for v in gap.values),
                    title="one difference per seed",
                ),
                Entry("; ".join(note)),
            )
        )
    names = ("difference", "column", "mean", "95 % interval", "n", "by seed", "note")
    numeric = ("mean", "95 % interval", "n")
    head = headings(*names, numeric=numeric)
    return Table("Differences paired by seed.", head, tuple(body)).dense()
