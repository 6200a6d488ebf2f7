"""What only the routing paper's pages show: use of blocks, and resampled test sets."""

from collections.abc import Sequence
from itertools import product
from statistics import fmean

import numpy as np

from xlrepro.evidence.catalog import load_catalog
from xlrepro.evidence.reproduced import View
from xlrepro.evidence.text import number
from xlrepro.pages.plots import Figure, heat
from xlrepro.pages.tables import Cell, Table, framed
from xlrepro.papers.routing_nmt import blocks
from xlrepro.papers.routing_nmt.scores import bleu_of, paired_bootstrap
from xlrepro.trials import Record

SYSTEMS = ("NMT", "MTL (Full)", "MTL (Partial)", "MTL (Routing)")
# Headings -> paths in the details of a record, for `page.details`.
SIZES = {
    "parameters": "parameters", "for translation": "parameters of translation",
    "best epoch, from 0": "best_epoch", "BLEU of lines": "BLEU detokenised.test",
}  # fmt: skip
LEFT_OUT = {name: f"data.*.{name}" for name in
            ("found", "overlapping", "repeated", "long", "train", "dev", "test")}  # fmt: skip


def block_usage(view: View, source: str = "same") -> Figure:
    """Draw each task's mean use of each shared block as a heat map, rows by pair.

    Args:
        view: reproduced cells; columns are ``pair/source/task/block``.
        source: ``"same"``: the same English sentences with each task's tag; ``"own"``: the tasks'
            own test sentences.
    """
    import pandas as pd

    use: dict[str, dict[str, float]] = {}
    entry = load_catalog().experiment(view.experiment)
    for system, column in product(view.systems, view.columns):
        pair, of, task, block = column.split("/")
        if of == source and (cell := view.get(system, column)):
            use.setdefault(entry.column_name(f"{pair}/{task}"), {})[f"block {block}"] = cell.mean
    title = f"Use of the shared blocks by task, means over seeds ({view.profile}){view.proxies}"
    return heat(pd.DataFrame.from_dict(use, orient="index"), title, unit="percent", decimals=0)


def chance_table(records: Sequence[Record], profile: str) -> Table:
    """Set whether N05, N06, N07 hold in each pair's trials beside a test against chance.

    Args:
        records: of routed systems.
        profile: that they were made at.
    """
    found: dict[str, list[blocks.Usage]] = {}
    for record in sorted(records, key=lambda each: each.seed):
        found.setdefault(blocks.pair_of(record), []).extend(blocks.usages(record))
    rows = []
    for pair, of in found.items():
        chances = blocks.chances(of)
        for name, lead in blocks.leads(blocks.mean_usage(of)).items():
            count, p = sum(blocks.leads(usage)[name] > 0 for usage in of), chances[name]
            rows.append([f"{name}, {_called(pair)}", f"{count} of {len(of)}",
                         Cell(number(100 * lead, 1, True), sort=lead),
                         Cell(number(p, 3), sort=p)])  # fmt: skip
    caption = (
        f"The claims on the figure ({profile}): in how many routers some block (together: one "
        "order of the blocks) makes each hold; by how many points its tasks use that block more "
        "than any other task, in the mean over seeds, by which the claims are judged; and the p "
        "value of that lead in a permutation test, tasks exchanged at random within each router."
    )
    names = ["claim, pair", "routers", "lead of the mean, points", "p"]
    return Table(caption, framed(rows, *names), f"{profile}: claims of the figure beside chance")


def _called(pair: str) -> str:
    return load_catalog().experiment("routing_nmt/table1").column_name(pair)


def _by_row(records: Sequence[Record]) -> dict[tuple[str, str], dict[int, Record]]:
    """Return the records of each pair and system by seed."""
    rows: dict[tuple[str, str], dict[int, Record]] = {}
    for record in records:
        key = (blocks.pair_of(record), record.systems[0])
        rows.setdefault(key, {})[record.seed] = record
    return rows


def bootstrap_table(records: Sequence[Record], profile: str) -> Table:
    """Compare the systems two by two on resampled test sets, seed by seed (Koehn 2004)."""
    by_row, rows = _by_row(records), []
    pairs = dict.fromkeys(pair for pair, _ in by_row)
    compared = [(a, b) for a in SYSTEMS[::-1] for b in SYSTEMS[: SYSTEMS.index(a)]]
    for pair, (first, second) in product(pairs, compared):
        one, other = (by_row.get((pair, f"translation:{name}"), {}) for name in (first, second))
        shared = [(_counts(one[s]), _counts(other[s])) for s in one if s in other]
        scores = [[bleu_of(side.sum(0)) for side in both] for both in shared]
        if not shared:
            continue
        lows, highs, shares = zip(*(paired_bootstrap(a, b) for a, b in shared), strict=True)
        surely = (sum(low > 0 for low in lows), sum(high < 0 for high in highs))
        gain = fmean(a - b for a, b in scores)
        rows.append([f"{first} − {second}, {_called(pair)}", Cell(number(gain, 2, True), sort=gain),
                     Cell(number(100 * fmean(shares), 0), sort=fmean(shares)),
                     *(f"{count} of {len(shared)}" for count in surely)])  # fmt: skip
    names = ("compared", "gain", "better on, %", "significantly better", "significantly worse")
    caption = (
        f"Systems against each other on resampled test sentences ({profile}): mean gain in BLEU, "
        "share of test sets on which the first is better, and in how many seeds the 95 % interval "
        "of the paired bootstrap excludes 0."
    )
    return Table(caption, framed(rows, *names), f"{profile}: {len(rows)} comparisons")


def _counts(record: Record) -> "np.ndarray":
    """BLEU's counts of each test sentence; how many n-grams there are follows from its length."""
    kept = np.array(record.details["test_counts"], dtype=np.int64)
    totals = np.maximum(0, kept[:, :1] - np.arange(4))
    return np.hstack((kept, totals))
