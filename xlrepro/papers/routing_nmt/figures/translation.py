"""What Table 1's page shows beside it: gains by pair, sizes, what was left out, bootstrap."""

from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from xlrepro.evidence.figures.drawing import (
    Figure,
    legend_below,
    new_drawing,
    nothing_to_draw,
    styled,
)
from xlrepro.evidence.figures.panels import draw_differences
from xlrepro.evidence.figures.plots import looks_of
from xlrepro.evidence.paired import paired_differences
from xlrepro.evidence.reproduced import t_interval
from xlrepro.evidence.tables.table import Entry, Table, Value, listing, measured, number
from xlrepro.evidence.view import View
from xlrepro.papers.routing_nmt.scores import AS_WRITTEN, bleu_of, paired_bootstrap
from xlrepro.trials import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

BLOCK, SYSTEMS = "translation", ("NMT", "MTL (Full)", "MTL (Partial)", "MTL (Routing)")
PAIRS = ("en-fa", "en-vi", "en-de-5k", "en-de-10k", "en-fa-small")
PLAIN = f"{BLOCK}:NMT"
# later systems against earlier ones, as N01 to N04 compare them: routing first
COMPARED = tuple(
    (first, second) for first in SYSTEMS[::-1] for second in SYSTEMS[: SYSTEMS.index(first)]
)
FAR, LINEAR = 150, 30  # gains this far are drawn on a logarithmic axis, linear within
TICKS = (100, 1000)  # of such an axis, with room on a phone
LEAST_BLEU = 0.5  # percent; where both systems have less, what matches is chance


@styled
def gain_over_plain(view: View, metric: str = "BLEU") -> Figure:
    """Draw each multi-task system's test score minus NMT's, pair by pair, paired by seed.

    Args:
        view: reproduced cells.
        metric: ``"BLEU"``, or ``"PPL"``, where below zero is better.
    """
    title = f"{metric} against plain translation"
    columns = [c for pair in PAIRS if view.get(PLAIN, c := f"{pair}/test/{metric}")]
    shared = (f"{BLOCK}:{name}" for name in SYSTEMS[1:])
    systems = [s for s in shared if any(view.get(s, c) for c in columns)]
    if not columns or not systems:
        return nothing_to_draw(title, "NMT and a multi-task system were not both run")
    known = looks_of(view.experiment, systems)
    drawing, axis = new_drawing(7.0, 0.9 + 0.55 * len(columns))
    sentences, farthest = [], 0.0
    for number_of, system in enumerate(systems):
        filled = [column for column in columns if view.get(system, column)]
        differences = paired_differences(view, system, PLAIN, filled)
        shift = 0.18 * (number_of - (len(systems) - 1) / 2)
        ends = differences[["mean", "low", "high"]].astype(float)
        farthest = max(farthest, float(np.nanmax(np.abs(ends))))
        at = [columns.index(column) + shift for column in filled]
        name = system.partition(":")[2]
        draw_differences(
            axis,
            differences,
            at,
            across=True,
            fmt="osD"[number_of % 3],
            color=known[system].colour,
            label=name,
        )
        gains = ", ".join(
            f"{column.split('/')[0]} {number(float(mean), 2, True)}"
            for column, mean in zip(filled, differences["mean"], strict=True)
        )
        sentences.append(f"{name}: {gains}")
    axis.axvline(0, color="#777777", linewidth=0.8)
    axis.set_yticks(range(len(columns)), [column.split("/")[0] for column in columns])
    axis.invert_yaxis()
    axis.set(title=f"{title} ({view.profile})", xlabel=f"{metric} on test minus NMT's")
    _compress(axis, "x", farthest)
    legend_below(drawing, axis, across=len(systems))
    return Figure(f"{title}, on test, 95 % intervals. {'; '.join(sentences)}.", drawing)


