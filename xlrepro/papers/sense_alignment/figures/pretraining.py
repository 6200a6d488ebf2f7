"""What the records tell of the language models: text, time, and the loss on held-out text."""

import math
from collections.abc import Sequence
from typing import Any

from xlrepro.evidence.tables.table import Entry, Table, Value, listing, measured
from xlrepro.trials.record import Record

TRANSFERRED = ("source model", "target model")  # where details of Tables 3 to 5 have a model's log
MODELS = ("language_model", *TRANSFERRED)


def language_models(records: Sequence[Record], profile: str) -> Table:
    """List the language models behind some records.

    Args:
        records: of any experiment of the paper; a model that several used is listed once.
        profile: that they were run at.
    """
    models: dict[str, tuple[str, dict[str, Any]]] = {}
    for record in sorted(records, key=lambda r: (r.systems, r.seed)):
        logs = {name: record.details.get(name) for name in MODELS}
        logs["own"] = record.details if "loss_curve" in record.details else None
        for name, log in logs.items():
            if isinstance(log, dict) and "loss_curve" in log:
                block, _, system = record.systems[0].partition(":")
                system += " at equal time" * block.endswith("-time")
                read = " and ".join(log["held_out"])  # seeds of transfer are those of the heads
                which = f"of {read}" if name in TRANSFERRED else f"seed {record.seed}"
                models.setdefault(str(log["loss_curve"]), (f"{system}, {which}", log))
    rows = [_row(name, log) for name, log in models.values()]
    numbers = ("words", "vocabulary", "seconds", "held-out loss", "of an even guess")
    caption = (
        f"Language models ({profile}). Held-out loss: nats per word in the full vocabulary, the "
        "senses of a word summed, mean of both directions; an even guess over the vocabulary "
        "beside it. Sampled training draws each of many senses seldom, so that the sum over all of "
        "them is worse than the training loss says. Not computed for BERT. Seconds are wall time "
        "on a shared machine: the benchmarks compare steps."
    )
    return listing(caption, ["first system"], numbers, rows)


def _row(name: str, log: dict[str, Any]) -> tuple[Value, ...]:
    held_out = [pair for pair in log["held_out"].values() if pair[1]]
    total, words = (sum(pair[i] for pair in held_out) for i in (0, 1))
    loss, even = measured(total / words) if words else Entry("–"), math.log(log["vocabulary"])
    return name, log["tokens"], log["vocabulary"], measured(log["seconds"], 0), loss, measured(even)
