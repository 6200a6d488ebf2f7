"""The experiments of the RAMEN paper: systems, columns, and the trials that fill them.

A bilingual model is made once per English model, initialisation and language, and read by all
tables; its trials train heads. Table 3's rows on vectors are Table 1's and 2's.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from xlrepro.papers.ramen.fine_tuning.settings import FineTuningSettings
from xlrepro.papers.ramen.recipes import UPDATES, data_hashes
from xlrepro.papers.ramen.rows import (
    BASE,
    FIGURE2,
    ROBERTA,
    SHARED,
    TABLE1,
    TABLE2,
    TABLE3,
    TABLE4,
    TABLE_OF,
    ZERO_SHOT,
    Row,
    systems_of,
)
from xlrepro.papers.ramen.settings import (
    AdaptationSettings,
    EvaluationSettings,
    HeadSettings,
    presets,
    validated,
)
from xlrepro.trials.experiment import Experiment
from xlrepro.trials.per_seed import per_seed
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial

TASK, FINE_TUNING = "ramen/evaluation", "ramen/fine-tuning"
LANGUAGES = ("fr", "ru", "ar", "hi", "vi", "zh")
POINTS = tuple(UPDATES.values())
DATASETS = {"XNLI": "XNLI", "UD": "UD v2.4"}  # as Figure 2 names its panels
Overrides = Mapping[str, Any]


def evaluation_settings(
    profile: str, task: str, row: Row, targets: Sequence[str], overrides: Overrides
) -> EvaluationSettings:
    """Return the settings of a row in one task.

    Args:
        profile: the profile.
        task: ``"XNLI"``, ``"UD"`` or ``"UD supervised"``.
        row: what stands behind it.
        targets: languages.
        overrides: settings by name that win; those of the head, or of the adaptation.

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    preset = presets()[profile]
    head = dict(preset["heads"][task]) | _layer(preset, task, row)
    values: dict[str, Any] = {
        "task": task,
        "corpus": preset["corpus"],
        "targets": tuple(targets),
        "head": head,
        "precision": preset["precision"],
    }
    made = {"corpus": preset["corpus"], "precision": preset["precision"], **preset["adaptation"]}
    made["initialisation"] = {**preset["initialisation"], **row.initialisation}
    if row.english:
        made = _merged(made, preset["models"][row.english])
    if row.longer:
        made = _merged(made, preset["longer"]["adaptation"])
    for name, value in overrides.items():
        if name == "targets":
            continue
        place = head if name in HeadSettings.model_fields else values
        (made if name in AdaptationSettings.model_fields and place is values else place)[name] = (
            value
        )
    values |= preset[row.model] if row.model else {"adaptation": made}
    if row.tuned:
        values |= {**preset["tuned"][task], **values}
        return validated(values, f"{task} {profile}, tuned", FineTuningSettings)
    return validated(values, f"{task} {profile}", EvaluationSettings)


