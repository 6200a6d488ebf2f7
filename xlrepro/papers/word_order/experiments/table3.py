"""Table 3: the NLU model of Liu et al. (2019) with BiLSTM, TRS or ORT."""

from collections.abc import Mapping, Sequence
from typing import Any

from xlrepro.papers.word_order.hashes import nlu_hashes
from xlrepro.papers.word_order.nlu.settings import nlu_settings
from xlrepro.papers.word_order.settings import ENCODERS
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import per_seed
from xlrepro.trials.trial import Trial

KEY = "word_order/table3"
TASK = "word_order/nlu"
ROWS = {
    "Liu et al. (2019)": "BiLSTM",
    "Liu et al. (2019) using TRS": "TRS",
    "Liu et al. (2019) using ORT": "ORT",
}
METRICS = ("intent accuracy", "slot F1")


def _trials(
    profile: str, systems: Sequence[str], seeds: Sequence[int], overrides: Mapping[str, Any]
) -> list[Trial]:
    trials = []
    for identifier in systems:
        encoder = ENCODERS[ROWS[identifier.split(":", 1)[1]]]
        settings = nlu_settings(profile, encoder, overrides)
        trials += per_seed(
            seeds,
            experiment=KEY,
            system=identifier,
            columns=[f"{code}/{metric}" for code in settings.targets for metric in METRICS],
            profile=profile,
            settings=settings,
            data=nlu_hashes(settings),
            task=TASK,
        )
    return trials


NLU_EXPERIMENTS = (
    Experiment(
        key=KEY,
        systems=tuple(System("nlu", row) for row in ROWS),
        columns=tuple(f"{code}/{metric}" for code in ("es", "th") for metric in METRICS),
        profiles=("smoke", "open", "paper"),
        make_trials=_trials,
        cost={
            "smoke": "seconds",
            "open": "about a minute per trial and CPU core",
            "paper": "one GPU; the official English training file and aligned fastText vectors",
        },
        default_seeds={"smoke": (0,), "open": (0, 1, 2), "paper": (0, 1, 2)},
    ),
)
