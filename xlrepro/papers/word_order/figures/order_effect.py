"""How much of ORT's gain comes with word-order distance, in ``word_order/alignment_quality``.

From one artificial language to the next, order alone differs. What ORT gains over another encoder
in the one that has English order is not about order; only what it gains more in the farthest one
can be.
"""

import math
from collections.abc import Sequence

from xlrepro.evidence.reproduced import LEVEL, t_interval
from xlrepro.evidence.statement import Statement
from xlrepro.evidence.tables.table import number
from xlrepro.evidence.view import View
from xlrepro.papers.word_order.figures.advantage import (
    FIRST,
    OTHERS,
    TASKS,
    Gain,
    ends_of,
    gains,
    languages_of,
)

BLOCK = "artificial"
VERDICTS = {
    "+": "The farther language gains more",
    "-": "The farther language gains less",
    "0": "Word order is not shown to change the gain",
}


def what_order_adds(view: View) -> Statement:
    """Say how ORT's gain differs between the farthest and the nearest artificial language."""
    sentences = []
    for task in TASKS:
        far = languages_of(view, task, BLOCK)
        known = [code for code, distance in far.items() if not math.isnan(distance)]
        if len(known) < 2:
            continue
        way = f"from distance {number(far[known[0]])} to {number(far[known[-1]])}"
        for other in OTHERS:
            scope = (view, task, BLOCK)
            near, distant = (gains(*scope, known[i], other) for i in (0, -1))
            sentences.append(
                f"{task} ({view.profile}), {FIRST} − {other} {way}: {_sentence(near, distant)}"
            )
    count = sum("95 % interval" in sentence for sentence in sentences)
    if count > 1:
        chance = number((1 - LEVEL) / 2 * count, 2)
        sentences.append(
            f"By chance alone about {chance} of these {count} intervals would lie above zero, and "
            "as many below."
        )
    return Statement("What word order adds to the gain", tuple(sentences))


def _sentence(near: Sequence[Gain], distant: Sequence[Gain]) -> str:
    """Compare the mean gains over the levels that both languages have, paired by seed."""
    pairs = [(a, b) for a in near for b in distant if a.level == b.level]
    if not pairs:
        return "not run."
    seeds = sorted(set.intersection(*(set(gain.by_seed) for pair in pairs for gain in pair)))
    steps = [math.fsum(b.by_seed[s] - a.by_seed[s] for a, b in pairs) / len(pairs) for s in seeds]
    first, last = (
        math.fsum(gain.by_seed[s] for gain in side for s in seeds) / (len(side) * len(seeds))
        for side in zip(*pairs, strict=True)
    )
    sentence = (
        f"{number(first, 2, True)} becomes {number(last, 2, True)}, mean of {len(pairs)} levels"
    )
    interval = t_interval(steps)
    if interval is None:
        return f"{sentence}; one seed, so no interval."
    ends = ends_of(interval.low, interval.high, 2)
    change = number(math.fsum(steps) / len(steps), 2, True)
    return f"{sentence}. {VERDICTS[interval.sign]}: {change} (95 % interval {ends})."
