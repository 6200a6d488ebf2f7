"""The comparison of embedding mappings: an experiment of ours beside the MAN-MoE paper's."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.embeddings.open import vectors as open_vectors
from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe.mappings import rows
from xlrepro.papers.man_moe.mappings.rows import ENGLISH, FAMILY_SEED, presets
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.trial import Trial

KEY = "man_moe/mappings"
TASK = "man_moe/mappings"
CONTROL_TASK = "man_moe/mappings_control"
MEASURES = ("P@1", "seconds", "collapsed")


def _trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    preset = presets()[profile]
    common = {name: value for name, value in preset.items() if name != "methods"}
    unknown = set(overrides) - set(common)
    if unknown:
        raise SettingsError(
            f"{KEY} has no setting {', '.join(sorted(unknown))}; it has: {', '.join(common)}"
        )
    for name in ("words", "test_words"):
        if not isinstance(overrides.get(name, 1), int) or overrides.get(name, 1) < 1:
            raise SettingsError(f"setting {name} must be 1 or more, not {overrides[name]!r}")
    common |= overrides
    trials = []
    for identifier in systems:
        block, _, name = identifier.partition(":")
        settings = {**common, "method": preset["methods"][name]}
        what = _control(settings) if block == "control" else _mapping(name, settings)
        trials += [
            Trial.create(experiment=KEY, systems=(identifier,), profile=profile, seed=seed, **what)
            for seed in (seeds if name in rows.REPEATED else (0,))
        ]
    return trials


def _mapping(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns, settings, data and task of a trial that maps the languages."""
    measures = MEASURES[:2] if name in rows.SUPERVISED else MEASURES
    columns = tuple(f"{code}/{what}" for code in settings["languages"] for what in measures)
    return {"columns": columns, "settings": settings, "data": _hashes(settings), "task": TASK}


def _control(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same of a trial of the control, which reads English alone."""
    hashes = {"artificial": f"spaces {FAMILY_SEED}"}
    if settings["corpus"] != "artificial":
        hashes = {"vectors/en": hash_of(open_vectors.monolingual_recipe(ENGLISH))}
    return {
        "columns": tuple(rows.column(noise) for noise in rows.NOISES),
        "settings": {k: v for k, v in settings.items() if k not in ("languages", "test_words")},
        "data": hashes,
        "task": CONTROL_TASK,
    }


def _hashes(settings: Mapping[str, Any]) -> dict[str, str]:
    if settings["corpus"] == "artificial":
        return {"artificial": f"spaces {FAMILY_SEED}"}
    # A mapped recipe names both languages' vectors and all dictionaries.
    return {
        f"vectors/mapped/{code}": hash_of(open_vectors.mapped_recipe(code))
        for code in settings["languages"]
    }


def _columns() -> tuple[str, ...]:
    codes = dict.fromkeys(c for p in reversed(presets().values()) for c in p["languages"])
    mapped = [f"{code}/{what}" for code in codes for what in MEASURES]
    return (*mapped, *(rows.column(noise) for noise in rows.NOISES))


MAPPINGS = Experiment(
    key=KEY,
    systems=(
        *(System("mapping", name, ours=True) for name in rows.NAMES),
        *(System("control", name, ours=True) for name in rows.CONTROLLED),
    ),
    columns=_columns(),
    profiles=("smoke", "open"),
    make_trials=_trials,
    cost={"smoke": "seconds", "open": "three minutes per trial and CPU core"},
    default_seeds={"smoke": (0,), "open": (0, 1, 2)},
)
