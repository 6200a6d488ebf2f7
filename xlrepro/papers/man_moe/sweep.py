"""The sweep beside Table 6: one value of one setting, slot filling, mean over the domains."""

from dataclasses import replace

from xlrepro.trials.record import Record
from xlrepro.trials.trial import Cell, Trial, TrialContext, TrialResult

# What the sweep changes, one value at a time. The values of each profile's preset are
# among them; one trial of Table 2's row MAN-MoE fills them all.
SWEEP: dict[str, tuple[str, tuple[float, ...]]] = {
    "lambda_1": ("lambda1", (0.0, 0.001, 0.01, 0.1, 1.0)),
    "lambda_2": ("lambda2", (0.0, 0.1, 1.0, 10.0)),
    "k": ("discriminator_steps", (1, 2, 5)),
}
TARGET = "es"  # near to one source and far from the other; in the paper's data and in ours


def column(value: float) -> str:
    """Return the column of a value of the sweep, ``"0.0001"``."""
    return f"{value:g}"


def run(trial: Trial, context: TrialContext) -> TrialResult:
    """Run one trial: mean F1 over the target's domains, under the column of the value."""
    from xlrepro.papers.man_moe.transfer import run as run_transfer  # only here: torch

    (of_value,) = trial.columns
    (target,) = trial.settings["targets"]
    result = run_transfer(replace(trial, columns=(f"{target}/avg",)), context)
    (cell,) = result.cells
    result.cells = [Cell(cell.system, of_value, cell.value, cell.metric)]
    return result


def cells(record: Record) -> list[Cell]:
    """Return the cells that a trial of Table 2's MAN-MoE fills: the value it used of each.

    Nothing is trained twice: the three settings are swept through the same values.
    """
    (score,) = (cell for cell in record.cells if cell.column == f"{TARGET}/avg")
    return [
        Cell(f"sweep:{name}", column(record.settings[setting]), score.value, score.metric)
        for name, (setting, _) in SWEEP.items()
    ]
