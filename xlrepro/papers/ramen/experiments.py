"""The experiments of the RAMEN paper: systems, columns, and the trials that fill them.

A bilingual model is made once per English model, initialisation and language, and read by all
tables; its trials train heads. Table 3's rows on vectors are Table 1's and 2's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from xlrepro.trials.experiment import THREE, Address, Experiment, MakeTrials, shared_cells
from xlrepro.trials.per_seed import Overrides, Run, per_row
from xlrepro.trials.record import Record
from xlrepro.trials.trial import Trial

LANGUAGES = ("fr", "ru", "ar", "hi", "vi", "zh")
POINTS = tuple(UPDATES.values())
DATASETS = {"XNLI": "XNLI", "UD": "UD v2.4"}  # as Figure 2 names its panels


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
    for name, value in overrides.items():
        adapts = made if name in AdaptationSettings.model_fields else values
        if name != "targets":
            (head if name in HeadSettings.model_fields else adapts)[name] = value
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


def _preset_targets(profile: str, row: Row) -> list[str]:
    preset = presets()[profile]
    return list((preset["tuned"] if row.tuned else preset)["targets"])


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


def _row(
    table: str, task: str, identifier: str, row: Row, profile: str, overrides: Overrides
) -> Iterator[Run]:
    """Yield the run of a row where one head serves all targets, else one per target."""
    row = _as_run(row, table, profile)
    targets = list(overrides.get("targets", _preset_targets(profile, row)))
    # Trained on English, one head serves all languages that one encoder reads.
    shared = row.model and task != "UD supervised"
    for group in [targets] if shared else [[target] for target in targets]:
        settings = evaluation_settings(profile, task, row, group, overrides)
        if table == "figure2":
            settings = settings.model_copy(update={"checkpoints": tuple(UPDATES)})
        columns = [column for target in group for column in _columns(task, table, target)]
        name = "fine-tuning" if isinstance(settings, FineTuningSettings) else "evaluation"
        hashes = data_hashes(settings)
        yield Run(f"ramen/{table}", (identifier,), columns, settings, hashes, f"ramen/{name}")


def _rows(table: str, task: str, rows: Mapping[str, Row]) -> MakeTrials:
    """Return what makes the trials of a table, those of rows whose weights a profile has."""

    @per_row
    def trials(identifier: str, profile: str, overrides: Overrides) -> Iterable[Run]:
        row = rows[identifier]
        return _row(table, task, identifier, row, profile, overrides) if _runs(row, profile) else ()

    return trials


@per_row
def _table3(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    row = TABLE3[identifier]
    table, task = TABLE_OF[identifier.partition(":")[0].partition("-")[0]]
    same = SHARED.get(identifier.rsplit(", ", 1)[-1].rsplit(":", 1)[-1])
    if same and not row.tuned:
        name = f"{_roberta(profile)} ({same})"
        return _row(table, task, name, ZERO_SHOT[name], profile, overrides)
    if "models" in presets()[profile]:
        row = row._replace(english="roberta-base")
    return _row("table3", task, identifier, row, profile, overrides)


@per_row
def _figure2(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    for task in DATASETS:
        yield from _row("figure2", task, identifier, FIGURE2[identifier], profile, overrides)


def _roberta(profile: str) -> str:
    """Return the row of Tables 1 and 2 that is RoBERTa at a profile, or stands in for it."""
    return f"base:{ROBERTA}" if "models" in presets()[profile] else BASE


def _table3_place(trained: Record | Trial, system: str, column: str) -> Address | None:
    """Return where a cell of Table 1 or 2 stands in Table 3, which has LAS alone, by language."""
    block = {"ramen/table1": "xnli", "ramen/table2": "ud"}[trained.experiment]
    measure, _, language = column.rpartition("/")
    roberta = _roberta(trained.profile)
    row = {
        f"{roberta} (mono)": f"{block}:{ROBERTA}, vec",
        f"{roberta} (parallel)": f"{block}-ours:par",
    }.get(system)
    return (row, language) if row and measure != "UAS" else None


# Heads on frozen states take seconds: five seeds. Figure 2 has them at three checkpoints.
SEEDS = {"open": (0, 1, 2, 3, 4), "paper": (0, 1, 2)}

_experiment = partial(
    Experiment,
    default_seeds=SEEDS,
    cost={
        "smoke": "seconds",
        "paper": "one GPU; days per bilingual model, hours per trial; the paper's weights and text",
        "open": "once about 10 minutes of a CPU core for the English model, 10 per bilingual one; "
        "seconds to minutes per trial",
    },
)

EXPERIMENTS = (
    _experiment(
        key="ramen/table1",
        systems=systems_of(TABLE1),
        columns=LANGUAGES,
        make_trials=_rows("table1", "XNLI", TABLE1),
    ),
    _experiment(
        key="ramen/table2",
        systems=systems_of(TABLE2),
        columns=tuple(f"{measure}/{code}" for measure in ("LAS", "UAS") for code in LANGUAGES),
        make_trials=_rows("table2", "UD", TABLE2),
    ),
    _experiment(
        key="ramen/table3",
        systems=systems_of(TABLE3),
        columns=LANGUAGES,
        make_trials=_table3,
        draws_on=("ramen/table1", "ramen/table2"),
        **shared_cells(_table3_place),
    ),
    _experiment(
        key="ramen/table4",
        systems=systems_of(TABLE4),
        columns=LANGUAGES,
        make_trials=_rows("table4", "UD supervised", TABLE4),
    ),
    _experiment(
        key="ramen/figure2",
        default_seeds=THREE,
        profiles=("smoke", "open"),
        systems=systems_of(FIGURE2),
        columns=tuple(
            f"{name}/{code}/{point}"
            for name in DATASETS.values()
            for code in LANGUAGES
            for point in POINTS
        ),
        make_trials=_figure2,
    ),
)
