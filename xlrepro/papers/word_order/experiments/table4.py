"""Table 4: the zero-resource entity recogniser of Chen et al. (2019) with other shared extractors.

The recogniser is MAN-MoE with character embeddings, the last row of that paper's own Table 4: its
model, settings and task are used as they are, and its trials are this table's first row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xlrepro.errors import SettingsError
from xlrepro.papers.man_moe.experiments import EXPERIMENTS as MAN_MOE
from xlrepro.trials.experiment import Experiment, System, shared_cells
from xlrepro.trials.trial import Trial

KEY = "word_order/table4"
(BASE,) = (e for e in MAN_MOE if e.key == "man_moe/table4")
BASE_ROW = "without:MAN-MOE+CharCNN"
SYSTEMS = (
    System("ner", "Chen et al. (2019)"),
    System("ner", "Chen et al. (2019) using TRS"),
    System("ner", "Chen et al. (2019) using ORT"),
)
# MAN-MoE's open preset learns at 0.004, which suits its BiLSTM (MM38); Transformers take the
# paper's 0.001: with TRS, seed 0, target German, the sources' dev F1 was 55.8, at 0.004 only 45.6.
LEARNING_RATE = {"open": 0.001}
EXTRACTORS = dict(zip((s.identifier for s in SYSTEMS), ("BiLSTM", "TRS", "ORT"), strict=True))


def _trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    if "extractor" in overrides:
        raise SettingsError(f"{KEY} sets extractor itself: do not override it")
    trials = []
    for identifier in systems:
        changes = {**overrides, "extractor": EXTRACTORS[identifier]}
        if EXTRACTORS[identifier] != "BiLSTM" and profile in LEARNING_RATE:
            changes.setdefault("learning_rate", LEARNING_RATE[profile])
        base = BASE.trials(profile, [BASE_ROW], seeds, changes)
        if EXTRACTORS[identifier] != "BiLSTM":  # else MAN-MoE's own trial
            base = [replace(t, experiment=KEY, systems=(identifier,)) for t in base]
        trials += base
    return trials


NER_TRANSFER_EXPERIMENTS = (
    Experiment(
        key=KEY,
        systems=SYSTEMS,
        columns=BASE.columns,
        profiles=BASE.profiles,
        make_trials=_trials,
        cost={**BASE.cost, "open": "minutes per trial and CPU core"},
        default_seeds=BASE.default_seeds,
        draws_on=(BASE.key,),
        # MAN-MoE's own record is read in the first row.
        **shared_cells(lambda _, __, column: (SYSTEMS[0].identifier, column)),
    ),
)
