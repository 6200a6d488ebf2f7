"""The experiments of the MAN-MoE paper: systems, columns, and the trials that fill them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe import data
from xlrepro.papers.man_moe.settings import TransferSettings, presets, transfer_settings
from xlrepro.papers.man_moe.systems import (
    ABLATION_ROWS,
    CHOICE_ROWS,
    NER_ROWS,
    REVIEW_ROWS,
    SLOT_ROWS,
    SWEEP,
)
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.trial import Trial

TRANSFER = "xlrepro.papers.man_moe.transfer:run"
GATES = "xlrepro.papers.man_moe.gates:run"
STATISTICS = "xlrepro.papers.man_moe.statistics:run"
Overrides = Mapping[str, Any]
Columns = Sequence[str]

MAPPED = {"vectors": "mapped"}
ROWS: dict[str, dict[str, dict[str, Any]]] = {
    "table2": {"without": SLOT_ROWS},
    "table3": {"ablation": ABLATION_ROWS},
    "table4": {
        "without": NER_ROWS,
        "choice": CHOICE_ROWS,
        "without-mapped": {row: {**c, **MAPPED} for row, c in NER_ROWS.items()},
    },
    "table5": {"without": REVIEW_ROWS},
}
SPLITS = ("train", "dev", "test")


def _trials(
    experiment: str,
    identifier: str,
    columns: Columns,
    profile: str,
    seeds: Sequence[int],
    settings: TransferSettings,
    runner: str = TRANSFER,
) -> list[Trial]:
    hashes = data.data_hashes(settings)
    return [
        Trial.create(
            experiment=f"man_moe/{experiment}",
            systems=(identifier,),
            columns=tuple(columns),
            profile=profile,
            seed=seed,
            settings=settings.model_dump(mode="json", exclude_defaults=True),
            data=hashes,
            runner=runner,
        )
        for seed in seeds
    ]


def _row(table: str, identifier: str) -> dict[str, Any]:
    block, _, row = identifier.partition(":")
    return ROWS[table][block][row]


def _table4_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    trials = []
    for identifier in systems:
        settings = transfer_settings("ner", profile, _row("table4", identifier), overrides)
        columns = (*settings.targets, "avg")
        trials += _trials("table4", identifier, columns, profile, seeds, settings)
    return trials


def _by_target(table: str, preset: str) -> Callable[..., list[Trial]]:
    """Return what makes the trials of a table with domains: one per row, target and seed."""

    def make(
        profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
    ) -> list[Trial]:
        trials = []
        for identifier in systems:
            if identifier.startswith("corpus:"):
                trials += _statistics_trials(identifier, profile)
                continue
            changes = _row(table, identifier)
            for target in transfer_settings(preset, profile, changes, overrides).targets:
                one = {**overrides, "targets": (target,)}
                settings = transfer_settings(preset, profile, changes, one)
                columns = [f"{target}/{domain}" for domain in (*settings.domains, "avg")]
                trials += _trials(table, identifier, columns, profile, seeds, settings)
        return trials

    return make


def _statistics_trials(identifier: str, profile: str) -> list[Trial]:
    """Return the one trial that counts a language's utterances; nothing in it is random."""
    language = identifier.partition(":")[2]
    settings = transfer_settings("slots", profile, {}, {})
    if language not in settings.languages:
        return []
    changes = {"targets": (language,)}
    columns = [f"{domain}/{split}" for domain in settings.domains for split in SPLITS]
    columns += [f"{domain}/slot types" for domain in settings.domains]
    counted = transfer_settings("slots", profile, changes, {})
    return _trials("table2", identifier, columns, profile, (0,), counted, STATISTICS)


def _figure4_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    trials = []
    for identifier in systems:
        preset, row = FIGURE4[identifier]
        settings = transfer_settings(preset, profile, row, overrides)
        for target in settings.targets:
            one = transfer_settings(preset, profile, row, {**overrides, "targets": (target,)})
            columns = [f"{target}/{source}" for source in one.sources(target)]
            trials += _trials("figure4", identifier, columns, profile, seeds, one, GATES)
    return trials


FIGURE4: dict[str, tuple[str, dict[str, Any]]] = {
    "gates:reviews": ("reviews", REVIEW_ROWS["MAN-MoE"]),
    "gates:NER": ("ner", NER_ROWS["MAN-MOE+CharCNN"]),
}


