"""Table 2, and the learning rates that its word-level rows are tuned to."""

from collections.abc import Iterator, Sequence
from itertools import product

from xlrepro.encoders.words import ENCODER as WORD_STATES
from xlrepro.papers.word_order.experiments.mbert import (
    is_mbert,
    mbert_settings,
    mbert_systems,
    of_word_rows,
)
from xlrepro.papers.word_order.experiments.rows import TUNES_ALONE, tagging_run, word_settings
from xlrepro.papers.word_order.settings import ENCODERS, WORD_ROWS, TaggingSettings, presets
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import Overrides, Run, per_seed

# The 31 languages of Table 2 in the order of their distance to English.
LANGUAGES = (
    "en", "no", "sv", "fr", "pt", "da", "es", "it", "hr", "ca", "pl", "uk", "sl", "nl", "bg", "ru",
    "de", "he", "cs", "ro", "sk", "id", "lv", "fi", "et", "zh", "ar", "la", "ko", "hi", "ja",
)  # fmt: skip
# Blocks of ours: the word-level rows on other vectors than the preset's.
OTHER_VECTORS = {"word-mapped": "mapped", "word-encoder": WORD_STATES}
TUNED_ON_MBERT = ("TRS", "RPT", "ORT")
LEARNING_RATES = (0.0005, 0.001, 0.002, 0.004, 0.008)


@per_seed
def table2_trials(systems: Sequence[str], profile: str, overrides: Overrides) -> Iterator[Run]:
    """Return the trials of rows of Table 2."""
    words = of_word_rows(systems, overrides)
    for identifier in systems:
        block, _, row = identifier.partition(":")
        settings: TaggingSettings
        if is_mbert(identifier):
            settings = mbert_settings(profile, "POS", identifier, overrides)
        else:
            vectors = {"vectors": OTHER_VECTORS[block]} if block in OTHER_VECTORS else {}
            shorter = presets("table2")[profile].get(block, {})
            settings = word_settings(profile, "POS", row, vectors, shorter, words)
        yield tagging_run("word_order/table2", identifier, settings)


@per_seed
def _learning_rates(systems: Sequence[str], profile: str, overrides: Overrides) -> Iterator[Run]:
    words = of_word_rows(systems, overrides)
    for identifier, rate in product(systems, LEARNING_RATES):
        short = {**TUNES_ALONE, "learning_rate": rate}
        tuned: TaggingSettings
        if is_mbert(identifier):
            changes = {**presets("mbert")[profile]["tuning"], **short, **overrides}
            tuned = mbert_settings(profile, "POS", identifier, changes)
        else:
            changes = {**presets("table2")[profile]["tuning"], **short}
            tuned = word_settings(profile, "POS", identifier.partition(":")[2], changes, words)
        yield tagging_run("word_order/learning_rates", identifier, tuned, [rate_column(rate)])


def rate_column(rate: float) -> str:
    """Return the column of a learning rate, ``"2.5e-04"``."""
    return f"{rate:.1e}"


TABLE2_SYSTEMS = (
    *(System("word", row) for row in WORD_ROWS),
    *(System(block, row, default=False, ours=True) for block in OTHER_VECTORS for row in ENCODERS),
    *mbert_systems("M-BERT"),
)

TABLE2_EXPERIMENTS = (
    Experiment(
        key="word_order/table2",
        systems=TABLE2_SYSTEMS,
        columns=(*LANGUAGES, "avg"),
        make_trials=table2_trials,
        cost={
            "smoke": "seconds",
            "open": "minutes per trial and CPU core",
            "paper": "one GPU; the official UD 2.2 release and aligned fastText vectors",
        },
    ),
    Experiment(
        key="word_order/learning_rates",
        systems=(
            *(System("word", row) for row in ENCODERS),
            *(System("mbert", row) for row in TUNED_ON_MBERT),
        ),
        columns=tuple(rate_column(rate) for rate in LEARNING_RATES),
        make_trials=_learning_rates,
        profiles=("smoke", "open"),
        cost={"smoke": "seconds", "open": "minutes per trial and CPU core"},
        default_seeds={"open": (100,)},
    ),
)
