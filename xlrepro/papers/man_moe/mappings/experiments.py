"""The comparison of embedding mappings: an experiment of ours beside the MAN-MoE paper's."""

from collections.abc import Iterator, Mapping
from typing import Any

from xlrepro.artefacts import hash_of
from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe.mappings import rows
from xlrepro.papers.man_moe.mappings.rows import ENGLISH, FAMILY_SEED, presets
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import Overrides, Run, per_row
from xlrepro.vectors.open import vectors as open_vectors

KEY = "man_moe/mappings"
MEASURES = ("P@1", "seconds", "collapsed")
CONTROLS = tuple(rows.column(noise) for noise in rows.NOISES)


@per_row
def _runs(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
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
    block, _, name = identifier.partition(":")
    settings = {**common, **overrides, "method": preset["methods"][name]}
    if block == "control":  # which reads English alone
        columns, hashes, task = CONTROLS, _hashes(settings, ENGLISH), "man_moe/mappings_control"
        settings = {k: v for k, v in settings.items() if k not in ("languages", "test_words")}
    else:
        measures = MEASURES[:2] if name in rows.SUPERVISED else MEASURES
        columns = tuple(f"{code}/{what}" for code in settings["languages"] for what in measures)
        hashes, task = _hashes(settings), "man_moe/mappings"
    seeds = () if name in rows.REPEATED else (0,)
    yield Run(KEY, (identifier,), columns, settings, hashes, task, seeds)


def _hashes(settings: Mapping[str, Any], alone: str = "") -> dict[str, str]:
    """Return what a trial reads: the mapped vectors of its languages, or one language's own."""
    if settings["corpus"] == "artificial":
        return {"artificial": f"spaces {FAMILY_SEED}"}
    if alone:
        return {f"vectors/{alone}": hash_of(open_vectors.monolingual_recipe(alone))}
    # A mapped recipe names both languages' vectors and all dictionaries.
    return {
        f"vectors/mapped/{code}": hash_of(open_vectors.mapped_recipe(code))
        for code in settings["languages"]
    }


def _columns() -> tuple[str, ...]:
    codes = dict.fromkeys(c for p in reversed(presets().values()) for c in p["languages"])
    mapped = [f"{code}/{what}" for code in codes for what in MEASURES]
    return (*mapped, *CONTROLS)


MAPPINGS = Experiment(
    key=KEY,
    systems=(
        *(System("mapping", name, ours=True) for name in rows.NAMES),
        *(System("control", name, ours=True) for name in rows.CONTROLLED),
    ),
    columns=_columns(),
    make_trials=_runs,
    profiles=("smoke", "open"),
    cost={"smoke": "seconds", "open": "three minutes per trial and CPU core"},
)
