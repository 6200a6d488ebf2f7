"""The trials of Figure 4: how much each target's tokens use each source language's expert."""

from xlrepro.papers.man_moe.settings import validated
from xlrepro.papers.man_moe.transfer import gate_weights, train_transfer, transfers
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

METRIC = "gate weight"


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial.

    Cells: per target and source language the average weight of the source's private expert on the
    target's dev text, a fraction: over a text's tokens, over texts, and over domains (§4.4).
    """
    settings = validated(trial.settings, trial.label)
    (system,) = trial.systems
    found: dict[str, list[float]] = {}
    tokens, seconds = 0, 0.0
    for transfer in transfers(settings):
        trained = train_transfer(transfer, trial.seed, context)
        for source, weight in gate_weights(trained, transfer).items():
            found.setdefault(f"{transfer.target}/{source}", []).append(weight)
        tokens += trained.fit.tokens
        seconds += trained.fit.seconds
    means = {column: sum(weights) / len(weights) for column, weights in found.items()}
    return TrialResult(
        cells=[Cell(system, c, means[c], METRIC, "fraction") for c in trial.columns],
        details={"settings": settings.model_dump(mode="json"), "by_domain": found},
        signatures={METRIC: "gate|mean:token,text,domain|split:dev|v:1"},
        training_tokens=tokens,
        training_seconds=seconds,
    )
