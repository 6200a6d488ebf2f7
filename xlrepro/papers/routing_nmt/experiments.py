"""The experiments of the routing paper: Table 1, and Figure 2, which reads Table 1's trials."""

from collections.abc import Iterator, Sequence
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.routing_nmt.block_order import PLACES, cells, fills, reordered
from xlrepro.papers.routing_nmt.data import artificial, open_text, supplied
from xlrepro.papers.routing_nmt.settings import (
    ModelSettings,
    TranslationSettings,
    presets,
    validated,
)
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import Overrides, Run, per_row

TABLE1, FIGURE2 = "routing_nmt/table1", "routing_nmt/figure2"
BLOCK, ROUTING = "translation", "MTL (Routing)"
SYSTEMS = ("NMT", "MTL (Full)", "MTL (Partial)", ROUTING)
# ours, judged on development scores: dropout of every system, and the baseline's merges
TUNING = "tuning"
TUNED = (
    *("NMT, dropout 1/8", "MTL (Full), dropout 1/8"),
    *("MTL (Partial), dropout 0", f"{ROUTING}, dropout 0"),
    *("NMT, dropout 1/4", "NMT, 1,000 merges", "NMT, 4,000 merges"),
)
# the paper's pairs, then ours: other sizes and languages
PAIRS = ("en-fa", "en-vi", "en-de-5k", "en-de-10k", "en-fa-small")
MEASURED = tuple(
    f"{split}/{metric}" for split in ("dev", "test") for metric in ("PPL", "TER", "BLEU")
)


def settings_of(profile: str, system: str, pair: str, overrides: Overrides) -> TranslationSettings:
    """Return the settings of one system on one pair.

    Args:
        profile: the profile.
        system: its printed name, ``"MTL (Routing)"``.
        pair: ``"en-vi"``.
        overrides: settings by name that win over the preset; the model's by their own names.

    Raises:
        SettingsError: for an unknown or impossible setting, ``pair`` among them.
    """
    if "pair" in overrides:
        raise SettingsError(f"{TABLE1}: choose pairs by pairs=[{pair}], not by pair")
    inside = {name: v for name, v in overrides.items() if name in ModelSettings.model_fields}
    others = {name: v for name, v in overrides.items() if name not in inside}
    values, tuned = dict(presets()[profile]), dict(presets()[TUNING].get(system, {}))
    values.pop("tuned_on", None)
    for_pair = dict(values.pop("pairs")[pair])
    plain = tuned.pop("system", "NMT") if tuned else system
    row = dict(presets()["systems"][plain])
    layers = (
        values.pop("model"),
        values.pop("models", {}).get(plain, {}),
        for_pair.pop("model", {}),
        row.pop("model"),
        tuned.pop("model", {}),
        inside,
    )
    model = {name: value for layer in layers for name, value in layer.items()}
    merged = {**values, **for_pair, **row, **tuned, "pair": pair, "model": model, **others}
    return validated(merged, f"{TABLE1} {profile} {system}")


def _data_hashes(settings: TranslationSettings) -> dict[str, str]:
    if settings.corpus == "artificial":
        return {"artificial": artificial.data_hash()}
    source = open_text if settings.corpus == "open" else supplied
    return source.data_hashes(settings.pair, settings.auxiliary)


def _chosen_pairs(profile: str, chosen: Any) -> Sequence[str]:
    """Return the pairs to run: the profile's, or those of ``--set pairs=[...]`` among them."""
    known = tuple(presets()[profile]["pairs"])
    if chosen is None:
        return known
    if not isinstance(chosen, list) or not set(chosen) <= set(known):
        raise SettingsError(f"{TABLE1} {profile}: pairs is a list of some of {', '.join(known)}")
    return tuple(chosen)


@per_row
def _table1(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    others = {name: value for name, value in overrides.items() if name != "pairs"}
    block, _, name = identifier.partition(":")
    tuned_on = presets()[profile].get("tuned_on", ())
    for pair in _chosen_pairs(profile, overrides.get("pairs")):
        if block == BLOCK or pair in tuned_on:
            settings = settings_of(profile, name, pair, others)
            columns = [f"{pair}/{measured}" for measured in MEASURED]
            hashes, task = _data_hashes(settings), "routing_nmt/translation"
            yield Run(TABLE1, (identifier,), columns, settings, hashes, task)


EXPERIMENTS = (
    Experiment(
        key=TABLE1,
        systems=(
            *(System(BLOCK, name) for name in SYSTEMS),
            *(System(TUNING, name, default=False, ours=True) for name in TUNED),
        ),
        columns=tuple(f"{pair}/{measured}" for pair in PAIRS for measured in MEASURED),
        make_trials=_table1,
        cost={
            "smoke": "seconds",
            "open": "minutes to half an hour per trial and CPU core",
            "paper": "one GPU; the paper's corpora, most of them under licences",
        },
    ),
    Experiment(
        key=FIGURE2,
        systems=(System(BLOCK, ROUTING),),
        columns=tuple(f"{pair}/{place}" for pair in PAIRS for place in PLACES),
        make_trials=_table1,
        cost=dict.fromkeys(("smoke", "open", "paper"), "nothing: Table 1's trials"),
        draws_on=(TABLE1,),
        cells=cells,
        fills=fills,
        together=reordered,
    ),
)
