"""The span-labelling experiments: Tables 1, 5 and 6, Figures 2 and 3."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

from xlrepro.encoders.words import ENCODER as WORD_STATES
from xlrepro.errors import SettingsError
from xlrepro.papers.word_order.experiments.mbert import (
    is_mbert,
    mbert_settings,
    mbert_systems,
    of_word_rows,
)
from xlrepro.papers.word_order.experiments.rows import tagging_run, word_settings
from xlrepro.papers.word_order.settings import ENCODERS, SHUFFLED, WORD_ROWS, presets
from xlrepro.trials.experiment import Address, Experiment, FindPlace, System, shared_cells
from xlrepro.trials.per_seed import Overrides, Run, per_row, per_seed
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial

TABLE1 = "word_order/table1"
COST = {
    "smoke": "seconds",
    "open": "about a minute per trial and CPU core",
    "paper": "one GPU; the official English training file of the slots, aligned fastText vectors",
}
TARGETS = ("es", "th")  # of slots
SHARES = (0.0, 0.01, 0.03, 0.05, 0.1)  # of a target's training sentences, in Figure 2
WIDTHS, WIDTH = tuple(range(1, 11)), 3  # of the kernel in Figure 3; that of Table 1
NOISE = (0, 1, 2)  # k of Table 5's disturbed test sets
ON_STATES = "word-encoder"  # block of ours: the slots' word-level rows on an encoder's vectors


def _table1_row(task: str, identifier: str, profile: str, overrides: Overrides) -> Run:
    """Return the run of a row of Table 1 in one task; Table 5 uses those of slots."""
    if is_mbert(identifier):
        return tagging_run(TABLE1, identifier, mbert_settings(profile, task, identifier, overrides))
    overrides = {**presets("spans")[profile].get("until_dev_stops", {}), **overrides}
    if identifier.startswith(f"{ON_STATES}:"):
        overrides = {**overrides, "vectors": WORD_STATES}
    return _word_row(task, identifier, profile, overrides)


def _word_row(task: str, identifier: str, profile: str, overrides: Overrides) -> Run:
    """Return the run of a word-level row in the columns of Table 1, trained as ``both`` says.

    Table 6 and Figures 2 and 3 compare these with variants that are trained as long.
    """
    disturbed = {"test_shuffles": NOISE} if task == "SF" else {}
    row = identifier.partition(":")[2]
    settings = word_settings(profile, task, row, disturbed, overrides)
    return tagging_run(TABLE1, identifier, settings)


@per_seed
def _table1(systems: Sequence[str], profile: str, overrides: Overrides) -> Iterator[Run]:
    words = of_word_rows(systems, overrides)
    for identifier in systems:
        row_overrides = overrides if is_mbert(identifier) else words
        if not identifier.startswith(f"{ON_STATES}:"):
            yield _table1_row("NER", identifier, profile, row_overrides)
        yield _table1_row("SF", identifier, profile, row_overrides)


@per_row
def _table5(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    yield _table1_row("SF", identifier.replace("noisy:", "word:"), profile, overrides)


def _table5_cells(record: Record) -> list[Cell]:
    (row,) = record.systems
    system, scores = row.replace("word:", "noisy:"), record.details["scores"]
    return [Cell(system, f"k={k}", scores[f"k={k}"], "slot F1") for k in NOISE]


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


@per_row
def _table6(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    if identifier in ABLATION_IN_TABLE1:
        yield _word_row("SF", ABLATION_IN_TABLE1[identifier], profile, overrides)
        return
    (row,) = (row for row in ABLATION if identifier == f"ablation:{row[0]}")
    name, positions, kernel_size, k, head = row
    changes = {
        "positions": positions,
        "kernel_size": kernel_size,
        "head": head,
        "shuffle": k is not None,
        "shuffle_k": k if isinstance(k, int) else None,
    }
    settings = word_settings(profile, "SF", name.partition(" ")[0], changes, overrides)
    yield tagging_run("word_order/table6", identifier, settings, settings.targets)


def _table6_place(_trial: Record | Trial, system: str, column: str) -> Address | None:
    """Return where a cell of Table 1 stands in Table 6."""
    task, _, code = column.partition("/")
    (row,) = (ours for ours, theirs in ABLATION_IN_TABLE1.items() if theirs == system)
    return (row, code) if task == "SF" and code in TARGETS else None


def _at(value: str) -> FindPlace:
    """Return where a cell of Table 1 stands in a figure: at a value of what the figure varies."""

    def place(_trial: Record | Trial, system: str, column: str) -> Address | None:
        task, _, code = column.partition("/")
        return (system, f"{code}/{value}") if task == "SF" and code in TARGETS else None

    return place


@per_row
def _figure2(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    yield _word_row("SF", identifier, profile, overrides)  # zero-shot
    for code, share in product(TARGETS, SHARES[1:]):
        changes = {"targets": (code,), "few_shot_language": code, "few_shot_share": share}
        settings = word_settings(profile, "SF", identifier.partition(":")[2], changes, overrides)
        yield tagging_run("word_order/figure2", identifier, settings, [f"{code}/{share:g}"])


@per_row
def _figure3(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    if "kernel_size" in overrides:
        raise SettingsError("word_order/figure3 sets kernel_size itself: do not override it")
    yield _word_row("SF", identifier, profile, overrides)
    for width in (w for w in WIDTHS if w != WIDTH):
        changes = {"kernel_size": width}
        settings = word_settings(profile, "SF", identifier.partition(":")[2], changes, overrides)
        columns = [f"{code}/{width}" for code in settings.targets]
        yield tagging_run("word_order/figure3", identifier, settings, columns)


_experiment = partial(Experiment, cost=COST)
_drawing = partial(_experiment, draws_on=(TABLE1,))

SPAN_EXPERIMENTS = (
    _experiment(
        key=TABLE1,
        systems=(
            *(System("word", row) for row in WORD_ROWS),
            *(System(ON_STATES, row, default=False, ours=True) for row in ENCODERS),
            *mbert_systems("Fine-tune M-BERT"),
        ),
        columns=(
            *(f"NER/{c}" for c in ("en", "es", "nl", "de", "avg")),
            *(f"SF/{c}" for c in ("en", *TARGETS, "avg")),
        ),
        make_trials=_table1,
        cost={
            **COST,
            "open": "three minutes per trial and CPU core; one on frozen states, three to eleven "
            "fine-tuned",
            "paper": f"{COST['paper']}, CoNLL-2002 and 2003, and M-BERT",
        },
    ),
    _drawing(
        key="word_order/table5",
        systems=tuple(System("noisy", row) for row in ENCODERS),
        columns=tuple(f"k={k}" for k in NOISE),
        cost={**COST, "open": "nothing: Table 1's trials of slots"},
        make_trials=_table5,
        cells=_table5_cells,
    ),
    _drawing(
        key="word_order/table6",
        systems=tuple(System("ablation", row[0]) for row in ABLATION),
        columns=TARGETS,
        make_trials=_table6,
        **shared_cells(_table6_place),
    ),
    _drawing(
        key="word_order/figure2",
        systems=tuple(System("word", row) for row in ENCODERS),
        columns=tuple(f"{code}/{share:g}" for code in TARGETS for share in SHARES),
        make_trials=_figure2,
        **shared_cells(_at("0")),
    ),
    _drawing(
        key="word_order/figure3",
        systems=tuple(System("word", row) for row in ("TRS", "ORT")),
        columns=tuple(f"{code}/{width}" for code in TARGETS for width in WIDTHS),
        make_trials=_figure3,
        **shared_cells(_at(f"{WIDTH}")),
    ),
)
