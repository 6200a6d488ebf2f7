"""The experiments of the MAN-MoE paper: systems, columns, and the trials that fill them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe import gates, sweep
from xlrepro.papers.man_moe.mappings.experiments import MAPPINGS
from xlrepro.papers.man_moe.settings import TransferSettings, presets, transfer_settings
from xlrepro.papers.man_moe.systems import (
    ABLATION_IN_TABLE2,
    ABLATION_ROWS,
    CHOICE_ROWS,
    LONG_ROWS,
    MORE_TEXT_ROWS,
    NER_ROWS,
    REVIEW_ROWS,
    SLOT_ROWS,
    UNSUPERVISED_ROWS,
)
from xlrepro.papers.man_moe.texts import data
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import per_seed
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial

TRANSFER = "man_moe/transfer"
STATISTICS = "man_moe/statistics"
SWEEP_RUN = "man_moe/sweep"
Overrides = Mapping[str, Any]

MAPPED = {"vectors": "mapped"}
MAPPED_ROWS = {row: {**c, **MAPPED} for row, c in NER_ROWS.items() if "vectors" not in c}
PRESET = {"table2": "slots", "table3": "slots", "table4": "ner", "table5": "reviews"}
ROWS: dict[str, dict[str, dict[str, Any]]] = {
    "table2": {"without": SLOT_ROWS},
    "table3": {"ablation": ABLATION_ROWS},
    "table4": {
        "without": NER_ROWS,
        "long": LONG_ROWS,
        "choice": CHOICE_ROWS,
        "without-mapped": MAPPED_ROWS,
        "without-muse": UNSUPERVISED_ROWS,
        "more-text": MORE_TEXT_ROWS,
    },
    "table5": {"without": REVIEW_ROWS},
}
# Blocks that mean something at some profiles alone: at paper all rows have MUSE's vectors.
ONLY_AT = {
    "without-mapped": ("smoke", "open"),
    "without-muse": ("smoke", "open"),
    "more-text": ("open",),
    "long": ("open",),
}
# Trained so long that each target has a trial of its own; no trial knows their mean.
BY_TARGET = ("long",)
# On open text the maps collapse, and nothing is trained on their vectors.
BY_NAME_AT = {"without:MAN-MOE+CharCNN+UMWE": ("open",)}
SPLITS = ("train", "dev", "test")


def _trials(
    table: str,
    identifier: str,
    columns: Sequence[str],
    profile: str,
    seeds: Sequence[int],
    settings: TransferSettings,
    task: str = TRANSFER,
) -> list[Trial]:
    return per_seed(
        seeds,
        experiment=f"man_moe/{table}",
        system=identifier,
        columns=columns,
        profile=profile,
        settings=settings,
        data=data.data_hashes(settings),
        task=task,
    )


def _row_trials(
    table: str, identifier: str, profile: str, seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    """Return the trials of a row: one per seed, or one per target and seed."""
    block, _, row = identifier.partition(":")
    if profile not in ONLY_AT.get(block, (profile,)):
        return []
    preset, changes = PRESET[table], ROWS[table][block][row]
    whole = transfer_settings(preset, profile, changes, overrides, block)
    if not whole.domains and block not in BY_TARGET:
        return _trials(table, identifier, (*whole.targets, "avg"), profile, seeds, whole)
    trials = []
    for target in whole.targets:
        alone = {**overrides, "targets": (target,)}
        one = transfer_settings(preset, profile, changes, alone, block)
        columns = [f"{target}/{domain}" for domain in (*one.domains, "avg")]
        columns = columns if one.domains else [target]
        trials += _trials(table, identifier, columns, profile, seeds, one)
    return trials


def _rows_of(table: str) -> Callable[..., list[Trial]]:
    """Return what makes the trials of a table whose rows are all its own."""

    def make(
        profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
    ) -> list[Trial]:
        return [t for i in systems for t in _row_trials(table, i, profile, seeds, overrides)]

    return make


def _table2_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    counted = [i for i in systems if i.startswith("corpus:")]
    rows = [i for i in systems if i not in counted]
    trials = [t for i in rows for t in _row_trials("table2", i, profile, seeds, overrides)]
    return trials + [t for i in counted for t in _statistics_trials(i, profile)]


def _statistics_trials(identifier: str, profile: str) -> list[Trial]:
    """Return the one trial that counts all utterances of a language; nothing in it is random."""
    language = identifier.partition(":")[2]
    if language not in transfer_settings("slots", profile, {}, {}).languages:
        return []
    settings = transfer_settings("slots", profile, {"targets": (language,)}, {})
    if settings.corpus != "artificial":  # which has no end: there the cut is all there is
        settings = settings.model_copy(update={"train_sentences": None, "test_sentences": None})
    columns = [f"{domain}/{split}" for domain in settings.domains for split in SPLITS]
    columns += [f"{domain}/slot types" for domain in settings.domains]
    return _trials("table2", identifier, columns, profile, (0,), settings, STATISTICS)


def _table3_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    trials = []
    for identifier in systems:
        same = ABLATION_IN_TABLE2.get(identifier)
        row = ("table2", same) if same else ("table3", identifier)
        trials += _row_trials(*row, profile, seeds, overrides)
    return trials


def _table3_cells(record: Record) -> list[Cell]:
    (row,) = (row for row, same in ABLATION_IN_TABLE2.items() if (same,) == record.systems)
    return [Cell(row, c.column, c.value, c.metric, c.unit) for c in record.cells]


def _figure4_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    rows = [gates.SHOWN[identifier] for identifier in systems]
    return [t for row in rows for t in _row_trials(*row, profile, seeds, overrides)]


def _table6_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    overrides = {**overrides, "targets": (sweep.TARGET,)}
    base = transfer_settings("slots", profile, {}, overrides)
    trials: dict[str, Trial] = {}
    for identifier in systems:
        setting, values = sweep.SWEEP[identifier.partition(":")[2]]
        if setting in overrides:
            raise SettingsError(f"man_moe/table6 sets {setting} itself: do not override it")
        for value in values:
            if value == getattr(base, setting):
                swept = _row_trials("table2", "without:MAN-MoE", profile, seeds, overrides)
            else:
                settings = transfer_settings("slots", profile, {setting: value}, overrides)
                columns = [sweep.column(value)]
                swept = _trials("table6", identifier, columns, profile, seeds, settings, SWEEP_RUN)
            trials |= {t.key: t for t in swept}
    return list(trials.values())


def _columns(preset: str) -> tuple[str, ...]:
    """Return ``target/domain`` of every profile, the paper's first."""
    columns: dict[str, None] = {}
    for values in presets(preset).values():
        domains = (*values["domains"], "avg")
        columns |= dict.fromkeys(f"{t}/{d}" for t in values["targets"] for d in domains)
    return tuple(columns)


