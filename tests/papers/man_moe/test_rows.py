"""Rows, columns and shared trials of the MAN-MoE paper."""

import pytest

from xlrepro.experiments import experiment
from xlrepro.papers.man_moe.cells import gate_cells
from xlrepro.papers.man_moe.settings import TransferSettings
from xlrepro.trials import Cell, Record


@pytest.mark.parametrize("profile", ["smoke", "open"])
@pytest.mark.parametrize("name", ["table2", "table3", "table4", "table5", "table6"])
def test_no_target_is_a_source(name, profile):
    for trial in experiment(f"man_moe/{name}").all_trials(profile, [0]):
        settings = trial.typed(TransferSettings)
        assert all(target not in settings.sources(target) for target in settings.targets)


def test_rows_of_table3_that_table2_trains_are_its_trials():
    table2, table3 = experiment("man_moe/table2"), experiment("man_moe/table3")
    for ours, theirs in (("ablation:MAN-MoE", "MAN-MoE"), ("ablation:- MoE", "MAN")):
        assert table3.trials("open", [ours]) == table2.trials("open", [f"without:{theirs}"])


def test_the_sweep_reads_the_average_of_table2_at_the_value_it_used():
    table6 = experiment("man_moe/table6")
    base = next(t for t in table6.trials("smoke", seeds=[0]) if t.experiment == "man_moe/table2")
    cells = [Cell("without:MAN-MoE", c, 40.0 + n, "F1") for n, c in enumerate(base.columns)]
    read = table6.view(Record.model_construct(**base.fields, key=base.key, cells=tuple(cells)))
    found = {(c.system, c.column): c.value for c in read.cells}
    used = [("sweep:lambda_1", "0.01"), ("sweep:lambda_2", "1"), ("sweep:k", "2")]
    assert found == dict.fromkeys(used, 43.0)


def test_figure4_averages_gates_over_the_domains_of_a_target():
    gates = {"de/books": {"en": 0.2, "fr": 0.8}, "de/dvd": {"en": 0.4, "fr": 0.6}}
    details = {"experiments": {name: {"gates": each} for name, each in gates.items()}}
    record = Record.model_construct(details=details, systems=("without:MAN-MoE",))
    values = {c.column: c.value for c in gate_cells(record)}
    assert values == pytest.approx({"de/en": 0.3, "de/fr": 0.7})
