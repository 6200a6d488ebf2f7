"""Where ORT is ahead of each other encoder in ``word_order/alignment_quality``, in words.

Columns are ``task/level/language``; the system ``measured:P@1`` has each level's dictionary
induction in the column of the scores that it belongs to, ``measured:distance`` the word-order
distance of the artificial languages.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from xlrepro.evidence.figures.plots import printed_distances
from xlrepro.evidence.paired import paired_differences, shared_columns
from xlrepro.evidence.reproduced import LEVEL, t_interval
from xlrepro.evidence.statement import Statement
from xlrepro.evidence.tables.table import Entry, Table, headings, number
from xlrepro.evidence.view import View

TASKS = ("POS", "SF")
BLOCKS = {"artificial": "artificial languages", "word": "the paper's languages"}
INDUCTION, DISTANCE = "measured:P@1", "measured:distance"
FIRST, OTHERS = "ORT", ("TRS", "BiLSTM", "RPT")
STRONGEST, TRANSFORMERS = "BiLSTM", ("TRS", "RPT", FIRST)  # in English
MEAN = "avg"
PRINTED = "word_order/table2"  # which prints the distances of natural languages


class Gain(NamedTuple):
    """ORT minus another encoder at one place, paired by seed.

    Attributes:
        level: of alignment.
        p_at_1: dictionary induction there, percent.
        by_seed: the differences, points.
        mean: of the differences.
        low: lower end of its 95 % interval; NaN for one seed.
        high: upper end, likewise.
        sign: ``"+"`` or ``"-"`` where the interval leaves out 0, else ``"0"``.
    """

    level: str
    p_at_1: float
    by_seed: Mapping[int, float]
    mean: float
    low: float
    high: float
    sign: str


def columns_of(view: View, systems: Sequence[str], task: str, language: str) -> list[str]:
    """Return the ``task/level/language`` columns that all systems and the induction have."""
    return [
        column
        for column, (of_task, *rest) in ((c, c.split("/")) for c in view.columns)
        if of_task == task
        and rest[1:] == [language]
        and all(view.get(s, column) for s in (*systems, INDUCTION))
    ]


def gains(
    view: View,
    task: str,
    block: str = "word",
    language: str = MEAN,
    other: str = "TRS",
) -> list[Gain]:
    """Return ORT − ``other`` per level, best alignment first; [] where one of them was not run."""
    systems = (f"{block}:{FIRST}", f"{block}:{other}")
    all_gains = [
        Gain(
            row["column"].split("/")[1],
            view.mean(INDUCTION, row["column"]),
            dict(zip(row["seeds"], row["values"], strict=True)),
            *(row[name] for name in ("mean", "low", "high", "sign")),
        )
        for row in _paired(view, systems, columns_of(view, systems, task, language))
    ]
    return sorted(all_gains, key=lambda gain: -gain.p_at_1)


def _paired(view: View, systems: tuple[str, str], columns: Sequence[str]) -> list[dict[Any, Any]]:
    """Return the rows of `paired_differences` in the columns where both share a seed."""
    shared = [column for column in shared_columns(view, *systems) if column in columns]
    return paired_differences(view, *systems, shared).to_dict("records") if shared else []


def distances(view: View) -> dict[str, float]:
    """Return the measured word-order distance to English of each artificial language."""
    return {c.column.split("/")[1]: c.mean for c in view.of(DISTANCE)}


def languages_of(view: View, task: str, block: str) -> dict[str, float]:
    """Return language -> distance to English (NaN if not known), the nearest first.

    Artificial languages have the measured distance, others the one printed in Table 2.
    """
    columns = [c.column.split("/") for c in view.of(f"{block}:{FIRST}")]
    codes = list(dict.fromkeys(c[2] for c in columns if len(c) == 3 and c[0] == task))
    known = printed_distances(PRINTED, codes) | distances(view)
    far = {code: known.get(code, math.nan) for code in codes if code != MEAN}
    return dict(sorted(far.items(), key=lambda item: (math.isnan(item[1]), item[1])))


def extent(all_gains: Sequence[Gain], sign: str) -> str:
    """Say at which levels the interval lies above (``"+"``) or below (``"-"``) zero.

    Args:
        all_gains: the levels, best alignment first.
        sign: which side.
    """
    there = [gain.sign == sign for gain in all_gains]
    at, count = [number(gain.p_at_1, 0) for gain in all_gains], sum(there)
    if not count:
        return "nowhere"
    if count > 1 and all(there):
        return "at every level"
    if count > 1 and all(there[:count]):
        return f"from P@1 {at[count - 1]} up"
    if count > 1 and all(there[-count:]):
        return f"from P@1 {at[-count]} down"
    return f"only at P@1 {', '.join(p for p, is_there in zip(at, there, strict=True) if is_there)}"


def table_of_places(view: View) -> Table:
    """Show from which alignment on ORT is above each other encoder, language by language."""
    rows = []
    for block, name in BLOCKS.items():
        for task in TASKS:
            far = languages_of(view, task, block)
            for code, distance in (*far.items(), (MEAN, math.nan)) if far else ():
                cells = [_place(gains(view, task, block, code, other)) for other in OTHERS]
                label = "mean of languages" if code == MEAN else code
                where = Entry(number(distance), sort=None if math.isnan(distance) else distance)
                rows.append((Entry(f"{task}, {label}"), Entry(name), where, *cells))
    heads = headings(
        "task, language", "block", "distance", *(f"{FIRST} above {other}" for other in OTHERS),
        numeric=("distance",),
    )  # fmt: skip
    caption = (
        f"Levels of alignment at which the 95 % interval of {FIRST} minus the other, paired by "
        f"seed, lies above zero ({view.profile}); under it where it lies below zero, if anywhere."
    )
    return Table(caption, heads, tuple(rows))


def _place(all_gains: Sequence[Gain]) -> Entry:
    if not all_gains:
        return Entry("not run")
    if any(math.isnan(gain.low) for gain in all_gains):
        return Entry("one seed")
    below = extent(all_gains, "-")
    return Entry(extent(all_gains, "+"), "" if below == "nowhere" else f"below {below}")


def where_ort_is_ahead(view: View) -> Statement:
    """Say of which encoders ORT is ahead, and how many intervals chance alone would put there."""
    sentences = []
    for block, name in BLOCKS.items():
        for task in TASKS:
            where = f"{task}, {name} ({view.profile})"
            codes = languages_of(view, task, block)
            if not codes:
                sentences.append(f"{where}: not run.")
            for other in OTHERS if codes else ():
                scope = (view, task, block)
                places = [gain for code in codes for gain in gains(*scope, code, other)]
                sentences.append(_sentence(where, other, places, gains(*scope, MEAN, other)))
    return Statement(f"Where {FIRST} is ahead of {', '.join(OTHERS)}", tuple(sentences))


def _sentence(where: str, other: str, places: Sequence[Gain], average: Sequence[Gain]) -> str:
    """Say what the mean over all places is, and on which side of zero their intervals lie."""
    if not places:
        return f"{where}: {FIRST}, {other} and P@1 were not all run."
    if any(math.isnan(gain.low) for gain in places):
        return f"{where}: one seed, so {FIRST} − {other} has no interval anywhere."
    count = len(places)
    above, below = (sum(g.sign == sign for g in places) for sign in "+-")
    wide = [t_interval(list(g.by_seed.values()), 1 - (1 - LEVEL) / count) for g in places]
    kept = [interval.sign for interval in wide if interval]
    return (
        f"{where}: {_verdict(other, places)} The interval of the mean of the languages lies above "
        f"zero {extent(average, '+')}, below zero {extent(average, '-')}. Of the {count} intervals "
        f"of a language at a level, above zero: {above}, below: {below}, by chance on each side: "
        f"about {number((1 - LEVEL) / 2 * count, 1)}. Widened for {count} comparisons "
        f"(Bonferroni), above zero: {kept.count('+')}, below: {kept.count('-')}."
    )


def _verdict(other: str, places: Sequence[Gain]) -> str:
    """Judge the mean over all places: one comparison, whatever their number."""
    seeds = set.intersection(*(set(gain.by_seed) for gain in places))
    means = [math.fsum(g.by_seed[s] for g in places) / len(places) for s in sorted(seeds)]
    interval = t_interval(means)
    if interval is None:
        return f"{FIRST} and {other} share too few seeds for a mean over all places."
    verdicts = {"+": "ahead of", "-": "behind", "0": "not shown to differ from"}
    return (
        f"{FIRST} is {verdicts[interval.sign]} {other}: mean over {len(places)} places "
        f"{number(math.fsum(means) / len(means), 2, True)} "
        f"(95 % interval {ends_of(interval.low, interval.high, 2)})."
    )


def ends_of(low: float, high: float, decimals: int) -> str:
    """Return the ends of an interval, signed, ``"+0.66 to +1.47"``."""
    return f"{number(low, decimals, True)} to {number(high, decimals, True)}"


def scores_in_english(view: View) -> Statement:
    """Hold each encoder's English score, which no level changes, against BiLSTM's."""
    sentences = [
        f"{task} in English, {name} ({view.profile}): " + _english(view, block, f"{task}/en")
        for block, name in BLOCKS.items()
        for task in TASKS
        if view.get(f"{block}:{STRONGEST}", f"{task}/en")
    ]
    return Statement(f"Scores in English beside {STRONGEST}'s", tuple(sentences))


def _english(view: View, block: str, column: str) -> str:
    base, lower = f"{block}:{STRONGEST}", []
    parts = [f"{STRONGEST} {number(view.mean(base, column), 1)}"]
    for system in TRANSFORMERS:
        pair = (f"{block}:{system}", base)
        for row in _paired(view, pair, [column]):
            span = "" if math.isnan(row["low"]) else f"; {ends_of(row['low'], row['high'], 1)}"
            gap = number(row["mean"], 1, True)
            parts.append(f"{system} {number(row['first'], 1)} ({gap}{span})")
            lower += [system] * (row["sign"] == "-")
    text = ", ".join(parts) + "; in brackets the difference and its 95 % interval."
    if not lower:
        return text
    return (
        f"{text} Already in English the interval lies below zero for {', '.join(lower)}: what is "
        "trained too little scores less for that alone, so what it lacks elsewhere need not come "
        "from word order."
    )
