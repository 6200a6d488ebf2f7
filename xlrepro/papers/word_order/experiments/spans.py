"""The span-labelling experiments: Tables 1, 5 and 6, Figures 2 and 3."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.experiments.mbert import (
    TABLE1_ROWS,
    is_mbert,
    mbert_trials,
    of_word_rows,
)
from xlrepro.papers.word_order.experiments.rows import tagging_trials
from xlrepro.papers.word_order.settings import (
    ENCODERS,
    SHUFFLED,
    WORD_ROWS,
    TaggingSettings,
    presets,
    row_settings,
)
from xlrepro.pretraining.recipes import WORD_STATES
from xlrepro.trials.experiment import Address, Experiment, System
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial

TABLE1 = "word_order/table1"
COST = {
    "smoke": "seconds",
    "open": "about a minute per trial and CPU core",
    "paper": "one GPU; the official English training file of the slots, aligned fastText vectors",
}
SEEDS = {"smoke": (0,), "open": (0, 1, 2), "paper": (0, 1, 2)}
NOISE = (0, 1, 2)  # k of Table 5's disturbed test sets
ON_STATES = "word-encoder"  # block of ours: the slots' word-level rows on an encoder's vectors
Overrides = Mapping[str, Any]


def span_settings(
    profile: str, task: str, row: str, *changes: Mapping[str, Any]
) -> TaggingSettings:
    """Return the settings of a row in ``"NER"`` or ``"SF"``; changes as in ``row_settings``."""
    return row_settings(presets("spans")[profile], task, row, *changes)


def _name(identifier: str) -> str:
    return identifier.split(":", 1)[1]


def _tasks(identifier: str) -> tuple[str, ...]:
    return ("SF",) if identifier.startswith(f"{ON_STATES}:") else ("NER", "SF")


def _table1_row(
    task: str, identifier: str, profile: str, seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    """Return the trials of a row of Table 1 in one task; Table 5 uses those of slots."""
    if is_mbert(identifier):
        return mbert_trials(TABLE1, task, identifier, profile, seeds, overrides)
    if task == "SF":
        overrides = {**presets("spans")[profile].get("until_dev_stops", {}), **overrides}
    if identifier.startswith(f"{ON_STATES}:"):
        overrides = {**overrides, "vectors": WORD_STATES}
    return _word_row(task, identifier, profile, seeds, overrides)


def _word_row(
    task: str, identifier: str, profile: str, seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    """Return the trials of a word-level row in the columns of Table 1, trained as ``both`` says.

    Table 6 and Figures 2 and 3 compare these with variants that are trained as long.
    """
    disturbed = {"test_shuffles": NOISE} if task == "SF" else {}
    settings = span_settings(profile, task, _name(identifier), disturbed, overrides)
    columns = [f"{task}/{name}" for name in (settings.source, *settings.targets, "avg")]
    return tagging_trials(TABLE1, identifier, columns, profile, seeds, settings)


def _table1_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    words = of_word_rows(systems, overrides)
    return [
        trial
        for identifier in systems
        for task in _tasks(identifier)
        for trial in _table1_row(
            task, identifier, profile, seeds, overrides if is_mbert(identifier) else words
        )
    ]


def _scores(record: Record, system: str, columns: Mapping[str, str]) -> list[Cell]:
    """Return cells of ``system`` from the scores of a slot trial of Table 1: column to score."""
    scores = record.details["scores"]
    return [Cell(system, column, scores[name], "slot F1") for column, name in columns.items()]


def _table5_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    rows = [identifier.replace("noisy:", "word:") for identifier in systems]
    return [t for row in rows for t in _table1_row("SF", row, profile, seeds, overrides)]


def _table5_cells(record: Record) -> list[Cell]:
    (row,) = record.systems
    return _scores(record, row.replace("word:", "noisy:"), {f"k={k}": f"k={k}" for k in NOISE})


# The 13 rows of Table 6: (row, positions, kernel width, k of shuffling or no shuffling, head).
_INF = "inf"
ABLATION: tuple[tuple[str, str, int | None, int | str | None, str], ...] = (
    ("TRS + CRF (PE Trainable, FF Linear, k -)", "learned", None, None, "crf"),
    ("TRS + CRF (PE Sinusoid, FF Linear, k -)", "sinusoidal", None, None, "crf"),
    ("TRS + CRF w/ shuffled data (PE Sinusoid, FF Linear, k inf)", "sinusoidal", None, _INF, "crf"),
    ("TRS + Linear (PE Sinusoid, FF Conv1d, k -)", "sinusoidal", 3, None, "linear"),
    ("TRS + CRF (PE Sinusoid, FF Conv1d, k -)", "sinusoidal", 3, None, "crf"),
    ("TRS + CRF w/ shuffled data (PE Sinusoid, FF Conv1d, k 2)", "sinusoidal", 3, 2, "crf"),
    ("TRS + CRF w/ shuffled data (PE Sinusoid, FF Conv1d, k 3)", "sinusoidal", 3, 3, "crf"),
    ("TRS + CRF w/ shuffled data (PE Sinusoid, FF Conv1d, k 4)", "sinusoidal", 3, 4, "crf"),
    ("TRS + CRF w/ shuffled data (PE Sinusoid, FF Conv1d, k inf)", "sinusoidal", 3, _INF, "crf"),
    ("ORT + Linear (PE -, FF Linear, k -)", "none", None, None, "linear"),
    ("ORT + CRF (PE -, FF Linear, k -)", "none", None, None, "crf"),
    ("ORT + Linear (PE -, FF Conv1d, k -)", "none", 3, None, "linear"),
    ("ORT + CRF (PE -, FF Conv1d, k -)", "none", 3, None, "crf"),
)  # fmt: skip


# Rows of Table 6 that are rows of Table 1.
ABLATION_IN_TABLE1 = {
    "ablation:TRS + CRF (PE Sinusoid, FF Conv1d, k -)": "word:TRS",
    "ablation:TRS + CRF w/ shuffled data (PE Sinusoid, FF Conv1d, k inf)": f"word:TRS{SHUFFLED}",
    "ablation:ORT + CRF (PE -, FF Conv1d, k -)": "word:ORT",
}


def _table6_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    rows = {f"ablation:{row[0]}": row for row in ABLATION}
    trials = []
    for identifier in systems:
        if identifier in ABLATION_IN_TABLE1:
            row = ABLATION_IN_TABLE1[identifier]
            trials += _word_row("SF", row, profile, seeds, overrides)
            continue
        name, positions, kernel_size, k, head = rows[identifier]
        changes = {
            "positions": positions,
            "kernel_size": kernel_size,
            "head": head,
            "shuffle": k is not None,
            "shuffle_k": k if isinstance(k, int) else None,
        }
        settings = span_settings(profile, "SF", name.split(" ", 1)[0], changes, overrides)
        columns = settings.targets
        trials += tagging_trials("word_order/table6", identifier, columns, profile, seeds, settings)
    return trials


def _table6_cells(record: Record) -> list[Cell]:
    (row,) = record.systems
    system = next(ours for ours, theirs in ABLATION_IN_TABLE1.items() if theirs == row)
    return _scores(record, system, {code: code for code in ("es", "th")})


SHARES = (0.0, 0.01, 0.03, 0.05, 0.1)
FEW_SHOT = {code: tuple(f"{code}/{share:g}" for share in SHARES) for code in ("es", "th")}


def _figure2_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    trials = []
    for identifier in systems:
        trials += _word_row("SF", identifier, profile, seeds, overrides)  # zero-shot
        for code, columns in FEW_SHOT.items():
            for share, column in zip(SHARES[1:], columns[1:], strict=True):
                changes = {
                    "targets": (code,),
                    "few_shot_language": code,
                    "few_shot_share": share,
                }
                settings = span_settings(profile, "SF", _name(identifier), changes, overrides)
                key = "word_order/figure2"
                trials += tagging_trials(key, identifier, [column], profile, seeds, settings)
    return trials


def _figure2_cells(record: Record) -> list[Cell]:
    return _scores(record, record.systems[0], {f"{code}/0": code for code in FEW_SHOT})


def _figure2_fills(trial: Trial) -> list[Address]:
    return [(trial.systems[0], f"{code}/0") for code in FEW_SHOT]


WIDTHS = tuple(range(1, 11))
WIDTH = 3  # that of Table 1


def _figure3_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    if "kernel_size" in overrides:
        raise SettingsError("word_order/figure3 sets kernel_size itself: do not override it")
    trials = []
    for identifier in systems:
        trials += _word_row("SF", identifier, profile, seeds, overrides)
        for width in (w for w in WIDTHS if w != WIDTH):
            settings = span_settings(
                profile, "SF", _name(identifier), {"kernel_size": width}, overrides
            )
            columns = [f"{code}/{width}" for code in settings.targets]
            key = "word_order/figure3"
            trials += tagging_trials(key, identifier, columns, profile, seeds, settings)
    return trials


def _figure3_cells(record: Record) -> list[Cell]:
    return _scores(record, record.systems[0], {f"{c}/{WIDTH}": c for c in ("es", "th")})


def _figure3_fills(trial: Trial) -> list[Address]:
    return [(trial.systems[0], f"{code}/{WIDTH}") for code in ("es", "th")]


def _experiment(
    name: str,
    systems: tuple[System, ...],
    columns: tuple[str, ...],
    make_trials: Callable[..., list[Trial]],
    seeds: Mapping[str, tuple[int, ...]] = SEEDS,
    cells: Callable[[Record], list[Cell]] | None = None,
    fills: Callable[[Trial], list[Address]] | None = None,
    cost: Mapping[str, str] = COST,
) -> Experiment:
    """Return one experiment; with ``cells`` it draws on the slot trials of Table 1."""
    return Experiment(
        key=f"word_order/{name}",
        systems=systems,
        columns=columns,
        profiles=("smoke", "open", "paper"),
        make_trials=make_trials,
        cost=cost,
        default_seeds=seeds,
        draws_on=(TABLE1,) if cells else (),
        cells=cells,
        fills=fills,
    )


SPAN_EXPERIMENTS = (
    _experiment(
        "table1",
        (
            *(System("word", row) for row in WORD_ROWS),
            *(System(ON_STATES, row, default=False, ours=True) for row in ENCODERS),
            *TABLE1_ROWS,
        ),
        (
            *(f"NER/{c}" for c in ("en", "es", "nl", "de", "avg")),
            *(f"SF/{c}" for c in ("en", "es", "th", "avg")),
        ),
        _table1_trials,
        cost={**COST, "paper": f"{COST['paper']}, CoNLL-2002 and 2003, and M-BERT"},
    ),
    _experiment(
        "table5",
        tuple(System("noisy", row) for row in ENCODERS),
        tuple(f"k={k}" for k in NOISE),
        _table5_trials,
        cells=_table5_cells,
    ),
    _experiment(
        "table6",
        tuple(System("ablation", row[0]) for row in ABLATION),
        ("es", "th"),
        _table6_trials,
        SEEDS,
        _table6_cells,
    ),
    _experiment(
        "figure2",
        tuple(System("word", row) for row in ENCODERS),
        tuple(column for columns in FEW_SHOT.values() for column in columns),
        _figure2_trials,
        SEEDS,
        _figure2_cells,
        _figure2_fills,
    ),
    _experiment(
        "figure3",
        tuple(System("word", row) for row in ("TRS", "ORT")),
        tuple(f"{code}/{width}" for code in ("es", "th") for width in WIDTHS),
        _figure3_trials,
        SEEDS,
        _figure3_cells,
        _figure3_fills,
    ),
)
