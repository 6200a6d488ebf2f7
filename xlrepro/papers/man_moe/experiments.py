"""The experiments of the MAN-MoE paper: systems, columns, and the trials that fill them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe import gates, sweep
from xlrepro.papers.man_moe.settings import TransferSettings, presets, transfer_settings
from xlrepro.papers.man_moe.systems import (
    ABLATION_IN_TABLE2,
    ABLATION_ROWS,
    CHOICE_ROWS,
    LONG_ROWS,
    NER_ROWS,
    REVIEW_ROWS,
    SLOT_ROWS,
    UNSUPERVISED_ROWS,
)
from xlrepro.papers.man_moe.texts import data
from xlrepro.trials.experiment import Address, Experiment, System, shared_cells
from xlrepro.trials.per_seed import Overrides, Run, per_row
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Trial

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
    },
    "table5": {"without": REVIEW_ROWS},
}
# Blocks that mean something at some profiles alone: at paper all rows have MUSE's vectors.
ONLY_AT = {
    "without-mapped": ("smoke", "open"),
    "without-muse": ("smoke", "open"),
    "long": ("open",),
}
# Trained so long that each target has a trial of its own; no trial knows their mean.
BY_TARGET = ("long",)
# On open text the maps collapse, and nothing is trained on their vectors.
BY_NAME_AT = {"without:MAN-MOE+CharCNN+UMWE": ("open",)}
SPLITS = ("train", "dev", "test")


def _run(
    table: str,
    identifier: str,
    columns: Sequence[str],
    settings: TransferSettings,
    task: str = "man_moe/transfer",
    seeds: tuple[int, ...] = (),
) -> Run:
    hashes = data.data_hashes(settings)
    return Run(f"man_moe/{table}", (identifier,), columns, settings, hashes, task, seeds)


def _row(
    table: str, identifier: str, profile: str, overrides: Overrides, trained_as: str = ""
) -> Iterator[Run]:
    """Yield the run of a row, or one per target.

    ``trained_as``: the block whose training the preset has, where that is not the row's own.
    """
    block, _, row = identifier.partition(":")
    trained_as = trained_as or block
    if profile not in ONLY_AT.get(block, (profile,)):
        return
    preset, changes = PRESET[table], ROWS[table][block][row]
    whole = transfer_settings(preset, profile, changes, overrides, trained_as)
    if not whole.domains and block not in BY_TARGET:
        yield _run(table, identifier, (*whole.targets, "avg"), whole)
        return
    for target in whole.targets:
        alone = {**overrides, "targets": (target,)}
        one = transfer_settings(preset, profile, changes, alone, trained_as)
        columns = [f"{target}/{domain}" for domain in (*one.domains, "avg")]
        yield _run(table, identifier, columns if one.domains else [target], one)


@per_row
def _table2(identifier: str, profile: str, overrides: Overrides) -> Iterable[Run]:
    if identifier.startswith("corpus:"):
        return _statistics(identifier, profile)
    return _row("table2", identifier, profile, overrides)


def _statistics(identifier: str, profile: str) -> Iterator[Run]:
    """Yield the one run that counts all utterances of a language; nothing in it is random."""
    language = identifier.partition(":")[2]
    if language not in transfer_settings("slots", profile, {}, {}).languages:
        return
    settings = transfer_settings("slots", profile, {"targets": (language,)}, {})
    if settings.corpus != "artificial":  # which has no end: there the cut is all there is
        settings = settings.model_copy(update={"train_sentences": None, "test_sentences": None})
    columns = [f"{domain}/{split}" for domain in settings.domains for split in SPLITS]
    columns += [f"{domain}/slot types" for domain in settings.domains]
    yield _run("table2", identifier, columns, settings, "man_moe/statistics", seeds=(0,))


@per_row
def _table3(identifier: str, profile: str, overrides: Overrides) -> Iterable[Run]:
    same = ABLATION_IN_TABLE2.get(identifier)
    table, row = ("table2", same) if same else ("table3", identifier)
    return _row(table, row, profile, overrides)


def _table3_place(_: Record | Trial, system: str, column: str) -> Address:
    """Return where a cell of Table 2 stands in Table 3."""
    (row,) = (row for row, same in ABLATION_IN_TABLE2.items() if same == system)
    return row, column


@per_row
def _table6(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    overrides = {**overrides, "targets": (sweep.TARGET,)}
    base = transfer_settings("slots", profile, {}, overrides, "sweep")
    setting, values = sweep.SWEEP[identifier.partition(":")[2]]
    if setting in overrides:
        raise SettingsError(f"man_moe/table6 sets {setting} itself: do not override it")
    for value in values:
        if value == getattr(base, setting):
            yield from _row("table2", "without:MAN-MoE", profile, overrides, trained_as="sweep")
        else:
            changes = {setting: value}
            settings = transfer_settings("slots", profile, changes, overrides, "sweep")
            yield _run("table6", identifier, [sweep.column(value)], settings, "man_moe/sweep")


@per_row
def _figure4(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    return _row(*gates.SHOWN[identifier], profile, overrides)


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
_experiment = partial(Experiment, profiles=("smoke", "open"), cost=COST)

EXPERIMENTS = (
    _experiment(
        key="man_moe/table2",
        systems=(
            *_systems("table2", "without"),
            *(System("corpus", code, ours=True) for code in ("en", "de", "es", "zh", "th")),
        ),
        columns=_columns("slots"),
        cost={**COST, "open": "two to ten minutes per trial and CPU core, of three models"},
        make_trials=_table2,
    ),
    _experiment(
        key="man_moe/table3",
        systems=_systems("table3", "ablation"),
        columns=_columns("slots"),
        cost={**COST, "open": "one to five minutes per trial and CPU core"},
        make_trials=_table3,
        draws_on=("man_moe/table2",),
        **shared_cells(_table3_place),
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
                default=False,
                ours=True,
            ),
        ),
        columns=("de", "es", "nl", "avg"),
        profiles=("smoke", "open", "paper"),
        cost={
            **COST,
            "open": "one to fifteen minutes per trial and CPU core",
            "paper": "one GPU; CoNLL 2002 and 2003, fastText's vectors of Wikipedia",
        },
        make_trials=per_row(partial(_row, "table4")),
    ),
    _experiment(
        key="man_moe/table5",
        systems=_systems("table5", "without"),
        columns=_columns("reviews"),
        cost={**COST, "open": "up to eight minutes per trial and CPU core"},
        make_trials=per_row(partial(_row, "table5")),
    ),
    _experiment(
        key="man_moe/table6",
        systems=tuple(System("sweep", name, ours=True) for name in sweep.SWEEP),
        columns=tuple(
            sweep.column(v)
            for v in sorted({v for _, values in sweep.SWEEP.values() for v in values})
        ),
        make_trials=_table6,
        draws_on=("man_moe/table2",),
        cells=sweep.cells,
    ),
    _experiment(
        key="man_moe/figure4",
        systems=(
            System("gates", "reviews"),
            System("gates", "NER", ours=True),
            System("gates", "NER, long training", default=False, ours=True),
        ),
        columns=_gate_columns(),
        cost={**COST, "open": "nothing: the trials of Tables 4 and 5"},
        make_trials=_figure4,
        draws_on=("man_moe/table5", "man_moe/table4"),
        cells=gates.cells,
    ),
)
