"""The experiments of the sense alignment paper: systems, columns, and the trials that fill them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from xlrepro.errors import SettingsError
from xlrepro.papers.sense_alignment import growth, sense_data, transfer_data
from xlrepro.papers.sense_alignment.pretraining import text
from xlrepro.papers.sense_alignment.pretraining.text import SOURCE
from xlrepro.papers.sense_alignment.settings import (
    DisambiguationSettings,
    GrowthSettings,
    PuritySettings,
    TransferSettings,
    presets,
    validated,
)
from xlrepro.papers.sense_alignment.systems import (
    AFTERWARDS,
    CENTRED,
    DEALT,
    LABELLED,
    MAJORITY,
    OWN,
    PURITY,
    TRANSFER,
    Changes,
    changes,
    language_model,
)
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.trial import Trial

PAPER = "sense_alignment"
PROFILES = ("smoke", "open", "paper")
MONOLINGUAL = ("ELMo", "SaELMo", "BERT-Tiny", "SaBERT-Tiny")
BASELINES = ("most frequent sense", "first sense")
# Sense-aware models that are trained as long as the plain ones, in seconds: with fewer steps.
TIMED, EQUAL_TIME = ("SaELMo", "SaBERT-Tiny"), "-time"
# Printed settings of Tables 6 and 8 with the corpora's sizes (§D).
ARITHMETIC = {
    "monolingual": {
        "tokens": 768_600_000, "gpus": 2, "streams": 256, "unroll": 16, "epochs": 10,
        "steps": 1_000_000,
    },
    "bilingual": {
        "tokens": 1_000_000_000, "gpus": 2, "streams": 256, "unroll": 12, "epochs": 6,
        "steps": 600_000,
    },
}  # fmt: skip
# ELMo has one sense; the others once as in the code, once with centred components.
SENSED = ("SaELMo", "SaBERT-Tiny", "Bi-SaELMo")
PURE = ("ELMo", *SENSED, *(f"{name}{CENTRED}" for name in SENSED), f"ELMo{AFTERWARDS}")
SEEDS = {"smoke": (0,), "open": (0, 1, 2), "paper": (0,)}
HEAD_SEEDS = {"smoke": (0,), "open": (0, 1, 2, 3, 4), "paper": (0, 1, 2, 3, 4)}
PAIR = "de"  # of the bilingual models that Tables 6 to 8 and the figures look at


def _preset(profile: str, table: str) -> dict[str, Any]:
    return dict(presets("tables")[profile][table])


def _trials(
    task: str,
    table: str,
    systems: tuple[str, ...],
    columns: Sequence[str],
    profile: str,
    seeds: Sequence[int],
    settings: BaseModel,
    data: Mapping[str, str],
) -> list[Trial]:
    return [
        Trial.create(
            experiment=f"{PAPER}/{table}",
            systems=systems,
            columns=tuple(columns),
            profile=profile,
            seed=seed,
            settings=settings.model_dump(mode="json", exclude_defaults=True),
            data=data,
            task=f"{PAPER}/{task}",
        )
        for seed in seeds
    ]


def _table2(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    changed, columns = changes(overrides), tuple(sense_data.TEST_SETS)
    preset = _preset(profile, "table2")
    steps, models = preset.pop("equal_time"), preset.pop("models", profile)
    parts = [(block.endswith(EQUAL_TIME), name) for block, name in map(_parted, systems)]
    trials = []
    for timed, name in dict.fromkeys(parts):
        rows = tuple(s for s, part in zip(systems, parts, strict=True) if part == (timed, name))
        own = changed
        if timed:
            own = changed._replace(training={**changed.training, "steps": steps[name]})
        model = None if name in BASELINES else language_model(models, name, SOURCE, own)
        values = {**preset, **changed.others, "model": model}
        settings = validated(values, f"table2 {profile} {name}", DisambiguationSettings)
        # Rows without a model have nothing random but the draws of their intervals.
        drawn = seeds if model else (0,)
        hashes = sense_data.data_hashes(settings)
        trials += _trials(
            "disambiguation", "table2", rows, columns, profile, drawn, settings, hashes
        )
    return trials


def _parted(system: str) -> tuple[str, str]:
    block, _, name = system.partition(":")
    return block, name


def transfer_settings(
    table: str, profile: str, name: str, target: str, changed: Changes
) -> TransferSettings:
    """Return the settings of a language model's systems of Tables 3 to 5 on one target language.

    Raises:
        SettingsError: for an unknown or impossible setting.
    """
    values = _preset(profile, table)
    values.pop("targets")
    for head in ("tagger", "classifier"):
        if head in values:
            fields = {"epochs", "hidden_dim", "batch_size", "patience", "dropout", "clip_norm"}
            own = {k: changed.others[k] for k in fields & changed.others.keys()}
            values[head] = {**values[head], **own}
            values |= {k: v for k, v in changed.others.items() if k not in own}
    two = name != "ELMo"
    source = language_model(profile, name, target if two else SOURCE, changed)
    values |= {
        "target": target,
        "source_model": source,
        "target_model": None if two else language_model(profile, name, target, changed),
    }
    return validated(values, f"{table} {profile} {name} {target}", TransferSettings)


def _transfer(table: str, task: str) -> Any:
    """Return what makes the trials of Table 3, 4 or 5: one per language model and target.

    A trial fills the rows with and without W, which share the head. The setting ``targets`` runs
    some of the targets alone and changes no trial.
    """

    def make(
        profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
    ) -> list[Trial]:
        wanted = overrides.get("targets")
        changed = changes({k: v for k, v in overrides.items() if k != "targets"})
        named = _preset(profile, table)["targets"]
        targets = named if isinstance(named, dict) else {code: code for code in named}
        chosen = [wanted] if isinstance(wanted, str) else list(wanted or targets)
        if unknown := set(chosen) - set(targets):
            raise SettingsError(f"targets of {table} are {', '.join(targets)}, not {unknown}")
        trials = []
        names = dict.fromkeys(TRANSFER[s.split(":", 1)[1]][0] for s in systems)
        kind = {"entities": "ner"}.get(task, task)
        for name in names:
            rows = tuple(s for s in systems if TRANSFER[s.split(":", 1)[1]][0] == name)
            for printed in chosen:
                target = targets[printed]
                settings = transfer_settings(table, profile, name, target, changed)
                columns = [f"{printed}/{d}" for d in settings.domains] or [printed]
                hashes = transfer_data.data_hashes(kind, settings)
                trials += _trials(task, table, rows, columns, profile, seeds, settings, hashes)
        return trials

    return make


def _model_of(profile: str, english: str, name: str, changed: Changes) -> Any:
    """Return a model's settings: of two languages by the profile, of one by its English models."""
    if name.startswith("Bi-"):
        return language_model(profile, name, PAIR, changed)
    return language_model(english, name, SOURCE, changed)


