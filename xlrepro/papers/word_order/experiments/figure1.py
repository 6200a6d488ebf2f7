"""Figure 1: the trials of Table 2, read by part of speech. Nothing is trained for it."""

from dataclasses import replace

from xlrepro.papers.word_order.experiments.table2 import LANGUAGES, TABLE2_SYSTEMS, table2_trials
from xlrepro.trials.experiment import Address, Experiment
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial

TAGS = ("NOUN", "VERB", "ADJ", "ADV", "PRON")
SYSTEMS = ("TRS", "RPT", "ORT", "TRS w/ M-BERT PE")
BLOCKS = ("mbert", "word")


def cells(record: Record) -> list[Cell]:
    """Return accuracy on the tokens of each gold tag, percent, from a record of Table 2.

    A column is a language and a tag, ``"de/VERB"``; ``"avg/VERB"`` is the mean over the targets.
    A tag that a test set lacks has no cell.
    """
    (system,) = record.systems
    source = record.details["settings"]["source"]
    shares = {
        (language, tag): 100 * tags[tag][0] / tags[tag][1]
        for language, tags in record.details["by_tag"].items()
        for tag in TAGS
        if tag in tags
    }
    for tag in TAGS:
        targets = [v for (language, t), v in shares.items() if t == tag and language != source]
        if targets:
            shares["avg", tag] = sum(targets) / len(targets)
    return [
        Cell(system, f"{language}/{tag}", value, "accuracy")
        for (language, tag), value in shares.items()
    ]


def fills(trial: Trial) -> list[Address]:
    """Return the cells of the figure that a trial of Table 2 fills, but for tags it may lack."""
    (system,) = trial.systems
    return [(system, f"{language}/{tag}") for language in trial.columns for tag in TAGS]


# Rows of Table 2; those of its word-level block, which the figure does not show, are ours.
FIGURE1 = Experiment(
    key="word_order/figure1",
    systems=tuple(
        replace(row, ours=block == "word")
        for block in BLOCKS
        for row in TABLE2_SYSTEMS
        if row.block == block and row.name in SYSTEMS
    ),
    columns=tuple(f"{code}/{tag}" for code in (*LANGUAGES, "avg") for tag in TAGS),
    make_trials=table2_trials,
    cost={"smoke": "nothing: Table 2's trials", "open": "nothing: Table 2's trials"},
    draws_on=("word_order/table2",),
    cells=cells,
    fills=fills,
)
