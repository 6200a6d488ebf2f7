"""Table 3: the NLU model of Liu et al. (2019) with BiLSTM, TRS or ORT."""

from collections.abc import Iterator

from xlrepro.papers.word_order.hashes import nlu_hashes
from xlrepro.papers.word_order.nlu.settings import nlu_settings
from xlrepro.papers.word_order.settings import ENCODERS
from xlrepro.trials.experiment import Experiment, System
from xlrepro.trials.per_seed import Overrides, Run, per_row

KEY = "word_order/table3"
ROWS = {
    "Liu et al. (2019)": "BiLSTM",
    "Liu et al. (2019) using TRS": "TRS",
    "Liu et al. (2019) using ORT": "ORT",
}
METRICS = ("intent accuracy", "slot F1")


@per_row
def _trials(identifier: str, profile: str, overrides: Overrides) -> Iterator[Run]:
    settings = nlu_settings(profile, ENCODERS[ROWS[identifier.partition(":")[2]]], overrides)
    columns = [f"{code}/{metric}" for code in settings.targets for metric in METRICS]
    yield Run(KEY, (identifier,), columns, settings, nlu_hashes(settings), "word_order/nlu")


NLU_EXPERIMENTS = (
    Experiment(
        key=KEY,
        systems=tuple(System("nlu", row) for row in ROWS),
        columns=tuple(f"{code}/{metric}" for code in ("es", "th") for metric in METRICS),
        make_trials=_trials,
        cost={
            "smoke": "seconds",
            "open": "up to six minutes per trial and CPU core",
            "paper": "one GPU; the official English training file and aligned fastText vectors",
        },
    ),
)