def _merged(settings: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with changes, group by group."""
    return settings | {
        name: {**settings[name], **value} if isinstance(value, Mapping) else value
        for name, value in changes.items()
    }


def _layer(preset: Mapping[str, Any], task: str, row: Row) -> dict[str, int]:
    """Return the layer that the preset names for a model and a task; else the last."""
    layers = preset.get("reads", {}).get(row.model or "bilingual", {})
    return {"layer": layers[task.split()[0]]} if task.split()[0] in layers else {}


def _trials(
    table: str,
    identifier: str,
    columns: Sequence[str],
    profile: str,
    seeds: Sequence[int],
    settings: EvaluationSettings,
) -> list[Trial]:
    return per_seed(
        seeds,
        experiment=f"ramen/{table}",
        system=identifier,
        columns=columns,
        profile=profile,
        settings=settings,
        data=data_hashes(settings),
        task=FINE_TUNING if isinstance(settings, FineTuningSettings) else TASK,
    )


def _preset_targets(profile: str, row: Row) -> list[str]:
    preset = presets()[profile]
    group = "tuned" if row.tuned else "longer" if row.longer else None
    return list((preset[group] if group else preset)["targets"])


def _columns(task: str, table: str, target: str) -> list[str]:
    if table == "table2":
        return [f"{measure}/{target}" for measure in ("LAS", "UAS")]
    if table == "figure2":
        return [f"{DATASETS[task]}/{target}/{point}" for point in POINTS]
    return [target]


def _as_run(row: Row, table: str, profile: str) -> Row:
    """Return a row as a profile runs it: the paper tunes encoders in its zero-shot tables."""
    tunes = presets()[profile].get("tuned", {}).get("tables", ())
    return row._replace(tuned=True) if table in tunes else row


def _runs(row: Row, profile: str) -> bool:
    """Whether a profile has the weights of a row."""
    preset = presets()[profile]
    has_model = not row.model or row.model in preset
    return has_model and (not row.english or row.english in preset.get("models", {}))


def _row_trials(
    table: str,
    task: str,
    identifier: str,
    row: Row,
    profile: str,
    seeds: Sequence[int],
    overrides: Overrides,
    checkpoints: Sequence[str] = ("end",),
) -> list[Trial]:
    """Return the trials of a row: one per seed where one head serves all, else one per target."""
    row = _as_run(row, table, profile)
    targets = list(overrides.get("targets", _preset_targets(profile, row)))
    # Trained on English, one head serves all languages that one encoder reads.
    shared = row.model and task != "UD supervised"
    groups = [targets] if shared else [[target] for target in targets]
    trials = []
    for group in groups:
        settings = evaluation_settings(profile, task, row, group, overrides)
        settings = settings.model_copy(update={"checkpoints": tuple(checkpoints)})
        columns = [column for target in group for column in _columns(task, table, target)]
        trials += _trials(table, identifier, columns, profile, seeds, settings)
    return trials


def _table_trials(
    table: str,
    task: str,
    rows: Mapping[str, Row],
    profile: str,
    systems: Sequence[str],
    seeds: Sequence[int],
    overrides: Overrides,
) -> list[Trial]:
    return [
        trial
        for identifier in systems
        if _runs(rows[identifier], profile)
        for trial in _row_trials(
            table, task, identifier, rows[identifier], profile, seeds, overrides
        )
    ]


def _table3_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    trials = []
    for identifier in systems:
        row = TABLE3[identifier]
        table, task = TABLE_OF[identifier.partition(":")[0].partition("-")[0]]
        same = SHARED.get(identifier.rsplit(", ", 1)[-1].rsplit(":", 1)[-1])
        if same is None or row.tuned:
            if "models" in presets()[profile]:
                row = row._replace(english="roberta-base")
            trials += _row_trials("table3", task, identifier, row, profile, seeds, overrides)
        else:
            name = f"{_roberta(profile)} ({same})"
            trials += _row_trials(table, task, name, ZERO_SHOT[name], profile, seeds, overrides)
    return trials


def _roberta(profile: str) -> str:
    """Return the row of Tables 1 and 2 that is RoBERTa at a profile, or stands in for it."""
    return f"base:{ROBERTA}" if "models" in presets()[profile] else BASE


def _table3_system(table: str, system: str, profile: str) -> str | None:
    """Return the row of Table 3 that a row of Table 1 or 2 is, if it is one."""
    block = {"ramen/table1": "xnli", "ramen/table2": "ud"}.get(table)
    if system == f"{_roberta(profile)} (mono)":
        return f"{block}:{ROBERTA}, vec"
    return f"{block}-ours:par" if system == f"{_roberta(profile)} (parallel)" else None


def _table3_column(column: str) -> str | None:
    """Return the column of Table 3 that a column of Table 1 or 2 is: LAS alone, by language."""
    measure, _, language = column.rpartition("/")
    return None if measure == "UAS" else language


def _table3_cells(record: Record) -> list[Cell]:
    cells = []
    for cell in record.cells:
        system = _table3_system(record.experiment, cell.system, record.profile)
        column = _table3_column(cell.column)
        if system and column:
            cells.append(Cell(system, column, cell.value, cell.metric, cell.unit))
    return cells


def _table3_fills(trial: Trial) -> list[tuple[str, str]]:
    addresses = []
    for identifier in trial.systems:
        system = _table3_system(trial.experiment, identifier, trial.profile)
        columns = [_table3_column(column) for column in trial.columns]
        addresses += [(system, column) for column in columns if system and column]
    return addresses


def _figure2_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    return [
        trial
        for identifier in systems
        for task in DATASETS
        for trial in _row_trials(
            "figure2",
            task,
            identifier,
            FIGURE2[identifier],
            profile,
            seeds,
            overrides,
            tuple(UPDATES),
        )
    ]


_experiment = partial(
    Experiment,
    profiles=("smoke", "open", "paper"),
    default_seeds={"smoke": (0,), "open": (0, 1, 2), "paper": (0, 1, 2)},
    cost={
        "smoke": "seconds",
        "paper": "one GPU; days per bilingual model, hours per trial; the paper's weights and text",
        "open": "once about 25 minutes of a CPU core for the English model, 1 to 5 per bilingual "
        "one, 16 per one of the rows `longer`; seconds to minutes per trial",
    },
)

EXPERIMENTS = (
    _experiment(
        key="ramen/table1",
        systems=systems_of(TABLE1),
        columns=LANGUAGES,
        make_trials=partial(_table_trials, "table1", "XNLI", TABLE1),
    ),
    _experiment(
        key="ramen/table2",
        systems=systems_of(TABLE2),
        columns=tuple(f"{measure}/{code}" for measure in ("LAS", "UAS") for code in LANGUAGES),
        make_trials=partial(_table_trials, "table2", "UD", TABLE2),
    ),
    _experiment(
        key="ramen/table3",
        systems=systems_of(TABLE3),
        columns=LANGUAGES,
        make_trials=_table3_trials,
        draws_on=("ramen/table1", "ramen/table2"),
        cells=_table3_cells,
        fills=_table3_fills,
    ),
    _experiment(
        key="ramen/table4",
        systems=systems_of(TABLE4),
        columns=LANGUAGES,
        make_trials=partial(_table_trials, "table4", "UD supervised", TABLE4),
    ),
    _experiment(
        key="ramen/figure2",
        profiles=("smoke", "open"),
        systems=systems_of(FIGURE2),
        columns=tuple(
            f"{name}/{code}/{point}"
            for name in DATASETS.values()
            for code in LANGUAGES
            for point in POINTS
        ),
        make_trials=_figure2_trials,
    ),
)