@styled
def gain_against_size(records: Sequence[Record], profile: str) -> Figure:
    """Draw how much lower each multi-task system's perplexity is than NMT's, by training pairs.

    A point is the mean over the seeds that both have; sizes of one language are joined. Where no
    language was run at two sizes, the title does not promise a comparison of them.

    Args:
        records: of Table 1.
        profile: that they were made at.
    """
    title = "Gain against size"
    gains = _gains_by_size(records)
    if not gains:
        return nothing_to_draw(title, "NMT and a multi-task system were not both run")
    if all(len(by_size) == 1 for by_size in gains.values()):
        title = "Gain, one size of each language"
    known = looks_of("routing_nmt/table1", SYSTEMS)
    drawing, axis = new_drawing(6.0, 3.4)
    said, farthest = [], 0.0
    languages = list(dict.fromkeys(language for _, language in gains))
    for (system, language), by_size in gains.items():
        number_of, joined = SYSTEMS.index(system) - 1, len(by_size) > 1
        sizes, each = zip(*sorted(by_size.items()), strict=True)
        means, intervals = [fmean(values) for values in each], [t_interval(v) for v in each]
        half = [(i.high - i.low) / 2 if i else 0.0 for i in intervals]
        colour = known[system].colour
        axis.errorbar(
            [size * (1 + 0.02 * number_of) for size in sizes],  # beside each other
            means, half, marker="osD^v"[languages.index(language) % 5], ls="-" if joined else "",
            lw=1, ms=5, capsize=2, color=colour, mfc=colour if joined else "none",
            label=f"{system}, {language}",
        )  # fmt: skip
        farthest = max(farthest, *(abs(m) + h for m, h in zip(means, half, strict=True)))
        shown = (
            f"{size:,}: {number(mean, 1, True)}" + f" ± {number(reach, 1)}" * bool(reach)
            for size, mean, reach in zip(sizes, means, half, strict=True)
        )
        said.append(f"{system}, {language}: {', '.join(shown)}")
    axis.axhline(0, color="#777777", linewidth=0.8)
    axis.set_title(f"{title} ({profile})")
    _scale(axis, farthest)
    legend_below(drawing, axis)
    return Figure(
        f"{title}: by how many percent perplexity on test is below plain translation's, by "
        f"training pairs, with 95 % intervals. {'; '.join(said)}.",
        drawing,
    )


def _scale(axis: "Axes", farthest: float) -> None:
    """Set both axes' scales."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    axis.set_xlabel("training pairs")
    axis.set_xscale("log", subs=())  # between 5,000 and 10,000 there is no room for more numbers
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.set_ylabel("lower perplexity, %")
    _compress(axis, "y", farthest, below="\n")


def _compress(axis: "Axes", along: str, farthest: float, below: str = " ") -> None:
    """Make the far part of an axis logarithmic where something lies far out: one training that
    stands still must not press all others flat.
    """
    from matplotlib.ticker import FixedLocator, StrMethodFormatter

    if farthest <= FAR:
        return
    getattr(axis, f"set_{along}scale")("symlog", linthresh=LINEAR)
    far: Axis = getattr(axis, f"{along}axis")
    far.set_major_locator(FixedLocator([*(-t for t in TICKS), 0, *TICKS]))
    far.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    far.set_label_text(f"{far.get_label_text()}{below}(beyond ±{LINEAR}: logarithmic)")


def _gains_by_size(records: Sequence[Record]) -> dict[tuple[str, str], dict[int, list[float]]]:
    """Return each system's gains on each language by training pairs, seeds paired."""
    rows, gains = _by_row(records), dict[tuple[str, str], dict[int, list[float]]]()
    for (pair, system), ours in rows.items():
        plain = {r.seed: _perplexity(r) for r in rows.get((pair, PLAIN), ())}
        paired = [100 * (1 - _perplexity(r) / plain[r.seed]) for r in ours if r.seed in plain]
        if system != PLAIN and paired:
            size = ours[0].details["data"]["translation"]["train"]
            place = (system.partition(":")[2], pair.split("-")[1])
            gains.setdefault(place, {})[size] = paired
    return gains


def _perplexity(record: Record) -> float:
    return next(c.value for c in record.cells if c.column.endswith("/test/PPL"))