def _hashes(settings: Any) -> dict[str, str]:
    return {"text/" + "-".join(settings.languages): text.text_hash(settings)}


def _tables6_8(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    changed, trials = changes(overrides), []
    models = _preset(profile, "tables6_8").get("models", profile)
    columns: tuple[str, ...]
    drawn: tuple[int, ...]
    for identifier in systems:
        block, name = identifier.split(":", 1)
        if block == "arithmetic":
            settings = GrowthSettings(arithmetic=ARITHMETIC[name])
            columns, drawn, hashes = (growth.STEPS, growth.EPOCHS), (0,), {}
        else:
            model = _model_of(profile, models, name, changed)
            settings = GrowthSettings(model=model)
            columns, drawn, hashes = growth.BANDS, tuple(seeds), _hashes(model)
        trials += _trials(
            "growth", "tables6_8", (identifier,), columns, profile, drawn, settings, hashes
        )
    return trials


def _figures4_7(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    changed, trials = changes(overrides), []
    for identifier in systems:
        block, whole = identifier.split(":", 1)
        name, task = whole.removesuffix(AFTERWARDS), "purity"
        values = _preset(profile, "figures4_7")
        known, count = values.pop("known"), values.pop("sentences")
        of_two, of_one = profile, values.pop("models", profile)
        if block != "vectors":
            of_two = of_one = known
        model = _model_of(of_two, of_one, name, changed)
        if block != "vectors":
            if block == "lists":
                model = _of_lists(model)
            values = {"sentences": count}
            columns: tuple[str, ...] = (PURITY, MAJORITY, DEALT)
            if name != whole:
                task, columns = "frozen_purity", (*columns, LABELLED)
        else:
            values.setdefault("words", known_words(model.text.ambiguous))
            columns = (OWN,)
        values |= {"model": model, **changed.others}
        settings = validated(values, f"figures4_7 {profile} {whole}", PuritySettings)
        trials += _trials(
            task, "figures4_7", (identifier,), columns, profile, seeds, settings, _hashes(model)
        )
    return trials


def _of_lists(model: Any) -> Any:
    """Return a language model's settings with lists of nouns instead of sentences."""
    return model.model_copy(update={"text": model.text.model_copy(update={"source": "lists"})})


@lru_cache(maxsize=4)
def known_words(pairs: int) -> tuple[str, ...]:
    """Return the first two ambiguous words of the artificial English with so many of them."""
    family = text.family(pairs)
    stems = family.language(SOURCE).lexicon.stems
    return tuple(stems[first] for first, _ in family.pairs[:2])


def _systems(block: str, names: Sequence[str], **more: Any) -> tuple[System, ...]:
    return tuple(System(block, name, **more) for name in names)


_OPEN_COST = "one language model each (two minutes of a core), then a minute a head"
_PAPER_COST = "GPUs for days per language model, and corpora that the user supplies"
_COST = {"smoke": "seconds", "open": _OPEN_COST, "paper": _PAPER_COST}
_DOMAINS = [f"{code}/{d}" for code in ("de", "jp") for d in ("books", "music", "dvd")]

EXPERIMENTS = (
    Experiment(
        key=f"{PAPER}/table2",
        systems=(
            *_systems("wsd", MONOLINGUAL),
            *_systems("lemma", MONOLINGUAL, ours=True),
            *_systems(f"wsd{EQUAL_TIME}", TIMED, ours=True),
            *_systems(f"lemma{EQUAL_TIME}", TIMED, ours=True),
            *_systems("baseline", BASELINES, ours=True),
        ),
        columns=tuple(sense_data.TEST_SETS),
        profiles=PROFILES,
        make_trials=_table2,
        cost=_COST,
        default_seeds=SEEDS,
    ),
    Experiment(
        key=f"{PAPER}/table3",
        systems=_systems("main", tuple(TRANSFER)),
        columns=("de", "es", "zh"),
        profiles=PROFILES,
        make_trials=_transfer("table3", "entities"),
        cost=_COST,
        default_seeds=HEAD_SEEDS,
    ),
    Experiment(
        key=f"{PAPER}/table4",
        systems=_systems("sentiment", tuple(TRANSFER)),
        columns=(*_DOMAINS, "de/tweets", "es/tweets"),
        profiles=PROFILES,
        make_trials=_transfer("table4", "sentiment"),
        cost=_COST,
        default_seeds=HEAD_SEEDS,
    ),
    Experiment(
        key=f"{PAPER}/table5",
        systems=_systems("xnli", tuple(TRANSFER)),
        columns=("de", "es", "zh"),
        profiles=PROFILES,
        make_trials=_transfer("table5", "inference"),
        cost=_COST,
        default_seeds=HEAD_SEEDS,
    ),
    Experiment(
        key=f"{PAPER}/tables6_8",
        systems=(
            *_systems("arithmetic", tuple(ARITHMETIC), ours=True),
            *_systems("alive", ("SaELMo", "SaBERT-Tiny", "Bi-SaELMo"), ours=True),
        ),
        columns=(growth.STEPS, growth.EPOCHS, *growth.BANDS),
        profiles=PROFILES,
        make_trials=_tables6_8,
        cost=_COST,
        default_seeds=SEEDS,
    ),
    Experiment(
        key=f"{PAPER}/figures4_7",
        systems=(
            *_systems("purity", PURE, ours=True),
            *_systems("lists", ("ELMo", *SENSED), ours=True),
            *_systems("vectors", ("SaELMo", "Bi-SaELMo"), ours=True),
        ),
        columns=(PURITY, MAJORITY, DEALT, LABELLED, OWN),
        profiles=PROFILES,
        make_trials=_figures4_7,
        cost=_COST,
        default_seeds=SEEDS,
    ),
)