def _gate_columns() -> tuple[str, ...]:
    """Return ``target/source`` of every profile of reviews and of named entities."""
    columns: dict[str, None] = {}
    for preset in ("reviews", "ner"):
        for values in presets(preset).values():
            pairs = [(t, s) for t in values["targets"] for s in values["languages"] if s != t]
            columns |= dict.fromkeys(f"{target}/{source}" for target, source in pairs)
    return tuple(columns)


def _systems(table: str, *blocks: str, **options: bool) -> tuple[System, ...]:
    return tuple(
        System(b, row, **options, by_name_at=BY_NAME_AT.get(f"{b}:{row}", ()))
        for b in blocks
        for row in ROWS[table][b]
    )


COST = {"smoke": "seconds", "open": "a minute per trial and CPU core"}
_experiment = partial(
    Experiment,
    profiles=("smoke", "open"),
    cost=COST,
    default_seeds={"smoke": (0,), "open": (0, 1, 2), "paper": (0, 1, 2)},
)

EXPERIMENTS = (
    _experiment(
        key="man_moe/table2",
        systems=(
            *_systems("table2", "without"),
            *(System("corpus", code, ours=True) for code in ("en", "de", "es", "zh", "th")),
        ),
        columns=_columns("slots"),
        make_trials=_table2_trials,
    ),
    _experiment(
        key="man_moe/table3",
        systems=_systems("table3", "ablation"),
        columns=_columns("slots"),
        make_trials=_table3_trials,
        draws_on=("man_moe/table2",),
        cells=_table3_cells,
    ),
    _experiment(
        key="man_moe/table4",
        systems=(
            *_systems("table4", "without"),
            *_systems("table4", "choice", ours=True),
            *_systems(
                "table4",
                "long",
                "without-mapped",
                "without-muse",
                "more-text",
                default=False,
                ours=True,
            ),
        ),
        columns=("de", "es", "nl", "avg"),
        profiles=("smoke", "open", "paper"),
        cost={**COST, "paper": "one GPU; CoNLL 2002 and 2003, fastText's vectors of Wikipedia"},
        make_trials=_rows_of("table4"),
    ),
    _experiment(
        key="man_moe/table5",
        systems=_systems("table5", "without"),
        columns=_columns("reviews"),
        make_trials=_rows_of("table5"),
    ),
    _experiment(
        key="man_moe/table6",
        systems=tuple(System("sweep", name, ours=True) for name in sweep.SWEEP),
        columns=tuple(
            sweep.column(v)
            for v in sorted({v for _, values in sweep.SWEEP.values() for v in values})
        ),
        make_trials=_table6_trials,
        draws_on=("man_moe/table2",),
        cells=sweep.cells,
    ),
    _experiment(
        key="man_moe/figure4",
        systems=(
            System("gates", "reviews"),
            System("gates", "NER"),
            System("gates", "NER, long training", default=False, ours=True),
        ),
        columns=_gate_columns(),
        make_trials=_figure4_trials,
        draws_on=("man_moe/table5", "man_moe/table4"),
        cells=gates.cells,
    ),
    MAPPINGS,
)
