"""How much data there is: what Table 1 states of the paper's corpus, counted in ours."""

from xlrepro.papers.man_moe.settings import validated
from xlrepro.papers.man_moe.texts import data
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

METRIC = "samples"


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Count utterances per domain and split, and slot types per domain, of one language.

    What is counted is cut to the settings' limits, if they have any.
    """
    settings = validated(trial.settings, trial.label)
    (system,), (language,) = trial.systems, settings.targets
    counts: dict[str, float] = {}
    for domain in settings.domains:
        kinds: set[str] = set()
        for split in ("train", "dev", "test"):
            examples = data.labelled(settings, language, domain, split)
            counts[f"{domain}/{split}"] = len(examples)
            kinds |= {tag[2:] for example in examples for tag in example.gold if tag != "O"}
        counts[f"{domain}/slot types"] = len(kinds)
    return TrialResult(
        cells=[Cell(system, c, counts[c], METRIC, "count") for c in trial.columns],
        details={"settings": settings.model_dump(mode="json")},
        signatures={METRIC: "count|of:utterances or slot types|v:1"},
    )