def _by_row(records: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """The records of each pair and system, in the order of the page."""
    rows: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        key = (record.details["settings"]["pair"], record.systems[0])
        rows.setdefault(key, []).append(record)
    order = [(pair, f"{BLOCK}:{name}") for pair in PAIRS for name in SYSTEMS]
    return {key: rows[key] for key in order if key in rows}


def sizes_table(records: Sequence[Record], profile: str) -> Table:
    """Show how large each system is, how long it trained, and BLEU of tokens and of lines."""
    rows = [
        (f"{system.partition(':')[2]}, {pair}", *_sizes(runs))
        for (pair, system), runs in _by_row(records).items()
    ]
    numbers = (
        "parameters", "for translation", "best epoch", "minutes", "BLEU tokenised", "multi-bleu",
        "BLEU detokenised",
    )  # fmt: skip
    caption = (
        f"The systems side by side, {profile}: parameters in all and of those that translation "
        "uses, the epoch whose weights were kept, minutes of training, and BLEU on test: of the "
        "normalised tokens, of the same without smoothing, as multi-bleu.perl counts (0 where no "
        "run of four tokens matches), and of translations joined to lines, against references as "
        "they are written, both split by 13a (empty for older records, whose references were "
        "normalised); means over seeds."
    )
    return listing(
        caption, ["system, pair"], numbers, rows, f"{profile}: {len(rows)} systems and pairs"
    )


def _sizes(runs: Sequence[Record]) -> tuple[Value, ...]:
    """Return the numbers of one row of `sizes_table`."""
    first = runs[0].details
    bleu = [c.value for r in runs for c in r.cells if c.column.endswith("/test/BLEU")]
    return (
        first["parameters"],
        first["parameters of translation"],
        measured(fmean(r.details["best_epoch"] + 1 for r in runs), 1),
        measured(fmean(r.training_seconds / 60 for r in runs), 1),
        measured(fmean(bleu)),
        measured(fmean(_bleu(r, smoothed=False) for r in runs)),
        measured(_of_lines(runs)),
    )


def _of_lines(runs: Sequence[Record]) -> float | None:
    """Return mean BLEU of lines against references as written, if it was counted so."""
    if not all(r.signatures["BLEU detokenised"].endswith(AS_WRITTEN) for r in runs):
        return None
    return fmean(r.details["BLEU detokenised"]["test"] for r in runs)


def samples_table(records: Sequence[Record], profile: str) -> Table:
    """Show what each system makes of a few artificial test sentences; the first seed's."""
    rows, parts = [], ("source", "reference", "translation")
    for (pair, system), runs in _by_row(records).items():
        for sample in runs[0].details.get("samples", ())[:2]:
            rows.append((f"{system.partition(':')[2]}, {pair}", *(sample[part] for part in parts)))
    caption = (
        f"Translations of test sentences, {profile}; artificial languages only, since no sentence "
        "of a corpus is published."
    )
    summary = f"{profile}: {len(rows)} translations"
    return listing(caption, ("system, pair", *parts), (), rows, summary)


def left_out_table(records: Sequence[Record], profile: str) -> Table:
    """Show the size of each task's data and how many training pairs were left out, and why."""
    names = ("found", "overlapping", "repeated", "long", "train", "dev", "test")
    rows: dict[str, list[Value]] = {}
    for (pair, _), runs in _by_row(records).items():
        for task, counts in runs[0].details["data"].items():
            if task != "vocabulary":
                shown = [counts.get(name, Entry("", sort=-1)) for name in names]
                rows.setdefault(f"{task}, {pair}", shown)
    caption = (
        f"Sentences of each task, {profile}: training pairs found, left out because a side is "
        "among the held-out ones, because the same pair came before, or as too long; and what "
        "remains, cut to size. Training sentences of more pieces than the limit (60 at open) are "
        "left out too; no column counts them."
    )
    body = ((row, *shown) for row, shown in rows.items())
    return listing(caption, ["task, pair"], names, body, f"{profile}: {len(rows)} tasks")


def bootstrap_table(records: Sequence[Record], profile: str) -> Table:
    """Compare the systems two by two on resampled test sets, seed by seed (Koehn 2004).

    Comparisons in which neither mean reaches `LEAST_BLEU` are left out.
    """
    by_row = _by_row(records)
    rows: list[tuple[Value, ...]] = []
    for pair, (first, second) in product(PAIRS, COMPARED):
        sides = (by_row.get((pair, f"{BLOCK}:{name}"), ()) for name in (first, second))
        ours, others = ({r.seed: r for r in side} for side in sides)
        shared = [(ours[seed], others[seed]) for seed in ours if seed in others]
        scores = [[_bleu(record) for record in side] for side in zip(*shared, strict=True)]
        if not shared or max(map(fmean, scores)) < LEAST_BLEU:
            continue
        lows, highs, shares = zip(
            *(paired_bootstrap(_counts(a), _counts(b)) for a, b in shared), strict=True
        )
        surely = (sum(low > 0 for low in lows), sum(high < 0 for high in highs))
        rows.append(
            (
                f"{first} minus {second}, {pair}",
                measured(fmean(a - b for a, b in zip(*scores, strict=True)), 2, True),
                number(100 * fmean(shares), 0),
                *(Entry(f"{count} of {len(shared)}", sort=count) for count in surely),
            )
        )
    numbers = ("gain", "better on, %", "surely better", "surely worse")
    caption = (
        f"Systems against each other on resampled test sentences, {profile}: mean gain in BLEU of "
        "the first, share of test sets on which it is better, and in how many seeds the 95 % "
        "interval of the paired bootstrap leaves out 0. Left out is where both have less than "
        f"{LEAST_BLEU} BLEU."
    )
    return listing(caption, ["compared"], numbers, rows, f"{profile}: {len(rows)} comparisons")


def _bleu(record: Record, smoothed: bool = True) -> float:
    """BLEU of all test sentences together, in percent."""
    return float(bleu_of(_counts(record).sum(0), smoothed))


def _counts(record: Record) -> np.ndarray:
    """BLEU's counts of each test sentence; how many n-grams there are follows from its length."""
    kept = np.array(record.details["test_counts"], dtype=np.int64)
    totals = np.maximum(0, kept[:, :1] - np.arange(4))
    return np.hstack((kept, totals))
