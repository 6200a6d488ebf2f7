"""Table 2, and the learning rates that its word-level rows are tuned to."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.papers.word_order.experiments.mbert import (
    TABLE2_ROWS,
    is_mbert,
    mbert_trials,
    of_word_rows,
    rate_trials,
)
from xlrepro.papers.word_order.experiments.rows import tagging_trials
from xlrepro.papers.word_order.settings import (
    ENCODERS,
    WORD_ROWS,
    TaggingSettings,
    presets,
    row_settings,
)
from xlrepro.pretraining.recipes import WORD_STATES
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.trial import Trial

# The 31 languages of Table 2 in the order of their distance to English.
LANGUAGES = (
    "en", "no", "sv", "fr", "pt", "da", "es", "it", "hr", "ca", "pl", "uk", "sl", "nl", "bg", "ru",
    "de", "he", "cs", "ro", "sk", "id", "lv", "fi", "et", "zh", "ar", "la", "ko", "hi", "ja",
)  # fmt: skip
# Blocks of ours: the word-level rows on other vectors than the preset's.
OTHER_VECTORS = {"word-mapped": "mapped", "word-encoder": WORD_STATES}
TUNED_ON_MBERT = ("TRS", "RPT", "ORT")
LEARNING_RATES = (0.0005, 0.001, 0.002, 0.004, 0.008)


def pos_settings(profile: str, row: str, *changes: Mapping[str, Any]) -> TaggingSettings:
    """Return the settings of a word-level row of Table 2; changes as in ``row_settings``."""
    return row_settings(presets("table2")[profile], "POS", row, *changes)


def table2_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    """Return the trials of rows of Table 2, a trial per seed."""
    trials = []
    words = of_word_rows(systems, overrides)
    for identifier in systems:
        if is_mbert(identifier):
            key = "word_order/table2"
            trials += mbert_trials(key, "POS", identifier, profile, seeds, overrides)
            continue
        block, row = identifier.split(":", 1)
        vectors = {"vectors": OTHER_VECTORS[block]} if block in OTHER_VECTORS else {}
        shorter = presets("table2")[profile].get(block, {})
        settings = pos_settings(profile, row, vectors, shorter, words)
        columns = (settings.source, *settings.targets, "avg")
        trials += tagging_trials("word_order/table2", identifier, columns, profile, seeds, settings)
    return trials


def _learning_rate_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    trials = []
    key = "word_order/learning_rates"
    words = of_word_rows(systems, overrides)
    for identifier in systems:
        if is_mbert(identifier):
            rates = {rate_column(rate): rate for rate in LEARNING_RATES}
            trials += rate_trials(key, identifier, rates, profile, seeds, overrides)
            continue
        row = identifier.split(":", 1)[1]
        short = {**presets("table2")[profile]["tuning"], "targets": (), "evaluate_targets": False}
        for rate in LEARNING_RATES:
            tuned = {**short, "learning_rate": rate}
            settings = pos_settings(profile, row, tuned, words)
            columns = (rate_column(rate),)
            trials += tagging_trials(key, identifier, columns, profile, seeds, settings)
    return trials


def rate_column(rate: float) -> str:
    """Return the column of a learning rate, ``"2.5e-04"``."""
    return f"{rate:.1e}"


TABLE2_SYSTEMS = (
    *(System("word", row) for row in WORD_ROWS),
    *(System(block, row, default=False, ours=True) for block in OTHER_VECTORS for row in ENCODERS),
    *TABLE2_ROWS,
)

TABLE2_EXPERIMENTS = (
    Experiment(
        key="word_order/table2",
        systems=TABLE2_SYSTEMS,
        columns=(*LANGUAGES, "avg"),
        profiles=("smoke", "open", "paper"),
        make_trials=table2_trials,
        cost={
            "smoke": "seconds",
            "open": "minutes per trial and CPU core",
            "paper": "one GPU; the official UD 2.2 release and aligned fastText vectors",
        },
        default_seeds={"smoke": (0,), "open": (0, 1, 2), "paper": (0, 1, 2)},
    ),
    Experiment(
        key="word_order/learning_rates",
        systems=(
            *(System("word", row) for row in ENCODERS),
            *(System("mbert", row) for row in TUNED_ON_MBERT),
        ),
        columns=tuple(rate_column(rate) for rate in LEARNING_RATES),
        profiles=("smoke", "open"),
        make_trials=_learning_rate_trials,
        cost={"smoke": "seconds", "open": "a minute per trial and CPU core"},
        default_seeds={"smoke": (0,), "open": (100,)},
    ),
)
