"""The experiments of the sense alignment paper: systems, columns, and the trials that fill them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.sense_alignment import growth, sense_data, transfer_data
from xlrepro.papers.sense_alignment.language_model.settings import LanguageModelSettings
from xlrepro.papers.sense_alignment.pretraining import text
from xlrepro.papers.sense_alignment.pretraining.text import SOURCE
from xlrepro.papers.sense_alignment.sense_data import TEST_SETS
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
    FROM_STATES,
    LABELLED,
    MAJORITY,
    ONE_SENSE,
    ORTHOGONAL,
    OWN,
    PURITY,
    TRANSFER,
    Changes,
    changes,
    language_model,
)
from xlrepro.trials.experiment import Experiment, MakeTrials, System
from xlrepro.trials.per_seed import Overrides, Run, per_row, per_seed

PAPER = "sense_alignment"
MONOLINGUAL = ("ELMo", "SaELMo", f"SaELMo{FROM_STATES}", "BERT-Tiny", "SaBERT-Tiny")
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
# ELMo has one sense; the others once as in the code, once in each variant.
SENSED = ("SaELMo", "SaBERT-Tiny", "Bi-SaELMo")
BEGUN = tuple(f"{name}{FROM_STATES}" for name in SENSED)
PURE = ("ELMo", *SENSED, *(f"{name}{CENTRED}" for name in SENSED), *BEGUN, f"ELMo{AFTERWARDS}")
SEEDS = {"open": (0, 1, 2)}
HEAD_SEEDS = {"open": (0, 1, 2, 3, 4), "paper": (0, 1, 2, 3, 4)}
PAIR = "de"  # of the bilingual models that Tables 6 to 8 and the figures look at


def _preset(profile: str, table: str) -> dict[str, Any]:
    return dict(presets("tables")[profile][table])


@per_seed
def _table2(systems: Sequence[str], profile: str, overrides: Overrides) -> Iterator[Run]:
    changed = changes(overrides)
    preset = _preset(profile, "table2")
    steps, models = preset.pop("equal_time"), preset.pop("models", profile)
    rows: dict[tuple[bool, str], list[str]] = {}
    for identifier in systems:
        block, _, name = identifier.partition(":")
        rows.setdefault((block.endswith(EQUAL_TIME), name), []).append(identifier)
    for (timed, name), same in rows.items():
        row_changes = changed
        if timed:
            if "steps" in changed.training:
                raise SettingsError("rows at equal time have steps of their own: leave steps out")
            row_changes = changed._replace(training={**changed.training, "steps": steps[name]})
        model = None if name in BASELINES else language_model(models, name, SOURCE, row_changes)
        values = {**preset, **changed.others, "model": model}
        settings = validated(values, f"table2 {profile} {name}", DisambiguationSettings)
        hashes = sense_data.data_hashes(settings)
        # Rows without a model have nothing random but the draws of their intervals.
        seeds = () if model else (0,)
        key, task = f"{PAPER}/table2", f"{PAPER}/disambiguation"
        yield Run(key, same, tuple(TEST_SETS), settings, hashes, task, seeds)


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
            head_changes = {k: changed.others[k] for k in fields & changed.others.keys()}
            values[head] = {**values[head], **head_changes}
            values |= {k: v for k, v in changed.others.items() if k not in head_changes}
    model = name.removesuffix(ORTHOGONAL)
    if model != name:
        values["map"] = "orthogonal"
    two = model != "ELMo"
    source = language_model(profile, model, target if two else SOURCE, changed)
    values |= {
        "target": target,
        "source_model": source,
        "target_model": None if two else language_model(profile, model, target, changed),
    }
    return validated(values, f"{table} {profile} {name} {target}", TransferSettings)


def _transfer(table: str, task: str) -> MakeTrials:
    """Return what makes the trials of Table 3, 4 or 5: one per language model and target.

    A trial fills the rows with and without W, which share the head. The setting ``targets`` runs
    some of the targets alone and changes no trial.
    """

    @per_seed
    def trials(systems: Sequence[str], profile: str, overrides: Overrides) -> Iterator[Run]:
        wanted = overrides.get("targets")
        changed = changes({k: v for k, v in overrides.items() if k != "targets"})
        known = _preset(profile, table)["targets"]
        targets = known if isinstance(known, dict) else {code: code for code in known}
        chosen = [wanted] if isinstance(wanted, str) else list(wanted or targets)
        if unknown := set(chosen) - set(targets):
            raise SettingsError(f"targets of {table} are {', '.join(targets)}, not {unknown}")
        rows: dict[str, list[str]] = {}
        for identifier in systems:
            rows.setdefault(TRANSFER[identifier.partition(":")[2]][0], []).append(identifier)
        kind = {"entities": "ner"}.get(task, task)
        for (name, same), printed in product(rows.items(), chosen):
            settings = transfer_settings(table, profile, name, targets[printed], changed)
            columns = [f"{printed}/{d}" for d in settings.domains] or [printed]
            hashes = transfer_data.data_hashes(kind, settings)
            key, named = f"{PAPER}/{table}", f"{PAPER}/{task}"
            yield Run(key, same, columns, settings, hashes, named)

    return trials


def _model_of(profile: str, english: str, name: str, changed: Changes) -> LanguageModelSettings:
    """Return a model's settings: of two languages by the profile, of one by its English models."""
    if name.startswith("Bi-"):
        return language_model(profile, name, PAIR, changed)
    return language_model(english, name, SOURCE, changed)