def _table6_trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Overrides
) -> list[Trial]:
    trials = []
    for identifier in systems:
        setting, values = SWEEP[identifier.partition(":")[2]]
        if setting in overrides:
            raise SettingsError(f"man_moe/table6 sets {setting} itself: do not override it")
        first = presets("slots")[profile]["domains"][:1]
        for value in values:
            changes = {setting: value, "targets": ("es",), "domains": first}
            settings = transfer_settings("slots", profile, changes, overrides)
            # The one column of the trial is the average over its one domain.
            trials += _trials(
                "table6", identifier, [sweep_column(value)], profile, seeds, settings, SWEEP_RUN
            )
    return trials


SWEEP_RUN = "xlrepro.papers.man_moe.sweep:run"


def sweep_column(value: float) -> str:
    """Return the column of a value of the sweep, ``"0.0001"``."""
    return f"{value:g}"


def _columns(preset: str, *more: str) -> tuple[str, ...]:
    """Return ``target/domain`` of every profile, the paper's first."""
    found: dict[str, None] = {}
    for values in presets(preset).values():
        domains = (*values["domains"], "avg")
        found |= dict.fromkeys(f"{t}/{d}" for t in values["targets"] for d in domains)
    return (*found, *more)


def _systems(table: str, *blocks: str, **options: bool) -> tuple[System, ...]:
    return tuple(System(b, row, **options) for b in blocks for row in ROWS[table][b])


COST = {"smoke": "seconds", "open": "minutes per trial and CPU core"}
SEEDS = {"smoke": (0,), "open": (0, 1, 2)}


def _experiment(
    name: str,
    title: str,
    question: str,
    systems: tuple[System, ...],
    columns: tuple[str, ...],
    make_trials: Callable[..., list[Trial]],
) -> Experiment:
    return Experiment(
        key=f"man_moe/{name}",
        title=title,
        question=question,
        systems=systems,
        columns=columns,
        profiles=("smoke", "open"),
        make_trials=make_trials,
        cost=COST,
        default_seeds=SEEDS,
    )


EXPERIMENTS = (
    _experiment(
        "table2",
        "Table 2: zero-resource slot filling in three domains",
        "Does a mixture of language experts beat shared embeddings and a shared adversarial "
        "encoder in slot filling?",
        (
            *_systems("table2", "without"),
            *(System("corpus", code, ours=True) for code in ("en", "de", "es", "zh", "th")),
        ),
        _columns("slots"),
        _by_target("table2", "slots"),
    ),
    _experiment(
        "table3",
        "Table 3: what each part of MAN-MoE does in slot filling",
        "Which part of MAN-MoE carries its gain, and in which target language?",
        _systems("table3", "ablation"),
        _columns("slots"),
        _by_target("table3", "slots"),
    ),
    _experiment(
        "table4",
        "Table 4: zero-resource named entity recognition",
        "Does MAN-MoE with character embeddings reach systems that use cross-lingual resources?",
        (
            *_systems("table4", "without"),
            *_systems("table4", "choice", ours=True),
            *_systems("table4", "without-mapped", default=False, ours=True),
        ),
        ("de", "es", "nl", "avg"),
        _table4_trials,
    ),
    _experiment(
        "table5",
        "Table 5: zero-resource classification of reviews",
        "Does MAN-MoE beat shared embeddings in sentiment, also for a distant language?",
        _systems("table5", "without"),
        _columns("reviews"),
        _by_target("table5", "reviews"),
    ),
    _experiment(
        "table6",
        "Table 6: the loss weights and k, and what they do",
        "How much do the two loss weights and the discriminator's steps matter?",
        tuple(System("sweep", name, ours=True) for name in SWEEP),
        tuple(dict.fromkeys(sweep_column(v) for _, values in SWEEP.values() for v in values)),
        _table6_trials,
    ),
    _experiment(
        "figure4",
        "Figure 4: average gate weights of the language experts",
        "Which source language's expert does each target language use?",
        (System("gates", "reviews"), System("gates", "NER")),
        tuple(
            dict.fromkeys(
                f"{target}/{source}"
                for preset in ("reviews", "ner")
                for values in presets(preset).values()
                for target in values["targets"]
                for source in values["languages"]
                if source != target
            )
        ),
        _figure4_trials,
    ),
)
