"""The trials of the sweep beside Table 6: one value of one setting, on one target and domain."""

from dataclasses import replace

from xlrepro.papers.man_moe.transfer import run as run_transfer
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: F1 on the target's test set, under the column of the value."""
    (column,) = trial.columns
    (target,), (domain,) = trial.settings["targets"], trial.settings["domains"]
    result = run_transfer(replace(trial, columns=(f"{target}/{domain}",)), context)
    (cell,) = result.cells
    result.cells = [Cell(cell.system, column, cell.value, cell.metric)]
    return result