def growing_model(profile: str, name: str, changed: Changes | None = None) -> LanguageModelSettings:
    """Return the settings of a language model of Tables 6 to 8.

    Raises:
        SettingsError: for an unknown name, or an unknown or impossible setting.
    """
    english = _preset(profile, "tables6_8").get("models", profile)
    return _model_of(profile, english, name, changed or changes({}))


def _hashes(settings: LanguageModelSettings) -> dict[str, str]:
    return {"text/" + "-".join(settings.languages): text.text_hash(settings)}


@per_row
def _tables6_8(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    block, _, name = identifier.partition(":")
    changed = changes(overrides)
    run = partial(Run, f"{PAPER}/tables6_8", (identifier,), task=f"{PAPER}/growth")

    def settings(**values: Any) -> GrowthSettings:
        label = f"tables6_8 {profile} {name}"
        return validated({**values, **changed.others}, label, GrowthSettings)

    if block == "arithmetic":
        columns = (growth.STEPS, growth.EPOCHS)
        yield run(columns, settings(arithmetic=ARITHMETIC[name]), {}, seeds=(0,))
    else:
        model = growing_model(profile, name, changed)
        yield run((*growth.BANDS, growth.TOP), settings(model=model), _hashes(model))


@per_row
def _figures4_7(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    changed = changes(overrides)
    block, _, whole = identifier.partition(":")
    name, task = whole.removesuffix(AFTERWARDS), "purity"
    values = _preset(profile, "figures4_7")
    known, count = values.pop("known"), values.pop("sentences")
    of_two, of_one = profile, values.pop("models", profile)
    if block != "vectors":
        of_two = of_one = known
    model = _model_of(of_two, of_one, name, changed)
    columns: tuple[str, ...] = (PURITY, MAJORITY, DEALT)
    if block == "vectors":
        values.setdefault("words", known_words(model.text.ambiguous))
        columns = (OWN,)
    else:
        values = {"sentences": count}
        if block == "lists":
            model = _of_lists(model)
        if name != whole:
            task, columns = "frozen_purity", (*columns, LABELLED)
    values |= {"model": model, **changed.others}
    settings = validated(values, f"figures4_7 {profile} {whole}", PuritySettings)
    key, hashes = f"{PAPER}/figures4_7", _hashes(model)
    yield Run(key, (identifier,), columns, settings, hashes, f"{PAPER}/{task}")


def _of_lists(model: LanguageModelSettings) -> LanguageModelSettings:
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


def _with_variants(block: str, names: Sequence[str], **more: Any) -> tuple[System, ...]:
    """Return a block's rows; variants are ours and run by name."""
    return tuple(
        System(block, name, default=False, ours=True)
        if name.endswith((FROM_STATES, ONE_SENSE, ORTHOGONAL))
        else System(block, name, **more)
        for name in names
    )


_OPEN_COST = "nine to thirty minutes of a core for a language model, up to two for a head"
_PAPER_COST = "GPUs for days per language model, and corpora that the user supplies"
_COST = {"smoke": "seconds", "open": _OPEN_COST, "paper": _PAPER_COST}
_experiment = partial(Experiment, cost=_COST, default_seeds=SEEDS)
_DOMAINS = [f"{code}/{d}" for code in ("de", "jp") for d in ("books", "music", "dvd")]

EXPERIMENTS = (
    _experiment(
        key=f"{PAPER}/table2",
        systems=(
            *_with_variants("wsd", MONOLINGUAL),
            *_with_variants("lemma", MONOLINGUAL, ours=True),
            *_systems(f"wsd{EQUAL_TIME}", TIMED, ours=True),
            *_systems(f"lemma{EQUAL_TIME}", TIMED, ours=True),
            *_systems("baseline", BASELINES, ours=True),
        ),
        columns=tuple(TEST_SETS),
        make_trials=_table2,
    ),
    _experiment(
        key=f"{PAPER}/table3",
        systems=_with_variants("main", tuple(TRANSFER)),
        columns=("de", "es", "zh"),
        make_trials=_transfer("table3", "entities"),
        default_seeds=HEAD_SEEDS,
    ),
    _experiment(
        key=f"{PAPER}/table4",
        systems=_with_variants("sentiment", tuple(TRANSFER)),
        columns=(*_DOMAINS, "de/tweets", "es/tweets"),
        make_trials=_transfer("table4", "sentiment"),
        default_seeds=HEAD_SEEDS,
    ),
    _experiment(
        key=f"{PAPER}/table5",
        systems=_with_variants("xnli", tuple(TRANSFER)),
        columns=("de", "es", "zh"),
        make_trials=_transfer("table5", "inference"),
        default_seeds=HEAD_SEEDS,
    ),
    _experiment(
        key=f"{PAPER}/tables6_8",
        systems=(
            *_systems("arithmetic", tuple(ARITHMETIC), ours=True),
            *_systems("alive", (*SENSED, *BEGUN), ours=True),
        ),
        columns=(growth.STEPS, growth.EPOCHS, *growth.BANDS, growth.TOP),
        make_trials=_tables6_8,
    ),
    _experiment(
        key=f"{PAPER}/figures4_7",
        systems=(
            *_systems("purity", PURE, ours=True),
            *_systems("lists", ("ELMo", *SENSED, *BEGUN), ours=True),
            *_systems("vectors", ("SaELMo", "Bi-SaELMo"), ours=True),
        ),
        columns=(PURITY, MAJORITY, DEALT, LABELLED, OWN),
        make_trials=_figures4_7,
    ),
)
